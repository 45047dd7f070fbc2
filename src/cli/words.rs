//! How numbers, sizes, times and names are written for people.

use std::borrow::Cow;
use std::fmt::Write;

use jlfix::format::known_folder::KnownFolder;
use jlfix::format::time::FileTime;

/// A number with commas between its thousands.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A size in B, KiB, MiB or GiB.
pub(crate) fn size(bytes: u64) -> String {
    let scaled = |unit: f64| bytes as f64 / unit;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", scaled(1024.0)),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", scaled(1_048_576.0)),
        _ => format!("{:.1} GiB", scaled(1_073_741_824.0)),
    }
}

/// Milliseconds, with a decimal where they are few.
pub(crate) fn milliseconds(ms: f64) -> String {
    if ms >= 10.0 { format!("{} ms", number(ms.round() as u64)) } else { format!("{ms:.1} ms") }
}

/// A count and its noun, the noun in the plural where it must be.
pub(crate) fn count(value: usize, noun: &str) -> String {
    let shown = number(value as u64);
    match noun.strip_suffix('y') {
        _ if value == 1 => format!("{shown} {noun}"),
        Some(stem) => format!("{shown} {stem}ies"),
        None => format!("{shown} {noun}s"),
    }
}

/// A path as an argument of a printed command: quoted where the shell needs it, and never taken for an option.
pub(crate) fn quoted_path(path: &str) -> String {
    if path.starts_with('-') { quoted(&format!("./{path}")) } else { quoted(path) }
}

/// A path as it is shown: `knownfolder:{GUID}` with the name of the folder before it.
pub(crate) fn path_label(path: &str) -> String {
    match KnownFolder::of_path(path) {
        Some(folder) => format!("{} ({path})", folder.name),
        None => path.to_owned(),
    }
}

/// A time to the minute, in UTC.
pub(crate) fn minute(time: Option<FileTime>) -> String {
    match time.and_then(FileTime::civil) {
        Some(t) => format!("{:04}-{:02}-{:02} {:02}:{:02}", t.year(), t.month(), t.day(), t.hour(), t.minute()),
        None => "-".to_owned(),
    }
}

/// A name from a file, made harmless for a terminal: control characters and those that turn the direction of writing
/// are spelled out.
pub(crate) fn harmless(name: &str) -> Cow<'_, str> {
    if !name.chars().any(is_harmful) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if is_harmful(c) {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// True for what a terminal acts on rather than shows.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{061C}' | '\u{FEFF}'
            | '\u{2028}' | '\u{2029}' | '\u{E0000}'..='\u{E007F}')
}

/// `text` cut in its middle to `width` characters.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width || width < 8 {
        return text.to_owned();
    }
    let (head, tail) = ((width - 1) / 3, width - 1 - (width - 1) / 3);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}…{end}")
}

/// A path as a shell takes it.
pub(crate) fn quoted(path: &str) -> String {
    let plain = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '/' | '.' | '-' | '_' | ':' | '+' | '@' | '%')
            || (cfg!(windows) && c == '\\')
    };
    if !path.is_empty() && path.chars().all(plain) {
        path.to_owned()
    } else if cfg!(windows) {
        format!("\"{path}\"")
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_read_as_people_write_them() {
        assert_eq!([number(0), number(999), number(114_801), number(4_027_904)], ["0", "999", "114,801", "4,027,904"]);
        assert_eq!([size(24), size(1536), size(4_027_904)], ["24 B", "1.5 KiB", "3.8 MiB"]);
        assert_eq!(
            [count(1, "entry"), count(3000, "entry"), count(0, "file")],
            ["1 entry", "3,000 entries", "0 files"]
        );
        assert_eq!(shortened("C:\\Users\\sam\\Documents\\report.txt", 20), "C:\\Use…ts\\report.txt");
    }

    #[test]
    fn names_cannot_drive_the_terminal() {
        assert_eq!(harmless("a\u{1b}[31mb\u{202e}c\n"), "a\\u{1b}[31mb\\u{202e}c\\u{a}");
        assert_eq!(harmless("Größe 日本"), "Größe 日本");
    }
}
