//! The library without the command line: reading, the store, and what fuzzing found.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that fails says so by a panic"
)]

#[path = "../support/mod.rs"]
mod support;

mod cost;
mod diagnosis;
mod examples;
mod findings;
mod jump_list;
mod library;
mod links;
mod merging;
mod mutants;
#[cfg(feature = "cli")]
mod pins;
mod start_sector;
mod store;
mod store_os;
mod store_processes;
mod traces;
mod traces_made;
