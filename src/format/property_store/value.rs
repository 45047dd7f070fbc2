//! Typed values (MS-OLEPS 2.15, in the forms that MS-PROPSTORE uses): what a property holds.

use std::borrow::Cow;

#[cfg(feature = "serde")]
use serde::{Serialize, Serializer};

use crate::bytes::{Bytes, Short};
use crate::format::guid::Guid;
use crate::format::text::{CodePage, Text, Utf16, hex, until_nul};
use crate::format::time::FileTime;

/// A value, borrowed from the store. Integers are widened; `Property::value_type` keeps which type it was.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// VT_EMPTY or VT_NULL.
    Nothing,
    /// VT_I1, VT_I2, VT_I4, VT_I8, VT_INT, and VT_CY in ten-thousandths.
    Signed(i64),
    /// VT_UI1, VT_UI2, VT_UI4, VT_UI8, VT_UINT, and VT_ERROR.
    Unsigned(u64),
    /// VT_R4 and VT_R8, and VT_DATE in days since 1899-12-30.
    Float(f64),
    /// VT_BOOL.
    Bool(bool),
    /// VT_FILETIME.
    Time(FileTime),
    /// VT_CLSID.
    Guid(Guid),
    /// VT_LPWSTR, VT_BSTR and VT_LPSTR.
    Text(Text<'a>),
    /// VT_BLOB, VT_CF, and a vector of VT_UI1.
    Bytes(&'a [u8]),
    /// VT_STREAM, VT_STORAGE and the like: a name, and what is behind it.
    Stream {
        /// The name of the stream.
        name: Utf16<'a>,
        /// Its content, if it is in the store.
        data: &'a [u8],
    },
    /// VT_VECTOR of anything but bytes.
    List(Vec<Value<'a>>),
    /// Another type, or one that did not read as it should: the bytes of its value.
    Unknown(&'a [u8]),
}

const VECTOR: u16 = 0x1000;
const ARRAY: u16 = 0x2000;
/// How deep variants may hold vectors of variants. Windows' own stores need one level.
const DEEPEST: u8 = 3;

/// The name of a value type: `lpwstr`, `ui4`, `vector of ui1`; a number without a name as `type 0xNNNN`.
pub fn type_name(value_type: u16) -> Cow<'static, str> {
    let name = match value_type & 0x0FFF {
        0x00 => "empty",
        0x01 => "null",
        0x02 => "i2",
        0x03 => "i4",
        0x04 => "r4",
        0x05 => "r8",
        0x06 => "cy",
        0x07 => "date",
        0x08 => "bstr",
        0x0A => "error",
        0x0B => "bool",
        0x0C => "variant",
        0x0E => "decimal",
        0x10 => "i1",
        0x11 => "ui1",
        0x12 => "ui2",
        0x13 => "ui4",
        0x14 => "i8",
        0x15 => "ui8",
        0x16 => "int",
        0x17 => "uint",
        0x1E => "lpstr",
        0x1F => "lpwstr",
        0x40 => "filetime",
        0x41 => "blob",
        0x42 => "stream",
        0x43 => "storage",
        0x44 => "streamed_object",
        0x45 => "stored_object",
        0x46 => "blob_object",
        0x47 => "cf",
        0x48 => "clsid",
        0x49 => "versioned_stream",
        _ => return Cow::Owned(format!("type {value_type:#06x}")),
    };
    match value_type & 0xF000 {
        0 => Cow::Borrowed(name),
        VECTOR => Cow::Owned(format!("vector of {name}")),
        ARRAY => Cow::Owned(format!("array of {name}")),
        _ => Cow::Owned(format!("type {value_type:#06x}")),
    }
}

impl<'a> Value<'a> {
    /// Reads a value of `value_type` from `bytes`, which ends where the property ends.
    pub(super) fn read(bytes: &mut Bytes<'a>, value_type: u16, page: CodePage) -> Result<Self, Short> {
        Self::read_at(bytes, value_type, page, 0)
    }

    fn read_at(bytes: &mut Bytes<'a>, value_type: u16, page: CodePage, depth: u8) -> Result<Self, Short> {
        if value_type & VECTOR != 0 {
            return Self::vector(bytes, value_type & !VECTOR, page, depth);
        }
        Ok(match value_type {
            0x00 | 0x01 => Self::Nothing,
            0x02 => Self::Signed(bytes.u16("VT_I2")?.cast_signed().into()),
            0x03 | 0x16 => Self::Signed(bytes.i32("VT_I4")?.into()),
            0x04 => Self::Float(bytes.f32("VT_R4")?.into()),
            0x05 | 0x07 => Self::Float(f64::from_bits(bytes.u64("VT_R8")?)),
            0x06 | 0x14 => Self::Signed(bytes.u64("VT_I8")?.cast_signed()),
            0x08 | 0x1F | 0x1E => Self::Text(text(bytes, value_type, page)?),
            0x0A | 0x13 | 0x17 => Self::Unsigned(bytes.u32("VT_UI4")?.into()),
            0x0B => Self::Bool(bytes.u16("VT_BOOL")? != 0),
            0x0C if depth < DEEPEST => {
                let inner = bytes.u16("VT_VARIANT type")?;
                bytes.u16("VT_VARIANT padding")?;
                Self::read_at(bytes, inner, page, depth + 1)?
            }
            0x10 => Self::Signed(bytes.u8("VT_I1")?.cast_signed().into()),
            0x11 => Self::Unsigned(bytes.u8("VT_UI1")?.into()),
            0x12 => Self::Unsigned(bytes.u16("VT_UI2")?.into()),
            0x15 => Self::Unsigned(bytes.u64("VT_UI8")?),
            0x40 => Self::Time(FileTime(bytes.u64("VT_FILETIME")?)),
            0x41 | 0x46 | 0x47 => {
                let size = bytes.u32("VT_BLOB size")?;
                Self::Bytes(bytes.take("VT_BLOB", size as usize)?)
            }
            0x42..=0x45 => Self::stream(bytes)?,
            0x48 => Self::Guid(Guid(bytes.array("VT_CLSID")?)),
            _ => {
                let rest = bytes.rest();
                Self::Unknown(bytes.take("value", rest.len())?)
            }
        })
    }

    /// The name in UTF-16, its size in bytes before it, then (measured: Vista's saved searches) the content
    /// with its size, each padded to 4 bytes.
    fn stream(bytes: &mut Bytes<'a>) -> Result<Self, Short> {
        let size = bytes.u32("stream name size")?;
        let name = Utf16(bytes.take("stream name", size as usize)?).until_nul();
        pad(bytes, size as usize)?;
        let data = match bytes.u32("stream size") {
            Ok(size) => bytes.take("stream", size as usize)?,
            Err(_) => &[],
        };
        Ok(Self::Stream { name, data })
    }

    fn vector(bytes: &mut Bytes<'a>, element: u16, page: CodePage, depth: u8) -> Result<Self, Short> {
        let count = bytes.u32("vector count")? as usize;
        if element == 0x11 {
            return Ok(Self::Bytes(bytes.take("vector of VT_UI1", count)?));
        }
        // No room is made for a claimed count: each element has to be there, and takes at least a byte.
        let mut list = Vec::new();
        for _ in 0..count {
            let before = bytes.position();
            let value = Self::read_at(bytes, element, page, depth)?;
            let size = bytes.position().saturating_sub(before);
            if size == 0 {
                break;
            }
            list.push(value);
            if matches!(element, 0x08 | 0x0C | 0x1E | 0x1F | 0x41) {
                pad(bytes, size)?;
            }
        }
        Ok(Self::List(list))
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<Text<'a>> {
        match self {
            Self::Text(text) => Some(*text),
            _ => None,
        }
    }
}

fn text<'a>(bytes: &mut Bytes<'a>, value_type: u16, page: CodePage) -> Result<Text<'a>, Short> {
    let count = bytes.u32("string size")? as usize;
    Ok(match value_type {
        0x1E => Text::Ansi(until_nul(bytes.take("VT_LPSTR", count)?), page),
        0x08 => Text::Wide(Utf16(bytes.take("VT_BSTR", count)?).until_nul()),
        _ => Text::Wide(Utf16(bytes.take("VT_LPWSTR", count.saturating_mul(2))?).until_nul()),
    })
}

/// Skips to the next multiple of 4 after `size` bytes, as far as there is something.
fn pad(bytes: &mut Bytes<'_>, size: usize) -> Result<(), Short> {
    let padding = (size.wrapping_neg() & 3).min(bytes.left());
    bytes.take("padding", padding).map(|_| ())
}

/// Numbers, booleans and texts as such, times as everywhere, bytes in hex.
#[cfg(feature = "serde")]
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_none(),
            Self::Signed(number) => serializer.serialize_i64(*number),
            Self::Unsigned(number) => serializer.serialize_u64(*number),
            Self::Float(number) => serializer.serialize_f64(*number),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Time(time) => time.serialize(serializer),
            Self::Guid(guid) => guid.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::Bytes(bytes) | Self::Unknown(bytes) => serializer.serialize_str(&hex(bytes)),
            Self::Stream { name, .. } => name.serialize(serializer),
            Self::List(list) => list.serialize(serializer),
        }
    }
}
