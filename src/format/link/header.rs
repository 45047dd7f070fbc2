//! The first 76 bytes of a shell link (MS-SHLLINK 2.1): what the target was when the link was made.

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Serialize, Serializer};

use super::NotALink;
use crate::bytes::Bytes;
use crate::format::guid::Guid;
use crate::format::time::FileTime;

/// The size of the header in bytes, which is also what its first field says.
pub const HEADER_SIZE: usize = 76;

/// The class identifier that every link carries: `00021401-0000-0000-c000-000000000046`.
pub const CLASS_ID: Guid = Guid::new(0x0002_1401, 0, 0, [0xC0, 0, 0, 0, 0, 0, 0, 0x46]);

/// True if `data` starts as a shell link does: the header's size, then the link's class identifier.
pub fn looks_like_link(data: &[u8]) -> bool {
    let size = (HEADER_SIZE as u32).to_le_bytes();
    data.strip_prefix(&size).is_some_and(|rest| rest.starts_with(&CLASS_ID.0))
}

/// The header of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Which parts follow, and how Windows is to treat them.
    pub flags: LinkFlags,
    /// The target's `FILE_ATTRIBUTE_…` bits; see [`attribute_names`].
    pub attributes: u32,
    /// When the target was created; 0 is none.
    pub created: FileTime,
    /// When the target was last accessed; 0 is none.
    pub accessed: FileTime,
    /// When the target was last written; 0 is none.
    pub modified: FileTime,
    /// The size of the target in bytes, its low 32 bits.
    pub file_size: u32,
    /// Which icon of the icon location is meant; negative is a resource id.
    pub icon_index: i32,
    /// How the window is to be shown: one of the `SW_…` values.
    pub show_command: ShowCommand,
    /// The key that starts the link.
    pub hotkey: Hotkey,
}

impl Header {
    /// Reads the header from the start of `data`.
    pub(super) fn read(data: &[u8]) -> Result<Self, NotALink> {
        let mut bytes = Bytes::new(data);
        let size = bytes.u32("link header size")?;
        if size != HEADER_SIZE as u32 {
            return Err(NotALink::Size(size));
        }
        let class_id = Guid(bytes.array("link class identifier")?);
        if class_id != CLASS_ID {
            return Err(NotALink::ClassId(class_id));
        }
        let mut bytes = Bytes::new(data);
        let whole = bytes.take("link header", HEADER_SIZE)?;
        let mut bytes = Bytes::at_base(whole.get(20..).unwrap_or_default(), 20);
        Ok(Self {
            flags: LinkFlags(bytes.u32("link flags")?),
            attributes: bytes.u32("file attributes")?,
            created: FileTime(bytes.u64("creation time")?),
            accessed: FileTime(bytes.u64("access time")?),
            modified: FileTime(bytes.u64("write time")?),
            file_size: bytes.u32("file size")?,
            icon_index: bytes.i32("icon index")?,
            show_command: ShowCommand(bytes.u32("show command")?),
            hotkey: Hotkey(bytes.u16("hotkey")?),
        })
    }
}

/// The LinkFlags of MS-SHLLINK 2.1.1, of which bit 0 comes first in [`LinkFlags::names`].
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkFlags(pub u32);

const FLAG_NAMES: [&str; 27] = [
    "has_id_list",
    "has_link_info",
    "has_name",
    "has_relative_path",
    "has_working_dir",
    "has_arguments",
    "has_icon_location",
    "is_unicode",
    "force_no_link_info",
    "has_exp_string",
    "run_in_separate_process",
    "unused_1",
    "has_darwin_id",
    "run_as_user",
    "has_exp_icon",
    "no_pidl_alias",
    "unused_2",
    "run_with_shim_layer",
    "force_no_link_track",
    "enable_target_metadata",
    "disable_link_path_tracking",
    "disable_known_folder_tracking",
    "disable_known_folder_alias",
    "allow_link_to_link",
    "unalias_on_save",
    "prefer_environment_path",
    "keep_local_id_list_for_unc_target",
];

impl LinkFlags {
    /// An item ID list follows the header.
    pub const HAS_ID_LIST: u32 = 1;
    /// A LinkInfo follows.
    pub const HAS_LINK_INFO: u32 = 1 << 1;
    /// A name (description) follows.
    pub const HAS_NAME: u32 = 1 << 2;
    /// A relative path follows.
    pub const HAS_RELATIVE_PATH: u32 = 1 << 3;
    /// A working directory follows.
    pub const HAS_WORKING_DIR: u32 = 1 << 4;
    /// Command line arguments follow.
    pub const HAS_ARGUMENTS: u32 = 1 << 5;
    /// An icon location follows.
    pub const HAS_ICON_LOCATION: u32 = 1 << 6;
    /// The strings are UTF-16; otherwise they are in the code page of the machine that wrote them.
    pub const IS_UNICODE: u32 = 1 << 7;

    /// LinkInfo is ignored when the link is resolved (MS-SHLLINK 2.1.1).
    pub const FORCE_NO_LINK_INFO: u32 = 1 << 8;

    /// True if all bits of `mask` are set.
    pub fn has(self, mask: u32) -> bool {
        self.0 & mask == mask
    }

    /// The names of the bits that are set, lowest first; bits that MS-SHLLINK does not name are left out.
    pub fn names(self) -> Vec<&'static str> {
        FLAG_NAMES.iter().enumerate().filter(|(bit, _)| self.0 >> bit & 1 == 1).map(|(_, name)| *name).collect()
    }
}

impl fmt::Debug for LinkFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x} {:?}", self.0, self.names())
    }
}

// winnt.h; bit 3 was the volume label of FAT and names nothing on Windows. Bit 18 is also FILE_ATTRIBUTE_EA, but not
// in what a directory query gives, and a link holds what such a query gave.
const ATTRIBUTE_NAMES: [(u32, &str); 22] = [
    (0x0000_0001, "readonly"),
    (0x0000_0002, "hidden"),
    (0x0000_0004, "system"),
    (0x0000_0010, "directory"),
    (0x0000_0020, "archive"),
    (0x0000_0040, "device"),
    (0x0000_0080, "normal"),
    (0x0000_0100, "temporary"),
    (0x0000_0200, "sparse_file"),
    (0x0000_0400, "reparse_point"),
    (0x0000_0800, "compressed"),
    (0x0000_1000, "offline"),
    (0x0000_2000, "not_content_indexed"),
    (0x0000_4000, "encrypted"),
    (0x0000_8000, "integrity_stream"),
    (0x0001_0000, "virtual"),
    (0x0002_0000, "no_scrub_data"),
    (0x0004_0000, "recall_on_open"),
    (0x0008_0000, "pinned"),
    (0x0010_0000, "unpinned"),
    (0x0040_0000, "recall_on_data_access"),
    (0x2000_0000, "strictly_sequential"),
];

/// The names of the `FILE_ATTRIBUTE_…` bits that are set in `attributes`, lowest first; bits that have no
/// name are left out.
pub fn attribute_names(attributes: u32) -> Vec<&'static str> {
    ATTRIBUTE_NAMES.iter().filter(|(bit, _)| attributes & bit != 0).map(|(_, name)| *name).collect()
}

/// How the target's window is to be shown (MS-SHLLINK 2.1, ShowCommand). Windows takes every value but two as normal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShowCommand(pub u32);

impl ShowCommand {
    /// `maximized`, `minimized` or `normal`.
    pub fn word(self) -> &'static str {
        match self.0 {
            3 => "maximized",
            7 => "minimized",
            _ => "normal",
        }
    }
}

/// A key and the keys that are held down with it (MS-SHLLINK 2.1.3); 0 is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hotkey(pub u16);

impl Hotkey {
    /// True if there is a key.
    pub fn is_some(self) -> bool {
        self.0 != 0
    }
}

/// `Ctrl+Alt+T`, `Shift+F5`; a key without a name as `key 0xNN`; none as the empty text.
impl fmt::Display for Hotkey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return Ok(());
        }
        let [key, held] = self.0.to_le_bytes();
        for (bit, name) in [(2, "Ctrl+"), (1, "Shift+"), (4, "Alt+")] {
            if held & bit != 0 {
                f.write_str(name)?;
            }
        }
        match key {
            b'0'..=b'9' | b'A'..=b'Z' => write!(f, "{}", char::from(key)),
            0x70..=0x87 => write!(f, "F{}", key - 0x6F),
            0x90 => f.write_str("NumLock"),
            0x91 => f.write_str("ScrollLock"),
            _ => write!(f, "key {key:#04x}"),
        }
    }
}

/// As shown, or null for none.
#[cfg(feature = "serde")]
impl Serialize for Hotkey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_some() { serializer.collect_str(self) } else { serializer.serialize_none() }
    }
}
