//! What is to change in a jump list: pure functions from a list and options to a plan, which holds what goes, why,
//! and the whole new file in memory, already checked. A plan can be shown, thrown away or carried out.
//!
//! ```
//! use jlfix::{JumpList, PruneRules};
//!
//! let list = JumpList::open("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
//! let plan = list.prune(&PruneRules::new().keep(5))?;
//! for entry in &plan.dropped {
//!     println!("{}: {}", entry.path, entry.reason);
//! }
//! let new_file: Vec<u8> = plan.bytes.expect("entries are dropped");
//! # assert!(new_file.len() < list.bytes().len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod dest_list;
pub(crate) mod identity;
mod ids;
mod made_link;
mod merge;
#[cfg(feature = "pins")]
pub mod pins;
mod prune;
mod rebuild;
mod repair;

pub use merge::{Input, Merge, merge};
pub use prune::{DropReason, KeepBy, MatchField, PruneRules, TargetStatus, prune};
pub use rebuild::RebuildError;
pub use repair::{Repair, RepairOptions, empty_list, repair};

use crate::cost::Cost;
use crate::format::destlist;
use crate::format::text::Utf16;
use crate::model::{AutomaticList, Unseen};

/// Why a list cannot be planned for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The file is a custom list or a link: nothing is planned for these.
    #[error("not an automatic list: need a compound file with a header")]
    NotAnAutomaticList,
    /// The list is damaged in a way that a change would make final.
    #[error("{0}")]
    Damaged(String),
    /// Entries or pins that the list does not show would be lost; a repair may recover them.
    #[error("{0}")]
    Unseen(Unseen),
    /// The DestList has a format version that is not supported.
    #[error("DestList format version {0} is not supported; 1 to 6 are")]
    UnsupportedVersion(u32),
    /// The compound file is not a jump list.
    #[error("not a jump list: it has no DestList and no link, but other streams")]
    NotAJumpList,
    /// Nothing is left in the file that could be saved.
    #[error("{why}")]
    NothingLeft {
        /// What is missing.
        why: String,
        /// How many entries are left that only lack a link; [`RepairOptions::keep_linkless`] keeps them.
        linkless: usize,
    },
    /// The new file could not be built, or is not what the plan calls for.
    #[error(transparent)]
    Rebuild(#[from] RebuildError),
}

/// Refuses what is not a jump list of a supported version.
fn refuse_unsupported(list: &AutomaticList<'_>) -> Result<(), PlanError> {
    match list.header {
        Some(header) if !header.is_known_version() && header.is_plausible_version() => {
            Err(PlanError::UnsupportedVersion(header.version))
        }
        None if list.is_foreign() => Err(PlanError::NotAJumpList),
        _ => Ok(()),
    }
}

/// What counts in a list, before or after.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// Entries.
    pub entries: usize,
    /// Pinned entries among them.
    pub pinned: usize,
    /// Bytes of the file.
    pub bytes: u64,
    /// What a click costs.
    pub cost: Cost,
}

impl Size {
    /// The size of a list as it is.
    pub fn of(list: &AutomaticList<'_>) -> Self {
        let (entries, pinned) = (list.entries.len(), list.pinned());
        Self { entries, pinned, bytes: list.compound.file_size(), cost: Cost::of(list) }
    }
}

/// Something that a plan does, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What was wrong, and what is done; as it follows the entry's name, if it is about one.
    pub what: String,
    /// The entry that it is about; `None` if it is about the file.
    pub entry_id: Option<u64>,
    /// The path of that entry.
    pub path: Option<String>,
    /// Whether that entry is pinned.
    pub pinned: bool,
    /// Whether something is lost with it: an entry, a link, another stream.
    pub lost: bool,
}

/// An entry that a prune rule selects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectedEntry<'c> {
    /// The entry's id.
    pub id: u64,
    /// The entry's path.
    pub path: Utf16<'c>,
    /// Whether the entry is pinned.
    pub pinned: bool,
    /// The rule that selects it, and the field that the rule looked at; the first rule, if several do.
    pub reason: DropReason,
}

impl<'c> SelectedEntry<'c> {
    fn new(entry: &destlist::Entry<'c>, reason: DropReason) -> Self {
        Self { id: entry.id, path: entry.path, pinned: entry.is_pinned(), reason }
    }
}

/// A prune of one list, ready to be written.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Plan<'c> {
    /// The entries that are dropped, in the order of the list.
    pub dropped: Vec<SelectedEntry<'c>>,
    /// Pinned entries that a drop rule selects and that are kept because they are pinned.
    pub kept_pins: Vec<SelectedEntry<'c>>,
    /// Ids given to [`PruneRules::ids`] that no entry has, in ascending order.
    pub unknown_ids: Vec<u64>,
    /// The list before the change.
    pub before: Size,
    /// The list after the change; the same as `before` if nothing changes.
    pub after: Size,
    /// The new file, checked against the plan; `None` if nothing changes.
    pub bytes: Option<Vec<u8>>,
}
