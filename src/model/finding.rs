//! Findings: what can be wrong with a jump list, with stable codes, severity and remedy.

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Serialize, Serializer};

/// Severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Info,
    /// Out of step, nothing lost: the file is `stale`.
    Warning,
    /// Something is lost or contradicts itself: the file is `damaged`.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// The command that repairs a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Fix {
    /// `jlfix repair`
    Repair,
    /// `jlfix prune`
    Prune,
    /// `jlfix restore`, from a backup
    Restore,
}

impl Fix {
    /// The command's name.
    pub fn command(self) -> &'static str {
        match self {
            Self::Repair => "repair",
            Self::Prune => "prune",
            Self::Restore => "restore",
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $severity:ident, $fix:expr, $title:literal;)*) => {
        /// The kinds of finding. A code never changes its meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// Every code, in order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The code as it is printed.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Severity.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }

            /// What repairs it.
            pub fn fix(self) -> Option<Fix> {
                match self { $(Self::$name => $fix,)* }
            }

            /// What it means, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }
        }
    };
}

codes! {
    /// A header field of the compound file cannot be right.
    Header = "JL101", Error, Some(Fix::Repair), "a field of the compound file's header cannot be right";
    /// FAT or DIFAT sectors are missing or contradict one another.
    Fat = "JL102", Error, Some(Fix::Repair), "the FAT is incomplete or contradicts itself";
    /// The directory is truncated, has no root or contradicts itself.
    Directory = "JL103", Error, Some(Fix::Repair), "the directory is truncated, has no root or contradicts itself";
    /// The mini FAT or the mini stream is truncated.
    MiniStream = "JL104", Error, Some(Fix::Repair), "the mini FAT or the mini stream is truncated";
    /// A stream is not all there.
    StreamCut = "JL105", Error, Some(Fix::Repair), "a stream is not all there";
    /// A chain loops.
    Loop = "JL106", Error, Some(Fix::Repair), "a chain of sectors comes back to itself";
    /// Two chains share a sector.
    CrossLinked = "JL107", Error, Some(Fix::Repair), "two streams claim one sector";
    /// A directory entry that the tree does not reach.
    Unreachable = "JL108", Warning, Some(Fix::Repair), "the directory's tree does not lead to a stream, so Windows does not see it";
    /// Two streams of one name.
    DuplicateName = "JL109", Error, Some(Fix::Repair), "two streams have one name";
    /// Reading stopped at a limit.
    Limit = "JL110", Error, None, "the streams claim more bytes than a file of this size can hold";
    /// Something was found outside what the file's own tables lead to.
    Recovered = "JL111", Error, Some(Fix::Repair), "a stream or entry was recovered from outside its chain";
    /// The compound file is none of a jump list.
    NotAJumpList = "JL112", Warning, None, "the compound file is not a jump list: it has other streams and no DestList or link";

    /// The header's entry count is wrong.
    Count = "JL201", Error, Some(Fix::Repair), "the header counts other than the entries that are there";
    /// The header's pinned count is wrong.
    PinnedCount = "JL202", Warning, Some(Fix::Repair), "the header counts other than the pinned entries that are there";
    /// The header's total score is wrong.
    Total = "JL203", Warning, Some(Fix::Repair), "the total score is not the sum of the entries' scores";
    /// The ranks are no permutation.
    Ranks = "JL204", Warning, Some(Fix::Repair), "the ranks are not 0 to n-1, each once";
    /// Entries are out of order.
    Order = "JL205", Warning, Some(Fix::Repair), "the entries are not in descending order of last access";
    /// An entry's checksum is wrong.
    Checksum = "JL206", Error, Some(Fix::Repair), "an entry's checksum is wrong";
    /// An entry has no link.
    NoLink = "JL207", Error, Some(Fix::Repair), "an entry has no link";
    /// A link has no entry.
    OrphanLink = "JL208", Warning, Some(Fix::Repair), "a link belongs to no entry";
    /// An id occurs twice.
    DuplicateId = "JL209", Error, Some(Fix::Repair), "an entry id is used twice";
    /// Bytes are left over after the last entry.
    Trailing = "JL210", Warning, Some(Fix::Repair), "bytes are left over after the last entry";
    /// The DestList or one of its entries is truncated.
    EntryCut = "JL211", Error, Some(Fix::Repair), "the DestList or an entry of it is truncated";
    /// The header's last id is below an entry's.
    LastId = "JL212", Warning, Some(Fix::Repair), "the last id given is below an id in use";
    /// The format version is unknown.
    Version = "JL213", Warning, None, "the DestList's format version is not supported";
    /// A link, the DestList or its property store is named otherwise than Windows names it.
    StreamName = "JL214", Warning, Some(Fix::Repair), "a stream of the list is named otherwise than Windows names it";
    /// There are links and no DestList.
    NoDestList = "JL215", Error, Some(Fix::Repair), "there are links but no DestList";
    /// Two pinned entries have one place.
    PinTwice = "JL216", Warning, Some(Fix::Repair), "two pinned entries have one place";
    /// A time is past the year 9999.
    Time = "JL217", Warning, Some(Fix::Repair), "a time is out of range: past the year 9999";

    /// A link cannot be read at all.
    LinkUnreadable = "JL301", Error, Some(Fix::Repair), "a link cannot be read";
    /// Part of a link cannot be read.
    LinkPart = "JL302", Warning, None, "part of a link cannot be read";
    /// Bytes follow the end of a link.
    LinkSlack = "JL303", Info, None, "bytes follow the end of a link";
    /// A link names two targets.
    LinkTargets = "JL304", Warning, None, "the item ID list and the LinkInfo of a link name different targets";
    /// White space hides a part of the arguments.
    LinkPadding = "JL305", Info, None, "the arguments of a link are padded with white space, which hides what follows";

    /// The header is truncated or has an unknown version.
    CustomHeader = "JL401", Error, Some(Fix::Restore), "the header of the custom destinations is truncated or unknown";
    /// A category is of an unknown type or truncated.
    CustomCategory = "JL402", Error, Some(Fix::Restore), "a category is of an unknown type or truncated";
    /// A link among the custom destinations cannot be read.
    CustomLink = "JL403", Error, Some(Fix::Restore), "a link among the custom destinations cannot be read";
    /// The footer is not where a category ends.
    CustomFooter = "JL404", Error, Some(Fix::Restore), "the footer is not where a category ends";
    /// Bytes follow the last footer.
    CustomSlack = "JL405", Info, None, "bytes follow the last footer";
    /// Fewer categories than the header counts.
    CustomCount = "JL406", Error, Some(Fix::Restore), "there are fewer categories than the header counts";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which kind.
    pub code: Code,
    /// What, where, need, have.
    pub message: String,
    /// The entry it is about.
    pub entry_id: Option<u64>,
    /// Where in the file, in bytes.
    pub offset: Option<u64>,
    /// The command that corrects it; `None` where no command does.
    pub fix: Option<Fix>,
}

impl Finding {
    /// A finding about the file as a whole.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), entry_id: None, offset: None, fix: code.fix() }
    }

    /// The same, about an entry.
    pub fn entry(self, id: u64) -> Self {
        Self { entry_id: Some(id), ..self }
    }

    /// The same, at a place in the file.
    pub fn at(self, offset: u64) -> Self {
        Self { offset: Some(offset), ..self }
    }

    /// The same, in a file that no command corrects.
    pub fn without_fix(self) -> Self {
        Self { fix: None, ..self }
    }

    /// Its severity.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

#[cfg(feature = "serde")]
impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[cfg(feature = "serde")]
        use serde::ser::SerializeStruct;
        let mut row = serializer.serialize_struct("finding", 6)?;
        row.serialize_field("code", &self.code)?;
        row.serialize_field("severity", &self.code.severity())?;
        row.serialize_field("message", &self.message)?;
        row.serialize_field("entry_id", &self.entry_id)?;
        row.serialize_field("offset", &self.offset)?;
        row.serialize_field("fix", &self.fix)?;
        row.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_findings_lists_every_code_as_it_is() {
        let page = include_str!("../../docs/findings.md");
        for code in Code::ALL {
            let fix = code.fix().map(|fix| format!("`{}`", fix.command())).unwrap_or_default();
            let row = format!("| {code} | {} | {} | {fix} |", code.severity(), code.title());
            assert!(page.contains(&row), "docs/findings.md lacks the row\n{row}");
        }
        assert_eq!(page.matches("\n| JL").count(), Code::ALL.len());
    }
}
