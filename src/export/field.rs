//! What a field of the flat formats can hold, and how it is written.

use std::borrow::Cow;
use std::io::Write as _;

use crate::appid::AppId;
use crate::format::compound::{Place, Recovery};
use crate::format::guid::{Guid, Mac};
use crate::format::link::{DriveType, ExtraBlock, Hotkey, VolumeSerial, block_name};
use crate::format::property_store::{Property, PropertyId, Value};
use crate::format::text::{Text, Utf16, hex, hex_digits};
use crate::format::time::FileTime;
use crate::model::{Kind, Live};

/// A field, written straight into the bytes of the format: rows have dozens, files have thousands of rows.
pub(super) trait Field {
    /// True if there is nothing: null, or an empty cell.
    fn is_none(&self) -> bool {
        false
    }

    /// Adds it as it is shown.
    fn text(&self, out: &mut Vec<u8>);

    /// Adds it as JSON has it.
    fn json(&self, out: &mut Vec<u8>);
}

impl<F: Field> Field for Option<F> {
    fn is_none(&self) -> bool {
        self.as_ref().is_none_or(Field::is_none)
    }

    fn text(&self, out: &mut Vec<u8>) {
        if let Some(field) = self {
            field.text(out);
        }
    }

    fn json(&self, out: &mut Vec<u8>) {
        match self {
            Some(field) => field.json(out),
            None => out.extend_from_slice(b"null"),
        }
    }
}

/// Numbers and the like, which JSON has as they are shown; `quoted` texts, which hold nothing to escape.
macro_rules! fields {
    ($quote:literal: $($type:ty, |$value:ident, $out:ident| $write:expr;)*) => {$(
        impl Field for $type {
            fn text(&self, $out: &mut Vec<u8>) {
                let $value = self;
                $write;
            }

            fn json(&self, out: &mut Vec<u8>) {
                out.extend_from_slice($quote);
                self.text(out);
                out.extend_from_slice($quote);
            }
        }
    )*};
}

// Writing to memory cannot fail.
fields! {
    b"":
    bool, |value, out| out.extend_from_slice(if *value { b"true" } else { b"false" });
    u16, |value, out| digits((*value).into(), out);
    u32, |value, out| digits((*value).into(), out);
    u64, |value, out| digits(*value, out);
    usize, |value, out| digits(*value as u64, out);
    i32, |value, out| {
        if *value < 0 {
            out.push(b'-');
        }
        digits(value.unsigned_abs().into(), out);
    };
}

fields! {
    b"\"":
    Kind, |value, out| out.extend_from_slice(value.word().as_bytes());
    AppId, |value, out| drop(write!(out, "{value}"));
    Guid, |value, out| out.extend_from_slice(&value.ascii().0);
    Mac, |value, out| for (at, byte) in value.0.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"" } else { b":" });
        out.extend_from_slice(hex_digits((*byte).into()).get(6..).unwrap_or_default());
    };
    VolumeSerial, |value, out| out.extend_from_slice(&hex_digits(value.0));
    Hotkey, |value, out| drop(write!(out, "{value}"));
    DriveType, |value, out| out.extend_from_slice(value.word().as_bytes());
    Hex, |value, out| {
        out.extend_from_slice(&hex_digits((value.0 >> 32) as u32));
        out.extend_from_slice(&hex_digits(value.0 as u32));
    };
    Recovery, |value, out| out.extend_from_slice(value.word().as_bytes());
    Place, |value, out| out.extend_from_slice(value.word().as_bytes());
    Live, |value, out| out.extend_from_slice(value.word().as_bytes());
    Words, |value, out| value.0.iter().enumerate().for_each(|(at, word)| {
        out.extend_from_slice(if at == 0 { b"" } else { b" " });
        out.extend_from_slice(word.as_bytes());
    });
    Blocks<'_>, |value, out| value.0.iter().enumerate().for_each(|(at, block)| {
        out.extend_from_slice(if at == 0 { b"" } else { b" " });
        match block_name(block.signature) {
            Some(name) => out.extend_from_slice(name.as_bytes()),
            None => drop(write!(out, "{:#010x}", block.signature)),
        }
    });
}

impl Field for f32 {
    fn is_none(&self) -> bool {
        !self.is_finite()
    }

    fn text(&self, out: &mut Vec<u8>) {
        let _ = write!(out, "{self:?}");
    }

    fn json(&self, out: &mut Vec<u8>) {
        self.text(out);
    }
}

/// None for 0 and for a value past the year 9999.
impl Field for FileTime {
    fn is_none(&self) -> bool {
        self.0 == 0 || !self.is_plausible()
    }

    fn text(&self, out: &mut Vec<u8>) {
        // Called `text` as well, but of the time itself.
        match self.ascii() {
            Some(text) => out.extend_from_slice(&text.0),
            None => drop(write!(out, "{self}")),
        }
    }

    fn json(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        self.text(out);
        out.push(b'"');
    }
}

macro_rules! texts {
    ($($type:ty),*) => {$(
        impl Field for $type {
            fn text(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(self.as_bytes());
            }

            fn json(&self, out: &mut Vec<u8>) {
                let _ = serde_json::to_writer(out, self);
            }
        }
    )*};
}

texts!(&str, String, Cow<'_, str>);

impl Field for Utf16<'_> {
    fn text(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.decode().as_bytes());
    }

    fn json(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.reserve(self.0.len());
        out.push(b'"');
        for unit in self.units() {
            match u8::try_from(unit) {
                Ok(b'\\') => out.extend_from_slice(br"\\"),
                Ok(byte @ (b' ' | b'!' | b'#'..0x7F)) => out.push(byte),
                // Rare enough to be done once more and in general.
                _ => {
                    out.truncate(start);
                    return self.decode().json(out);
                }
            }
        }
        out.push(b'"');
    }
}

impl Field for Text<'_> {
    fn text(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.decode().as_bytes());
    }

    fn json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Wide(text) => text.json(out),
            Self::Ansi(..) => self.decode().json(out),
        }
    }
}

impl Field for Properties<'_> {
    fn text(&self, out: &mut Vec<u8>) {
        for (at, one) in self.0.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"" } else { b"; " });
            property(one, out);
        }
    }

    fn json(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.push(b'"');
        self.text(out);
        let escaped = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
        let shown = out.get(start.saturating_add(1)..).unwrap_or_default();
        if shown.iter().any(escaped) {
            let shown = String::from_utf8_lossy(shown).into_owned();
            out.truncate(start);
            shown.json(out);
        } else {
            out.push(b'"');
        }
    }
}

/// The number in decimal digits.
fn digits(value: u64, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let mut left = value;
    let mut count = 0_usize;
    for place in digits.iter_mut().rev() {
        *place = b'0'.saturating_add((left % 10) as u8);
        left /= 10;
        count = count.saturating_add(1);
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(digits.len().saturating_sub(count)..).unwrap_or_default());
}

/// 16 lower-case hex digits.
pub(super) struct Hex(pub(super) u64);

/// Words with spaces between.
pub(super) struct Words(pub(super) Vec<&'static str>);

/// The types of extra blocks, with spaces between; one without a name by its signature.
pub(super) struct Blocks<'a>(pub(super) &'a [ExtraBlock<'a>]);

/// Properties as `name=value` with `; ` between: the canonical name, or `{set}\id`.
pub(super) struct Properties<'a>(pub(super) Vec<Property<'a>>);

fn property(property: &Property<'_>, out: &mut Vec<u8>) {
    match (property.name(), &property.id) {
        (Some(name), _) => name.text(out),
        (None, PropertyId::Number(id)) => drop(write!(out, "{{{}}}\\{id}", property.format_id)),
        (None, PropertyId::Name(name)) => name.text(out),
    }
    out.push(b'=');
    value(&property.value, out);
}

fn value(shown: &Value<'_>, out: &mut Vec<u8>) {
    match shown {
        Value::Nothing => {}
        Value::Signed(number) => drop(write!(out, "{number}")),
        Value::Unsigned(number) => number.text(out),
        Value::Float(number) => drop(write!(out, "{number}")),
        Value::Bool(flag) => flag.text(out),
        Value::Time(time) => time.text(out),
        Value::Guid(guid) => guid.text(out),
        Value::Text(text) => text.text(out),
        Value::Bytes(bytes) | Value::Unknown(bytes) => hex(bytes).text(out),
        Value::Stream { name, data } => drop(write!(out, "{name}:{}", hex(data))),
        Value::List(list) => {
            for (at, one) in list.iter().enumerate() {
                out.extend_from_slice(if at == 0 { b"" } else { b", " });
                value(one, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(field: &impl Field) -> String {
        let mut out = Vec::new();
        field.text(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_written_as_rust_writes_them() {
        for value in [0, 9, 10, 4_027_904, u64::MAX] {
            assert_eq!(shown(&value), value.to_string());
        }
        for value in [0, -1, i32::MIN, i32::MAX] {
            assert_eq!(shown(&value), value.to_string());
        }
        assert_eq!([shown(&1.0_f32), shown(&0.1_f32)], ["1.0", "0.1"]);
        assert!(f32::NAN.is_none() && FileTime(u64::MAX).is_none());
    }

    #[test]
    fn any_text_is_json_that_reads_back() {
        for text in ["", r"C:\Users\sam", "a\"b", "line\nend\u{1}", "Grüße 😀", "\u{7f}", r"tab\	"] {
            let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let mut out = vec![b'['];
            Utf16(&units).json(&mut out);
            out.push(b',');
            text.json(&mut out);
            out.push(b']');
            let back: Vec<String> = serde_json::from_slice(&out).unwrap();
            assert_eq!(back, [text, text], "{}", String::from_utf8_lossy(&out));
        }
    }
}
