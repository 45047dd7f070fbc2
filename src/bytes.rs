//! Named, bounded reads from a slice.
//!
//! Every structure in a jump list is read through [`Bytes`]: a read that the slice cannot serve is a
//! [`Short`], which says what was wanted, where, how much it needs and how much there is. Nothing here
//! can panic, and nothing allocates. All integers are little-endian.

use byteorder::{ByteOrder, LittleEndian};

/// What was truncated: the one error that a bounded read can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} at offset {offset}: need {need} bytes, have {have}")]
pub struct Short {
    /// The field or structure that was wanted, as the format names it.
    pub what: &'static str,
    /// Where it starts, in bytes from the start of the structure's own stream or file.
    pub offset: u64,
    /// How many bytes it takes.
    pub need: u64,
    /// How many were left.
    pub have: u64,
}

/// A place in a slice from which named things are read one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Bytes<'a> {
    data: &'a [u8],
    at: usize,
    base: u64,
}

macro_rules! read_number {
    ($($(#[$doc:meta])* $name:ident: $type:ty, $size:literal, $read:path;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name(&mut self, what: &'static str) -> Result<$type, Short> {
            self.array::<$size>(what).map(|bytes| $read(&bytes))
        }
    )*};
}

impl<'a> Bytes<'a> {
    /// Reads from the start of `data`; offsets in errors count from there.
    #[inline]
    pub fn new(data: &'a [u8]) -> Self {
        Self::at_base(data, 0)
    }

    /// Reads from the start of `data`, which itself starts at `base` of something larger: offsets in
    /// errors count from the start of that.
    #[inline]
    pub fn at_base(data: &'a [u8], base: u64) -> Self {
        Self { data, at: 0, base }
    }

    /// How many bytes have been read.
    #[inline]
    pub fn position(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    #[inline]
    pub fn left(&self) -> usize {
        self.data.len().saturating_sub(self.at)
    }

    /// What is left, without reading it.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.data.get(self.at..).unwrap_or_default()
    }

    /// The error for a `need` that is more than what is left.
    pub fn short(&self, what: &'static str, need: u64) -> Short {
        Short { what, offset: self.base.saturating_add(self.at as u64), need, have: self.left() as u64 }
    }

    /// Reads `need` bytes. The claim is held against what is left before anything else happens.
    #[inline]
    pub fn take(&mut self, what: &'static str, need: usize) -> Result<&'a [u8], Short> {
        let Some(end) = self.at.checked_add(need) else { return Err(self.short(what, need as u64)) };
        let Some(taken) = self.data.get(self.at..end) else { return Err(self.short(what, need as u64)) };
        self.at = end;
        Ok(taken)
    }

    /// Reads as many bytes as `N` says.
    #[inline]
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Short> {
        let Some((head, _)) = self.rest().split_first_chunk::<N>() else { return Err(self.short(what, N as u64)) };
        self.at = self.at.saturating_add(N);
        Ok(*head)
    }

    /// Reads one byte.
    pub fn u8(&mut self, what: &'static str) -> Result<u8, Short> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    read_number! {
        /// Reads a 16-bit unsigned integer.
        u16: u16, 2, LittleEndian::read_u16;
        /// Reads a 32-bit unsigned integer.
        u32: u32, 4, LittleEndian::read_u32;
        /// Reads a 32-bit signed integer.
        i32: i32, 4, LittleEndian::read_i32;
        /// Reads a 64-bit unsigned integer.
        u64: u64, 8, LittleEndian::read_u64;
        /// Reads an IEEE 754 single.
        f32: f32, 4, LittleEndian::read_f32;
    }
}

/// The little-endian `u32` at `at` of `data`, if it is all there. For tables, where a name a number says nothing.
#[inline]
pub fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..)?.first_chunk::<4>().map(|bytes| LittleEndian::read_u32(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_read_says_what_where_need_and_have_and_takes_nothing() {
        let mut bytes = Bytes::at_base(&[1, 0, 2], 100);
        assert_eq!(bytes.u16("count"), Ok(1));
        let short = bytes.u32("path length").unwrap_err();
        assert_eq!(short.to_string(), "path length at offset 102: need 4 bytes, have 1");
        assert_eq!(bytes.left(), 1);
        assert_eq!(bytes.take("name", usize::MAX).unwrap_err().need, usize::MAX as u64);
        assert_eq!(bytes.u8("last"), Ok(2));
    }
}
