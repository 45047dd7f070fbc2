//! What an item is, by its class type indicator or by a signature in it.

use super::{
    Context, FileEntry, Item, PortableDevice, PortableFile, PortableVolume, ansi_text, counted_text, next_item,
    read_items, wide_text,
};
use crate::bytes::{Bytes, Short, u32_at};
use crate::format::guid::Guid;
use crate::format::property_store::{self, Property, PropertyStore, Value};
use crate::format::text::{Text, Utf16, until_nul};
use crate::format::time::FileTime;

/// What an item says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Kind<'a> {
    /// A folder right below the desktop, by class: This PC, the Control Panel, the Libraries.
    Root {
        /// Where it is among its like.
        sort_index: u8,
        /// Its class.
        class: Guid,
    },
    /// A folder below another, by class or as a known folder.
    Folder {
        /// Its class, or the identifier of the known folder.
        class: Guid,
    },
    /// A drive.
    Volume {
        /// Its letter, such as `C:\`.
        name: Text<'a>,
        /// A class that belongs to it, if one does.
        class: Option<Guid>,
    },
    /// A folder or a file.
    File(FileEntry<'a>),
    /// A folder or a file in a user's own folder.
    UsersFile {
        /// The folder or the file.
        entry: FileEntry<'a>,
        /// The delegate folder that it came through.
        folder: Guid,
    },
    /// An item of a delegate folder that is not known otherwise.
    Delegate {
        /// What the delegate keeps there.
        data: &'a [u8],
        /// The delegate folder.
        folder: Guid,
    },
    /// A network, a server or a share.
    Network(NetworkLocation<'a>),
    /// A URI.
    Uri(Uri<'a>),
    /// A category of the Control Panel.
    ControlPanelCategory(u32),
    /// An item of the Control Panel.
    ControlPanelItem {
        /// Its class.
        class: Guid,
    },
    /// An item of the Control Panel that is a `.cpl` file.
    ControlPanelFile {
        /// The path of the file.
        path: Text<'a>,
        /// What it is called.
        name: Text<'a>,
        /// What it is for.
        comments: Text<'a>,
    },
    /// An item that is nothing but properties: what is in a library, a search result, an application.
    Properties {
        /// What it is for.
        signature: u32,
        /// Its properties.
        store: PropertyStore<'a>,
        /// For an item in a library: the items that it stands for, from the desktop down.
        items: Vec<Item<'a>>,
    },
    /// A game in the Games folder.
    Game {
        /// Its instance identifier.
        id: Guid,
    },
    /// A phone, camera or player.
    PortableDevice(PortableDevice<'a>),
    /// A storage of one.
    PortableVolume(PortableVolume<'a>),
    /// A folder or file of one.
    PortableFile(PortableFile<'a>),
    /// A folder or file in an archive.
    Archived(Archived<'a>),
    /// Items merged from several folders, such as those that wait to be burned to a disc.
    Merged(Vec<Item<'a>>),
    /// Another one.
    Unknown,
}

/// A network, a server or a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkLocation<'a> {
    /// The low four bits of the class: 1 a domain, 2 a server, 3 a share, 6 the Windows network, 7 all networks.
    pub level: u8,
    /// Its name: `\\server\share`.
    pub location: Text<'a>,
    /// The network it is in.
    pub description: Option<Text<'a>>,
    /// What its owner says of it.
    pub comments: Option<Text<'a>>,
}

/// A URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uri<'a> {
    /// The URI; where it is empty an extension block may hold it.
    pub text: Option<Text<'a>>,
    /// For FTP: when it was visited.
    pub time: FileTime,
    /// For FTP: the host.
    pub host: Option<Text<'a>>,
    /// For FTP: the user.
    pub user: Option<Text<'a>>,
    /// For FTP: the password.
    pub password: Option<Text<'a>>,
}

/// A folder or file in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Archived<'a> {
    /// What it is called.
    pub name: Text<'a>,
    /// The folder in the archive that it is in.
    pub folder: Option<Text<'a>>,
    /// When it was last written, as the writer's own language says it.
    pub modified: Option<Text<'a>>,
}

/// The class that is in every item of a delegate folder.
const DELEGATE: Guid = Guid::new(0x5E59_1A74, 0xDF96, 0x48D3, [0x8D, 0x67, 0x17, 0x33, 0xBC, 0xEE, 0x28, 0xBA]);

const CATEGORY: u32 = 0x39DE_2184;
const KNOWN_FOLDER: u32 = 0x23FE_BBEE;
/// `CFSF`, `GFSI` and `AugM`.
const USERS_FILE: u32 = 0x4653_4643;
const GAME: u32 = 0x4953_4647;
const MERGED: u32 = 0x4D67_7541;

/// The name of a Control Panel category.
pub fn control_panel_category(category: u32) -> Option<&'static str> {
    Some(match category {
        0 => "All Control Panel Items",
        1 => "Appearance and Personalization",
        2 => "Hardware and Sound",
        3 => "Network and Internet",
        4 => "Sounds, Speech, and Audio Devices",
        5 => "System and Security",
        6 => "Clock, Language, and Region",
        7 => "Ease of Access",
        8 => "Programs",
        9 => "User Accounts",
        10 => "Security Center",
        11 => "Mobile PC",
        _ => return None,
    })
}

/// Bytes of a file entry before its name: size, class, an unknown byte, file size, time, attributes.
const FILE_ENTRY_FIXED: usize = 14;

impl<'a> Kind<'a> {
    /// True if [`Kind::read`] finds a file entry without a problem. False may be wrong, true is not.
    pub(super) fn is_sound_file(content: &[u8]) -> bool {
        let is_of_device = matches!(u32_at(content, 6), Some(PortableVolume::SIGNATURE | PortableFile::SIGNATURE));
        let is_other = matches!(u32_at(content, 4), Some(GAME | MERGED));
        let is_delegate = || {
            let size =
                content.get(4..).and_then(<[u8]>::first_chunk).map(|size| usize::from(u16::from_le_bytes(*size)));
            let sign = size.and_then(|size| content.get(size.saturating_add(6)..));
            sign.is_some_and(|sign| sign.starts_with(&DELEGATE.0))
        };
        content.len() >= FILE_ENTRY_FIXED
            && content.get(2).is_some_and(|class| class & 0x70 == 0x30)
            && !is_of_device
            && !is_other
            && !is_delegate()
    }

    /// Reads what an item says, from its size field to where its extension blocks start.
    pub(super) fn read(content: &'a [u8], offset: u64, context: &mut Context<'_>) -> Result<Self, Short> {
        if let Some(found) = Archived::find_signed(content).or_else(|| Archived::find(content)) {
            return Ok(Self::Archived(found));
        }
        let class = content.get(2).copied().unwrap_or(0);
        let (inner, outer) = (u32_at(content, 6), u32_at(content, 4));
        if let Some(kind) = Self::delegate(content, offset, context)? {
            return Ok(kind);
        }
        if matches!(class, 0x00 | 0x71)
            && let Some(file) = Self::control_panel_file(content, context)
        {
            return Ok(file);
        }
        let mut bytes = Bytes::at_base(content, offset);
        bytes.take("item header", content.len().min(3))?;
        Ok(match (class, inner, outer) {
            (_, Some(PortableVolume::SIGNATURE), _) => {
                Self::PortableVolume(PortableVolume::read(content, offset, context)?)
            }
            (_, Some(PortableFile::SIGNATURE), _) => Self::PortableFile(PortableFile::read(content, offset, context)?),
            (_, _, Some(GAME)) => {
                bytes.take("game header", 5)?;
                Self::Game { id: Guid(bytes.array("game identifier")?) }
            }
            (_, _, Some(MERGED)) => Self::merged(content, offset, context)?,
            (0x01, _, Some(CATEGORY)) => {
                bytes.take("category header", 5)?;
                Self::ControlPanelCategory(bytes.u32("Control Panel category")?)
            }
            (0x00 | 0x1F, ..) if holds_properties(content) => Self::properties(content, offset, context)?,
            (0x1E | 0x1F, ..) => {
                let sort_index = bytes.u8("sort index")?;
                Self::Root { sort_index, class: Guid(bytes.array("root folder class")?) }
            }
            (0x20..=0x2F, ..) if class & 1 == 0 && content.len() >= 20 => {
                bytes.u8("folder flags")?;
                Self::Folder { class: Guid(bytes.array("folder class")?) }
            }
            (0x20..=0x2F, ..) => {
                let name = bytes.take("volume name", bytes.left().min(22))?;
                let class = bytes.array("volume class").ok().map(Guid).and_then(Guid::non_zero);
                Self::Volume { name: Text::Ansi(until_nul(name), context.page), class }
            }
            (0x61, ..) => Self::Uri(Uri::read(bytes, context)?),
            (0x71, ..) => {
                bytes.take("Control Panel item header", 11)?;
                Self::ControlPanelItem { class: Guid(bytes.array("Control Panel item class")?) }
            }
            _ if class & 0x70 == 0x30 => Self::File(FileEntry::read(content, offset, context)?),
            _ if class & 0x70 == 0x40 => Self::Network(NetworkLocation::read(bytes, class, context)?),
            _ => Self::Unknown,
        })
    }

    /// An item of a delegate folder: private data with its size, the delegate's sign, the folder's class.
    fn delegate(content: &'a [u8], offset: u64, context: &Context<'_>) -> Result<Option<Self>, Short> {
        let mut bytes = Bytes::at_base(content, offset);
        let mut read = || -> Result<(&'a [u8], Guid, Guid), Short> {
            bytes.u32("item header")?;
            let size = usize::from(bytes.u16("delegate data size")?);
            let data = bytes.take("delegate data", size)?;
            Ok((data, Guid(bytes.array("delegate sign")?), Guid(bytes.array("delegate folder")?)))
        };
        let Some((data, _, folder)) = read().ok().filter(|(_, sign, _)| *sign == DELEGATE) else { return Ok(None) };
        let at = offset.saturating_add(6);
        Ok(Some(match u32_at(data, 0) {
            Some(USERS_FILE) => {
                let mut inside = Bytes::at_base(data.get(4..).unwrap_or_default(), at.saturating_add(4));
                let entry = next_item(&mut inside)?.unwrap_or_default();
                Self::UsersFile { entry: FileEntry::read(entry, at.saturating_add(4), context)?, folder }
            }
            Some(PortableDevice::SIGNATURE) if folder == PortableDevice::FOLDER => {
                Self::PortableDevice(PortableDevice::read(data, at)?)
            }
            _ => Self::Delegate { data, folder },
        }))
    }

    fn merged(content: &'a [u8], offset: u64, context: &mut Context<'_>) -> Result<Self, Short> {
        if context.depth >= super::DEEPEST {
            return Ok(Self::Unknown);
        }
        let mut bytes = Bytes::at_base(content, offset);
        bytes.u64("merged item header")?;
        let halves = bytes.u32("number of 16-bit values")?;
        bytes.u32("number of merged items")?;
        if halves == 4 {
            bytes.u32("merged item unknown")?;
        }
        let mut items = Vec::new();
        context.depth += 1;
        let at = offset.saturating_add(bytes.position() as u64);
        if let Some(data) = next_item(&mut bytes)? {
            items.push(Item::read(data, at, context));
        }
        context.depth -= 1;
        Ok(Self::Merged(items))
    }

    /// A `.cpl` file: an icon index (any number), two offsets in characters, and three texts, in UTF-16 behind 12 more bytes,
    /// or in ANSI. The offsets prove it: each of the first two texts ends right before the next one.
    fn control_panel_file(content: &'a [u8], context: &Context<'_>) -> Option<Self> {
        const UNICODE_AT: usize = 20;
        const ANSI_AT: usize = 8;
        let read = |at: usize, unit: usize| {
            let mut bytes = Bytes::new(content.get(at..)?);
            let name_at = usize::from(bytes.u16("name offset").ok()?);
            let comments_at = usize::from(bytes.u16("comments offset").ok()?);
            let texts = bytes.rest();
            let part = |from: usize, to: usize| {
                let range = from.saturating_mul(unit)..to.saturating_sub(1).saturating_mul(unit);
                texts.get(range)
            };
            let text = |data: &'a [u8]| match unit {
                1 => Text::Ansi(until_nul(data), context.page),
                _ => Text::Wide(Utf16(data).until_nul()),
            };
            let (path, name) = (part(0, name_at)?, part(name_at, comments_at)?);
            let (path_text, name_text) = (text(path), text(name));
            let whole = |text: Text<'_>, data: &[u8]| match text {
                Text::Ansi(text, _) => text.len() == data.len(),
                Text::Wide(text) => text.0.len() == data.len(),
            };
            let ends = |at: usize| {
                let end = texts.get(at.saturating_sub(1).saturating_mul(unit)..at.saturating_mul(unit));
                end.is_some_and(|end| end.iter().all(|byte| *byte == 0))
            };
            let proven = name_at > 1 && comments_at > name_at && ends(name_at) && ends(comments_at);
            let comments = text(texts.get(comments_at.saturating_mul(unit)..).unwrap_or_default());
            (proven && whole(path_text, path) && whole(name_text, name)).then_some(Self::ControlPanelFile {
                path: path_text,
                name: name_text,
                comments,
            })
        };
        read(UNICODE_AT, 2).or_else(|| read(ANSI_AT, 1))
    }

    fn properties(content: &'a [u8], offset: u64, context: &mut Context<'_>) -> Result<Self, Short> {
        let mut bytes = Bytes::at_base(content, offset);
        bytes.take("item header", 6)?;
        let signature = bytes.u32("property item signature")?;
        let (store_size, id_size) = (bytes.u16("property store size")?, bytes.u16("identifier size")?);
        let id = bytes.take("identifier", usize::from(id_size))?;
        if let (KNOWN_FOLDER, Some(class)) = (signature, id.first_chunk()) {
            return Ok(Self::Folder { class: Guid(*class) });
        }
        let at = offset.saturating_add(bytes.position() as u64);
        let data = bytes.take("property store", usize::from(store_size))?;
        let mut store = property_store::parse(data, at, context.page);
        context.problems.append(&mut store.problems);
        // What is before the bytes of a property: size, identifier, reserved byte, type, padding, count.
        const BEFORE_BYTES: u64 = 17;
        let mut items = Vec::new();
        if let Some(Property { offset, value: Value::Bytes(list), .. }) = store.find(property_store::DELEGATE_ID_LIST)
            && context.depth < super::DEEPEST
        {
            context.depth += 1;
            items = read_items(list, offset.saturating_add(BEFORE_BYTES), context);
            context.depth -= 1;
        }
        Ok(Self::Properties { signature, store, items })
    }
}

/// True for an item whose data is an identifier and a property store: a signature that says so, or a store where it
/// would be.
fn holds_properties(content: &[u8]) -> bool {
    const SIGNATURES: [u32; 7] =
        [KNOWN_FOLDER, 0x1014_1981, 0x23A3_DFD5, 0x3B93_AFBB, 0xBEEB_EE00, 0x2301_8B33, 0x5350_5041];
    let signature = u32_at(content, 6);
    let Some([low, high]) = content.get(12..).and_then(<[u8]>::first_chunk) else { return false };
    let store_at = usize::from(u16::from_le_bytes([*low, *high])).saturating_add(14);
    signature.is_some_and(|signature| SIGNATURES.contains(&signature))
        || content.get(store_at..).is_some_and(property_store::starts_storage)
}

impl<'a> NetworkLocation<'a> {
    fn read(mut bytes: Bytes<'a>, class: u8, context: &Context<'_>) -> Result<Self, Short> {
        // Measured: with 0x10 the texts are there once more in UTF-16.
        const HAS_UNICODE: u8 = 0x10;
        const HAS_COMMENTS: u8 = 0x40;
        const HAS_DESCRIPTION: u8 = 0x80;
        bytes.u8("network location unknown")?;
        let flags = bytes.u8("network location flags")?;
        let mut texts = |wide: bool| {
            let mut text = || if wide { wide_text(&mut bytes) } else { ansi_text(&mut bytes, context.page) };
            let location = text();
            let description = (flags & HAS_DESCRIPTION != 0).then(&mut text).and_then(Text::non_empty);
            let comments = (flags & HAS_COMMENTS != 0).then(&mut text).and_then(Text::non_empty);
            Self { level: class & 0x0F, location, description, comments }
        };
        let ansi = texts(false);
        let wide = (flags & HAS_UNICODE != 0).then(|| texts(true));
        Ok(wide.filter(|wide| !wide.location.is_empty()).unwrap_or(ansi))
    }
}

impl<'a> Uri<'a> {
    fn read(mut bytes: Bytes<'a>, context: &Context<'_>) -> Result<Self, Short> {
        const IS_UNICODE: u8 = 0x80;
        let flags = bytes.u8("URI flags")?;
        let size = bytes.u16("URI data size")?;
        let mut data = Bytes::new(bytes.take("URI data", usize::from(size).saturating_sub(2))?);
        bytes.u16("URI unknown")?;
        let text = |text: &mut Bytes<'a>| {
            if flags & IS_UNICODE != 0 { wide_text(text) } else { ansi_text(text, context.page) }.non_empty()
        };
        let mut uri = Self { text: text(&mut bytes), time: FileTime(0), host: None, user: None, password: None };
        let _ = uri.read_data(&mut data, text);
        Ok(uri)
    }

    /// The data of an FTP site; what is truncated stays unknown.
    fn read_data(
        &mut self,
        data: &mut Bytes<'a>,
        text: impl Fn(&mut Bytes<'a>) -> Option<Text<'a>>,
    ) -> Result<(), Short> {
        data.u64("URI data unknown")?;
        self.time = FileTime(data.u64("URI time")?);
        data.take("URI data unknown", 20)?;
        for part in [&mut self.host, &mut self.user, &mut self.password] {
            let size = data.u32("URI part size")?;
            *part = text(&mut Bytes::new(data.take("URI part", size as usize)?));
        }
        Ok(())
    }
}

impl<'a> Archived<'a> {
    /// Archives' items have no class: their data starts with what was in memory. A date in the form of any language, or
    /// `N/A`, is at 36, the texts with their lengths at 84 (measured by others).
    fn find(content: &'a [u8]) -> Option<Self> {
        let date = Utf16(content.get(36..84)?).until_nul();
        let looks_like_date = || {
            let mut digits_and_signs = date.units().take(10).filter_map(|unit| u8::try_from(unit).ok());
            let (mut digits, mut slashes) = (0, 0);
            let all = digits_and_signs.all(|unit| {
                digits += u8::from(unit.is_ascii_digit());
                slashes += u8::from(unit == b'/');
                unit.is_ascii_digit() || unit == b'/'
            });
            all && digits == 8 && slashes == 2
        };
        let not_available = [u16::from(b'N'), u16::from(b'/'), u16::from(b'A')];
        if !date.units().eq(not_available) && !looks_like_date() {
            return None;
        }
        let mut bytes = Bytes::new(content.get(84..)?);
        let (name, folder) = (bytes.u32("name size").ok()?, bytes.u32("folder size").ok()?);
        let name = counted_text(&mut bytes, "name", name).ok()?.non_empty()?;
        let _ = bytes.u16("end sign");
        let folder = counted_text(&mut bytes, "folder", folder).ok().and_then(Text::non_empty);
        Some(Self { name, folder, modified: Some(Text::Wide(date)) })
    }

    /// The other form, of a backup's catalogue: 0x52, a signature, four texts from 46.
    fn find_signed(content: &'a [u8]) -> Option<Self> {
        content.get(2..)?.strip_prefix(&[0x52, 0x67, 0xB1, 0xAC])?;
        let mut bytes = Bytes::new(content.get(46..)?);
        let mut text = || {
            let count = bytes.u32("text size").ok()?;
            counted_text(&mut bytes, "text", count).ok()
        };
        let (name, _, folder) = (text()?.non_empty()?, text(), text());
        Some(Self { name, folder: folder.and_then(Text::non_empty), modified: None })
    }
}
