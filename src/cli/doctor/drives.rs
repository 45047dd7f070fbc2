//! Entries whose targets are on drives that can make a menu wait: a removable drive has to spin up, a server has to answer.

use jlfix::report::{EntryRow, FileRow, LinkRow};

use super::lists::Looked;
use super::{Check, State, words};

/// How many lists the line names.
const NAMED: usize = 3;

/// Entries of a list on removable and remote drives.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SlowDrives {
    removable: usize,
    remote: usize,
    /// How many of both are pinned.
    pinned: usize,
}

impl SlowDrives {
    /// Counts by the links: the type of the volume, or a path on the network.
    pub(super) fn of(row: &FileRow<'_>) -> Self {
        let mut counts = Self::default();
        for entry in row.entries.iter().flatten() {
            let Some(link) = entry.link() else { continue };
            match where_is(link) {
                Some("removable") => counts.removable += 1,
                Some(_) => counts.remote += 1,
                None => continue,
            }
            let is_pinned = matches!(entry, EntryRow::Automatic(row) if row.pinned == Some(true));
            counts.pinned += usize::from(is_pinned);
        }
        counts
    }

    fn entries(self) -> usize {
        self.removable.saturating_add(self.remote)
    }
}

/// `removable` or `remote`; `None` for a drive that is always there.
fn where_is(link: &LinkRow<'_>) -> Option<&'static str> {
    let info = link.link.info.as_ref()?;
    match info.volume.map(|volume| volume.drive_type.word()) {
        Some("removable" | "cdrom") => Some("removable"),
        Some("remote") => Some("remote"),
        // A share of this machine has both; its local path comes first.
        None if info.network.is_some() => Some("remote"),
        _ => None,
    }
}

/// Which lists have entries on such drives.
pub(super) fn slow_drives(looked: &Looked) -> Check {
    let id = "slow_drives";
    let (mut removable, mut remote, mut pinned) = (0_usize, 0_usize, 0_usize);
    let mut names = Vec::new();
    for (name, path, counts) in looked.slow_drives() {
        removable = removable.saturating_add(counts.removable);
        remote = remote.saturating_add(counts.remote);
        pinned = pinned.saturating_add(counts.pinned);
        if counts.entries() > 0 {
            names.push(format!("{name} ({})", path.display()));
        }
    }
    if names.is_empty() {
        return Check::new(id, State::Fine, "No entry is on a removable drive or on a server");
    }
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.truncate(NAMED);
    let found = format!(
        "{} on a removable drive, {} on a server, {} of them pinned: a menu can wait for the drive to spin up or the server \
         to answer: {}{more}",
        words::count(removable, "entry"),
        words::number(remote as u64),
        words::number(pinned as u64),
        names.join(", ")
    );
    Check::new(id, State::Notice, found)
}
