//! Reads Windows jump lists, says what they cost, and makes them small and whole again.

pub mod bytes;
pub mod error;
pub mod format;
pub mod limits;
pub mod os;
pub mod store;

pub use error::{Error, Result};
