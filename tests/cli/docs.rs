//! What README and docs show is what the program prints, except for ids, times and timings.

use std::fs;
use std::path::Path;

use crate::support;

use support::cli::Cli;
#[cfg(unix)]
use support::cli::samples;

/// The `console` blocks of a page.
fn blocks(page: &str) -> Vec<Vec<&str>> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while lines.by_ref().any(|line| line == "```console") {
        blocks.push(lines.by_ref().take_while(|line| *line != "```").collect());
    }
    blocks
}

/// The pages, each with its name.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md"), root.join("samples/README.md")];
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    pages.extend(docs.filter(|path| path.extension().is_some_and(|end| end == "md")));
    let name = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
    pages.iter().filter(|path| path.exists()).map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

#[cfg(unix)]
/// A word without what differs from run to run: ids of runs, times, dates and timings.
fn fixed(word: &str) -> String {
    let is_run = word.len() == 25 && word.as_bytes()[8] == b'T' && word.as_bytes()[20] == b'-';
    let is_moment = |separator: char, parts: usize| {
        let parts_of: Vec<&str> = word.trim_matches(['(', ')', ',']).split(separator).collect();
        parts_of.len() == parts
            && parts_of.iter().all(|part| part.len() >= 2 && part.bytes().all(|b| b.is_ascii_digit()))
    };
    match word {
        _ if is_run => "RUN".to_owned(),
        _ if is_moment('-', 3) => "DATE".to_owned(),
        _ if is_moment(':', 2) => "TIME".to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(unix)]
/// A line without what differs from run to run.
fn line_of(line: &str, timings: bool) -> String {
    let words: Vec<String> = line.split_whitespace().map(fixed).collect();
    if !timings {
        return words.join(" ");
    }
    // Of `replay`: the counts stay, and of the rest only what is no number, no unit and no bar.
    let is_row = words.len() > 5 && words[1].bytes().all(|b| b.is_ascii_digit() || b == b',');
    let words: Vec<String> = if is_row { words.into_iter().take(4).collect() } else { words };
    let is_timing = |word: &&String| {
        !is_row
            && (word.starts_with(|c: char| c.is_ascii_digit())
                || ["ms", "µs", "s", "ms."].contains(&word.trim_end_matches(['.', ','])))
    };
    words.iter().filter(|word| !is_timing(word)).cloned().collect::<Vec<_>>().join(" ")
}

#[cfg(unix)]
/// Compares what is printed with what is shown, where `…` stands for any number of lines.
fn compare(page: &str, command: &str, shown: &[&str], printed: &str) {
    let timings = command.starts_with("jlfix replay");
    let printed: Vec<String> = printed.lines().map(|line| line_of(line, timings)).collect();
    let mut at = 0;
    let mut skip = false;
    for line in shown {
        if *line == "…" {
            skip = true;
            continue;
        }
        let wanted = line_of(line, timings);
        let found = if skip {
            printed.iter().skip(at).position(|line| *line == wanted).map(|more| at + more)
        } else {
            Some(at).filter(|at| printed.get(*at) == Some(&wanted))
        };
        let found = found.unwrap_or_else(|| {
            panic!(
                "{page}: {command}: the page shows\n{wanted}\nprinted, from line {at}:\n{}",
                printed[at.min(printed.len())..].join("\n")
            )
        });
        (at, skip) = (found + 1, false);
    }
    assert!(skip || at == printed.len(), "{page}: {command}: the page lacks\n{}", printed[at..].join("\n"));
}

/// Pages use `/`, and the values are those of a run on Linux.
#[cfg(unix)]
#[test]
fn every_transcript_in_the_documentation_is_what_the_program_prints() {
    let mut compared = 0;
    for (name, page) in pages() {
        let cli = Cli::new();
        for entry in walkdir::WalkDir::new(samples()).into_iter().map(Result::unwrap) {
            if entry.file_type().is_file() {
                let bytes = fs::read(entry.path()).unwrap();
                cli.write(entry.path().strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap(), &bytes);
                if let Ok(list) = entry.path().strip_prefix(samples().join("AutomaticDestinations")) {
                    cli.write(Path::new("AutomaticDestinations").join(list), &bytes);
                }
            }
        }
        let binary = Path::new(env!("CARGO_BIN_EXE_jlfix"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(binary.parent().unwrap().to_owned()).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).unwrap();
        for block in blocks(&page) {
            let mut lines = block.as_slice();
            while let [first, rest @ ..] = lines {
                let Some(command) = first.strip_prefix("$ ") else { break };
                let next = rest.iter().position(|line| line.starts_with("$ ")).unwrap_or(rest.len());
                let (shown, after) = rest.split_at(next);
                lines = after;
                let shown: Vec<&str> = match shown {
                    [shown @ .., ""] if next < rest.len() => shown.to_vec(),
                    shown => shown.to_vec(),
                };
                let words = command.strip_prefix("jlfix ").unwrap_or_else(|| panic!("{name}: {command}"));
                let mut run = cli.jlfix();
                run.env("PATH", &path).args(words.split_whitespace());
                compare(&name, command, &shown, &support::cli::finish(run).stdout);
                compared += 1;
            }
        }
    }
    assert!(compared >= 6, "{compared}");
}

#[test]
fn every_command_that_the_documentation_names_is_one() {
    let cli = Cli::new();
    for (name, page) in pages() {
        for block in blocks(&page) {
            for line in block {
                let Some(words) = line.trim_start_matches("$ ").strip_prefix("jlfix ") else { continue };
                let command = words.split_whitespace().next().unwrap();
                let help = cli.run(&format!("{command} --help"));
                assert_eq!(help.code, 0, "{name}: {line}");
                let words = words.split("  ").next().unwrap();
                for option in words.split_whitespace().filter(|word| word.starts_with("--")) {
                    assert!(help.stdout.contains(option.split('=').next().unwrap()), "{name}: {line}: {option}");
                }
            }
        }
    }
}
