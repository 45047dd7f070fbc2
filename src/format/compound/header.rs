//! The first 512 bytes of a compound file (MS-CFB 2.2), read so that one wrong field does not lose the file.

use super::fault::{Fault, FaultKind};
use crate::bytes::{Bytes, Short, u32_at};

/// The eight bytes that a compound file starts with (MS-CFB 2.2).
pub const SIGNATURE: [u8; 8] = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1];
/// Bytes of the header proper, whatever the sector size.
pub const HEADER_SIZE: usize = 512;
/// How many FAT sectors the header itself names.
pub const HEADER_DIFAT: usize = 109;
/// log2 of the mini sector size: always 64 bytes.
pub const MINI_SHIFT: u32 = 6;
/// Bytes of a mini sector.
pub const MINI_SIZE: usize = 1 << MINI_SHIFT;
/// Streams under this many bytes live in the mini stream.
pub const MINI_CUTOFF: u32 = 4096;

/// The header's fields, where a value that cannot be is replaced by the one that must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// 3 (512-byte sectors) or 4 (4096-byte sectors).
    pub major_version: u16,
    /// 0x3E in every file that Windows writes.
    pub minor_version: u16,
    /// log2 of the sector size: 9 or 12.
    pub sector_shift: u32,
    /// Number of FAT sectors.
    pub fat_sectors: u32,
    /// First directory sector.
    pub first_directory: u32,
    /// First mini FAT sector.
    pub first_mini_fat: u32,
    /// Number of mini FAT sectors.
    pub mini_fat_sectors: u32,
    /// First DIFAT sector.
    pub first_difat: u32,
    /// Number of DIFAT sectors.
    pub difat_sectors: u32,
}

impl Header {
    /// Reads the header and reports each invalid field.
    ///
    /// # Errors
    /// The file has fewer than 512 bytes.
    pub fn parse(data: &[u8], faults: &mut Vec<Fault>) -> Result<Self, Short> {
        let mut bytes = Bytes::new(data);
        let mut bytes = Bytes::new(bytes.take("compound file header", HEADER_SIZE)?);
        let mut wrong = |offset: u64, message: String| faults.push(Fault::new(FaultKind::Header, offset, message));
        let signature = bytes.array::<8>("signature")?;
        if signature != SIGNATURE {
            wrong(0, "the signature of a compound file is not there".to_owned());
        }
        bytes.take("header CLSID", 16)?;
        let minor_version = bytes.u16("minor version")?;
        let claimed_major = bytes.u16("major version")?;
        let byte_order = bytes.u16("byte order")?;
        if byte_order != 0xFFFE {
            wrong(28, format!("the byte order mark is {byte_order:#06x}, expected 0xfffe"));
        }
        let claimed_shift = bytes.u16("sector shift")?;
        let sector_shift = match (claimed_shift, claimed_major) {
            (9, 3) => 9,
            (12, 4) => 12,
            _ => {
                // One of the two is wrong. Every jump list has 512-byte sectors; a directory where 4096-byte
                // sectors put it says otherwise.
                let shift = if claimed_shift == 12 || (claimed_major == 4 && claimed_shift != 9) { 12 } else { 9 };
                wrong(
                    26,
                    format!(
                        "version {claimed_major} with a sector shift of {claimed_shift}; read with {}-byte sectors",
                        1_u32 << shift
                    ),
                );
                shift
            }
        };
        let mini_shift = bytes.u16("mini sector shift")?;
        if u32::from(mini_shift) != MINI_SHIFT {
            wrong(32, format!("the mini sector shift is {mini_shift}, expected {MINI_SHIFT}"));
        }
        bytes.take("reserved", 6)?;
        bytes.u32("directory sector count")?;
        let fat_sectors = bytes.u32("FAT sector count")?;
        let first_directory = bytes.u32("first directory sector")?;
        bytes.u32("transaction number")?;
        let cutoff = bytes.u32("mini stream cutoff")?;
        if cutoff != MINI_CUTOFF {
            wrong(56, format!("the mini stream cutoff is {cutoff}, expected {MINI_CUTOFF}"));
        }
        Ok(Self {
            major_version: if sector_shift == 12 { 4 } else { 3 },
            minor_version,
            sector_shift,
            fat_sectors,
            first_directory,
            first_mini_fat: bytes.u32("first mini FAT sector")?,
            mini_fat_sectors: bytes.u32("mini FAT sector count")?,
            first_difat: bytes.u32("first DIFAT sector")?,
            difat_sectors: bytes.u32("DIFAT sector count")?,
        })
    }

    /// The FAT sectors that the header itself names.
    pub fn difat(data: &[u8]) -> impl Iterator<Item = u32> + '_ {
        (0..HEADER_DIFAT).map_while(|slot| u32_at(data, 76_usize.saturating_add(slot.saturating_mul(4))))
    }
}
