//! Where lists are looked for besides the paths on the command line, and which files are left out: `--all-users`,
//! `--files-from` and `--exclude`.

use std::cell::Cell;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::context::Context;
use super::{Stop, words};

/// The largest list of paths that is read.
const LARGEST_LIST: u64 = 64 << 20;

/// More places, and exclusions.
#[derive(Debug, clap::Args)]
pub(crate) struct Places {
    /// Look at the lists of every user of this machine (Windows)
    #[arg(long, conflicts_with_all = ["paths", "files_from"], hide_short_help = true)]
    pub(crate) all_users: bool,
    /// Read more paths from this file, or from standard input if it is -: one per line, or separated by NUL
    #[arg(long, value_name = "FILE|-", hide_short_help = true)]
    pub(crate) files_from: Option<PathBuf>,
    /// Leave out files and folders that match (* ? [..] {a,b}, any case); a pattern without a slash is compared
    /// with each name of the path; may be repeated
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    pub(crate) exclude: Vec<String>,
}

impl Places {
    /// The paths of the command line, and those of `--files-from`.
    ///
    /// # Errors
    /// The file cannot be read, or names no path: then nothing was asked for, and not the user's own lists.
    pub(crate) fn paths(&self, named: &[PathBuf]) -> Result<Vec<PathBuf>, Stop> {
        let mut paths = named.to_vec();
        if let Some(file) = &self.files_from {
            let shown = file.display();
            let bytes =
                read(file).map_err(|error| Stop::Nothing(format!("--files-from {shown}: cannot read it: {error}")))?;
            let more = split(&bytes).map_err(|why| Stop::Nothing(format!("--files-from {shown}: {why}")))?;
            if paths.is_empty() && more.is_empty() {
                return Err(Stop::Nothing(format!("--files-from {shown}: there is no path in it")));
            }
            paths.extend(more);
        }
        Ok(paths)
    }

    /// The patterns of `--exclude`.
    ///
    /// # Errors
    /// A pattern is invalid.
    pub(crate) fn exclusions(&self) -> Result<Exclusions, Stop> {
        let patterns = self.exclude.iter().map(|text| Pattern::new(text));
        let patterns: Result<Vec<_>, _> = patterns.collect();
        let patterns = patterns.map_err(|error| Stop::Usage(format!("--exclude: {error}")))?;
        Ok(Exclusions { patterns })
    }
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(LARGEST_LIST + 1).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(file)?.take(LARGEST_LIST + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > LARGEST_LIST {
        return Err(std::io::Error::other(format!("need at most {}", words::size(LARGEST_LIST))));
    }
    Ok(bytes)
}

/// The paths of a list: separated by NUL if it has any, by line ends otherwise.
fn split(bytes: &[u8]) -> Result<Vec<PathBuf>, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let nul = bytes.contains(&0);
    let lines = bytes.split(|byte| *byte == if nul { 0 } else { b'\n' });
    let lines = lines.map(|line| if nul { line } else { line.strip_suffix(b"\r").unwrap_or(line) });
    lines.filter(|line| !line.is_empty()).map(path).collect()
}

#[cfg(unix)]
fn path(line: &[u8]) -> Result<PathBuf, String> {
    jlfix::os::path_from_raw(line).ok_or_else(|| "a path is invalid".to_owned())
}

#[cfg(not(unix))]
fn path(line: &[u8]) -> Result<PathBuf, String> {
    let text = std::str::from_utf8(line).map_err(|_| "need paths in UTF-8".to_owned())?;
    Ok(PathBuf::from(text))
}

/// A pattern of `--exclude`.
struct Pattern {
    text: String,
    matcher: GlobMatcher,
    /// True if it is compared with each name of a path, false if with the path up to each name.
    is_name: bool,
    used: Cell<bool>,
}

impl Pattern {
    fn new(text: &str) -> Result<Self, globset::Error> {
        let glob = text.replace('\\', "/");
        let glob = glob.trim_end_matches('/');
        let is_name = !glob.contains('/');
        let is_rooted = glob.starts_with('/') || glob.starts_with("**/") || glob.get(1..2) == Some(":");
        let glob = if is_name || is_rooted { glob.to_owned() } else { format!("{{,**/}}{glob}") };
        let matcher = GlobBuilder::new(&glob).case_insensitive(true).literal_separator(true).build()?.compile_matcher();
        Ok(Self { text: text.to_owned(), matcher, is_name, used: Cell::default() })
    }

    fn matches(&self, path: &Path) -> bool {
        path.ancestors().any(|part| {
            if self.is_name {
                part.file_name().is_some_and(|name| self.matcher.is_match(name))
            } else {
                let text = part.to_string_lossy().replace('\\', "/");
                self.matcher.is_match(text.strip_prefix("./").unwrap_or(&text))
            }
        })
    }
}

/// What is left out.
#[derive(Default)]
pub(crate) struct Exclusions {
    patterns: Vec<Pattern>,
}

impl Exclusions {
    /// True if this path or a folder above it is left out.
    pub(crate) fn has(&self, path: &Path) -> bool {
        let mut excluded = false;
        for pattern in self.patterns.iter().filter(|pattern| pattern.matches(path)) {
            pattern.used.set(true);
            excluded = true;
        }
        excluded
    }

    /// Notes the patterns that left nothing out.
    pub(crate) fn report(&self, context: &Context) {
        for pattern in self.patterns.iter().filter(|pattern| !pattern.used.get()) {
            context.note(&format!("--exclude {}: no jump list matches", pattern.text));
        }
    }
}
