//! Reads Windows jump lists, says what they cost, and makes them small and whole again.

pub mod bytes;
pub mod cost;
pub mod error;
pub mod export;
pub mod format;
pub mod limits;
pub mod model;
pub mod os;
pub mod plan;
pub mod replay;
pub mod report;
pub mod scan;
pub mod store;
