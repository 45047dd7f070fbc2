//! The name of a run in the store.

use std::{fmt, str::FromStr};

use jiff::{Timestamp, civil, tz::TimeZone};

use crate::error::{Error, Result};

/// The name of a run: the moment it began, in UTC, and four hex digits. In the order of their names the
/// runs of a store are in the order they were made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// The id of a run that begins at `moment`; none past the year 9999.
    pub(super) fn new(moment: Timestamp, random: u64) -> Option<Self> {
        let t = TimeZone::UTC.to_datetime(moment);
        let (year, ms) = (t.year(), t.subsec_nanosecond() / 1_000_000);
        let day = format!("{year:04}{:02}{:02}", t.month(), t.day());
        let time = format!("{:02}{:02}{:02}.{ms:03}", t.hour(), t.minute(), t.second());
        format!("{day}T{time}Z-{:04x}", random & 0xFFFF).parse().ok()
    }

    /// When the run began, to the millisecond.
    pub fn moment(&self) -> Option<Timestamp> {
        let number = |from: usize, to: usize| self.0.get(from..to)?.parse::<i16>().ok();
        let small = |from, to| i8::try_from(number(from, to)?).ok();
        let ns = i32::from(number(16, 19)?).checked_mul(1_000_000)?;
        let (month, day, hour) = (small(4, 6)?, small(6, 8)?, small(9, 11)?);
        let t = civil::DateTime::new(number(0, 4)?, month, day, hour, small(11, 13)?, small(13, 15)?, ns).ok()?;
        TimeZone::UTC.to_timestamp(t).ok()
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let shape = "00000000T000000.000Z-xxxx";
        let fits = text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(have, need)| match need {
                b'0' => have.is_ascii_digit(),
                b'x' => matches!(have, b'0'..=b'9' | b'a'..=b'f'),
                _ => have == need,
            });
        let id = Self(text.to_owned());
        if fits && id.moment().is_some() {
            return Ok(id);
        }
        let need = "one like 20261130T184501.123Z-4f0a".to_owned();
        Err(Error::Caller { what: "backup run", need, have: format!("{text:?}") })
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_id_tells_its_moment_and_nothing_else_is_one() {
        let moment: Timestamp = "2026-11-30T18:45:01.123Z".parse().unwrap();
        let id = RunId::new(moment, 0xF_ABCD).unwrap();
        assert_eq!(id.as_str(), "20261130T184501.123Z-abcd");
        assert_eq!(id.moment(), Some(moment));
        for other in [
            "",
            "..",
            "../../x",
            "20261130T184501.123Z-ABCD",
            "20261330T184501.123Z-abcd",
            "20261130T184501.123Z-abcd/",
        ] {
            assert!(other.parse::<RunId>().is_err(), "{other}");
        }
    }
}
