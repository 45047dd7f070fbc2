//! The architecture holds: imports point downward, and what touches files, the environment or the clock stays where it
//! belongs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The modules from the ground up; each may use those of the lines before its own.
const LAYERS: [&[&str]; 11] = [
    &["bytes", "limits"],
    &["error"],
    &["format", "os"],
    &["appid", "salvage", "write"],
    &["model"],
    &["cost"],
    &["trace"],
    &["plan"],
    &["report", "jump_list"],
    &["scan", "replay", "store", "export", "diff"],
    &["cli"],
];

/// Where nothing may touch a file, the environment, another process or the clock.
const PURE: [&str; 12] =
    ["bytes", "limits", "format", "appid", "salvage", "write", "model", "cost", "trace", "plan", "report", "diff"];

const IMPURE: [&str; 13] = [
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
    "tempfile",
    "rustix",
    "walkdir",
];

/// A crate that has one place, and that place.
const ONLY_IN: [(&str, &str); 3] = [("walkdir", "scan/"), ("cfb", "write.rs"), ("clap", "cli/")];

/// A file is one subject: longer ones are to be split.
const LONGEST: usize = 600;

/// A source file: its path below `src/`, with `/`, its text, and the paths that its code names.
struct Source {
    name: String,
    text: String,
    paths: BTreeSet<String>,
}

impl Source {
    /// The top module that it belongs to.
    fn module(&self) -> &str {
        self.name.split(['/', '.']).next().unwrap_or_default()
    }

    /// How far below the root of the crate its module is.
    fn depth(&self) -> usize {
        self.name.split('/').count() - usize::from(self.name.ends_with("/mod.rs"))
    }

    /// The top modules that it uses.
    fn uses(&self) -> BTreeSet<&str> {
        let mut used = BTreeSet::new();
        for path in &self.paths {
            let mut parts = path.split("::").peekable();
            let mut up = 0;
            match parts.peek() {
                Some(&"crate" | &"jlfix") => {
                    parts.next();
                }
                Some(&"super") => {
                    while parts.next_if_eq(&"super").is_some() {
                        up += 1;
                    }
                    // The modules in a file are a step deeper: `super` there is the file's own.
                    if up < self.depth() {
                        continue;
                    }
                }
                _ => continue,
            }
            let module = parts.next().unwrap_or_default();
            if module != self.module() && level(module).is_some() {
                used.insert(module);
            }
        }
        used
    }
}

fn level(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// Every file of `src/`, read once.
fn sources() -> &'static [Source] {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(read_sources);
    &SOURCES
}

fn read_sources() -> Vec<Source> {
    fn read(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap_or_else(|e| panic!("{e}")).path();
            if path.is_dir() {
                read(&path, found);
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    read(&root, &mut files);
    files.sort();
    let source = |path: PathBuf| {
        let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let paths = paths(&tokens(&text));
        Source { name, text, paths }
    };
    files.into_iter().map(source).collect()
}

/// The words and signs of the code, without comments, texts and characters.
fn tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skip = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(end) = raw_text(rest) {
            end
        } else if first == '"' {
            text_end(rest)
        } else if first == '\'' {
            character_end(rest)
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            out.push(rest[..end].to_owned());
            end
        } else if rest.starts_with("::") {
            out.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                out.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[skip..];
    }
    out
}

/// Where a raw text (`r"…"`, `r#"…"#`, with `b` before it or not) ends, if one starts here.
fn raw_text(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('b').unwrap_or(rest).strip_prefix('r')?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let content = body[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = content.find(&end)? + end.len();
    Some(rest.len() - content.len() + length)
}

fn text_end(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// A character, or the quote of a lifetime.
fn character_end(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), _) => rest[2..].find('\'').map_or(rest.len(), |end| end.max(1) + 3).min(rest.len()),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// Every path that the code names, groups in braces taken apart.
fn paths(tokens: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut at = 0;
    while at < tokens.len() {
        let starts = is_word(&tokens[at]) && (at == 0 || tokens[at - 1] != "::");
        at = if starts { path(tokens, at, "", &mut found) } else { at + 1 };
    }
    found
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Reads the path at `at`, which goes on from `before`; where it ends.
fn path(tokens: &[String], mut at: usize, before: &str, found: &mut BTreeSet<String>) -> usize {
    let mut whole = before.to_owned();
    while let Some(token) = tokens.get(at) {
        if token == "{" && !whole.is_empty() {
            at += 1;
            while tokens.get(at).is_some_and(|token| token != "}") {
                at = if is_word(&tokens[at]) || tokens[at] == "{" { path(tokens, at, &whole, found) } else { at + 1 };
            }
            return at + 1;
        }
        if !is_word(token) && token != "*" {
            break;
        }
        if !whole.is_empty() {
            whole.push_str("::");
        }
        whole.push_str(token);
        at += 1;
        if tokens.get(at).is_none_or(|token| token != "::") {
            break;
        }
        at += 1;
    }
    found.insert(whole);
    at
}

#[test]
fn imports_run_downward() {
    let mut breaches = Vec::new();
    for source in sources().iter().filter(|source| !["lib", "main"].contains(&source.module())) {
        let Some(own) = level(source.module()) else {
            breaches.push(format!("{}: {} has no place among the layers", source.name, source.module()));
            continue;
        };
        for used in source.uses() {
            if level(used).is_some_and(|level| level >= own) {
                breaches.push(format!("{}: uses {used}", source.name));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn the_library_cannot_reach_the_command_line() {
    for source in sources() {
        let declares = source.text.lines().any(|line| line.trim_end_matches(';').ends_with("mod cli"));
        assert_eq!(declares, source.name == "main.rs", "{}", source.name);
    }
}

#[test]
fn parsing_and_planning_touch_no_file_no_environment_and_no_clock() {
    let mut breaches = Vec::new();
    for source in sources().iter().filter(|source| PURE.contains(&source.module())) {
        for path in &source.paths {
            let path = format!("{path}::");
            if IMPURE
                .iter()
                .any(|impure| path.starts_with(&format!("{impure}::")) || path.contains(&format!("::{impure}::")))
            {
                breaches.push(format!("{}: {path}", source.name));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn what_has_one_place_is_used_nowhere_else() {
    let mut breaches = Vec::new();
    for source in sources() {
        for (name, place) in ONLY_IN {
            let uses = source.paths.iter().any(|path| path == name || path.starts_with(&format!("{name}::")));
            if uses && !source.name.starts_with(place) {
                breaches.push(format!("{}: {name}", source.name));
            }
        }
        let is_unsafe = tokens(&source.text).iter().any(|token| token == "unsafe");
        if is_unsafe && !source.name.starts_with("os/") {
            breaches.push(format!("{}: unsafe", source.name));
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn no_file_is_too_long_to_be_read() {
    let long = |source: &Source| {
        let lines = source.text.lines().count();
        (lines > LONGEST && !source.name.ends_with("tests.rs")).then(|| format!("{}: {lines} lines", source.name))
    };
    let long: Vec<String> = sources().iter().filter_map(long).collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
    let main = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/main.rs")).unwrap_or_default();
    assert!(main.lines().count() <= 30);
}

/// The reader of sources itself: it must see what it is there to find.
#[test]
fn a_breach_would_be_seen() {
    let seen = |code: &str| paths(&tokens(code));
    let has = |code: &str, path: &str| seen(code).contains(path);
    assert!(has("use crate::{error::Error, store::{self, Run}};", "crate::store::self"));
    assert!(has("use crate::{error::Error, store::{self, Run}};", "crate::error::Error"));
    assert!(has("use std::{io, fs as files};", "std::fs"));
    assert!(has("let x = std::fs::read(path)?;", "std::fs::read"));
    assert!(has("fn f<'a>(x: &'a str) { let now = jiff::Timestamp::now(); }", "jiff::Timestamp::now"));
    assert!(has("let c = '\\''; let d = '\"'; std::env::var(\"x\")", "std::env::var"));
    assert!(!has(
        "// std::fs::read\n/* std::env */ let s = \"std::fs::read\"; let r = r#\"std::fs::read\"#;",
        "std::fs::read"
    ));
    let source = |name: &str, code: &str| Source { name: name.to_owned(), text: String::new(), paths: seen(code) };
    assert_eq!(source("cost.rs", "use super::store::Run;").uses(), BTreeSet::from(["store"]));
    assert_eq!(
        source("format/link/mod.rs", "use super::super::model::X; use super::guid::Guid;").uses(),
        BTreeSet::from(["model"])
    );
    assert_eq!(source("plan/prune.rs", "use super::Plan; use crate::model::X;").uses(), BTreeSet::from(["model"]));
}
