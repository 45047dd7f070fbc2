//! Times as people want them: the custom formats of .NET, as far as they are of use for a moment in UTC, because that
//! is what users of JLECmd know and have in their scripts.

use std::fmt;

use crate::format::time::FileTime;

/// How a time is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateFormat(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    /// Digits of the second's fraction, 1 to 7.
    Fraction(usize),
    Text(String),
}

/// Why a format cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadDateFormat {
    /// A run of letters that stands for something in .NET, and for nothing here.
    #[error(
        "need yyyy, MM, dd, HH, mm, ss and f to fffffff, other letters in quotes or behind a backslash; have {0:?}"
    )]
    Letters(String),
    /// A quote without its partner, or a backslash at the end.
    #[error("a quote or a backslash has no partner")]
    Open,
    /// It names no part of a time.
    #[error("it names no part of a time")]
    Empty,
}

/// What .NET rejects.
const SPECIFIERS: &str = "dfFghHKmMstyz%";

impl Default for DateFormat {
    /// `yyyy-MM-dd HH:mm:ss`
    fn default() -> Self {
        let text = |text: &str| Part::Text(text.to_owned());
        Self(vec![
            Part::Year,
            text("-"),
            Part::Month,
            text("-"),
            Part::Day,
            text(" "),
            Part::Hour,
            text(":"),
            Part::Minute,
            text(":"),
            Part::Second,
        ])
    }
}

impl DateFormat {
    /// Reads a format such as `yyyy-MM-dd HH:mm:ss.fffffff`.
    ///
    /// # Errors
    /// What cannot be used, and what can.
    pub fn parse(format: &str) -> Result<Self, BadDateFormat> {
        let mut parts: Vec<Part> = Vec::new();
        let mut chars = format.chars().peekable();
        while let Some(first) = chars.next() {
            let text = match first {
                '\\' => chars.next().ok_or(BadDateFormat::Open)?.to_string(),
                '\'' | '"' => {
                    let mut text = String::new();
                    loop {
                        match chars.next().ok_or(BadDateFormat::Open)? {
                            end if end == first => break,
                            inside => text.push(inside),
                        }
                    }
                    text
                }
                letter if SPECIFIERS.contains(letter) => {
                    let mut run = String::from(letter);
                    while let Some(same) = chars.next_if_eq(&letter) {
                        run.push(same);
                    }
                    parts.push(match (letter, run.len()) {
                        ('y', 4) => Part::Year,
                        ('M', 2) => Part::Month,
                        ('d', 2) => Part::Day,
                        ('H', 2) => Part::Hour,
                        ('m', 2) => Part::Minute,
                        ('s', 2) => Part::Second,
                        ('f', digits @ 1..=7) => Part::Fraction(digits),
                        _ => return Err(BadDateFormat::Letters(run)),
                    });
                    continue;
                }
                other => other.to_string(),
            };
            match parts.last_mut() {
                Some(Part::Text(before)) => before.push_str(&text),
                _ => parts.push(Part::Text(text)),
            }
        }
        if parts.iter().all(|part| matches!(part, Part::Text(_))) {
            return Err(BadDateFormat::Empty);
        }
        Ok(Self(parts))
    }

    /// The time in this format, in UTC.
    pub fn of(&self, time: FileTime) -> impl fmt::Display {
        Formatted { format: self, time }
    }
}

struct Formatted<'f> {
    format: &'f DateFormat,
    time: FileTime,
}

impl fmt::Display for Formatted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(moment) = self.time.civil() else { return fmt::Display::fmt(&self.time, f) };
        let fraction = format!("{:07}", moment.subsec_nanosecond() / 100);
        for part in &self.format.0 {
            match part {
                Part::Year => write!(f, "{:04}", moment.year())?,
                Part::Month => write!(f, "{:02}", moment.month())?,
                Part::Day => write!(f, "{:02}", moment.day())?,
                Part::Hour => write!(f, "{:02}", moment.hour())?,
                Part::Minute => write!(f, "{:02}", moment.minute())?,
                Part::Second => write!(f, "{:02}", moment.second())?,
                Part::Fraction(digits) => f.write_str(fraction.get(..*digits).unwrap_or(&fraction))?,
                Part::Text(text) => f.write_str(text)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_formats_of_net_say() {
        let time = FileTime(133_919_536_069_767_640);
        for (format, text) in [
            ("yyyy-MM-dd HH:mm:ss", "2025-05-17 11:06:46"),
            ("yyyy-MM-ddTHH:mm:ss.fffffffZ", "2025-05-17T11:06:46.9767640Z"),
            ("'day' dd\\d", "day 17d"),
            ("dd/MM/yyyy \"at\" HH.mm", "17/05/2025 at 11.06"),
            ("ss.fff", "46.976"),
        ] {
            assert_eq!(DateFormat::parse(format).unwrap().of(time).to_string(), text, "{format}");
        }
        assert_eq!(DateFormat::parse("yyyy-MM-dd HH:mm:ss"), Ok(DateFormat::default()));
        assert_eq!(DateFormat::parse("hh tt"), Err(BadDateFormat::Letters("hh".to_owned())));
        assert_eq!(DateFormat::parse("yyyy 'x"), Err(BadDateFormat::Open));
        assert_eq!(DateFormat::parse("--"), Err(BadDateFormat::Empty));
        assert_eq!(DateFormat::default().of(FileTime(u64::MAX)).to_string(), "18446744073709551615 ticks");
    }
}
