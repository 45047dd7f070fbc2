//! Watches a folder and prints each list whose right-click has become cheaper or more expensive.
//!
//!     cargo run --example watch_cost -- FOLDER 10

use std::collections::HashMap;
use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use jlfix::JumpList;

/// The reads per click of each list, as last seen.
pub type Costs = HashMap<PathBuf, u64>;

/// Looks at the lists below `folder` once and prints those whose cost is not the one in `costs`.
pub fn look(folder: &Path, costs: &mut Costs, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    for found in jlfix::scan(folder) {
        let path = found?.path;
        // Explorer may be writing the file, or have removed it: the next look will show.
        let Ok(list) = JumpList::open(&path) else { continue };
        let Some(cost) = list.cost() else { continue };
        let before = costs.insert(path.clone(), cost.reads);
        if before != Some(cost.reads) {
            let before = before.map_or("new".to_owned(), |before| before.to_string());
            writeln!(out, "{}: {before} -> {} reads, {:.1} ms", path.display(), cost.reads, cost.estimated_ms())?;
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().ok_or("usage: watch_cost FOLDER [SECONDS]")?;
    let seconds = args.next().map_or(Ok(10), |seconds| seconds.parse())?;
    let mut costs = Costs::new();
    loop {
        look(Path::new(&folder), &mut costs, &mut io::stdout().lock())?;
        thread::sleep(Duration::from_secs(seconds));
    }
}
