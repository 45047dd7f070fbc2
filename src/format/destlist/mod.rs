//! The `DestList` stream: a header, then the entries from the most recent access to the oldest.
//!
//! Decoding keeps every byte, known or not, so that encoding gives back exactly what was read: a list that
//! loses entries must keep the others as Windows wrote them.
//!
//! ```
//! use jlfix::format::destlist::Entry;
//!
//! # let list = jlfix::JumpList::open("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
//! let raw: &[u8] = list.entries().next().expect("an entry").dest.raw;
//! let entry = Entry::decode(raw, 0, 4).expect("a complete entry");
//! let mut bytes = Vec::new();
//! entry.encode(&mut bytes);
//! assert!(entry.checksum_ok() && bytes == raw);
//! # Ok::<(), jlfix::Error>(())
//! ```

mod resync;
pub(crate) mod total;
mod version;

pub use version::Version;
pub(crate) use version::{Layout, TotalRule};

pub(crate) use resync::is_likely_access;
pub use resync::{Found, Resynced, Soundness, resync};
pub(crate) use resync::{certain_entries, checks_at, find_entries, is_text, is_whole};

use super::checksum::crc64;
use super::guid::Guid;
use super::text::CodePage;
use super::text::{Text, Utf16, until_nul};
use super::time::FileTime;
use crate::bytes::{Bytes, Short};

/// Bytes of the header.
pub const HEADER_SIZE: usize = 32;
/// Bytes of an entry that its checksum covers, the checksum itself included (measured, docs/format.md).
pub const CHECKED_SIZE: usize = 112;

/// The first 32 bytes of a DestList.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Header {
    /// Format version: 1 (Windows 7 to 8.1), 2 to 4 (Windows 10 and 11), 5 and 6 (Windows 11).
    pub version: u32,
    /// Number of entries that the header claims.
    pub count: u32,
    /// Number of pinned entries that the header claims.
    pub pinned: u32,
    /// Sum of the entries' scores (version 3 and later), or points for entries added (version 1).
    pub total: f32,
    /// The last entry id that was given out; never given again.
    pub last_id: u64,
    /// How many times the list was acted on: entries added, accesses, removals.
    pub actions: u64,
}

impl Header {
    pub(crate) fn decode(bytes: &mut Bytes<'_>) -> Result<Self, Short> {
        Ok(Self {
            version: bytes.u32("DestList version")?,
            count: bytes.u32("DestList entry count")?,
            pinned: bytes.u32("DestList pinned count")?,
            total: bytes.f32("DestList total score")?,
            last_id: bytes.u64("DestList last id")?,
            actions: bytes.u64("DestList actions")?,
        })
    }

    /// The 32 bytes of this header.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.version.to_le_bytes());
        out.extend_from_slice(&self.count.to_le_bytes());
        out.extend_from_slice(&self.pinned.to_le_bytes());
        out.extend_from_slice(&self.total.to_le_bytes());
        out.extend_from_slice(&self.last_id.to_le_bytes());
        out.extend_from_slice(&self.actions.to_le_bytes());
    }

    /// True for the formats that are known: 1 to 6.
    pub fn is_known_version(&self) -> bool {
        Version::from(self.version).supported()
    }

    /// True for a version that Windows writes or a later Windows may write. Another one is damage.
    pub(crate) fn is_plausible_version(&self) -> bool {
        Version::from(self.version).is_plausible()
    }

    /// Bytes of the shortest entry in this format.
    pub fn smallest_entry(&self) -> usize {
        Version::from(self.version).entry_size()
    }
}

/// True for the formats whose entries have a rank, interactions and a property store.
pub fn has_rank(version: u32) -> bool {
    Version::from(version).layout() == Layout::Long
}

/// What format 2 added to an entry before its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Place by use, from 0; -1 where the application's list has none. Not covered by the checksum.
    pub rank: i32,
    /// Number of opens.
    pub interactions: u32,
    /// 0 in every real file.
    pub reserved: u64,
}

/// One entry: a destination that was used or pinned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry<'a> {
    /// Where the entry starts in the DestList stream, in bytes.
    pub offset: usize,
    /// All its bytes as they are in the stream.
    pub raw: &'a [u8],
    /// CRC-64 that the entry claims.
    pub checksum: u64,
    /// Volume of the target (droid).
    pub volume_id: Guid,
    /// Object id of the target (droid).
    pub object_id: Guid,
    /// Volume where the target was made.
    pub birth_volume_id: Guid,
    /// Object id that the target was made with.
    pub birth_object_id: Guid,
    /// Host name, 16 bytes zero-padded, ANSI (others have seen UTF-16).
    pub host: [u8; 16],
    /// Entry id; the link is the stream of that name in hex.
    pub id: u64,
    /// Points for use.
    pub score: f32,
    /// Last access.
    pub last_access: FileTime,
    /// -1 is not pinned, otherwise the place among the pinned, from 0.
    pub pin: i32,
    /// Rank and interactions; none in format 1.
    pub usage: Option<Usage>,
    /// The path, or a name for what is no file (`knownfolder:`, `::{GUID}`, a URL).
    pub path: Utf16<'a>,
    /// Serialized property store (MS-PROPSTORE) after the path; empty in most files and in format 1.
    pub property_store: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Decodes the entry at the start of `data`, which is at `offset` of the DestList.
    ///
    /// # Errors
    /// What was truncated.
    pub fn decode(data: &'a [u8], offset: usize, version: u32) -> Result<Self, Short> {
        let mut bytes = Bytes::at_base(data, offset as u64);
        let mut entry = Self::fixed(&mut bytes, offset, version)?;
        let units = bytes.u16("entry path length")?;
        entry.path = Utf16(bytes.take("entry path", usize::from(units).saturating_mul(2))?);
        if has_rank(version) {
            let size = bytes.u32("entry property store size")?;
            entry.property_store = bytes.take("entry property store", usize::try_from(size).unwrap_or(usize::MAX))?;
        }
        entry.raw = data.get(..bytes.position()).unwrap_or(data);
        Ok(entry)
    }

    /// Decodes what is before the length of the path.
    fn fixed(bytes: &mut Bytes<'a>, offset: usize, version: u32) -> Result<Self, Short> {
        Ok(Self {
            offset,
            raw: &[],
            checksum: bytes.u64("entry checksum")?,
            volume_id: Guid(bytes.array("entry volume id")?),
            object_id: Guid(bytes.array("entry object id")?),
            birth_volume_id: Guid(bytes.array("entry birth volume id")?),
            birth_object_id: Guid(bytes.array("entry birth object id")?),
            host: bytes.array("entry host name")?,
            id: bytes.u64("entry id")?,
            score: bytes.f32("entry score")?,
            last_access: FileTime(bytes.u64("entry last access")?),
            pin: bytes.i32("entry pin")?,
            usage: if has_rank(version) {
                Some(Usage {
                    rank: bytes.i32("entry rank")?,
                    interactions: bytes.u32("entry interactions")?,
                    reserved: bytes.u64("entry reserved field")?,
                })
            } else {
                None
            },
            path: Utf16(&[]),
            property_store: &[],
        })
    }

    /// The bytes of this entry from its fields. A path of more than 65,535 units is cut there, as its length
    /// field cannot say more.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.checksum.to_le_bytes());
        for id in [self.volume_id, self.object_id, self.birth_volume_id, self.birth_object_id] {
            out.extend_from_slice(&id.0);
        }
        out.extend_from_slice(&self.host);
        out.extend_from_slice(&self.id.to_le_bytes());
        out.extend_from_slice(&self.score.to_le_bytes());
        out.extend_from_slice(&self.last_access.0.to_le_bytes());
        out.extend_from_slice(&self.pin.to_le_bytes());
        if let Some(usage) = self.usage {
            out.extend_from_slice(&usage.rank.to_le_bytes());
            out.extend_from_slice(&usage.interactions.to_le_bytes());
            out.extend_from_slice(&usage.reserved.to_le_bytes());
        }
        let units = u16::try_from(self.path.0.len() / 2).unwrap_or(u16::MAX);
        out.extend_from_slice(&units.to_le_bytes());
        out.extend_from_slice(self.path.0.get(..usize::from(units).saturating_mul(2)).unwrap_or_default());
        if self.usage.is_some() {
            let size = u32::try_from(self.property_store.len()).unwrap_or(u32::MAX);
            out.extend_from_slice(&size.to_le_bytes());
            out.extend_from_slice(self.property_store);
        }
    }

    /// The checksum that these fields call for (measured, docs/format.md).
    pub fn computed_checksum(&self) -> u64 {
        let mut bytes = Vec::with_capacity(self.raw.len());
        self.encode(&mut bytes);
        checksum_of(&bytes).unwrap_or_default()
    }

    /// True if something was written over the path: a NUL in it, other than one at its end, which a program may write.
    pub fn is_path_overwritten(&self) -> bool {
        self.path.until_nul().0.len().saturating_add(2) < self.path.0.len()
    }

    /// True if the checksum on disk is the one that the entry's first 112 bytes call for.
    pub fn checksum_ok(&self) -> bool {
        checksum_of(self.raw) == Some(self.checksum)
    }

    /// True if the entry is pinned.
    pub fn is_pinned(&self) -> bool {
        self.pin != -1
    }

    /// The rank, where the format has one and the list uses it.
    pub fn rank(&self) -> Option<i32> {
        self.usage.map(|usage| usage.rank).filter(|rank| *rank != -1)
    }

    /// The host name up to its padding. A zero second byte means UTF-16.
    pub fn host_name(&self) -> Text<'_> {
        match self.host {
            [first, 0, ..] if first != 0 && self.host.iter().skip(2).any(|byte| *byte != 0) => {
                Text::Wide(Utf16(&self.host).until_nul())
            }
            _ => Text::Ansi(until_nul(&self.host), CodePage::default()),
        }
    }

    /// The name of the stream that holds this entry's link.
    pub fn stream_name(&self) -> String {
        format!("{:x}", self.id)
    }
}

/// The checksum that the first 112 bytes of `entry` call for, if there are so many.
pub fn checksum_of(entry: &[u8]) -> Option<u64> {
    Some(crc64(&[&[0; 8], entry.get(8..CHECKED_SIZE)?]))
}

/// A decoded DestList.
#[derive(Debug, Clone, PartialEq)]
pub struct DestList<'a> {
    /// The header.
    pub header: Header,
    /// Entries in the order of the stream: the most recent first in a healthy list.
    pub entries: Vec<Entry<'a>>,
    /// What is after the last entry that could be decoded; empty in a healthy list.
    pub trailing: &'a [u8],
    /// Why decoding stopped before the end of the stream, if it did.
    pub cut: Option<Short>,
}

impl<'a> DestList<'a> {
    /// Decodes a whole stream. Entries are taken as they follow one another, whatever the header counts, and
    /// decoding stops at the first that is not all there.
    ///
    /// # Errors
    /// The header is truncated.
    pub fn decode(data: &'a [u8]) -> Result<Self, Short> {
        let mut bytes = Bytes::new(data);
        let header = Header::decode(&mut bytes)?;
        let most = bytes.left() / header.smallest_entry();
        let mut entries = Vec::with_capacity(most.min(usize::try_from(header.count).unwrap_or(usize::MAX)));
        let mut cut = None;
        while bytes.left() > 0 {
            match Entry::decode(bytes.rest(), bytes.position(), header.version) {
                Ok(entry) => {
                    bytes.take("entry", entry.raw.len())?;
                    entries.push(entry);
                }
                Err(short) => {
                    cut = Some(short);
                    break;
                }
            }
        }
        Ok(Self { header, entries, trailing: bytes.rest(), cut })
    }

    /// The stream's bytes: the exact inverse of [`DestList::decode`].
    pub fn encode(&self) -> Vec<u8> {
        let size: usize = self.entries.iter().map(|entry| entry.raw.len()).fold(HEADER_SIZE, usize::saturating_add);
        let mut out = Vec::with_capacity(size.saturating_add(self.trailing.len()));
        self.header.encode(&mut out);
        for entry in &self.entries {
            entry.encode(&mut out);
        }
        out.extend_from_slice(self.trailing);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A stream whose entries are well placed, so that arbitrary fields decode as entries and not as a cut.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let entry = (
            prop::collection::vec(any::<u8>(), 130),
            prop::collection::vec(any::<u16>(), 0..40),
            prop::collection::vec(any::<u8>(), 0..60),
        );
        (
            0_u32..8,
            prop::collection::vec(any::<u8>(), 28),
            prop::collection::vec(entry, 0..6),
            prop::collection::vec(any::<u8>(), 0..100),
        )
            .prop_map(|(version, header, entries, tail)| {
                let mut out = version.to_le_bytes().to_vec();
                out.extend(header);
                for (fixed, path, store) in entries {
                    let fixed_size = if has_rank(version) { 128 } else { 112 };
                    out.extend(&fixed[..fixed_size]);
                    out.extend((path.len() as u16).to_le_bytes());
                    out.extend(path.iter().flat_map(|unit| unit.to_le_bytes()));
                    if has_rank(version) {
                        out.extend((store.len() as u32).to_le_bytes());
                        out.extend(store);
                    }
                }
                out.extend(tail);
                out
            })
    }

    proptest! {
        #[test]
        fn encoding_gives_back_the_bytes_that_were_decoded(data in stream()) {
            let list = DestList::decode(&data).unwrap();
            prop_assert_eq!(list.encode(), data);
        }

        #[test]
        fn any_bytes_decode_or_say_what_is_cut(data in prop::collection::vec(any::<u8>(), 0..600)) {
            match DestList::decode(&data) {
                Ok(list) => {
                    prop_assert_eq!(&list.encode(), &data);
                    prop_assert_eq!(list.cut.is_some(), !list.trailing.is_empty());
                }
                Err(short) => prop_assert!(short.need > short.have),
            }
        }
    }
}
