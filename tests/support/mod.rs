//! What the integration tests share.
//!
//! [`build`] makes the bytes of jump lists and shell links of any shape; [`samples`] uses it to make everything
//! under `samples/`. Both stand on their own, so that `examples/make_samples.rs` takes them in by path. [`cli`] runs the
//! real binary on them, [`read`] looks at what it left, and [`mended`] does both for `repair`. [`mutants`] damages files
//! from a seed, [`oracle`] holds what the fuzz targets assert, [`place`] is a folder with a store.

#![allow(dead_code, unused_imports, unreachable_pub, reason = "every test program takes in all of it and uses a part")]

pub mod build;
#[cfg(feature = "cli")]
pub mod cli;
pub mod judge;
#[cfg(feature = "cli")]
pub mod mended;
pub mod mutants;
pub mod oracle;
pub mod place;
pub mod read;
pub mod recordings;
pub mod samples;
pub mod skip;
pub mod start;
