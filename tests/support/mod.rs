//! What the integration tests share.
//!
//! [`build`] makes the bytes of jump lists and shell links of any shape; [`samples`] uses it to make everything
//! under `samples/`. Both stand on their own, so that `examples/make_samples.rs` takes them in by path.

pub mod build;
pub mod samples;
