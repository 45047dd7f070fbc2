//! Lists the files that were opened last, over all jump lists in a folder.
//!
//!     cargo run --example recent_files -- samples 5

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use jlfix::{AppNames, JumpList};

/// Prints the `count` most recent entries of the lists below `folder`, the newest first.
pub fn run(folder: &Path, count: usize, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let names = AppNames::default();
    let mut recent = Vec::new();
    for found in jlfix::scan(folder) {
        // A file that cannot be read does not stop the others.
        let list =
            match found.map_err(Box::from).and_then(|found| JumpList::open(found.path).map_err(Box::<dyn Error>::from))
            {
                Ok(list) => list,
                Err(error) => {
                    eprintln!("{error}");
                    continue;
                }
            };
        let application = list.app_id().and_then(|id| names.name(id)).unwrap_or("unknown application");
        for entry in list.entries() {
            recent.push((entry.dest.last_access, application, entry.dest.path.to_string()));
        }
    }
    recent.sort_by(|a, b| b.cmp(a));
    for (time, application, path) in recent.into_iter().take(count) {
        writeln!(out, "{time}  {application:20}  {path}")?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().ok_or("usage: recent_files FOLDER [COUNT]")?;
    let count = args.next().map_or(Ok(10), |count| count.parse())?;
    run(Path::new(&folder), count, &mut io::stdout().lock())
}
