//! FAT dates and times: two seconds fine, no zone. Shell items keep them, in UTC as far as is known.
//!
//! ```
//! use jlfix::format::fat_time::FatTime;
//!
//! assert_eq!(FatTime { date: 0x545F, time: 0xB51B }.to_string(), "");
//! assert_eq!(FatTime { date: 0x54D2, time: 0xB51B }.to_string(), "2022-06-18T22:40:54");
//! ```

use std::fmt;

use jiff::civil;
#[cfg(feature = "serde")]
use serde::{Serialize, Serializer};

use crate::bytes::{Bytes, Short};
#[cfg(feature = "serde")]
use crate::format::text::Ascii;

/// A moment as FAT keeps it. All zero means "none", and not every value is a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FatTime {
    /// Years since 1980 (7 bits), month (4), day (5).
    pub date: u16,
    /// Hours (5 bits), minutes (6), seconds halved (5).
    pub time: u16,
}

impl FatTime {
    /// Reads date and time, in this order.
    pub(super) fn read(bytes: &mut Bytes<'_>, what: &'static str) -> Result<Self, Short> {
        Ok(Self { date: bytes.u16(what)?, time: bytes.u16(what)? })
    }

    /// The moment, if there is one.
    pub fn civil(self) -> Option<civil::DateTime> {
        let field = |value: u16, shift: u32, bits: u32| i8::try_from(value >> shift & ((1 << bits) - 1)).ok();
        let year = 1980 + i16::try_from(self.date >> 9).ok()?;
        let (month, day) = (field(self.date, 5, 4)?, field(self.date, 0, 5)?);
        let (hour, minute, second) = (field(self.time, 11, 5)?, field(self.time, 5, 6)?, field(self.time, 0, 5)? * 2);
        civil::DateTime::new(year, month, day, hour, minute, second, 0).ok()
    }

    /// `2022-06-18T22:40:54`, if there is a moment.
    #[cfg(feature = "serde")]
    fn ascii(self) -> Option<Ascii<19>> {
        let moment = self.civil()?;
        let mut text = Ascii(*b"0000-00-00T00:00:00");
        text.moment(moment);
        Some(text)
    }
}

/// `2022-06-18T22:40:54`; the empty text for none.
impl fmt::Display for FatTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.civil().map_or(Ok(()), |moment| fmt::Display::fmt(&moment, f))
    }
}

/// As shown, or null for none.
#[cfg(feature = "serde")]
impl Serialize for FatTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.ascii() {
            Some(text) => text.serialize(serializer),
            None => serializer.serialize_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fat_time_is_told_as_it_stands_and_one_that_cannot_be_is_none() {
        let at = |date, time| FatTime { date, time };
        assert_eq!(at(0x54EC, 0xA179).to_string(), "2022-07-12T20:11:50");
        assert_eq!(at(0, 0).civil(), None);
        assert_eq!(at(0x54EC, 0xFFFF).civil(), None);
        assert_eq!(serde_json::to_string(&at(0x545F, 0)).unwrap(), "null", "31 February");
        assert_eq!(at(0xFEFF, 0).to_string(), "2107-07-31T00:00:00");
        for value in 0..=u16::MAX {
            for time in [at(value, 0xBF7D), at(0x54EC, value)] {
                let expected = time.civil().map(|moment| moment.to_string());
                assert_eq!(time.ascii().map(|text| text.as_str().to_owned()), expected, "{value:#x}");
            }
        }
    }
}
