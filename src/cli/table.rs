//! Aligned tables that fit the terminal: columns are dropped and texts are shortened until no row wraps. Where the output is
//! not a terminal, tables have their full width.

use std::fmt::Write as _;
use std::io::{self, Write};

use terminal_size::Width;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::style::{HEAD, paint};

/// Spaces between two columns.
const GAP: usize = 2;
/// A text is shortened to this width before a column is dropped.
const COMFORTABLE: usize = 18;
/// No text is shortened to less.
const SHORTEST: usize = 8;

/// The alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table.
pub(crate) struct Grid {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    /// Names of the columns that can be dropped, the first to go first.
    drop_order: &'static [&'static str],
    /// The column whose cells take the place of `-` in another one when it is dropped.
    stand_in: Option<(&'static str, &'static str)>,
}

struct Column {
    name: String,
    align: Align,
    /// Its texts can be shortened in the middle.
    shortens: bool,
    width: usize,
}

impl Grid {
    /// A table with these columns.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let column = |(name, align): &(&str, Align)| Column {
            name: (*name).to_owned(),
            align: *align,
            shortens: false,
            width: name.width(),
        };
        Self { columns: columns.iter().map(column).collect(), rows: Vec::new(), drop_order: &[], stand_in: None }
    }

    /// The columns that are dropped where the terminal is too narrow, the first one first.
    pub(crate) fn drops(mut self, names: &'static [&'static str]) -> Self {
        self.drop_order = names;
        self
    }

    /// The columns whose texts are shortened where the terminal is too narrow.
    pub(crate) fn shortens(mut self, names: &[&str]) -> Self {
        for column in self.columns.iter_mut().filter(|column| names.contains(&column.name.as_str())) {
            column.shortens = true;
        }
        self
    }

    /// Where `dropped` is dropped, its cells take the place of `-` in the column `kept`.
    pub(crate) fn stand_in(mut self, dropped: &'static str, kept: &'static str) -> Self {
        self.stand_in = Some((dropped, kept));
        self
    }

    /// Adds a row, one text per column.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.widen(&cells);
        self.rows.push(cells);
    }

    fn widen(&mut self, cells: &[String]) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.width = column.width.max(width(cell));
        }
    }

    /// The lines, with nothing before the first column and after the last.
    pub(crate) fn render(self) -> String {
        self.render_in(terminal_width())
    }

    /// Writes the lines that [`Grid::render`] gives with these rows. Where the output is not a terminal, no row is kept:
    /// `rows` is asked twice, first for the widths.
    pub(crate) fn write<R: Iterator<Item = Vec<String>>>(
        mut self,
        rows: impl Fn() -> R,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if terminal_width().is_some() {
            rows().for_each(|row| self.row(row));
            return out.write_all(self.render().as_bytes());
        }
        rows().for_each(|row| self.widen(&row));
        out.write_all(self.line(&self.heads()).as_bytes())?;
        rows().try_for_each(|row| out.write_all(self.line(&row).as_bytes()))
    }

    fn render_in(mut self, available: Option<usize>) -> String {
        if let Some(available) = available {
            self.drop_columns(available);
            self.shorten_texts(available);
        }
        let heads = self.heads();
        std::iter::once(&heads).chain(&self.rows).map(|row| self.line(row)).collect()
    }

    fn heads(&self) -> Vec<String> {
        // Style around nothing would keep the spaces before it in the line.
        let head = |name: &str| if name.is_empty() { String::new() } else { paint(HEAD, name) };
        self.columns.iter().map(|column| head(&column.name)).collect()
    }

    /// A row as a line, with its end.
    fn line(&self, row: &[String]) -> String {
        let mut line = String::new();
        for (at, (text, column)) in row.iter().zip(&self.columns).enumerate() {
            let padding = column.width.saturating_sub(width(text));
            let (before, after) = if column.align == Align::Right { (padding, 0) } else { (0, padding) };
            let gap = if at == 0 { 0 } else { GAP };
            let _ = write!(line, "{:1$}{text}{2:3$}", "", gap + before, "", after);
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }

    /// The width of all columns, those that can be shortened counted with no more than `most`.
    fn total(&self, most: usize) -> usize {
        let one = |column: &Column| if column.shortens { column.width.min(most) } else { column.width };
        self.columns.iter().map(one).sum::<usize>() + GAP * self.columns.len().saturating_sub(1)
    }

    fn drop_columns(&mut self, available: usize) {
        for name in self.drop_order {
            if self.total(COMFORTABLE) <= available {
                return;
            }
            let Some(at) = self.position(name) else { continue };
            let kept = self.stand_in.filter(|(dropped, _)| dropped == name).and_then(|(_, kept)| self.position(kept));
            self.columns.remove(at);
            for row in &mut self.rows {
                if at < row.len() {
                    let text = row.remove(at);
                    let kept = kept.map(|kept| if kept > at { kept - 1 } else { kept });
                    if let Some(cell) = kept.and_then(|kept| row.get_mut(kept)).filter(|cell| *cell == "-") {
                        *cell = text;
                    }
                }
            }
            for (at, column) in self.columns.iter_mut().enumerate() {
                let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell));
                column.width = cells.max().unwrap_or(0).max(column.name.width());
            }
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    fn shorten_texts(&mut self, available: usize) {
        let mut over = self.total(usize::MAX).saturating_sub(available);
        while over > 0 {
            // The widest is brought down step by step, so that several share what is missing.
            let widest = self.columns.iter_mut().filter(|column| column.shortens && column.width > SHORTEST);
            let Some(column) = widest.max_by_key(|column| column.width) else { break };
            column.width -= 1;
            over -= 1;
        }
        for (at, column) in self.columns.iter().enumerate().filter(|(_, column)| column.shortens) {
            for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(at)) {
                if width(cell) > column.width {
                    *cell = shortened(cell, column.width);
                }
            }
        }
        // A heading is never shortened.
        for column in &mut self.columns {
            column.width = column.width.max(column.name.width());
        }
    }
}

/// Columns of the terminal that a line may take; `None` where the output is not a terminal.
fn terminal_width() -> Option<usize> {
    // On Windows, a line of the full width can wrap.
    let (Width(width), _) = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(width).saturating_sub(1).max(20))
}

/// Columns that a text takes on a terminal.
fn width(text: &str) -> usize {
    if text.contains('\u{1b}') { anstream::adapter::strip_str(text).to_string().width() } else { text.width() }
}

/// `text` without its middle, so that it takes at most `most` columns. Twice as much is left of the end, which has the file
/// name.
fn shortened(text: &str, most: usize) -> String {
    if text.contains('\u{1b}') {
        return text.to_owned();
    }
    let head = (most - 1) / 3;
    let start = take(text.chars(), head);
    let end: String = take(text.chars().rev(), most - 1 - head).chars().rev().collect();
    format!("{start}…{end}")
}

/// The characters that fit into `most` columns.
fn take(chars: impl Iterator<Item = char>, most: usize) -> String {
    let mut left = most;
    let fits = |c: &char| match left.checked_sub(c.width().unwrap_or(0)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    chars.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let columns = [("State", Align::Left), ("AppID", Align::Left), ("Name", Align::Left), ("Path", Align::Left)];
        let mut grid = Grid::new(&columns).drops(&["AppID"]).shortens(&["Path"]).stand_in("AppID", "Name");
        for (name, path) in
            [("Notepad", r"C:\Users\sam\Documents\Notes\garden.txt"), ("-", r"D:\写真\二〇二四年\海と山の写真.jpg")]
        {
            grid.row(vec![paint(HEAD, "ok"), "9b9cdc69c1c24e2b".to_owned(), name.to_owned(), path.to_owned()]);
        }
        grid
    }

    #[test]
    fn a_table_that_is_not_on_a_terminal_has_its_full_width() {
        let text = anstream::adapter::strip_str(&grid().render_in(None)).to_string();
        assert_eq!(
            text.lines().nth(1),
            Some(r"ok     9b9cdc69c1c24e2b  Notepad  C:\Users\sam\Documents\Notes\garden.txt")
        );
    }

    #[test]
    fn columns_go_by_rank_and_texts_are_shortened_until_no_row_wraps() {
        for available in 33..100 {
            let text = anstream::adapter::strip_str(&grid().render_in(Some(available))).to_string();
            assert!(text.lines().all(|line| line.width() <= available), "{available}\n{text}");
        }
        let text = anstream::adapter::strip_str(&grid().render_in(Some(45))).to_string();
        assert_eq!(text.lines().nth(1), Some(r"ok     Notepad           C:\Use…es\garden.txt"));
        // Without its column, an AppID takes the place of an unknown name.
        assert!(text.lines().nth(2).unwrap().starts_with("ok     9b9cdc69c1c24e2b  "), "{text}");
    }

    #[test]
    fn a_heading_is_not_shortened_and_its_column_stays_aligned() {
        let mut grid = Grid::new(&[("Application", Align::Left), ("Size", Align::Right)]).shortens(&["Application"]);
        grid.row(vec!["Microsoft Excel".to_owned(), "1 B".to_owned()]);
        let text = anstream::adapter::strip_str(&grid.render_in(Some(14))).to_string();
        assert_eq!(text, "Application  Size\nMi…Excel      1 B\n");
    }
}
