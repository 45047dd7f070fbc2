//! Everything under `samples/`, made in memory and always the same. `cargo run --example make_samples` writes it,
//! and `tests/samples.rs` holds the two against each other.

#![allow(dead_code, unreachable_pub, reason = "each user takes in the whole of it and uses a part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "it builds from its own constants: a wrong one is a mistake here, and a panic tells it"
)]

use super::build;

pub mod bloated;

/// One file under `samples/`.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Path below `samples/`, with `/`.
    pub path: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// True if nothing is wrong with it.
    pub healthy: bool,
}

/// All of them, in the order of their paths.
pub fn all() -> Vec<Sample> {
    vec![Sample {
        path: "AutomaticDestinations/f01b4d95cf55d32a.automaticDestinations-ms",
        bytes: bloated::file(),
        healthy: true,
    }]
}
