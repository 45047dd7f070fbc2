//! The program as its users see it: stdout, stderr, exit status, the files that are left.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that fails says so by a panic"
)]

#[cfg(target_os = "linux")]
#[path = "../harness/mod.rs"]
mod harness;
#[path = "../support/mod.rs"]
mod support;

mod app;
mod appid;
mod backup;
mod bad_input;
mod cases;
mod check;
mod concurrent;
mod corpus;
mod delete;
mod deleted;
mod diff;
mod docs;
mod doctor;
mod export;
mod export_corpus;
mod formats;
mod help;
#[cfg(unix)]
mod hostile;
mod merge;
mod named_damage;
#[cfg(target_os = "linux")]
mod nothing_lost;
mod output;
mod pins;
mod prune;
mod remedies;
mod repair;
mod repair_file;
mod restore;
mod samples;
mod scan;
mod select;
mod show;
