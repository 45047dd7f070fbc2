//! FILETIME: 100-nanosecond ticks since 1601-01-01 UTC.
//!
//! ```
//! use jlfix::FileTime;
//!
//! assert_eq!(FileTime(133_537_536_000_000_000).to_string(), "2024-03-01T08:00:00.0000000Z");
//! assert_eq!(FileTime(0).non_zero(), None);
//! ```

use std::fmt;

use jiff::{SignedDuration, Span, Timestamp, civil, tz::TimeZone};
#[cfg(feature = "serde")]
use serde::{Serialize, Serializer};

use super::text::Ascii;

/// A moment as Windows keeps it. 0 means "none"; not every value is a year that people write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FileTime(pub u64);

const TICKS_PER_SECOND: u64 = 10_000_000;
const TICKS_PER_DAY: u64 = 86_400 * TICKS_PER_SECOND;
/// 10000-01-01, the first moment that RFC 3339 cannot write.
const YEAR_10000: u64 = 2_650_467_744_000_000_000;
const SECONDS_TO_UNIX_EPOCH: i64 = 11_644_473_600;

impl FileTime {
    /// The time, or `None` if it is 0.
    pub fn non_zero(self) -> Option<Self> {
        (self.0 != 0).then_some(self)
    }

    /// True if the value is 0 or in the years that RFC 3339 can write (to 9999).
    pub fn is_plausible(self) -> bool {
        self.0 < YEAR_10000
    }

    /// The moment, if it is before 9999-12-30T22:00:00Z, the last one of the time library.
    pub fn timestamp(self) -> Option<Timestamp> {
        let seconds = i64::try_from(self.0 / TICKS_PER_SECOND).ok()?.checked_sub(SECONDS_TO_UNIX_EPOCH)?;
        let nanoseconds = i32::try_from(self.0 % TICKS_PER_SECOND).ok()?.checked_mul(100)?;
        Timestamp::new(seconds, nanoseconds).ok()
    }

    /// The moment in UTC, if it is before the year 10000.
    pub fn civil(self) -> Option<civil::DateTime> {
        if let Some(moment) = self.timestamp() {
            return Some(TimeZone::UTC.to_datetime(moment));
        }
        // The last day of 9999 is past the last moment of the time library, and not past its last date.
        let (days, of_day) = (self.0 / TICKS_PER_DAY, self.0 % TICKS_PER_DAY);
        let date = civil::date(1601, 1, 1).checked_add(Span::new().try_days(i64::try_from(days).ok()?).ok()?).ok()?;
        let nanoseconds = i64::try_from(of_day).ok()?.checked_mul(100)?;
        date.at(0, 0, 0, 0).checked_add(SignedDuration::from_nanos(nanoseconds)).ok()
    }

    /// The moment in RFC 3339 in UTC with seven decimals, if the year is before 10000.
    pub fn rfc3339(self) -> Option<String> {
        self.ascii().map(|text| text.as_str().to_owned())
    }

    /// Reads a moment in RFC 3339, cut to 100 ns. `None` if it is no such text, or before 1601.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        Some(Self::from_timestamp(text.parse().ok()?)).filter(|time| time.0 != 0)
    }

    /// Seconds since 1970, rounded down; negative before.
    pub fn unix_seconds(self) -> i64 {
        (self.0 / TICKS_PER_SECOND) as i64 - SECONDS_TO_UNIX_EPOCH
    }

    /// The FILETIME of a moment, cut to 100 ns; moments before 1601 give 0.
    pub fn from_timestamp(moment: Timestamp) -> Self {
        let ticks = moment.as_nanosecond() / 100 + i128::from(SECONDS_TO_UNIX_EPOCH) * i128::from(TICKS_PER_SECOND);
        Self(u64::try_from(ticks).unwrap_or(0))
    }
}

impl FileTime {
    /// RFC 3339 in UTC with seven decimals, if the year is before 10000.
    pub(crate) fn ascii(self) -> Option<Ascii<28>> {
        let moment = self.civil()?;
        let mut text = Ascii(*b"0000-00-00T00:00:00.0000000Z");
        text.moment(moment);
        text.decimal(27, 7, self.0 % TICKS_PER_SECOND);
        Some(text)
    }
}

/// RFC 3339 in UTC with seven decimals; a value past the year 9999 as its number of ticks.
impl fmt::Display for FileTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ascii() {
            Some(text) => f.write_str(text.as_str()),
            None => write!(f, "{} ticks", self.0),
        }
    }
}

/// As shown, or null for 0 and for a value past the year 9999 (which is a finding).
#[cfg(feature = "serde")]
impl Serialize for FileTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.non_zero().and_then(Self::ascii) {
            Some(text) => text.serialize(serializer),
            None => serializer.serialize_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_their_seven_decimals_and_the_far_end_does_not_panic() {
        assert_eq!(FileTime(133_919_536_269_767_640).to_string(), "2025-05-17T11:07:06.9767640Z");
        assert_eq!(FileTime(2_650_467_743_990_000_000).to_string(), "9999-12-31T23:59:59.0000000Z");
        assert_eq!(FileTime(2_650_467_744_000_000_000).to_string(), "2650467744000000000 ticks");
        assert_eq!(FileTime(u64::MAX).to_string(), "18446744073709551615 ticks");
        assert_eq!(FileTime(1).to_string(), "1601-01-01T00:00:00.0000001Z");
        // Each day of 400 years and the last ones, as the time library has them.
        for day in (0..146_200).chain(3_067_000..3_067_672) {
            let time = FileTime(day * TICKS_PER_DAY + TICKS_PER_DAY - 1);
            let expected = time.civil().map(|moment| format!("{moment}Z"));
            assert_eq!(time.is_plausible(), expected.is_some(), "day {day}");
            assert_eq!(time.rfc3339(), expected, "day {day}");
        }
        let moment = FileTime(133_919_536_269_767_640).timestamp().unwrap();
        assert_eq!(FileTime::from_timestamp(moment), FileTime(133_919_536_269_767_640));
    }
}
