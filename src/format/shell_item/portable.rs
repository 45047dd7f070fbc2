//! Portable devices (MTP): phones, cameras and players, which have no paths but names and identifiers.

use super::{Context, counted_text};
use crate::bytes::{Bytes, Short};
use crate::format::guid::Guid;
use crate::format::text::Text;
use crate::format::time::FileTime;

/// A device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortableDevice<'a> {
    /// What it is called.
    pub name: Text<'a>,
    /// The path of the device in the system, with its USB ids and serial number.
    pub device_path: Text<'a>,
}

/// A storage of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortableVolume<'a> {
    /// What it is called.
    pub name: Text<'a>,
    /// Its identifier on the device.
    pub id: Text<'a>,
    /// What the device says that its file system is.
    pub file_system: Text<'a>,
}

/// A folder or file of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortableFile<'a> {
    /// When it was last written; 0 is none.
    pub modified: FileTime,
    /// When it was created; 0 is none.
    pub created: FileTime,
    /// What it is: a WPD content type.
    pub content_type: Guid,
    /// What it is called.
    pub name: Text<'a>,
    /// Its identifier on the device.
    pub id: Text<'a>,
}

impl<'a> PortableDevice<'a> {
    /// The signature of a device's private data.
    pub(super) const SIGNATURE: u32 = 0x0831_2006;
    /// The delegate folder that devices are in.
    pub(super) const FOLDER: Guid =
        Guid::new(0x3578_6D3C, 0xB075, 0x49B9, [0x88, 0xDD, 0x02, 0x98, 0x76, 0xE1, 0x1C, 0x01]);

    /// Reads a device from the private data of a delegate item, its signature first.
    pub(super) fn read(data: &'a [u8], base: u64) -> Result<Self, Short> {
        let mut bytes = Bytes::at_base(data, base);
        bytes.take("device header", 24)?;
        let (name, path) = (bytes.u32("device name size")?, bytes.u32("device path size")?);
        bytes.u16("device unknown")?;
        Ok(Self {
            name: counted_text(&mut bytes, "device name", name)?,
            device_path: counted_text(&mut bytes, "device path", path)?,
        })
    }
}

impl<'a> PortableVolume<'a> {
    /// The signature in an item.
    pub(super) const SIGNATURE: u32 = 0x1031_2005;

    /// Reads a storage from an item, its size field first.
    pub(super) fn read(content: &'a [u8], offset: u64, _: &Context<'_>) -> Result<Self, Short> {
        let mut bytes = Bytes::at_base(content, offset);
        bytes.take("storage header", 38)?;
        let (name, id) = (bytes.u32("storage name size")?, bytes.u32("storage identifier size")?);
        let file_system = bytes.u32("file system name size")?;
        bytes.u32("number of storage GUIDs")?;
        Ok(Self {
            name: counted_text(&mut bytes, "storage name", name)?,
            id: counted_text(&mut bytes, "storage identifier", id)?,
            file_system: counted_text(&mut bytes, "file system name", file_system)?,
        })
    }
}

impl<'a> PortableFile<'a> {
    /// The signature in an item.
    pub(super) const SIGNATURE: u32 = 0x0719_2006;

    /// Reads a folder or file from an item, its size field first.
    pub(super) fn read(content: &'a [u8], offset: u64, _: &Context<'_>) -> Result<Self, Short> {
        let mut bytes = Bytes::at_base(content, offset);
        bytes.take("device file header", 26)?;
        let modified = FileTime(bytes.u64("device file modification time")?);
        let created = FileTime(bytes.u64("device file creation time")?);
        let content_type = Guid(bytes.array("device file content type")?);
        bytes.u32("device file unknown")?;
        let (shown, name) = (bytes.u32("device file shown name size")?, bytes.u32("device file name size")?);
        let id = bytes.u32("device file identifier size")?;
        let shown = counted_text(&mut bytes, "device file shown name", shown)?;
        let name = counted_text(&mut bytes, "device file name", name)?;
        Ok(Self {
            modified,
            created,
            content_type,
            name: name.non_empty().unwrap_or(shown),
            id: counted_text(&mut bytes, "device file identifier", id)?,
        })
    }
}
