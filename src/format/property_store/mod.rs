//! Serialized property stores (MS-PROPSTORE): what the shell knows of a target besides its path.
//!
//! A store is a sequence of storages, each for one format identifier, each a sequence of properties. They are in
//! a link's extra data, in shell items, and behind the entries of a DestList. What cannot be read fails
//! alone as long as the sizes lead on.
//!
//! ```
//! use jlfix::format::property_store::{self, APP_USER_MODEL_ID};
//!
//! let empty = property_store::parse(&[0; 4], 0, Default::default());
//! assert!(empty.properties.is_empty() && empty.text(APP_USER_MODEL_ID).is_none());
//! ```

mod names;
mod value;

#[cfg(feature = "serde")]
use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::bytes::{Bytes, Short, u32_at};
use crate::format::guid::Guid;
use crate::format::problem::Problem;
use crate::format::text::{CodePage, Text, Utf16};

pub use names::property_name;
pub use value::{Value, type_name};

/// The format identifier whose properties go by name instead of a number (MS-PROPSTORE 2.2).
pub const NAMED_PROPERTIES: Guid =
    Guid::new(0xD5CD_D505, 0x2E9C, 0x101B, [0x93, 0x97, 0x08, 0x00, 0x2B, 0x2C, 0xF9, 0xAE]);

/// `System.ItemNameDisplay`: what an item is called where it is shown.
pub const ITEM_NAME_DISPLAY: (Guid, u32) =
    (Guid::new(0xB725_F130, 0x47EF, 0x101A, [0xA5, 0xF1, 0x02, 0x60, 0x8C, 0x9E, 0xEB, 0xAC]), 10);

/// `System.ParsingPath`: the path that leads to an item.
pub const PARSING_PATH: (Guid, u32) =
    (Guid::new(0x2863_6AA6, 0x953D, 0x11D2, [0xB5, 0xD6, 0x00, 0xC0, 0x4F, 0xD9, 0x18, 0xD0]), 30);

/// `System.AppUserModel.ID`: the application that an item belongs to, or is.
pub const APP_USER_MODEL_ID: (Guid, u32) =
    (Guid::new(0x9F4C_2855, 0x9F79, 0x4B39, [0xA8, 0xD0, 0xE1, 0xD4, 0x2D, 0xE1, 0xD5, 0xF3]), 5);

/// `System.DelegateIDList`: the item ID list of what an item in a library stands for.
pub const DELEGATE_ID_LIST: (Guid, u32) = (PARSING_PATH.0, 32);

/// What a store holds, as far as it could be read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PropertyStore<'a> {
    /// The properties in their order.
    pub properties: Vec<Property<'a>>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// How many bytes the store took, its terminal identifier included.
    pub size: usize,
}

/// A property.
#[derive(Debug, Clone, PartialEq)]
pub struct Property<'a> {
    /// Where it starts, as problems count.
    pub offset: u64,
    /// The property set that it belongs to.
    pub format_id: Guid,
    /// Which property of the set it is.
    pub id: PropertyId<'a>,
    /// The VT_… number of its type.
    pub value_type: u16,
    /// What it holds.
    pub value: Value<'a>,
}

/// Which property of its set one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PropertyId<'a> {
    /// By number.
    Number(u32),
    /// By name.
    Name(Utf16<'a>),
}

/// "1SPS": the version of a storage, which is the only one there is.
const VERSION: u32 = 0x5350_5331;
const STORAGE_HEADER: usize = 24;

/// True if a storage seems to start at the start of `data`.
pub fn starts_storage(data: &[u8]) -> bool {
    u32_at(data, 4) == Some(VERSION)
}

/// Reads the store at the start of `data`, with or without the store's own size before the first storage.
/// Offsets count from `base`; ANSI strings are read in `code_page`.
pub fn parse(data: &[u8], base: u64, code_page: CodePage) -> PropertyStore<'_> {
    let (mut properties, mut problems) = (Vec::new(), Vec::new());
    let mut visit = |property| properties.push(property);
    let size = Reader { page: code_page, problems: &mut problems, visit: &mut visit }.read(data, base);
    PropertyStore { properties, problems, size }
}

/// The problems that [`parse`] finds, without keeping the properties.
pub(crate) fn check(data: &[u8], base: u64, code_page: CodePage, problems: &mut Vec<Problem>) {
    Reader { page: code_page, problems, visit: &mut |_| () }.read(data, base);
}

/// A part with its size before it: the part alone, or nothing for the terminal size of 0.
fn sized<'a>(bytes: &mut Bytes<'a>, what: &'static str, base: u64) -> Result<Option<Bytes<'a>>, Short> {
    let at = base.saturating_add(bytes.position() as u64);
    let mut ahead = *bytes;
    let size = ahead.u32(what)?;
    if size == 0 {
        *bytes = ahead;
        return Ok(None);
    }
    let mut part = Bytes::at_base(bytes.take(what, (size as usize).max(4))?, at);
    part.u32(what)?;
    Ok(Some(part))
}

/// Reads a store and hands on its properties one by one.
struct Reader<'p, V> {
    page: CodePage,
    problems: &'p mut Vec<Problem>,
    visit: &'p mut V,
}

impl<'a, V: FnMut(Property<'a>)> Reader<'_, V> {
    /// Returns how many bytes the store takes.
    fn read(&mut self, data: &'a [u8], base: u64) -> usize {
        let mut bytes = Bytes::at_base(data, base);
        if !starts_storage(data) && u32_at(data, 8) == Some(VERSION) {
            let _ = bytes.u32("store size");
        }
        if let Err(problem) = self.read_storages(&mut bytes, base) {
            self.problems.push(problem);
        }
        bytes.position()
    }

    fn read_storages(&mut self, bytes: &mut Bytes<'a>, base: u64) -> Result<(), Problem> {
        while bytes.left() > 0 {
            let at = base.saturating_add(bytes.position() as u64);
            let Some(mut storage) = sized(bytes, "property storage", base)? else { return Ok(()) };
            if storage.u32("property storage version") != Ok(VERSION) {
                self.problems.push(Problem::note("property storage version", at, "is not 1SPS"));
                continue;
            }
            match storage.array("property storage format identifier") {
                Ok(format_id) => self.read_properties(storage, Guid(format_id), at),
                Err(short) => self.problems.push(short.into()),
            }
        }
        Ok(())
    }

    fn read_properties(&mut self, storage: Bytes<'a>, format_id: Guid, at: u64) {
        let base = at.saturating_add(STORAGE_HEADER as u64);
        let mut bytes = Bytes::at_base(storage.rest(), base);
        while bytes.left() > 0 {
            let offset = base.saturating_add(bytes.position() as u64);
            match sized(&mut bytes, "property", base) {
                Ok(None) => return,
                Ok(Some(part)) => match Property::read(part, offset, format_id, self.page, self.problems) {
                    Ok(property) => (self.visit)(property),
                    Err(short) => self.problems.push(short.into()),
                },
                Err(short) => {
                    self.problems.push(short.into());
                    return;
                }
            }
        }
    }
}

impl<'a> PropertyStore<'a> {
    /// A property.
    pub fn find(&self, (format_id, id): (Guid, u32)) -> Option<&Property<'a>> {
        let id = PropertyId::Number(id);
        self.properties.iter().find(|property| property.format_id == format_id && property.id == id)
    }

    /// The value of a property.
    pub fn get(&self, key: (Guid, u32)) -> Option<&Value<'a>> {
        self.find(key).map(|property| &property.value)
    }

    /// The text of a property, unless it is empty.
    pub fn text(&self, key: (Guid, u32)) -> Option<Text<'a>> {
        self.get(key).and_then(Value::text).and_then(Text::non_empty)
    }
}

impl<'a> Property<'a> {
    fn read(
        mut bytes: Bytes<'a>,
        offset: u64,
        format_id: Guid,
        page: CodePage,
        problems: &mut Vec<Problem>,
    ) -> Result<Self, Short> {
        let number = bytes.u32("property identifier")?;
        bytes.u8("property reserved byte")?;
        let id = if format_id == NAMED_PROPERTIES {
            PropertyId::Name(Utf16(bytes.take("property name", number as usize)?).until_nul())
        } else {
            PropertyId::Number(number)
        };
        let value_type = bytes.u16("property type")?;
        bytes.u16("property type padding")?;
        let raw = bytes.rest();
        let value = Value::read(&mut bytes, value_type, page).unwrap_or_else(|short| {
            problems.push(short.into());
            Value::Unknown(raw)
        });
        Ok(Self { offset, format_id, id, value_type, value })
    }

    /// The canonical name, such as `System.ItemNameDisplay`, if it is known.
    pub fn name(&self) -> Option<&'static str> {
        match self.id {
            PropertyId::Number(id) => property_name(self.format_id, id),
            PropertyId::Name(_) => None,
        }
    }
}

#[cfg(feature = "serde")]
impl Serialize for PropertyId<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u32(*number),
            Self::Name(name) => name.serialize(serializer),
        }
    }
}

/// `format_id`, `id` (a number or a name), `name` (canonical, or null), `type` and `value`.
#[cfg(feature = "serde")]
impl Serialize for Property<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Property", 5)?;
        out.serialize_field("format_id", &self.format_id)?;
        out.serialize_field("id", &self.id)?;
        out.serialize_field("name", &self.name())?;
        out.serialize_field("type", &type_name(self.value_type))?;
        out.serialize_field("value", &self.value)?;
        out.end()
    }
}

#[cfg(test)]
mod tests;
