//! What a field of the flat formats can hold, and how it is written.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::format::appid::AppId;
use crate::format::compound::Recovery;
use crate::format::guid::{Guid, Mac};
use crate::format::link::{DriveType, ExtraBlock, Hotkey, VolumeSerial, block_name};
use crate::format::property_store::{Property, PropertyId, Value};
use crate::format::text::{Text, Utf16, hex};
use crate::format::time::FileTime;
use crate::model::Kind;

/// How JSON has a field.
pub(super) enum Form {
    /// A number, or true or false.
    Bare,
    /// A text that holds nothing that has to be escaped.
    Plain,
    /// Any text.
    Text,
}

/// A field.
pub(super) trait Field {
    /// True if there is nothing: null, or an empty cell.
    fn is_none(&self) -> bool {
        false
    }

    /// How JSON has it.
    fn form(&self) -> Form;

    /// Adds it to `out` as it is shown. Writing to a text cannot fail.
    fn text(&self, out: &mut String);
}

impl<F: Field> Field for Option<F> {
    fn is_none(&self) -> bool {
        self.as_ref().is_none_or(Field::is_none)
    }

    fn form(&self) -> Form {
        self.as_ref().map_or(Form::Bare, Field::form)
    }

    fn text(&self, out: &mut String) {
        if let Some(field) = self {
            field.text(out);
        }
    }
}

macro_rules! fields {
    ($($type:ty, $form:ident, |$value:ident, $out:ident| $write:expr;)*) => {$(
        impl Field for $type {
            fn form(&self) -> Form {
                Form::$form
            }

            fn text(&self, $out: &mut String) {
                let $value = self;
                let _ = $write;
            }
        }
    )*};
}

fields! {
    bool, Bare, |value, out| out.write_str(if *value { "true" } else { "false" });
    u16, Bare, |value, out| digits((*value).into(), out);
    u32, Bare, |value, out| digits((*value).into(), out);
    u64, Bare, |value, out| digits(*value, out);
    usize, Bare, |value, out| digits(*value as u64, out);
    i32, Bare, |value, out| {
        if *value < 0 {
            out.push('-');
        }
        digits(value.unsigned_abs().into(), out)
    };
    Kind, Plain, |value, out| out.write_str(value.word());
    AppId, Plain, |value, out| write!(out, "{value}");
    Guid, Plain, |value, out| write!(out, "{value}");
    Mac, Plain, |value, out| write!(out, "{value}");
    VolumeSerial, Plain, |value, out| write!(out, "{value}");
    Hotkey, Text, |value, out| write!(out, "{value}");
    DriveType, Plain, |value, out| out.write_str(value.word());
    Hex, Plain, |value, out| write!(out, "{:016x}", value.0);
    Recovery, Plain, |value, out| out.write_str(match value {
        Recovery::Intact => "intact",
        Recovery::Chain => "chain",
        Recovery::Contiguous => "contiguous",
        Recovery::Carved => "carved",
    });
    &str, Text, |value, out| out.write_str(value);
    String, Text, |value, out| out.write_str(value);
    Cow<'_, str>, Text, |value, out| out.write_str(value);
    Utf16<'_>, Text, |value, out| out.write_str(&value.decode());
    Text<'_>, Text, |value, out| out.write_str(&value.decode());
    Words, Plain, |value, out| value.0.iter().enumerate().try_for_each(|(at, word)| {
        out.write_str(if at == 0 { "" } else { " " })?;
        out.write_str(word)
    });
    Blocks<'_>, Plain, |value, out| value.0.iter().enumerate().try_for_each(|(at, block)| {
        out.write_str(if at == 0 { "" } else { " " })?;
        match block_name(block.signature) {
            Some(name) => out.write_str(name),
            None => write!(out, "{:#010x}", block.signature),
        }
    });
    Properties<'_>, Text, |value, out| value.0.iter().enumerate().for_each(|(at, one)| {
        out.push_str(if at == 0 { "" } else { "; " });
        property(one, out);
    });
}

impl Field for f32 {
    fn is_none(&self) -> bool {
        !self.is_finite()
    }

    fn form(&self) -> Form {
        Form::Bare
    }

    fn text(&self, out: &mut String) {
        let _ = write!(out, "{self:?}");
    }
}

/// None for 0 and for a value past the year 9999.
impl Field for FileTime {
    fn is_none(&self) -> bool {
        self.0 == 0 || !self.is_plausible()
    }

    fn form(&self) -> Form {
        Form::Plain
    }

    fn text(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
}

/// The number in decimal digits.
fn digits(value: u64, out: &mut String) {
    if value < 10 {
        return out.push(digit(value));
    }
    let mut digits = ['0'; 20];
    let mut left = value;
    let mut first = digits.len();
    for place in digits.iter_mut().rev() {
        if left == 0 {
            break;
        }
        *place = digit(left);
        left /= 10;
        first = first.saturating_sub(1);
    }
    out.extend(digits.get(first..).unwrap_or_default());
}

fn digit(value: u64) -> char {
    char::from(b'0'.saturating_add((value % 10) as u8))
}

/// 16 lower-case hex digits.
pub(super) struct Hex(pub(super) u64);

/// Words with spaces between.
pub(super) struct Words(pub(super) Vec<&'static str>);

/// The types of extra blocks, with spaces between; one without a name by its signature.
pub(super) struct Blocks<'a>(pub(super) &'a [ExtraBlock<'a>]);

/// Properties as `name=value` with `; ` between: the canonical name, or `{set}\id`.
pub(super) struct Properties<'a>(pub(super) Vec<Property<'a>>);

fn property(property: &Property<'_>, out: &mut String) {
    let _ = match (property.name(), &property.id) {
        (Some(name), _) => out.write_str(name),
        (None, PropertyId::Number(id)) => write!(out, "{{{}}}\\{id}", property.format_id),
        (None, PropertyId::Name(name)) => write!(out, "{name}"),
    };
    out.push('=');
    value(&property.value, out);
}

fn value(shown: &Value<'_>, out: &mut String) {
    let _ = match shown {
        Value::Nothing => Ok(()),
        Value::Signed(number) => write!(out, "{number}"),
        Value::Unsigned(number) => write!(out, "{number}"),
        Value::Float(number) => write!(out, "{number}"),
        Value::Bool(flag) => write!(out, "{flag}"),
        Value::Time(time) => write!(out, "{time}"),
        Value::Guid(guid) => write!(out, "{guid}"),
        Value::Text(text) => out.write_str(&text.decode()),
        Value::Bytes(bytes) | Value::Unknown(bytes) => out.write_str(&hex(bytes)),
        Value::Stream { name, data } => write!(out, "{name}:{}", hex(data)),
        Value::List(list) => {
            for (at, one) in list.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                value(one, out);
            }
            Ok(())
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_rust_writes_them() {
        let shown = |field: &dyn Fn(&mut String)| {
            let mut out = String::new();
            field(&mut out);
            out
        };
        for value in [0, 9, 10, 4_027_904, u64::MAX] {
            assert_eq!(shown(&|out| value.text(out)), value.to_string());
        }
        for value in [0, -1, i32::MIN, i32::MAX] {
            assert_eq!(shown(&|out| value.text(out)), value.to_string());
        }
        assert_eq!([shown(&|out| 1.0_f32.text(out)), shown(&|out| 0.1_f32.text(out))], ["1.0", "0.1"]);
        assert!(f32::NAN.is_none() && FileTime(u64::MAX).is_none());
    }
}
