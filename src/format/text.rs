//! Strings as files hold them: UTF-16 that may not be valid, and bytes in a code page.
//!
//! ```
//! use jlfix::CodePage;
//! use jlfix::format::text::Utf16;
//!
//! assert_eq!(Utf16(b"a\0\x3d\xd8").decode(), "a\u{fffd}");
//! assert_eq!(CodePage::find("1251").expect("Cyrillic").decode(b"\xc0"), "А");
//! ```

use std::borrow::Cow;
use std::fmt;

use encoding_rs::Encoding;
use jiff::civil;
#[cfg(feature = "serde")]
use serde::{Serialize, Serializer};

/// UTF-16, little-endian, as its bytes; may hold unpaired surrogates. An odd last byte is ignored.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Utf16<'a>(pub &'a [u8]);

impl<'a> Utf16<'a> {
    /// The code units.
    #[inline]
    pub fn units(self) -> impl Iterator<Item = u16> + Clone + 'a {
        self.0.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit))
    }

    /// Up to the first NUL, if there is one.
    #[inline]
    pub fn until_nul(self) -> Self {
        let (units, _) = self.0.as_chunks::<2>();
        let end = units.iter().position(|unit| *unit == [0, 0]).unwrap_or(units.len());
        Self(self.0.get(..end.saturating_mul(2)).unwrap_or(self.0))
    }

    /// True if there is nothing in it.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0.len() < 2
    }

    /// The characters; an unpaired surrogate becomes U+FFFD.
    pub fn chars(self) -> impl Iterator<Item = char> + 'a {
        char::decode_utf16(self.units()).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// The text in one piece.
    pub fn decode(self) -> String {
        let mut out = String::new();
        self.push_to(&mut out);
        out
    }

    /// Adds the text to `out`, as [`Self::decode`] gives it.
    pub fn push_to(self, out: &mut String) {
        // Nearly all is ASCII, which needs no decoding.
        let plain = self.units().take_while(|unit| *unit < 0x80).count();
        out.reserve(self.0.len() / 2);
        out.extend(self.units().take(plain).map(|unit| char::from(unit.to_le_bytes()[0])));
        if plain < self.0.len() / 2 {
            let rest = Self(self.0.get(plain.saturating_mul(2)..).unwrap_or_default());
            out.extend(rest.chars());
        }
    }

    /// True if the text holds an unpaired surrogate, so that showing it loses something.
    pub fn has_unpaired(self) -> bool {
        char::decode_utf16(self.units()).any(|unit| unit.is_err())
    }

    /// The bytes in hex, for a text that cannot be shown without loss.
    pub fn to_hex(self) -> String {
        hex(self.0)
    }
}

impl fmt::Display for Utf16<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.decode())
    }
}

impl fmt::Debug for Utf16<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

#[cfg(feature = "serde")]
impl Serialize for Utf16<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Nearly all is short and ASCII: such a text needs no room of its own.
        let (units, _) = self.0.as_chunks::<2>();
        let mut room = [0; 256];
        if let Some(plain) = room.get_mut(..units.len())
            && units.iter().all(|unit| u16::from_le_bytes(*unit) < 0x80)
        {
            plain.iter_mut().zip(units).for_each(|(byte, [low, _])| *byte = *low);
            return serializer.serialize_str(str::from_utf8(plain).unwrap_or_default());
        }
        serializer.serialize_str(&self.decode())
    }
}

/// The code page that ANSI strings are read in. The default is 1252.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CodePage(&'static Encoding);

impl CodePage {
    /// The code page of a Windows number (1250 to 1258, 866, 874, 932, 936, 949, 950, 65001 and others that
    /// the Encoding Standard knows), or of a name such as `shift_jis`.
    pub fn find(label: &str) -> Option<Self> {
        let by_number = match label {
            "932" => Some("shift_jis"),
            "936" => Some("gbk"),
            "949" => Some("euc-kr"),
            "950" => Some("big5"),
            "20866" => Some("koi8-r"),
            "21866" => Some("koi8-u"),
            "54936" => Some("gb18030"),
            "65001" => Some("utf-8"),
            _ => None,
        };
        let prefixed =
            || ["windows-", "ibm", "iso-"].iter().find_map(|p| Encoding::for_label(format!("{p}{label}").as_bytes()));
        Encoding::for_label(by_number.unwrap_or(label).as_bytes()).or_else(prefixed).map(Self)
    }

    /// The name in the Encoding Standard.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The text that `bytes` are in this code page; what it has no character for becomes U+FFFD.
    pub fn decode<'a>(self, bytes: &'a [u8]) -> Cow<'a, str> {
        self.0.decode_without_bom_handling(bytes).0
    }

    /// The bytes of `text` in this code page; `None` if it has a character that is not in it.
    pub fn encode(self, text: &str) -> Option<Vec<u8>> {
        let (bytes, used, has_unmappable) = self.0.encode(text);
        (used == self.0 && !has_unmappable).then(|| bytes.into_owned())
    }
}

impl Default for CodePage {
    fn default() -> Self {
        Self(encoding_rs::WINDOWS_1252)
    }
}

impl fmt::Debug for CodePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A string of a file, in either form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Text<'a> {
    /// UTF-16, little-endian.
    Wide(Utf16<'a>),
    /// Bytes in a code page.
    Ansi(&'a [u8], CodePage),
}

impl<'a> Text<'a> {
    /// The text as it can be shown.
    pub fn decode(self) -> Cow<'a, str> {
        match self {
            Self::Wide(text) => Cow::Owned(text.decode()),
            Self::Ansi(bytes, page) => page.decode(bytes),
        }
    }

    /// Adds the text to `out` as it can be shown.
    pub fn push_to(self, out: &mut String) {
        match self {
            Self::Wide(text) => text.push_to(out),
            Self::Ansi(bytes, page) => out.push_str(&page.decode(bytes)),
        }
    }

    /// True if there is nothing in it.
    #[inline]
    pub fn is_empty(self) -> bool {
        match self {
            Self::Wide(text) => text.is_empty(),
            Self::Ansi(bytes, _) => bytes.is_empty(),
        }
    }

    /// The text, or `None` if it is empty.
    #[inline]
    pub fn non_empty(self) -> Option<Self> {
        (!self.is_empty()).then_some(self)
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wide(text) => fmt::Display::fmt(text, f),
            Self::Ansi(bytes, page) => f.write_str(&page.decode(bytes)),
        }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.decode())
    }
}

#[cfg(feature = "serde")]
impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Wide(text) => text.serialize(serializer),
            Self::Ansi(bytes, page) => serializer.serialize_str(&page.decode(bytes)),
        }
    }
}

/// `bytes` up to the first NUL, if there is one.
#[inline]
pub fn until_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or_default()
}

/// A short ASCII text on the stack: what is written a dozen times an entry must not take the detour over `fmt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ascii<const N: usize>(pub(crate) [u8; N]);

impl<const N: usize> Ascii<N> {
    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Puts `value` in decimal before `end`, `count` digits of it.
    pub(crate) fn decimal(&mut self, end: usize, count: usize, mut value: u64) {
        for at in (end.saturating_sub(count)..end).rev() {
            if let Some(digit) = self.0.get_mut(at) {
                *digit = b'0'.saturating_add(u8::try_from(value % 10).unwrap_or_default());
            }
            value /= 10;
        }
    }

    /// Puts a moment at the start, as `2022-06-18T22:40:54`. Its year is one of those of FILETIME and FAT.
    pub(crate) fn moment(&mut self, moment: civil::DateTime) {
        self.decimal(4, 4, u64::from(moment.year().unsigned_abs()));
        let fields = [moment.month(), moment.day(), moment.hour(), moment.minute(), moment.second()];
        for (end, value) in [7, 10, 13, 16, 19].into_iter().zip(fields) {
            self.decimal(end, 2, u64::from(value.unsigned_abs()));
        }
    }

    /// Puts `bytes` in lower-case hex at `start`; does nothing if there is no room for them.
    pub(crate) fn hex<const B: usize>(&mut self, start: usize, bytes: [u8; B]) {
        let end = start.saturating_add(B.saturating_mul(2));
        let _ = self.0.get_mut(start..end).map(|room| hex::encode_to_slice(bytes, room));
    }
}

#[cfg(feature = "serde")]
impl<const N: usize> Serialize for Ascii<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The eight hex digits of `value`.
pub(crate) fn hex_digits(value: u32) -> [u8; 8] {
    let mut text = Ascii([b'0'; 8]);
    text.hex(0, value.to_be_bytes());
    text.0
}

/// `0x` and the eight digits of `value`.
pub(crate) fn hex_number(value: u32) -> Ascii<10> {
    let mut text = Ascii(*b"0x00000000");
    text.hex(2, value.to_be_bytes());
    text
}

/// `bytes` in lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    hex::encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unpaired_surrogate_is_shown_replaced_and_kept_in_hex() {
        let text = Utf16(&[0x41, 0, 0x00, 0xD8, 0x42, 0]);
        assert_eq!(text.to_string(), "A\u{FFFD}B");
        assert!(text.has_unpaired());
        assert_eq!(text.to_hex(), "410000d84200");
        assert_eq!(Utf16(&[0x41, 0, 0, 0, 0x42, 0]).until_nul().to_string(), "A");
    }

    #[test]
    fn code_pages_are_found_by_their_windows_numbers() {
        for (number, byte, text) in [("1252", 0xE9, "é"), ("1251", 0xE9, "й"), ("866", 0xA9, "й"), ("1255", 0xE0, "א")]
        {
            assert_eq!(CodePage::find(number).unwrap().decode(&[byte]), text, "{number}");
        }
        assert_eq!(CodePage::find("932").unwrap().decode(&[0x93, 0xFA]), "日");
        assert_eq!(CodePage::find("12345"), None);
    }
}
