//! The blocks behind a link's strings (MS-SHLLINK 2.5). Which ones there are is open: each is kept as it
//! is, known or not, and decoded when it is asked for.

#[cfg(feature = "serde")]
use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::console::Console;
use crate::bytes::{Bytes, Short};
use crate::format::guid::Guid;
use crate::format::known_folder::KnownFolder;
use crate::format::problem::Problem;
use crate::format::property_store::{self, PropertyStore};
use crate::format::shell_item::{self, ItemList};
use crate::format::text::{CodePage, Text, Utf16, hex, hex_number, until_nul};

/// A block as it is in the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtraBlock<'a> {
    /// What it is: `0xA000….`, one of [`signature`]'s or another.
    pub signature: u32,
    /// Where it starts (its size field), in bytes from the start of the link.
    pub offset: usize,
    /// What follows its size and signature.
    pub data: &'a [u8],
}

/// The signatures of MS-SHLLINK 2.5.
pub mod signature {
    /// The target's path with environment variables.
    pub const ENVIRONMENT: u32 = 0xA000_0001;
    /// How a console window is to look.
    pub const CONSOLE: u32 = 0xA000_0002;
    /// Link tracking: machine, volume and object ids.
    pub const TRACKER: u32 = 0xA000_0003;
    /// The code page of a console.
    pub const CONSOLE_FE: u32 = 0xA000_0004;
    /// A CSIDL folder that the target is in.
    pub const SPECIAL_FOLDER: u32 = 0xA000_0005;
    /// What Windows Installer is to be asked for.
    pub const DARWIN: u32 = 0xA000_0006;
    /// The icon's path with environment variables.
    pub const ICON_ENVIRONMENT: u32 = 0xA000_0007;
    /// A compatibility layer.
    pub const SHIM: u32 = 0xA000_0008;
    /// Properties of the target.
    pub const PROPERTY_STORE: u32 = 0xA000_0009;
    /// A known folder that the target is in.
    pub const KNOWN_FOLDER: u32 = 0xA000_000B;
    /// A second item ID list, used on Vista and later.
    pub const VISTA_ID_LIST: u32 = 0xA000_000C;
}

impl<'a> ExtraBlock<'a> {
    /// Its whole size in bytes, size field and signature included.
    pub fn size(&self) -> usize {
        self.data.len().saturating_add(8)
    }

    /// What follows size and signature, for bounded reads whose offsets count from the start of the link.
    pub(super) fn bytes(&self) -> Bytes<'a> {
        Bytes::at_base(self.data, (self.offset as u64).saturating_add(8))
    }
}

/// What a block says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Extra<'a> {
    /// The target's path with environment variables (MS-SHLLINK 2.5.4).
    Environment(TwoTexts<'a>),
    /// How a console window is to look (2.5.1).
    Console(Box<Console<'a>>),
    /// Link tracking (2.5.10).
    Tracker(Tracker<'a>),
    /// The code page of a console (2.5.2).
    ConsoleCodePage(u32),
    /// A CSIDL folder that the target is in (2.5.9).
    SpecialFolder {
        /// The CSIDL.
        folder: u32,
        /// Where in the item ID list the first item below the folder starts, in bytes.
        offset: u32,
    },
    /// What Windows Installer is to be asked for (2.5.3).
    Darwin(TwoTexts<'a>),
    /// The icon's path with environment variables (2.5.5).
    IconEnvironment(TwoTexts<'a>),
    /// A compatibility layer (2.5.8).
    Shim(Text<'a>),
    /// Properties of the target (2.5.7).
    Properties(PropertyStore<'a>),
    /// A known folder that the target is in (2.5.6).
    KnownFolder {
        /// The known folder.
        folder: Guid,
        /// Where in the item ID list the first item below the folder starts, in bytes.
        offset: u32,
    },
    /// A second item ID list (2.5.11).
    VistaIdList(ItemList<'a>),
    /// Another block.
    Unknown,
}

/// A text in both forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TwoTexts<'a> {
    /// In the code page.
    pub ansi: Text<'a>,
    /// In UTF-16.
    pub unicode: Text<'a>,
}

impl<'a> TwoTexts<'a> {
    fn read(bytes: &mut Bytes<'a>, what: &'static str, page: CodePage) -> Result<Self, Short> {
        let ansi = Text::Ansi(until_nul(bytes.take(what, 260)?), page);
        Ok(Self { ansi, unicode: Text::Wide(Utf16(bytes.take(what, 520)?).until_nul()) })
    }

    /// The UTF-16 form, or the other if that is empty; `None` if both are.
    pub fn text(&self) -> Option<Text<'a>> {
        self.unicode.non_empty().or_else(|| self.ansi.non_empty())
    }
}

impl<'a> ExtraBlock<'a> {
    /// What the block says. What it holds besides and cannot be read is added to `problems`.
    pub fn decode(&self, page: CodePage, problems: &mut Vec<Problem>) -> Result<Extra<'a>, Short> {
        let mut bytes = self.bytes();
        let at = (self.offset as u64).saturating_add(8);
        Ok(match self.signature {
            signature::ENVIRONMENT => Extra::Environment(TwoTexts::read(&mut bytes, "environment target", page)?),
            signature::CONSOLE => Extra::Console(Box::new(Console::read(&mut bytes)?)),
            signature::TRACKER => Extra::Tracker(Tracker::read(self, page)?),
            signature::CONSOLE_FE => Extra::ConsoleCodePage(bytes.u32("console code page")?),
            signature::SPECIAL_FOLDER => Extra::SpecialFolder {
                folder: bytes.u32("special folder")?,
                offset: bytes.u32("special folder offset")?,
            },
            signature::DARWIN => Extra::Darwin(TwoTexts::read(&mut bytes, "Darwin data", page)?),
            signature::ICON_ENVIRONMENT => {
                Extra::IconEnvironment(TwoTexts::read(&mut bytes, "icon environment", page)?)
            }
            signature::SHIM => Extra::Shim(Text::Wide(Utf16(self.data).until_nul())),
            signature::PROPERTY_STORE => {
                let mut store = property_store::parse(self.data, at, page);
                problems.append(&mut store.problems);
                Extra::Properties(store)
            }
            signature::KNOWN_FOLDER => {
                let folder = Guid(bytes.array("known folder")?);
                Extra::KnownFolder { folder, offset: bytes.u32("known folder offset")? }
            }
            signature::VISTA_ID_LIST => {
                let mut list = shell_item::parse(self.data, at, page);
                problems.append(&mut list.problems);
                Extra::VistaIdList(list)
            }
            _ => Extra::Unknown,
        })
    }
}

impl ExtraBlock<'_> {
    /// Adds to `problems` what [`Self::decode`] and its error report, without keeping what the block says.
    pub(super) fn check(&self, page: CodePage, problems: &mut Vec<Problem>) {
        let at = (self.offset as u64).saturating_add(8);
        match self.signature {
            signature::PROPERTY_STORE => property_store::check(self.data, at, page, problems),
            signature::VISTA_ID_LIST => shell_item::check(self.data, at, page, problems),
            _ => {
                if let Err(short) = self.decode(page, problems) {
                    problems.push(short.into());
                }
            }
        }
    }
}

/// The name of a block, by its signature; `None` for one that MS-SHLLINK does not name.
pub fn block_name(signature: u32) -> Option<&'static str> {
    Some(match signature {
        signature::ENVIRONMENT => "environment",
        signature::CONSOLE => "console",
        signature::TRACKER => "tracker",
        signature::CONSOLE_FE => "console_fe",
        signature::SPECIAL_FOLDER => "special_folder",
        signature::DARWIN => "darwin",
        signature::ICON_ENVIRONMENT => "icon_environment",
        signature::SHIM => "shim",
        signature::PROPERTY_STORE => "property_store",
        signature::KNOWN_FOLDER => "known_folder",
        signature::VISTA_ID_LIST => "vista_id_list",
        _ => return None,
    })
}

/// A block with what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodedBlock<'a> {
    /// The block as it is.
    pub block: ExtraBlock<'a>,
    /// What it says.
    pub extra: Extra<'a>,
}

/// `signature`, `type` (a word, or null), `offset` and `size`, then what the block says beside what the link's own fields
/// show; an unknown one as `data` in hex.
#[cfg(feature = "serde")]
impl Serialize for DecodedBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let block = &self.block;
        let mut map = serializer.serialize_struct("ExtraBlock", 7)?;
        map.serialize_field("signature", &hex_number(block.signature))?;
        map.serialize_field("type", &block_name(block.signature))?;
        map.serialize_field("offset", &block.offset)?;
        map.serialize_field("size", &block.size())?;
        match &self.extra {
            Extra::Environment(texts) | Extra::Darwin(texts) | Extra::IconEnvironment(texts) => {
                map.serialize_field("ansi", &texts.ansi)?;
                map.serialize_field("unicode", &texts.unicode)?;
            }
            Extra::Console(console) => map.serialize_field("console", console)?,
            // Its ids, like the properties, are reported among the link's own fields.
            Extra::Tracker(tracker) => map.serialize_field("moved", &tracker.moved())?,
            Extra::ConsoleCodePage(page) => map.serialize_field("code_page", page)?,
            Extra::SpecialFolder { folder, offset } => {
                map.serialize_field("folder", folder)?;
                map.serialize_field("folder_offset", offset)?;
            }
            Extra::KnownFolder { folder, offset } => {
                map.serialize_field("folder", folder)?;
                map.serialize_field("folder_name", &KnownFolder::find(folder).map(|folder| folder.name))?;
                map.serialize_field("folder_offset", offset)?;
            }
            Extra::Shim(layer) => map.serialize_field("layer", layer)?,
            Extra::Properties(store) => map.serialize_field("count", &store.properties.len())?,
            Extra::VistaIdList(list) => map.serialize_field("items", &list.items)?,
            Extra::Unknown => map.serialize_field("data", &hex(block.data))?,
        }
        map.end()
    }
}

/// What the Distributed Link Tracking service knew of the target (MS-SHLLINK 2.5.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Tracker<'a> {
    /// The NetBIOS name of the machine that the target was on; absent if empty.
    pub machine_id: Option<Text<'a>>,
    /// The volume that the target was on.
    pub volume: Guid,
    /// The target's object id: a version-1 UUID.
    pub file: Guid,
    /// The volume that the target was made on.
    pub birth_volume: Guid,
    /// The object id that it was given there.
    pub birth_file: Guid,
}

impl<'a> Tracker<'a> {
    /// True if the target is known by other ids than those it was born with: it was moved to another volume, or it is a
    /// copy that took an id of its own. The lowest bit of a volume's id is no part of it (measured: set for shares).
    pub fn moved(&self) -> bool {
        let volume = |id: Guid| id.number() & !(1 << 96);
        volume(self.volume) != volume(self.birth_volume) || self.file != self.birth_file
    }

    pub(super) fn read(block: &ExtraBlock<'a>, code_page: CodePage) -> Result<Self, Short> {
        let mut bytes = block.bytes();
        bytes.u32("tracker data length")?;
        bytes.u32("tracker data version")?;
        Ok(Self {
            machine_id: Text::Ansi(until_nul(bytes.take("machine id", 16)?), code_page).non_empty(),
            volume: Guid(bytes.array("volume droid")?),
            file: Guid(bytes.array("file droid")?),
            birth_volume: Guid(bytes.array("birth volume droid")?),
            birth_file: Guid(bytes.array("birth file droid")?),
        })
    }
}
