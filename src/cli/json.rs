//! JSON written straight into a vector, byte for byte as serde_json writes it, in a third of its time: keys are known to
//! need no escapes, texts are escaped eight bytes at a time, and nothing is written in single bytes through a trait.

use std::fmt::{self, Write as _};

use serde::ser::{self, Serialize, Serializer};
use serde_json::Error;

/// Appends `value` as compact JSON.
///
/// # Errors
/// Those of `value`, and a map with keys that are no texts.
pub(crate) fn append<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), Error> {
    value.serialize(&mut Json { out })
}

struct Json<'o> {
    out: &'o mut Vec<u8>,
}

const EVERY: u64 = 0x0101_0101_0101_0101;

/// True if a byte of `chunk` is a quote, a backslash or a control character; may also be true for other chunks.
#[inline]
fn needs_escape(chunk: u64) -> bool {
    let zero = |value: u64| value.wrapping_sub(EVERY) & !value;
    let control = chunk.wrapping_sub(EVERY * 0x20) & !chunk;
    (zero(chunk ^ (EVERY * 0x22)) | zero(chunk ^ (EVERY * 0x5C)) | control) & (EVERY * 0x80) != 0
}

/// Escapes up to 8 bytes.
fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0C => out.extend_from_slice(b"\\f"),
            0..0x20 => {
                let mut digits = *b"\\u0000";
                if let Some(room) = digits.get_mut(4..) {
                    let _ = hex::encode_to_slice([*byte], room);
                }
                out.extend_from_slice(&digits);
            }
            byte => out.push(*byte),
        }
    }
}

/// Escapes 8 bytes. Nearly always it is the backslash of a path: each byte is put behind one, which is kept or not.
fn push_chunk(out: &mut Vec<u8>, chunk: &[u8; 8]) {
    if chunk.iter().any(|byte| *byte < 0x20) {
        return push_escaped(out, chunk);
    }
    let (mut text, mut end) = ([b'\\'; 16], 0_usize);
    for byte in chunk {
        end += usize::from(matches!(byte, b'"' | b'\\'));
        if let Some(place) = text.get_mut(end) {
            *place = *byte;
        }
        // What a skipped place holds is a backslash, as the text was filled with them.
        end += 1;
    }
    out.extend_from_slice(text.get(..end).unwrap_or_default());
}

/// A text without the quotes around it.
fn push_text(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len().saturating_add(text.len() / 4));
    let (chunks, rest) = text.as_bytes().as_chunks::<8>();
    for chunk in chunks {
        if needs_escape(u64::from_le_bytes(*chunk)) {
            push_chunk(out, chunk);
        } else {
            out.extend_from_slice(chunk);
        }
    }
    if rest.iter().any(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')) {
        push_escaped(out, rest);
    } else {
        out.extend_from_slice(rest);
    }
}

/// Escapes what a `Display` writes.
struct Escaped<'o>(&'o mut Vec<u8>);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        push_text(self.0, text);
        Ok(())
    }
}

/// A list or an object that is being written.
struct Parts<'j, 'o> {
    json: &'j mut Json<'o>,
    is_first: bool,
    end: &'static [u8],
}

impl<'o> Json<'o> {
    fn parts<'j>(&'j mut self, start: &[u8], end: &'static [u8]) -> Parts<'j, 'o> {
        self.out.extend_from_slice(start);
        Parts { json: self, is_first: true, end }
    }

    fn variant(&mut self, name: &str, start: &[u8]) {
        self.out.extend_from_slice(b"{\"");
        push_text(self.out, name);
        self.out.extend_from_slice(start);
    }
}

impl Parts<'_, '_> {
    #[inline]
    fn separate(&mut self) {
        if !self.is_first {
            self.json.out.push(b',');
        }
        self.is_first = false;
    }

    #[inline]
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.separate();
        value.serialize(&mut *self.json)
    }

    /// A field whose name is an identifier.
    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        let out = &mut *self.json.out;
        out.reserve(name.len().saturating_add(4));
        out.extend_from_slice(if self.is_first { b"\"" } else { b",\"" });
        self.is_first = false;
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        value.serialize(&mut *self.json)
    }

    fn close(self) -> Result<(), Error> {
        self.json.out.extend_from_slice(self.end);
        Ok(())
    }
}

macro_rules! integers {
    ($($name:ident: $type:ty;)*) => {$(
        #[inline]
        fn $name(self, value: $type) -> Result<(), Error> {
            self.out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            Ok(())
        }
    )*};
}

impl<'j, 'o> Serializer for &'j mut Json<'o> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Parts<'j, 'o>;
    type SerializeTuple = Parts<'j, 'o>;
    type SerializeTupleStruct = Parts<'j, 'o>;
    type SerializeTupleVariant = Parts<'j, 'o>;
    type SerializeMap = Parts<'j, 'o>;
    type SerializeStruct = Parts<'j, 'o>;
    type SerializeStructVariant = Parts<'j, 'o>;

    integers! {
        serialize_i8: i8;
        serialize_i16: i16;
        serialize_i32: i32;
        serialize_i64: i64;
        serialize_u8: u8;
        serialize_u16: u16;
        serialize_u32: u32;
        serialize_u64: u64;
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        serde_json::to_writer(&mut *self.out, &value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        serde_json::to_writer(&mut *self.out, &value)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, text: &str) -> Result<(), Error> {
        self.out.push(b'"');
        push_text(self.out, text);
        self.out.push(b'"');
        Ok(())
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.out.push(b'"');
        write!(Escaped(self.out), "{value}").map_err(ser::Error::custom)?;
        self.out.push(b'"');
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Error> {
        bytes.serialize(self)
    }

    #[inline]
    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), Error> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.variant(variant, b"\":");
        value.serialize(&mut *self)?;
        self.out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'j, 'o>, Error> {
        Ok(self.parts(b"[", b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'j, 'o>, Error> {
        Ok(self.parts(b"[", b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts<'j, 'o>, Error> {
        Ok(self.parts(b"[", b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'j, 'o>, Error> {
        self.variant(variant, b"\":[");
        Ok(self.parts(b"", b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'j, 'o>, Error> {
        Ok(self.parts(b"{", b"}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'j, 'o>, Error> {
        Ok(self.parts(b"{", b"}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'j, 'o>, Error> {
        self.variant(variant, b"\":{");
        Ok(self.parts(b"", b"}}"))
    }
}

macro_rules! lists {
    ($($part:ident: $method:ident;)*) => {$(
        impl ser::$part for Parts<'_, '_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.element(value)
            }

            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )*};
}

lists! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
}

macro_rules! objects {
    ($($part:ident;)*) => {$(
        impl ser::$part for Parts<'_, '_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )*};
}

objects! {
    SerializeStruct;
    SerializeStructVariant;
}

impl ser::SerializeMap for Parts<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.separate();
        let start = self.json.out.len();
        key.serialize(&mut *self.json)?;
        if self.json.out.get(start) == Some(&b'"') {
            return Ok(());
        }
        // A number or a boolean becomes the text of it, as serde_json writes such keys.
        let name = self.json.out.split_off(start);
        if !name.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') || name == b"null" {
            return Err(ser::Error::custom("need a text as the key of a map"));
        }
        self.json.out.push(b'"');
        self.json.out.extend_from_slice(&name);
        self.json.out.push(b'"');
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.json.out.push(b':');
        value.serialize(&mut *self.json)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;

    use super::*;

    #[derive(Serialize)]
    enum Shape {
        Empty,
        One(u8),
        Two(i64, f64),
        Named { text: Option<char>, list: Vec<()> },
    }

    #[derive(Serialize)]
    struct Row<'a> {
        texts: Vec<&'a str>,
        shapes: [Shape; 4],
        #[serde(skip_serializing_if = "Option::is_none")]
        absent: Option<u8>,
        numbers: BTreeMap<i32, f32>,
        value: serde_json::Value,
    }

    #[test]
    fn json_is_what_serde_json_writes() {
        let every: String = (0..0x100).filter_map(char::from_u32).collect();
        let row = Row {
            texts: vec!["", "1234567", "12345678", r"C:\Users\é\日本\new folder\a.txt", "a\"b", "\u{7f}\u{80}", &every],
            shapes: [
                Shape::Empty,
                Shape::One(255),
                Shape::Two(i64::MIN, 1.5e300),
                Shape::Named { text: Some('"'), list: vec![()] },
            ],
            absent: None,
            numbers: BTreeMap::from([(-1, 0.1), (2, f32::NAN)]),
            value: serde_json::json!({"a": [1, null, true, {"b": "c\n"}], "": -0.0}),
        };
        let mut out = b"before ".to_vec();
        append(&row, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("before {}", serde_json::to_string(&row).unwrap()));
        // A text in which each place of a chunk is the one that needs an escape.
        for at in 0..24 {
            let text: String = (0..24).map(|place| if place == at { '\\' } else { '!' }).collect();
            let mut out = Vec::new();
            append(&text, &mut out).unwrap();
            assert_eq!(out, serde_json::to_vec(&text).unwrap());
        }
        let pairs = BTreeMap::from([((1, 2), 3)]);
        assert!(append(&pairs, &mut Vec::new()).is_err());
    }
}
