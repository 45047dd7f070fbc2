//! Writes each link of a list as a `.lnk` file, so that other tools can read it.
//!
//!     cargo run --example dump_links -- samples/CustomDestinations/1ced32d74a95c7bc.customDestinations-ms links

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use jlfix::{JumpList, LinkOwner};

/// Writes the links of `path` to new files in `folder`.
pub fn run(path: &Path, folder: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let list = JumpList::open(path)?;
    fs::create_dir_all(folder)?;
    for (number, link) in list.links().enumerate() {
        let name = match link.owner {
            LinkOwner::Entry(entry) => format!("entry-{:x}.lnk", entry.dest.id),
            _ => format!("link-{number}.lnk"),
        };
        // Nothing that is there already is overwritten.
        OpenOptions::new().write(true).create_new(true).open(folder.join(&name))?.write_all(link.bytes)?;
        writeln!(out, "{name}: {}", link.target().as_deref().unwrap_or("no target"))?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, folder] = args.as_slice() else { return Err("usage: dump_links LIST FOLDER".into()) };
    run(Path::new(path), Path::new(folder), &mut io::stdout().lock())
}
