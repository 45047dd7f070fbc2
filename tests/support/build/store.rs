//! Serialized property stores (MS-PROPSTORE), as they stand in links and after the path of a DestList entry.

use jlfix::format::guid::Guid;
use jlfix::format::time::FileTime;

use super::utf16_nul;

/// The format id of storages whose properties have names instead of numbers (MS-PROPSTORE 2.2).
const NAMED: &str = "d5cdd505-2e9c-101b-9397-08002b2cf9ae";

/// A typed value (MS-OLEPS 2.15), of the types that links hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Property {
    /// VT_BOOL.
    Bool(bool),
    /// VT_UI4.
    U32(u32),
    /// VT_UI8.
    U64(u64),
    /// VT_LPWSTR.
    Text(String),
    /// VT_FILETIME.
    Time(FileTime),
    /// VT_CLSID.
    Guid(Guid),
    /// Any other type, with the bytes of its value.
    Other(u16, Vec<u8>),
}

impl Property {
    fn encode(&self) -> Vec<u8> {
        let (kind, value) = match self {
            Self::Bool(value) => (0x000B_u16, vec![if *value { 0xFF } else { 0 }, if *value { 0xFF } else { 0 }, 0, 0]),
            Self::U32(value) => (0x0013, value.to_le_bytes().to_vec()),
            Self::U64(value) => (0x0015, value.to_le_bytes().to_vec()),
            Self::Text(text) => {
                let units = utf16_nul(text);
                let mut value = ((units.len() / 2) as u32).to_le_bytes().to_vec();
                value.extend(&units);
                value.resize(value.len().next_multiple_of(4), 0);
                (0x001F, value)
            }
            Self::Time(time) => (0x0040, time.0.to_le_bytes().to_vec()),
            Self::Guid(guid) => (0x0048, guid.0.to_vec()),
            Self::Other(kind, value) => (*kind, value.clone()),
        };
        let mut bytes = u32::from(kind).to_le_bytes().to_vec();
        bytes.extend(value);
        bytes
    }
}

/// Storages, each with the properties of one format id.
#[derive(Debug, Clone, Default)]
pub struct StoreBuilder {
    storages: Vec<(Guid, Vec<u8>)>,
}

impl StoreBuilder {
    /// A store with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    fn push(mut self, format: Guid, key: Vec<u8>, property: &Property) -> Self {
        let value = property.encode();
        let size = 4 + key.len() + value.len();
        let mut bytes = (size as u32).to_le_bytes().to_vec();
        bytes.extend(key);
        bytes.extend(value);
        match self.storages.iter_mut().find(|(known, _)| *known == format) {
            Some((_, properties)) => properties.extend(bytes),
            None => self.storages.push((format, bytes)),
        }
        self
    }

    /// Adds property `id` of the format id `format`, which is written with dashes.
    pub fn property(self, format: &str, id: u32, property: Property) -> Self {
        let mut key = id.to_le_bytes().to_vec();
        key.push(0);
        self.push(super::guid(format), key, &property)
    }

    /// Adds a property with a name instead of a format id and a number.
    pub fn named(self, name: &str, property: Property) -> Self {
        let name = utf16_nul(name);
        let mut key = (name.len() as u32).to_le_bytes().to_vec();
        key.push(0);
        key.extend(name);
        self.push(super::guid(NAMED), key, &property)
    }

    /// The storages and the terminal, without a size before them.
    pub fn build(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (format, properties) in &self.storages {
            let size = 4 + 4 + 16 + properties.len() + 4;
            out.extend((size as u32).to_le_bytes());
            out.extend(b"1SPS");
            out.extend(format.0);
            out.extend(properties);
            out.extend([0; 4]);
        }
        out.extend([0; 4]);
        out
    }
}
