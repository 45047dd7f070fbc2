//! What was wrong with a part that could not be read, while the rest of its structure could.
//!
//! A link, a shell item or a property store whose every part fails alone needs a way to say so without
//! giving up: it keeps what it read, and a list of these. Creating one does not allocate.
//!
//! ```
//! let link = std::fs::read("tests/cases/links/idlist-cut.lnk")?;
//! let link = jlfix::format::link::parse(&link, Default::default())?;
//! for problem in link.all_problems() {
//!     println!("{problem}");
//! }
//! # assert!(!link.all_problems().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::bytes::Short;

/// A part that could not be read, or not as it claims to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Problem {
    /// The field or structure, as the format names it.
    pub what: &'static str,
    /// Where it starts, in bytes from the start of the link (or of the store or list that was parsed).
    pub offset: u64,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What can be wrong with a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It claims more bytes than there are.
    Short {
        /// How many bytes it takes.
        need: u64,
        /// How many there are.
        have: u64,
    },
    /// Its offset is outside of its structure.
    Outside {
        /// The place, from the start of that structure.
        at: u64,
        /// The size of that structure in bytes.
        size: u64,
    },
    /// A size, count or other number that cannot be.
    Value {
        /// The number.
        value: u64,
        /// What it should be.
        expected: &'static str,
    },
    /// Something that has no value to print.
    Note(&'static str),
}

impl Problem {
    /// `value` was found where `expected` belongs.
    pub fn value(what: &'static str, offset: u64, value: u64, expected: &'static str) -> Self {
        Self { what, offset, fault: Fault::Value { value, expected } }
    }

    /// A problem without a value.
    pub fn note(what: &'static str, offset: u64, note: &'static str) -> Self {
        Self { what, offset, fault: Fault::Note(note) }
    }
}

impl From<Short> for Problem {
    fn from(short: Short) -> Self {
        Self { what: short.what, offset: short.offset, fault: Fault::Short { need: short.need, have: short.have } }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { need, have } => write!(f, "need {need} bytes, have {have}"),
            Self::Outside { at, size } => write!(f, "is said to be at {at} of a structure of {size} bytes"),
            Self::Value { value, expected } => write!(f, "is {value}, expected {expected}"),
            Self::Note(note) => f.write_str(note),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at offset {}: {}", self.what, self.offset, self.fault)
    }
}

/// `what`, `offset` and `message`.
#[cfg(feature = "serde")]
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Problem", 3)?;
        out.serialize_field("what", self.what)?;
        out.serialize_field("offset", &self.offset)?;
        out.serialize_field("message", &format_args!("{}", self.fault))?;
        out.end()
    }
}
