//! The format versions of a DestList, and what differs between them.
//!
//! Every `match` on a [`Version`] in the library lists all versions, so that a new one does not compile until each place
//! has decided.

/// A format version of the DestList.
///
/// ```
/// use jlfix::format::destlist::Version;
///
/// let version = Version::from(4);
/// assert_eq!((version, version.entry_size(), version.supported()), (Version::V4, 134, true));
/// assert!(!Version::from(7).supported());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Version {
    /// Windows 7, 8 and 8.1, Server 2012 R2.
    V1,
    /// Windows 10 (not measured).
    V2,
    /// Windows 10.
    V3,
    /// Windows 10 and 11.
    V4,
    /// Windows 11 22H2 (not measured).
    V5,
    /// Windows 11 23H2 and later.
    V6,
    /// Another number, not supported.
    Unknown(u32),
}

/// The layout of an entry (measured, docs/format.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Without rank, interactions and property store.
    Short,
    /// With them.
    Long,
}

/// The rule for the total score (measured, docs/format.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TotalRule {
    /// 1.0 for each entry that was ever added.
    Added,
    /// The sum of the scores.
    Sum,
    /// Not measured: whichever of the two the list follows.
    AsFound,
}

impl From<u32> for Version {
    fn from(number: u32) -> Self {
        match number {
            1 => Self::V1,
            2 => Self::V2,
            3 => Self::V3,
            4 => Self::V4,
            5 => Self::V5,
            6 => Self::V6,
            other => Self::Unknown(other),
        }
    }
}

impl Version {
    /// The version to assume where nothing shows it: that of most real lists with the long layout.
    pub const USUAL: Self = Self::V4;

    /// The number in the header.
    pub fn number(self) -> u32 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
            Self::V3 => 3,
            Self::V4 => 4,
            Self::V5 => 5,
            Self::V6 => 6,
            Self::Unknown(number) => number,
        }
    }

    /// The versions of Windows that write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1 => "Windows 7, 8 and 8.1",
            Self::V2 | Self::V3 => "Windows 10",
            Self::V4 => "Windows 10 and 11",
            Self::V5 => "Windows 11 22H2",
            Self::V6 => "Windows 11 23H2 and later",
            Self::Unknown(_) => "unknown",
        }
    }

    /// True if lists of this version can be changed.
    pub fn supported(self) -> bool {
        match self {
            Self::V1 | Self::V2 | Self::V3 | Self::V4 | Self::V5 | Self::V6 => true,
            Self::Unknown(_) => false,
        }
    }

    /// True for a number that Windows writes or a later Windows may write. Another one is damage.
    pub fn is_plausible(self) -> bool {
        match self {
            Self::V1 | Self::V2 | Self::V3 | Self::V4 | Self::V5 | Self::V6 => true,
            Self::Unknown(number) => (1..=15).contains(&number),
        }
    }

    /// Bytes of the shortest entry: no path, an empty property store.
    pub fn entry_size(self) -> usize {
        match self.layout() {
            Layout::Short => 114,
            Layout::Long => 134,
        }
    }

    /// Bytes of an entry before the length of its path.
    pub(crate) fn fixed_size(self) -> usize {
        match self.layout() {
            Layout::Short => 112,
            Layout::Long => 128,
        }
    }

    /// The layout of its entries. An unknown version is read as the nearest known one.
    pub(crate) fn layout(self) -> Layout {
        match self {
            Self::V1 | Self::Unknown(0) => Layout::Short,
            Self::V2 | Self::V3 | Self::V4 | Self::V5 | Self::V6 | Self::Unknown(_) => Layout::Long,
        }
    }

    /// The rule for its total score.
    pub(crate) fn total_rule(self) -> TotalRule {
        match self {
            Self::V1 | Self::Unknown(0) => TotalRule::Added,
            Self::V2 => TotalRule::AsFound,
            Self::V3 | Self::V4 | Self::V5 | Self::V6 | Self::Unknown(_) => TotalRule::Sum,
        }
    }
}
