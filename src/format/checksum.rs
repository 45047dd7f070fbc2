//! The CRC-64 that Windows uses twice: over an application's name, which gives its AppID, and over the
//! first 112 bytes of a DestList entry (measured, docs/format.md).
//!
//! ```
//! use jlfix::format::checksum::crc64;
//!
//! let name: Vec<u8> = "CHROME".encode_utf16().flat_map(u16::to_le_bytes).collect();
//! assert_eq!(crc64(&[&name]), 0x5d69_6d52_1de2_38c3);
//! ```

use crc::{Algorithm, Crc, Table};

/// Reflected, polynomial `0x92C64265D32139A4`, start value all ones, no final xor.
const JUMP_LIST: Algorithm<u64> = Algorithm {
    width: 64,
    poly: 0x259C_84CB_A642_6349,
    init: u64::MAX,
    refin: true,
    refout: true,
    xorout: 0,
    check: 0x75D4_B74F_024E_CEEA,
    residue: 0,
};

const CRC: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&JUMP_LIST);

/// The CRC-64 of all `parts`, one after the other.
pub fn crc64(parts: &[&[u8]]) -> u64 {
    let mut digest = CRC.digest();
    for part in parts {
        digest.update(part);
    }
    digest.finalize()
}
