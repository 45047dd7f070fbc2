//! Everything under `samples/`, made in memory and always the same. `cargo run --example make_samples` writes it,
//! and `tests/cli/samples.rs` holds the two against each other.

#![allow(dead_code, unreachable_pub, reason = "each user takes in the whole of it and uses a part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "it builds from its own constants: a wrong one is a mistake here, and a panic tells it"
)]

use std::fmt::Write;

use jlfix::model::Code;

use super::build;

mod automatic;
pub mod bloated;
mod custom;
mod damaged;

/// One file under `samples/`.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Path below `samples/`, with `/`.
    pub path: &'static str,
    /// What it shows, in Markdown.
    pub shows: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What is wrong with it, if anything.
    pub finding: Option<Code>,
}

impl Sample {
    /// True if nothing is wrong with it.
    pub fn is_healthy(&self) -> bool {
        self.finding.is_none()
    }

    /// True if it is a compound file, damaged or not.
    pub fn is_automatic(&self) -> bool {
        self.path.ends_with(".automaticDestinations-ms")
    }
}

/// All of them, in the order of their paths.
pub fn all() -> Vec<Sample> {
    let mut samples = vec![Sample {
        path: bloated::PATH,
        shows: "Explorer, format 4, **bloated**: 3,067 folders, 6 of them pinned, ranks, aged as by ten years of use. A \
                right-click makes about 104,000 reads of it. Its size is that of the published case, 4,027,904 bytes",
        bytes: bloated::file(),
        finding: None,
    }];
    samples.extend(automatic::all());
    samples.extend(custom::all());
    samples.extend(damaged::all());
    samples.sort_by_key(|sample| sample.path);
    samples
}

/// `samples/README.md`.
pub fn readme(samples: &[Sample]) -> String {
    let mut text = README.to_owned();
    for Sample { path, shows, bytes, finding } in samples {
        let finding = finding.map(|code| format!("`{code}`")).unwrap_or_default();
        writeln!(text, "| `{path}` | {} | {shows} | {finding} |", thousands(bytes.len())).unwrap();
    }
    text
}

const README: &str = "\
# Samples

Jump lists to try `jlfix` on, laid out as they lie below `%APPDATA%\\Microsoft\\Windows\\Recent`: the first two folders are those
of one user, the others come from other machines. None of them was ever on a real one. Users, hosts, files and folders
are invented; the layout, down to the item ID lists in the links, is what Windows writes.

`cargo run --example make_samples` writes this folder, always the same, and `cargo test --test cli samples` holds it against
what it writes. The generator is in `tests/support/samples`, the builders that it uses in `tests/support/build`.

| file | bytes | shows | finding |
|---|---:|---|---|
";

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
