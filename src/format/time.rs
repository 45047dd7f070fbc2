//! FILETIME: 100-nanosecond ticks since 1601-01-01 UTC.

use std::fmt;

use jiff::{Timestamp, civil, tz::TimeZone};
use serde::{Serialize, Serializer};

/// A moment as Windows keeps it. 0 means "none"; not every value is a year that people write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FileTime(pub u64);

const TICKS_PER_SECOND: u64 = 10_000_000;
const SECONDS_TO_UNIX_EPOCH: i64 = 11_644_473_600;

impl FileTime {
    /// The time, or nothing if it is 0.
    pub fn non_zero(self) -> Option<Self> {
        (self.0 != 0).then_some(self)
    }

    /// True if the value is 0 or lies in the years that RFC 3339 can write (to 9999).
    pub fn is_plausible(self) -> bool {
        self.0 == 0 || self.timestamp().is_some()
    }

    /// The moment, if it lies before the year 10000.
    pub fn timestamp(self) -> Option<Timestamp> {
        let seconds = i64::try_from(self.0 / TICKS_PER_SECOND).ok()?.checked_sub(SECONDS_TO_UNIX_EPOCH)?;
        let nanoseconds = i32::try_from(self.0 % TICKS_PER_SECOND).ok()?.checked_mul(100)?;
        Timestamp::new(seconds, nanoseconds).ok()
    }

    /// The moment in UTC, if it lies before the year 10000.
    pub fn civil(self) -> Option<civil::DateTime> {
        self.timestamp().map(|moment| TimeZone::UTC.to_datetime(moment))
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
    /// The time as it is shown, in ASCII, if it lies before the year 10000.
    pub(crate) fn ascii(self) -> Option<[u8; 28]> {
        // Lists of many thousands of entries are written as text, a dozen times an entry: worth the plain digits.
        fn two(value: u32) -> [u8; 2] {
            [b'0' + (value / 10 % 10) as u8, b'0' + (value % 10) as u8]
        }
        let time = self.civil()?;
        let part = |value: i8| two(value.unsigned_abs().into());
        let year = u32::from(time.year().unsigned_abs());
        let ticks = (self.0 % TICKS_PER_SECOND) as u32;
        let ([y1, y2], [y3, y4]) = (two(year / 100), two(year));
        let ([n1, n2], [d1, d2]) = (part(time.month()), part(time.day()));
        let ([h1, h2], [m1, m2], [s1, s2]) = (part(time.hour()), part(time.minute()), part(time.second()));
        let ([_, t1], [t2, t3], [t4, t5]) = (two(ticks / 1_000_000), two(ticks / 10_000), two(ticks / 100));
        let [t6, t7] = two(ticks);
        Some([
            y1, y2, y3, y4, b'-', n1, n2, b'-', d1, d2, b'T', h1, h2, b':', m1, m2, b':', s1, s2, b'.', t1, t2, t3, t4,
            t5, t6, t7, b'Z',
        ])
    }
}

/// RFC 3339 in UTC with seven decimals; a value past the year 9999 as its number of ticks.
impl fmt::Display for FileTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ascii() {
            Some(text) => f.write_str(str::from_utf8(&text).unwrap_or_default()),
            None => write!(f, "{} ticks", self.0),
        }
    }
}

/// As shown, or null for 0 and for a value past the year 9999 (a finding tells of those).
impl Serialize for FileTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 == 0 || !self.is_plausible() { serializer.serialize_none() } else { serializer.collect_str(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_their_seven_decimals_and_the_far_end_does_not_panic() {
        assert_eq!(FileTime(133_919_536_269_767_640).to_string(), "2025-05-17T11:07:06.9767640Z");
        assert_eq!(FileTime(u64::MAX).to_string(), "18446744073709551615 ticks");
        assert_eq!(FileTime(1).to_string(), "1601-01-01T00:00:00.0000001Z");
        let moment = FileTime(133_919_536_269_767_640).timestamp().unwrap();
        assert_eq!(FileTime::from_timestamp(moment), FileTime(133_919_536_269_767_640));
    }
}
