//! The cost of a right-click: the read calls that Explorer makes to show the menu of a list, counted from the structure
//! of the file.
//!
//! Explorer reads a list field by field without a buffer, and a read is split only where the sectors of the stream are
//! not adjacent in the file. So the cost depends on the number of fields and on fragmentation, not on the size.
//!
//! **Observed** in a Process Monitor log of Explorer on Windows 10 1903 (docs/format.md, "Cost of a right-click"), and
//! modelled call by call in [`session`]:
//!
//! - a session (one open of the file) reads the header twice, then each sector of the FAT, the directory and the mini
//!   FAT once, then the DestList field by field, then links field by field;
//! - one menu opens the file twice.
//!
//! **Assumed** in [`click`]:
//!
//! - both sessions read the DestList and all links, in the order of the DestList. In the log, one session of a list of
//!   6 entries read the DestList and 4 links, the other only 6 links; a session of a list of 1 entry read the DestList
//!   and its link, the other only the DestList. The published trace of a list of 4,027,904 bytes counts 1.947 passes
//!   for one menu, which takes both sessions reading nearly everything;
//! - strings of a link (StringData) are read as 2 bytes and then the characters: no link in the log has one;
//! - every sector of the tables is read once per session, also in a list with thousands of them.
//!
//! ```
//! use jlfix::cost::Cost;
//! use jlfix::limits::Limits;
//! use jlfix::model::AutomaticList;
//!
//! let data = std::fs::read("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
//! let compound = jlfix::salvage::read(&data, &Limits::default()).expect("a compound file");
//! let cost = Cost::of(&AutomaticList::read(&compound));
//! println!("{} reads of {:.1} bytes, {:.2} passes", cost.reads, cost.mean_read(), cost.passes());
//! # Ok::<(), std::io::Error>(())
//! ```

mod fields;
mod walk;

pub use walk::{ReadCall, click, session};

use crate::model::AutomaticList;

/// Microseconds per read of a click, as published: 899 samples of CPU at 1 kHz for two clicks that made 229,604 reads
/// are 3.9 µs per read with the work around it; 70 % of them, 2.7 µs, are in the read itself. Process Monitor's log
/// gives a median of 2.3 to 2.6 µs for the read alone (docs/format.md).
pub const MICROSECONDS_PER_READ: f64 = 3.9;

/// Sessions (opens of the file) for one menu (measured, docs/format.md).
pub const SESSIONS: usize = 2;

/// What one right-click on a list costs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Cost {
    /// Read calls.
    pub reads: u64,
    /// Bytes that these calls read in total.
    pub bytes: u64,
    /// Bytes of the file.
    pub file_size: u64,
    /// How many of the reads are there only because a field lies across sectors that are not adjacent in the file. In a
    /// file that is written in one piece, nearly all of these are saved.
    pub split_reads: u64,
    /// Places in the DestList and the links at which the next sector of the stream is not the adjacent one in the file.
    pub discontinuities: u64,
}

impl Cost {
    /// The cost of a click on `list`.
    pub fn of(list: &AutomaticList<'_>) -> Self {
        let mut cost =
            Self { discontinuities: walk::discontinuities(list), ..Self::of_file(list.compound.file_size()) };
        let links = list.entries.iter().filter_map(|entry| entry.link);
        session(list, true, links, &mut |read| {
            cost.reads = cost.reads.saturating_add(1);
            cost.bytes = cost.bytes.saturating_add(read.length as u64);
            cost.split_reads = cost.split_reads.saturating_add(u64::from(read.continued));
        });
        // The sessions of a click are alike.
        for count in [&mut cost.reads, &mut cost.bytes, &mut cost.split_reads] {
            *count = count.saturating_mul(SESSIONS as u64);
        }
        cost
    }

    /// No reads, of a file of `file_size` bytes: for files that are not automatic lists.
    pub fn of_file(file_size: u64) -> Self {
        Self { file_size, ..Self::default() }
    }

    /// Bytes per read, 0 if there is none.
    pub fn mean_read(&self) -> f64 {
        if self.reads == 0 { 0.0 } else { self.bytes as f64 / self.reads as f64 }
    }

    /// How many times the bytes of the file were read.
    pub fn passes(&self) -> f64 {
        if self.file_size == 0 { 0.0 } else { self.bytes as f64 / self.file_size as f64 }
    }

    /// Milliseconds of a click, at [`MICROSECONDS_PER_READ`].
    pub fn estimated_ms(&self) -> f64 {
        self.reads as f64 * MICROSECONDS_PER_READ / 1000.0
    }

    /// True if a rewrite in one piece alone makes a click clearly cheaper: a fifth of its reads, and at least 500 of
    /// them (2 ms).
    pub fn is_worth_compacting(&self) -> bool {
        self.split_reads >= 500 && self.split_reads.saturating_mul(5) >= self.reads
    }
}
