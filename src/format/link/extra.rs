//! The blocks behind a link's strings (MS-SHLLINK 2.5). Which ones there are is open: each is kept as it
//! stands, known or not, and decoded when it is asked for.

use serde::Serialize;

use crate::bytes::{Bytes, Short};
use crate::format::guid::Guid;
use crate::format::text::{CodePage, Text, until_nul};

/// A block as it stands in the link.
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

/// What the Distributed Link Tracking service knew of the target (MS-SHLLINK 2.5.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
