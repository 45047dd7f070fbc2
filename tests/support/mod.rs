//! What the integration tests share.
//!
//! [`build`] makes the bytes of jump lists and shell links of any shape; [`samples`] uses it to make everything
//! under `samples/`. Both stand on their own, so that `examples/make_samples.rs` takes them in by path. [`cli`] runs the
//! real binary on them, [`read`] looks at what it left, and [`mended`] does both for `repair`.

pub mod build;
#[cfg(feature = "cli")]
pub mod cli;
pub mod judge;
#[cfg(feature = "cli")]
pub mod mended;
pub mod read;
pub mod samples;
pub mod start;
