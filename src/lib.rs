//! Reads Windows jump lists, says what they cost, and makes them small and whole again without losing anything.
//!
//! Data flows one way: bytes → container → DestList and links → jump list → plan → new bytes → backup, then atomic
//! replace. Each step is a module:
//!
//! - [`mod@format`] has a file a structure on disk; [`model`] joins them to a list and says what is wrong with it.
//! - [`cost`] says what a right-click on a list costs; [`mod@replay`] makes its calls for real.
//! - [`plan`] says what is to change, and holds the whole new file in memory, checked against the plan.
//! - [`store`] saves a file before it is changed, replaces it in one step, and brings it back.
//! - [`scan`] finds lists on disk, [`report`] is the one shape that is told of them.
//!
//! Everything up to and with [`plan`] is pure: it touches no file, no environment and no clock.
//!
//! ```
//! use jlfix::limits::Limits;
//! use jlfix::model::{JumpList, Kind, ReadOptions, Source};
//! use jlfix::plan::{self, PruneRules};
//!
//! let data = std::fs::read("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
//! let source = Source::read(&data, Some(Kind::Automatic), &ReadOptions::default()).expect("a jump list");
//! let Source::Automatic(Ok(compound)) = &source else { panic!("an automatic list") };
//! let list = JumpList::read(compound);
//! let rules = PruneRules::new().keep(5);
//! let plan = plan::prune(&list, &rules, &Limits::default())?;
//! assert_eq!((plan.before.entries, plan.after.entries, plan.after.pinned), (24, 7, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

pub mod appid;
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
pub mod salvage;
pub mod scan;
pub mod store;
pub mod trace;
pub mod write;

/// The README's code is run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
