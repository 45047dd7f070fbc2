//! Makes the seeds of all targets out of jump lists: `seed CORPUS FOLDER…` fills `CORPUS/<target>/`.

use std::collections::hash_map::DefaultHasher;
use std::error::Error;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

use jlfix::format::compound::Compound;
use jlfix::format::custom::Custom;
use jlfix::format::text::CodePage;
use jlfix::limits::Limits;
use jlfix::model::Kind;
use jlfix_fuzz::oracle::seed_of;

/// Larger files only slow the fuzzer down.
const LARGEST: usize = 12_000;

struct Seeds {
    corpus: PathBuf,
    count: usize,
    /// The list before, to merge the next one into.
    before: Option<Vec<u8>>,
}

impl Seeds {
    fn add(&mut self, target: &str, parts: &[&[u8]]) -> Result<(), Box<dyn Error>> {
        let bytes = parts.concat();
        if bytes.is_empty() || bytes.len() > LARGEST {
            return Ok(());
        }
        let folder = self.corpus.join(target);
        fs::create_dir_all(&folder)?;
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        fs::write(folder.join(format!("seed-{:016x}", hasher.finish())), bytes)?;
        self.count += 1;
        Ok(())
    }

    fn list(&mut self, data: &[u8]) -> Result<(), Box<dyn Error>> {
        self.add("parse", &[data])?;
        match Kind::of_content(data) {
            Some(Kind::Automatic) => self.automatic(data),
            Some(Kind::Custom) => {
                self.add("custom", &[data])?;
                let custom = Custom::parse(data, CodePage::default());
                custom.links().try_for_each(|(_, link)| self.add("link", &[link.raw]))
            }
            Some(Kind::Link) => self.add("link", &[data]),
            None => Ok(()),
        }
    }

    fn automatic(&mut self, data: &[u8]) -> Result<(), Box<dyn Error>> {
        let Ok(compound) = jlfix::salvage::read(data, &Limits::default()) else { return Ok(()) };
        for stream in &compound.streams {
            if stream.is_dest_list() {
                self.add("destlist", &[&stream.data])?;
            } else if stream.entry_id().is_some() {
                self.add("link", &[&stream.data])?;
            }
        }
        self.add("prune", &[&[0, 3, 0], &[0], data])?;
        self.add("repair", &[&[0], &[0], data])?;
        for mode in [1, 3, 7] {
            if let Some(seed) = seed_of(data, mode) {
                self.add("prune", &[&[0, 3, 0], &seed])?;
                self.add("prune", &[&[18, 2, 0], &seed])?;
                self.add("repair", &[&[0], &seed])?;
                let size = u16::try_from(seed.len()).unwrap_or(u16::MAX).to_le_bytes();
                self.add("merge", &[&size, &seed, &seed])?;
                if let Some(before) = self.before.replace(seed.clone()) {
                    let size = u16::try_from(before.len()).unwrap_or(u16::MAX).to_le_bytes();
                    self.add("merge", &[&size, &before, &seed])?;
                }
            }
        }
        Ok(())
    }

    fn manifests(&mut self) -> Result<(), Box<dyn Error>> {
        let header =
            r#""version":1,"jlfix":"0.1.0","command":"jlfix prune --keep 3 .","started":"2026-11-30T18:45:01Z""#;
        let name = "f01b4d95cf55d32a.automaticDestinations-ms";
        let file = |n: usize| {
            format!(
                r#"{{"path":"/home/u/{n}/{name}","size":4,"sha256":"{}","modified":"2026-11-30T18:45:01.5Z","created":null,"mode":420,"stored":"{n:04}-{name}.bak"}}"#,
                "0123456789abcdef".repeat(4)
            )
        };
        let absent = r#"{"path":"/home/u/a\ufffd","path_raw":"2f686f6d652f752f61ff","size":null,"sha256":null,"modified":null,"created":null,"stored":null}"#;
        let finished = r#""finished":"2026-11-30T18:45:02Z""#;
        let json = format!("{{{header},{finished},\"files\":[{},{},{absent}]}}\n", file(1), file(2));
        self.add("manifest", &[json.as_bytes()])?;
        let journal = format!(
            "{{\"run\":{{{header}}}}}\n{{\"file\":{}}}\n{{\"forget\":0}}\n{{\"file\":{}}}\n{{\"fi",
            file(1),
            file(2)
        );
        self.add("manifest", &[journal.as_bytes()])
    }
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files(&path, out)?;
        } else {
            out.push(path);
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args_os().skip(1).map(PathBuf::from);
    let corpus = words.next().ok_or("usage: seed CORPUS FOLDER...")?;
    let mut seeds = Seeds { corpus, count: 0, before: None };
    let mut found = Vec::new();
    for folder in words {
        files(&folder, &mut found)?;
    }
    found.sort();
    for path in found {
        seeds.list(&fs::read(path)?)?;
    }
    seeds.manifests()?;
    println!("{} seeds in {}", seeds.count, seeds.corpus.display());
    Ok(())
}
