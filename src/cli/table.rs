//! Aligned tables.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use super::style::{HEAD, paint};

/// How a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table with these column heads.
pub(crate) struct Grid {
    table: Table,
    aligns: Vec<Align>,
}

impl Grid {
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        // Style around nothing would keep the spaces before it in the line.
        let head = |name: &str| if name.is_empty() { String::new() } else { paint(HEAD, name) };
        table.set_header(columns.iter().map(|(name, align)| cell(head(name), *align)));
        Self { table, aligns: columns.iter().map(|(_, align)| *align).collect() }
    }

    /// Adds a row, a text a column.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.table.add_row(cells.into_iter().zip(&self.aligns).map(|(text, align)| cell(text, *align)));
    }

    /// The lines, with nothing before the first column and after the last.
    pub(crate) fn render(&mut self) -> String {
        let columns = self.table.column_count();
        for (at, column) in self.table.column_iter_mut().enumerate() {
            column.set_padding((0, if at + 1 == columns { 0 } else { 2 }));
        }
        self.table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
    }
}

fn cell(text: String, align: Align) -> Cell {
    Cell::new(text).set_alignment(if align == Align::Left { CellAlignment::Left } else { CellAlignment::Right })
}
