//! GUIDs, and what a version-1 UUID says of the machine that made it.
//!
//! ```
//! use jlfix::Guid;
//!
//! let guid = Guid::parse("{B7179DD0-EF57-11EC-B142-000C29106787}").expect("a GUID");
//! assert_eq!(guid.to_string(), "b7179dd0-ef57-11ec-b142-000c29106787");
//! assert_eq!(guid.mac().expect("version 1").to_string(), "00:0c:29:10:67:87");
//! ```

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Serialize, Serializer};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

use super::text::Ascii;
use super::time::FileTime;

/// A GUID as it is on disk: the first three groups little-endian. Shown in lower case with dashes, no braces.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Guid(pub [u8; 16]);

impl Guid {
    /// All zero, which stands for "none".
    pub const ZERO: Self = Self([0; 16]);

    /// The GUID written `{d1}-{d2}-{d3}-{d4[0..2]}-{d4[2..8]}`.
    pub const fn new(d1: u32, d2: u16, d3: u16, d4: [u8; 8]) -> Self {
        let [a, b, c, d] = d1.to_le_bytes();
        let [e, f] = d2.to_le_bytes();
        let [g, h] = d3.to_le_bytes();
        let [i, j, k, l, m, n, o, p] = d4;
        Self([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p])
    }

    /// True if all bytes are zero.
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// The GUID, or `None` if it is all zero.
    pub fn non_zero(self) -> Option<Self> {
        (!self.is_zero()).then_some(self)
    }

    /// The digits as they are shown, as one number: the key of a table of GUIDs.
    pub fn number(&self) -> u128 {
        Uuid::from_bytes_le(self.0).as_u128()
    }

    /// Reads `00021401-0000-0000-c000-000000000046`, with or without braces, in any case.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(text);
        // The crate reads other forms too: 32 digits, a URN.
        let uuid = Uuid::try_parse(text).ok().filter(|_| text.len() == Hyphenated::LENGTH)?;
        Some(Self(uuid.to_bytes_le()))
    }

    /// True if this is a version-1 UUID (time and MAC address) of the usual variant.
    fn is_time_based(&self) -> bool {
        let [_, _, _, _, _, _, _, version, variant, ..] = self.0;
        version >> 4 == 1 && variant >> 6 == 0b10
    }

    /// The MAC address in a version-1 UUID: its last six bytes.
    pub fn mac(&self) -> Option<Mac> {
        let [.., a, b, c, d, e, f] = self.0;
        self.is_time_based().then_some(Mac([a, b, c, d, e, f]))
    }

    /// The time in a version-1 UUID. For an object id this is the boot-time sequence it was made in, not the
    /// moment of making.
    pub fn time(&self) -> Option<FileTime> {
        // From 1582-10-15 to 1601-01-01, in the 100 ns units that both count in.
        const UUID_EPOCH_BEFORE_FILETIME: u64 = 5_748_192_000_000_000;
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        let ticks = u64::from_le_bytes([a, b, c, d, e, f, g, h & 0x0F]);
        self.is_time_based().then_some(FileTime(ticks.checked_sub(UUID_EPOCH_BEFORE_FILETIME)?))
    }

    /// The clock sequence of a version-1 UUID, 14 bits.
    pub fn sequence(&self) -> Option<u16> {
        let [_, _, _, _, _, _, _, _, high, low, ..] = self.0;
        self.is_time_based().then_some(u16::from_be_bytes([high & 0x3F, low]))
    }
}

impl Guid {
    pub(crate) fn ascii(&self) -> Ascii<36> {
        let mut text = Ascii([0; Hyphenated::LENGTH]);
        Uuid::from_bytes_le(self.0).hyphenated().encode_lower(&mut text.0);
        text
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.ascii().as_str())
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(feature = "serde")]
impl Serialize for Guid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.ascii().serialize(serializer)
    }
}

/// A network card's address, shown `aa:bb:cc:dd:ee:ff`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    fn ascii(&self) -> Ascii<17> {
        let mut text = Ascii([b':'; 17]);
        for (at, byte) in self.0.into_iter().enumerate() {
            text.hex(at.saturating_mul(3), [byte]);
        }
        text
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.ascii().as_str())
    }
}

#[cfg(feature = "serde")]
impl Serialize for Mac {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.ascii().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guid_reads_back_as_it_is_shown_and_tells_its_machine() {
        let text = "b7179dd0-ef57-11ec-b142-000c29106787";
        let guid = Guid::parse(text).unwrap();
        assert_eq!(guid.to_string(), text);
        assert_eq!(Guid::parse("{B7179DD0-EF57-11EC-B142-000C29106787}"), Some(guid));
        assert_eq!(guid.mac().unwrap().to_string(), "00:0c:29:10:67:87");
        assert_eq!(guid.time().unwrap().to_string(), "2022-06-18T22:40:55.4614224Z");
        assert_eq!(guid.sequence(), Some(0x3142));
        assert_eq!(format!("{:032x}", guid.number()), text.replace('-', ""));
        assert_eq!(Guid::parse("0313f37a-d55c-4efd-b99a-c86820901747").unwrap().mac(), None);
        assert_eq!(Guid::parse("b7179dd0-ef57-11ec-b142-000c2910678"), None);
        assert_eq!(Guid::parse("b7179dd0-ef57-11ec-b142-00é029106787"), None);
    }
}
