//! Entries, bytes and reads of a list, before and after a change.

use jlfix::cost::Cost;
use jlfix::model::{AutomaticList, Kind, Source};
use jlfix::plan::Size;
use jlfix::report::CostRow;
use serde::Serialize;

use super::context::Context;

/// Entries, bytes and reads of a file, before or after.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Figures {
    pub(crate) entries: usize,
    pub(crate) pinned: usize,
    pub(crate) bytes: u64,
    pub(crate) cost: CostRow,
}

impl From<Size> for Figures {
    fn from(size: Size) -> Self {
        Self { entries: size.entries, pinned: size.pinned, bytes: size.bytes, cost: size.cost.into() }
    }
}

impl Figures {
    /// The figures of a file's content; nothing if it is no jump list.
    pub(crate) fn of(data: &[u8], hint: Option<Kind>, context: &Context) -> Option<Self> {
        let source = Source::read(data, hint, &context.read)?;
        let rest = |entries: usize| {
            let size = Size { entries, pinned: 0, bytes: data.len() as u64, cost: Cost::default() };
            Self::from(size)
        };
        Some(match &source {
            Source::Automatic(Ok(compound)) => Size::of(&AutomaticList::read(compound)).into(),
            Source::Automatic(Err(_)) => rest(0),
            Source::Custom(custom) => rest(custom.links().count()),
            Source::Link(..) => rest(1),
        })
    }
}
