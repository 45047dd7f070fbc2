//! What is to change in a jump list: pure functions from a list and options to a plan, which holds what goes, why,
//! and the whole new file in memory, already checked. A plan can be shown, thrown away or carried out.

mod identity;
mod ids;
mod made_link;
mod merge;
mod prune;
mod rebuild;
mod repair;

pub use merge::{Input, Merge, merge};
pub use prune::{By, Presence, PruneRules, Reason, prune};
pub use rebuild::RebuildError;
pub use repair::{Repair, RepairOptions, empty_list, repair};

use crate::cost::Cost;
use crate::format::text::Utf16;
use crate::model::{FUTURE_VERSIONS, JumpList, Unseen};

/// Why a list cannot be planned for.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
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
    #[error("{0}")]
    Hopeless(String),
    /// The new file could not be built, or is not what the plan calls for.
    #[error(transparent)]
    Rebuild(#[from] RebuildError),
}

/// Refuses what is not a jump list of a supported version.
fn refuse_unsupported(list: &JumpList<'_>) -> Result<(), PlanError> {
    match list.header {
        Some(header) if !header.is_known_version() && FUTURE_VERSIONS.contains(&header.version) => {
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
    /// The size of a list as it stands.
    pub fn of(list: &JumpList<'_>) -> Self {
        let (entries, pinned) = (list.entries.len(), list.pinned());
        Self { entries, pinned, bytes: list.compound.file_size(), cost: Cost::of(list) }
    }
}

/// Something that a plan does, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What was wrong, and what is done; as it follows the entry's name, if it is about one.
    pub what: String,
    /// The entry that it is about; none if it is about the file.
    pub entry_id: Option<u64>,
    /// The path of that entry.
    pub path: Option<String>,
    /// Whether that entry is pinned.
    pub pinned: bool,
    /// Whether something is lost with it: an entry, a link, another stream.
    pub lost: bool,
}

/// An entry that goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped<'c> {
    /// Its id.
    pub id: u64,
    /// Its path.
    pub path: Utf16<'c>,
    /// Whether it is pinned.
    pub pinned: bool,
    /// The rule that drops it; the first, if several do.
    pub reason: Reason,
}

/// A change to a list, ready to be carried out.
#[derive(Debug)]
pub struct Plan<'c> {
    /// What goes, in the order of the list.
    pub dropped: Vec<Dropped<'c>>,
    /// The list as it stands.
    pub before: Size,
    /// The list as it will be.
    pub after: Size,
    /// The new file, checked against the plan.
    pub bytes: Vec<u8>,
}
