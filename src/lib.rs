//! Reads Windows jump lists, reports what they cost, and prunes and repairs them without losing anything.
//!
//! A jump list is the file behind the menu of a taskbar button. Explorer reads it in thousands of small calls; a list with
//! thousands of entries makes the menu slow.
//!
//! ```
//! use jlfix::{JumpList, PruneRules};
//!
//! let list = JumpList::open("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
//! for entry in list.entries() {
//!     println!("{} {}", entry.dest.last_access, entry.dest.path);
//! }
//! for link in list.links() {
//!     println!("{:?}", link.target());
//! }
//! let plan = list.prune(&PruneRules::new().keep(5))?;
//! println!("{} of {} entries are dropped", plan.dropped.len(), plan.before.entries);
//! # assert_eq!((plan.dropped.len(), plan.before.entries), (17, 24));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`JumpList`] and what it returns is all that most callers need:
//!
//! | to | use |
//! |---|---|
//! | find lists on disk | [`scan()`] |
//! | read one | [`JumpList::open`], [`JumpList::from_bytes`] |
//! | look at it | [`entries`](JumpList::entries), [`links`](JumpList::links), [`findings`](JumpList::findings), [`cost`](JumpList::cost), [`deleted`](JumpList::deleted) |
//! | change it | [`PruneRules`] and [`JumpList::prune`], or [`JumpList::repair`]; then [`Store::apply`] |
//! | undo a change | [`store::restore()`] |
//!
//! Below it, the modules are for callers that need every detail or keep the bytes themselves. Data flows in one direction:
//! bytes → container → DestList and links → jump list → plan → new bytes → backup, then atomic replace.
//!
//! - [`mod@format`]: the structures on disk, one module per structure; [`salvage`]: what a damaged container still holds.
//! - [`model`]: the DestList joined with the links, findings, deleted entries. [`appid`]: which application a list is of.
//! - [`cost`]: the reads of a right-click, counted; [`mod@replay`]: the same reads, made and measured.
//! - [`plan`]: what changes, with the complete new file in memory, checked against the plan.
//! - [`store`]: backups, history and the atomic replace. Nothing else in the library writes.
//! - [`report`] and [`export`]: rows for JSON, CSV and forensic formats; [`diff`]: what is different between two files.
//!
//! Cargo features: `scan` ([`scan()`]), `store` ([`mod@store`]), `serde` ([`report`], and `Serialize` for what rows consist of),
//! `pins` ([`plan::pins`]), `export` ([`export`]), and `cli` (all of these and the program, on by default). Reading, planning and costs need none.
//!
//! Everything up to [`plan`] and [`report`] is pure: it touches no file, environment variable or clock.

#![cfg_attr(
    not(feature = "cli"),
    allow(dead_code, unused_imports, reason = "helpers that only the modules of a feature use")
)]
#![warn(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

pub mod appid;
#[doc(hidden)]
pub mod bytes;
pub mod cost;
#[cfg(feature = "diff")]
pub mod diff;
pub mod error;
#[cfg(feature = "export")]
pub mod export;
pub mod format;
mod jump_list;
pub mod limits;
pub mod model;
#[doc(hidden)]
pub mod os;
pub mod plan;
pub mod replay;
#[cfg(feature = "serde")]
pub mod report;
pub mod salvage;
#[cfg(feature = "scan")]
pub mod scan;
#[cfg(feature = "store")]
pub mod store;
pub mod trace;
#[doc(hidden)]
pub mod write;

pub use appid::{AppId, AppNames};
pub use bytes::Short;
pub use cost::Cost;
pub use error::{Error, NotAJumpList, Refusal, Result};
pub use format::guid::Guid;
pub use format::link::Link;
pub use format::text::CodePage;
pub use format::time::FileTime;
pub use jump_list::{DeletedItems, JumpList, LinkOwner, ListLink};
pub use limits::Limits;
pub use model::{Entry, Finding, Kind, ReadOptions, Severity};
pub use plan::{DropReason, KeepBy, Plan, PlanError, PruneRules, Repair, RepairOptions, TargetStatus};
#[cfg(feature = "scan")]
pub use scan::find as scan;
#[cfg(feature = "store")]
pub use store::{Applied, RunId, Store};

/// The README's code is run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
