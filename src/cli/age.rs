//! Ages, as options take them: `90d`, `1y2mo`, `6 weeks`, or a date.

use jiff::{Span, Timestamp, civil, tz::TimeZone};

/// How long ago, or a date.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Age {
    /// So long before now.
    Span(Span),
    /// The start of this day, in UTC.
    Date(civil::Date),
}

impl Age {
    /// The moment that is so long ago.
    ///
    /// # Errors
    /// Before the first moment that the time library knows (-9999).
    pub(crate) fn before_now(self) -> Result<Timestamp, String> {
        let utc = TimeZone::UTC;
        let moment = match self {
            Self::Span(span) => utc.to_datetime(Timestamp::now()).checked_sub(span),
            Self::Date(date) => Ok(date.at(0, 0, 0, 0)),
        };
        moment.and_then(|moment| utc.to_timestamp(moment)).map_err(|_| "longer ago than there are dates".to_owned())
    }
}

const NEED: &str =
    "need a number and a unit (min, h, d, w, mo, y), such as 90d or 1y6mo, or a date, such as 2026-01-31";

/// Reads an age. A month is `mo` and a minute is `min`: `m` alone would be one person's minutes and another's months.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn parse(text: &str) -> Result<Age, String> {
    if let Ok(date) = text.parse::<civil::Date>() {
        return Ok(Age::Date(date));
    }
    let mut rest = text.trim();
    let mut span = Span::new();
    if rest.is_empty() {
        return Err(NEED.to_owned());
    }
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let letters = after.len() - after.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (unit, after) = after.split_at(letters);
        if number.is_empty() {
            return Err(NEED.to_owned());
        }
        let too_much = |_| format!("{number}{unit} is longer ago than there are dates");
        let number: i64 = number.parse().map_err(|_| format!("{number} is too large"))?;
        let add = |old: i64| old.saturating_add(number);
        span = match unit.to_ascii_lowercase().as_str() {
            "min" | "mins" | "minute" | "minutes" => span.try_minutes(add(span.get_minutes())),
            "h" | "hour" | "hours" => span.try_hours(add(i64::from(span.get_hours()))),
            "d" | "day" | "days" => span.try_days(add(i64::from(span.get_days()))),
            "w" | "week" | "weeks" => span.try_weeks(add(i64::from(span.get_weeks()))),
            "mo" | "month" | "months" => span.try_months(add(i64::from(span.get_months()))),
            "y" | "year" | "years" => span.try_years(add(i64::from(span.get_years()))),
            "m" => return Err("m can be minutes or months: need min or mo".to_owned()),
            _ => return Err(NEED.to_owned()),
        }
        .map_err(too_much)?;
        rest = after.trim_start();
    }
    Ok(Age::Span(span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read_in_letters_words_sums_and_dates() {
        for good in ["90d", "90days", "6 weeks", "1y2mo", "12h", "30min", "2026-01-31", "1 year 2 months"] {
            assert!(parse(good).and_then(Age::before_now).is_ok(), "{good}");
        }
        let day = parse("1d").unwrap().before_now().unwrap();
        assert!(parse("25h").unwrap().before_now().unwrap() < day);
        for bad in ["", "d", "90", "3m", "5 parsecs", "-3d", "4294967295y", "99999999999999999999d"] {
            assert!(parse(bad).and_then(Age::before_now).is_err(), "{bad}");
        }
        assert!(parse("3m").unwrap_err().contains("min or mo"));
    }
}
