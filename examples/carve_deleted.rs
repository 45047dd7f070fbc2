//! Finds entries and links that are no longer in a list and still in its file.
//!
//!     cargo run --example carve_deleted -- samples/CustomDestinations/5d696d521de238c3.customDestinations-ms

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use jlfix::{CodePage, JumpList};

/// Prints what is deleted in `path`, in the order of the file.
pub fn run(path: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let list = JumpList::open(path)?;
    let deleted = list.deleted();
    for item in deleted.items() {
        let target = item.read_link(CodePage::default()).and_then(|link| link.ok()?.target());
        let text = match (item.entry(), target) {
            (Some(entry), _) => format!("entry {}, last accessed {}: {}", entry.id, entry.last_access, entry.path),
            (None, Some(target)) => format!("link to {target}"),
            (None, None) => "remains of a stream".to_owned(),
        };
        writeln!(out, "offset {}, {} bytes: {text}", item.offset, item.size)?;
    }
    writeln!(out, "{} found, {} copies of what is in use left out", deleted.items().len(), deleted.copies())?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: carve_deleted LIST")?;
    run(Path::new(&path), &mut io::stdout().lock())
}
