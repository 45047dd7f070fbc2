//! Keeps every pinned entry and the newest others of one list, with a backup.
//!
//!     cargo run --example prune_list -- LIST 50 BACKUPS

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use jlfix::{JumpList, PruneRules, Store};

/// Prunes `path` to `keep` unpinned entries and saves the original in the store `backups`.
pub fn run(path: &Path, keep: usize, backups: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let list = JumpList::open(path)?;
    let plan = list.prune(&PruneRules::new().keep(keep))?;
    for entry in &plan.dropped {
        writeln!(out, "drop {}: {}", entry.path, entry.reason)?;
    }
    let applied = Store::open(backups)?.apply(&list, &plan)?;
    writeln!(
        out,
        "{} entries are left of {}, {} reads per click of {}",
        plan.after.entries, plan.before.entries, plan.after.cost.reads, plan.before.cost.reads
    )?;
    if let Some(run) = applied.run {
        writeln!(out, "undo it with: jlfix restore {run} --backup-dir {}", backups.display())?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, keep, backups] = args.as_slice() else { return Err("usage: prune_list LIST KEEP BACKUPS".into()) };
    run(Path::new(path), keep.parse()?, Path::new(backups), &mut io::stdout().lock())
}
