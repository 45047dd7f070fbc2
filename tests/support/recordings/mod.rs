//! Makes recordings of file I/O: small ETL and PML files of 32 and 64-bit systems.

#![allow(dead_code, unreachable_pub, reason = "each user takes in all of it and uses a part")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

pub mod etl;
pub mod pml;

/// UTF-16 with a zero at the end.
fn wide_text(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}

/// A pointer of 8 or 4 bytes.
fn pointer(wide: bool, value: u64) -> Vec<u8> {
    if wide { value.to_le_bytes().to_vec() } else { (value as u32).to_le_bytes().to_vec() }
}
