//! What only Windows has, under Wine or on Windows.

#![cfg(windows)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    unsafe_code,
    reason = "a test that fails says so by a panic"
)]

#[path = "../support/mod.rs"]
mod support;

#[cfg(feature = "cli")]
mod live;
mod ole;
mod ole32;
mod os;
#[cfg(feature = "cli")]
mod users;
