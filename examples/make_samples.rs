//! Writes `samples/` anew: `cargo run --example make_samples [FOLDER]`.
//!
//! The files come from the builders that the tests use, so what a sample shows and what a test builds is the same.

use std::path::PathBuf;
use std::{env, fs, io};

#[path = "../tests/support/build/mod.rs"]
mod build;
#[path = "../tests/support/samples/mod.rs"]
mod samples;

fn main() -> io::Result<()> {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("samples");
    let folder = env::args_os().nth(1).map_or(default, PathBuf::from);
    let samples = samples::all();
    for sample in &samples {
        let path = folder.join(sample.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, &sample.bytes)?;
        println!("{:>9}  {}", sample.bytes.len(), sample.path);
    }
    fs::write(folder.join("README.md"), samples::readme(&samples))
}
