//! Programs of Mozilla's kin (Firefox, Thunderbird, Pale Moon, Waterfox…) name themselves by a hash of the
//! folder they are installed in, so that two installations are two applications. The hash is CityHash64
//! of its version 1.0, over the path in UTF-16 (checked against the published names of seven programs).

use std::num::Wrapping;

type Word = Wrapping<u64>;

const K0: Word = Wrapping(0xc3a5_c85c_97cb_3127);
const K1: Word = Wrapping(0xb492_b66f_be98_f273);
const K2: Word = Wrapping(0x9ae1_6a3b_2f90_404f);
const MUL: Word = Wrapping(0x9ddf_ea08_eb38_2d69);

/// The AppUserModelID of a program of Mozilla's kin that is installed in `folder`, such as
/// `C:\Program Files\Mozilla Firefox`: case matters, as it does to the program. Nothing for a path of 16
/// characters or fewer, whose way of hashing nobody could check.
pub fn mozilla_name(folder: &str) -> Option<String> {
    let folder = folder.strip_suffix('\\').unwrap_or(folder);
    let bytes: Vec<u8> = folder.encode_utf16().flat_map(u16::to_le_bytes).collect();
    match bytes.len() {
        0..=32 => None,
        33..=64 => Some(format!("{:X}", middling(&bytes))),
        _ => Some(format!("{:X}", long(&bytes))),
    }
}

fn word(bytes: &[u8], at: usize) -> Word {
    Wrapping(bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u64::from_le_bytes(*word)))
}

fn from_end(bytes: &[u8], back: usize) -> Word {
    word(bytes, bytes.len().saturating_sub(back))
}

fn rotate(value: Word, by: u32) -> Word {
    Wrapping(value.0.rotate_right(by))
}

fn shift_mix(value: Word) -> Word {
    value ^ (value >> 47)
}

fn pair(low: Word, high: Word) -> Word {
    let a = shift_mix((low ^ high) * MUL);
    shift_mix((high ^ a) * MUL) * MUL
}

/// 33 to 64 bytes: two overlapping halves, mixed alike.
fn middling(bytes: &[u8]) -> Word {
    let half = |first: Word, start: [Word; 2], last: Word| {
        let [second, third] = start;
        let (mut b, mut c) = (rotate(first + last, 52), rotate(first, 37));
        let mut a = first + second;
        c += rotate(a, 7);
        a += third;
        b += rotate(a, 31) + c;
        (a + last, b)
    };
    let length = Wrapping(bytes.len() as u64);
    let first = word(bytes, 0) + (length + from_end(bytes, 16)) * K0;
    let (v1, v2) = half(first, [word(bytes, 8), word(bytes, 16)], word(bytes, 24));
    let first = word(bytes, 16) + from_end(bytes, 32);
    let (w1, w2) = half(first, [from_end(bytes, 24), from_end(bytes, 16)], from_end(bytes, 8));
    let mixed = shift_mix((v1 + w2) * K2 + (w1 + v2) * K0);
    shift_mix(mixed * K0 + v2) * K2
}

/// More than 64 bytes: 64 at a time, the last of them first.
fn long(bytes: &[u8]) -> Word {
    let length = Wrapping(bytes.len() as u64);
    let mut x = word(bytes, 0);
    let mut y = from_end(bytes, 16) ^ K1;
    let mut z = from_end(bytes, 56) ^ K0;
    let end = bytes.len().saturating_sub(64);
    let mut v = four(bytes, end, length, y);
    let mut w = four(bytes, end.saturating_add(32), length * K1, K0);
    z += shift_mix(v.1) * K1;
    x = rotate(z + x, 39) * K1;
    y = rotate(y, 33) * K1;
    for at in (0..bytes.len().saturating_sub(1) & !63).step_by(64) {
        let next = |by: usize| word(bytes, at.saturating_add(by));
        x = (rotate(x + y + v.0 + next(16), 37) * K1) ^ w.1;
        y = (rotate(y + v.1 + next(48), 42) * K1) ^ v.0;
        z = rotate(z ^ w.0, 33);
        v = four(bytes, at, v.1 * K1, x + w.0);
        w = four(bytes, at.saturating_add(32), z + w.1, y);
        (x, z) = (z, x);
    }
    pair(pair(v.0, w.0) + shift_mix(y) * K1 + z, pair(v.1, w.1) + x)
}

/// Four words at `at`, with two seeds.
fn four(bytes: &[u8], at: usize, a: Word, b: Word) -> (Word, Word) {
    let next = |by: usize| word(bytes, at.saturating_add(by));
    let first = a + next(0);
    let b = rotate(b + first + next(24), 21);
    let sum = first + next(8) + next(16);
    (sum + next(24), b + rotate(sum, 44) + first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_names_follow_from_the_folders() {
        for (folder, name) in [
            (r"C:\Program Files\Mozilla Firefox", "308046B0AF4A39CB"),
            (r"C:\Program Files (x86)\Mozilla Firefox\", "E7CF176E110C211B"),
            (r"C:\Program Files\Mozilla Thunderbird", "D78BF5DD33499EC2"),
            (r"C:\Program Files\Firefox Developer Edition", "CA9422711AE1A81C"),
            (r"C:\Program Files\Firefox Nightly", "6F193CCC56814779"),
            (r"C:\Program Files\Zen Browser", "F0DC299D809B9700"),
            (r"C:\Program Files\Pale Moon", "A3665BA0C7D475A"),
        ] {
            assert_eq!(mozilla_name(folder).as_deref(), Some(name), "{folder}");
        }
        assert_eq!(mozilla_name(r"C:\Firefox"), None);
    }
}
