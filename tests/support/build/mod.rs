//! Builders of jump lists, shell links and property stores, for tests and for `samples/`.
//!
//! A test should say only what it is about: everything that it leaves out is filled in the way Windows does, and
//! always the same, so the same calls give the same bytes.
//!
//! ```ignore
//! // 50 files, two of them pinned (one at the far end), as Windows 10 writes them.
//! let healthy = ListBuilder::files(4, 50).pin(3).pin(49).build();
//! // Explorer's kind of list, with ranks and a link that has gone missing.
//! let damaged = ListBuilder::folders(4, 12).ranked().edit(2, |entry| entry.link = Link::Missing).build();
//! // A wrong count.
//! let wrong = ListBuilder::files(1, 5).header(|header| header.count = 99).build();
//! ```

#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "every test takes in the whole of it and uses a part; the names are public for the module above"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "it builds from values that the test itself gives: a wrong one is a mistake in the test, and a panic tells it"
)]

mod custom;
mod docfile;
mod leftovers;
mod link;
mod list;
mod random;
mod store;

pub use custom::CustomBuilder;
pub use docfile::{Docfile, Placed};
pub use leftovers::Leftovers;
pub use link::{FOLDER_STORE_ID, LinkBuilder};
pub use list::{Link, ListBuilder, NewEntry, file_of};
pub use random::Random;
pub use store::{Property, StoreBuilder};

use jlfix::format::guid::Guid;
use jlfix::format::time::FileTime;

/// The moment written in RFC 3339, such as `2024-05-03T08:15:00Z`.
pub fn time(text: &str) -> FileTime {
    FileTime::from_timestamp(text.parse().expect("a time in RFC 3339"))
}

/// The GUID written with dashes.
pub fn guid(text: &str) -> Guid {
    Guid::parse(text).expect("a GUID with dashes")
}

/// A version-1 UUID, as Windows gives to what a link points to.
pub fn object_id(made: FileTime, sequence: u16, mac: [u8; 6]) -> Guid {
    const UUID_EPOCH_BEFORE_FILETIME: u64 = 5_748_192_000_000_000;
    let ticks = made.0 + UUID_EPOCH_BEFORE_FILETIME;
    let [high, low] = (0x8000 | (sequence & 0x3FFF)).to_be_bytes();
    let [a, b, c, d, e, f] = mac;
    let version_and_time = 0x1000 | (ticks >> 48) as u16;
    Guid::new(ticks as u32, (ticks >> 32) as u16, version_and_time, [high, low, a, b, c, d, e, f])
}

/// The text in UTF-16, little-endian.
pub fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The text in UTF-16 with its NUL.
pub fn utf16_nul(text: &str) -> Vec<u8> {
    let mut bytes = utf16(text);
    bytes.extend([0, 0]);
    bytes
}

/// The text in ANSI (Latin-1 as far as it is code page 1252), `?` for what has no character there.
pub fn ansi(text: &str) -> Vec<u8> {
    let byte = |c: char| match u8::try_from(u32::from(c)) {
        Ok(0x80..=0x9F) | Err(_) => b'?',
        Ok(byte) => byte,
    };
    text.chars().map(byte).collect()
}

/// The text in ANSI with its NUL.
pub fn ansi_nul(text: &str) -> Vec<u8> {
    let mut bytes = ansi(text);
    bytes.push(0);
    bytes
}

/// The name, padded with NULs to the 16 bytes that entries and trackers have for a host.
pub fn host(name: &str) -> [u8; 16] {
    let mut padded = [0; 16];
    padded[..name.len()].copy_from_slice(name.as_bytes());
    padded
}
