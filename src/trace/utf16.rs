//! Text of binary recordings.

/// UTF-16 up to a zero or the end. Unpaired surrogates become U+FFFD.
pub fn utf16(data: &[u8]) -> String {
    let units = data.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair)).take_while(|unit| *unit != 0);
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}
