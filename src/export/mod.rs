//! The formats of examiners' other tools: one function per format, from rows to bytes. Nothing here prints, and
//! nothing is dropped: an entry without a link, a link without an entry and a link that cannot be read are rows too.
//!
//! A row borrows from the list it is of, and texts are decoded as they are written, so that many files cost little more
//! than reading them.
//!
//! ```
//! use jlfix::JumpList;
//! use jlfix::export::{self, SourceFile};
//! use jlfix::report::{FileFacts, FileRow, ReportOptions};
//!
//! let list = JumpList::open("samples/CustomDestinations/1ced32d74a95c7bc.customDestinations-ms")?;
//! let names = jlfix::AppNames::default();
//! let facts = FileFacts::new("1ced32d74a95c7bc.customDestinations-ms", list.bytes().len() as u64);
//! let row = FileRow::new(&facts, list.source(), list.automatic(), &ReportOptions::new(&names));
//! let file = SourceFile::new(&facts, list.source(), list.automatic(), &row, Default::default());
//! let mut out = Vec::new();
//! export::csv_header(&mut out);
//! export::csv(&file, &mut out);
//! assert_eq!(out.split(|byte| *byte == b'\n').count(), 8);
//! # Ok::<(), jlfix::Error>(())
//! ```

mod bodyfile;
mod date;
mod dump;
mod field;
mod flat;
mod jlecmd;
mod row;
mod timesketch;

pub use bodyfile::bodyfile;
pub use date::{BadDateFormat, DateFormat};
pub use dump::{DumpedLink, dumped_links};
pub use flat::{COLUMNS, csv, csv_header, jsonl};
pub use jlecmd::{
    AUTOMATIC_COLUMNS, CUSTOM_COLUMNS, automatic as jlecmd_automatic, automatic_header as jlecmd_automatic_header,
    custom as jlecmd_custom, custom_header as jlecmd_custom_header,
};
pub use row::{Row, SourceFile, rows};
pub use timesketch::timesketch;

/// A cell for CSV: NUL characters, which many readers take for the end of the text, become U+2400 (␀).
pub fn visible_nul(cell: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if !cell.contains(&0) {
        return std::borrow::Cow::Borrowed(cell);
    }
    let mut out = Vec::with_capacity(cell.len().saturating_add(16));
    for byte in cell {
        match byte {
            0 => out.extend_from_slice("\u{2400}".as_bytes()),
            byte => out.push(*byte),
        }
    }
    std::borrow::Cow::Owned(out)
}
