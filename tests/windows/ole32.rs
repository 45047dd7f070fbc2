//! ole32, which Explorer itself reads jump lists with, against our reader and our writer.

use crate::ole;
use crate::support;
use crate::support::mutants;
use crate::support::skip::corpus;

use std::path::{Path, PathBuf};

use jlfix::format::compound::{Root, looks_like_compound};
use jlfix::write::{NewStream, build};

/// Every compound file below the folder, sorted.
fn compound_files(folder: &Path) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = files.filter(|file| file.file_type().is_file()).map(walkdir::DirEntry::into_path);
    files.filter(|path| looks_like_compound(&std::fs::read(path).unwrap())).collect()
}

/// Streams of these sizes, each with bytes of its own.
fn contents(sizes: &[usize]) -> Vec<(String, Vec<u8>)> {
    let bytes = |seed: usize, size| (0..size).map(|i| (i * 31 + seed * 7 + i / 251) as u8).collect();
    sizes.iter().enumerate().map(|(i, &size)| (format!("{:x}", i + 1), bytes(i, size))).collect()
}

fn write(path: &Path, storages: &[String], contents: &[(String, Vec<u8>)]) {
    let streams: Vec<_> = contents
        .iter()
        .map(|(name, data)| {
            let (storage, name) = name.rsplit_once('/').unwrap_or(("", name));
            NewStream { storage, name, data }
        })
        .collect();
    std::fs::write(path, build(&Root::default(), storages, &streams).unwrap()).unwrap();
}

#[test]
fn ole32_reads_every_real_list_as_we_do() {
    let Some(corpus) = corpus() else { return };
    let files = compound_files(&corpus.join("jumplists"));
    let streams: usize = files.iter().map(|file| ole::assert_both_read_the_same(file)).sum();
    println!("ole32 and jlfix read {} files and {streams} streams the same", files.len());
    assert!(files.len() >= 30 && streams > files.len());
}

#[test]
fn ole32_reads_what_we_write_at_every_size_where_the_layout_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sizes");
    let written = contents(&[0, 1, 63, 64, 65, 511, 512, 513, 4095, 4096, 4097, 65_536, 120 * 128 * 512 + 1]);
    write(&path, &[], &written);
    let mut expected = written;
    expected.sort();
    assert!(ole::streams(&path).unwrap() == expected);
    ole::assert_both_read_the_same(&path);
}

#[test]
fn ole32_finds_each_of_thousands_of_streams_in_the_tree_that_we_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many");
    let written = contents(&[200; 3000]);
    write(&path, &[], &written);
    assert_eq!(ole::assert_both_read_the_same(&path), 3000);
}

#[test]
fn ole32_reads_a_stream_in_a_storage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nested");
    let written = [("outer/inner/deep".to_owned(), vec![1; 5000]), ("top".to_owned(), vec![2; 10])];
    write(&path, &["outer".to_owned(), "outer/inner".to_owned()], &written);
    assert!(ole::streams(&path).unwrap() == written);
    ole::assert_both_read_the_same(&path);
}

#[test]
fn the_judge_turns_damage_down() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged");
    write(&path, &[], &contents(&[10, 5000, 9000]));
    let whole = std::fs::read(&path).unwrap();

    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(ole::streams(&path).is_err(), "half of a file");

    let mut no_tables = whole;
    no_tables[0x4C..0x50].copy_from_slice(&0x00FF_FFFF_u32.to_le_bytes());
    std::fs::write(&path, &no_tables).unwrap();
    assert!(ole::streams(&path).is_err(), "a FAT far outside the file");
}

/// What the binary writes.
#[cfg(feature = "cli")]
mod written {
    use std::fs;

    use super::mutants::{Kind, Random};
    use super::support::build::ListBuilder;
    use super::support::cli::{AUTOMATIC, Cli, bloated, samples};
    use super::{compound_files, corpus, ole};

    /// Every automatic list at hand that is whole: samples, made ones, and real ones where they are.
    fn lists() -> Vec<Vec<u8>> {
        let real = corpus().map(|corpus| compound_files(&corpus.join("jumplists"))).unwrap_or_default();
        let samples = compound_files(&samples()).into_iter();
        let samples = samples.filter(|path| !path.components().any(|part| part.as_os_str() == "damaged"));
        let files = samples.chain(real).filter(|path| path.to_string_lossy().ends_with(AUTOMATIC));
        let made = [ListBuilder::files(1, 9), ListBuilder::folders(4, 24).ranked().pin(3), ListBuilder::files(6, 60)];
        files.map(|path| fs::read(path).unwrap()).chain(made.map(|list| list.build())).collect()
    }

    fn name(number: usize) -> String {
        format!("{number:03}/9b9cdc69c1c24e2b.{AUTOMATIC}")
    }

    /// Holds each of the files that is not as it was against both readers.
    fn judge(cli: &Cli, before: &[(String, Vec<u8>)], what: &str) -> usize {
        let written = before.iter().filter(|(name, bytes)| cli.read(name) != *bytes);
        let streams: Vec<usize> = written.map(|(name, _)| ole::assert_both_read_the_same(&cli.path(name))).collect();
        println!(
            "ole32 and jlfix read {} {what} lists and {} streams the same",
            streams.len(),
            streams.iter().sum::<usize>()
        );
        streams.len()
    }

    #[test]
    fn ole32_reads_every_list_that_was_pruned_as_we_do() {
        let lists: Vec<_> = lists().into_iter().enumerate().map(|(number, list)| (name(number), list)).collect();
        for keep in [3, 0] {
            let cli = Cli::new();
            lists.iter().for_each(|(name, list)| drop(cli.write(name, list)));
            cli.run(&format!("prune --keep {keep} .")).clean();
            let count = judge(&cli, &lists, "pruned");
            assert!(count >= if corpus().is_some() { 20 } else { 6 }, "{count}");
        }
    }

    #[test]
    fn ole32_reads_every_list_that_was_repaired_as_we_do() {
        let cli = Cli::new();
        let whole = lists();
        let small: Vec<_> = whole.iter().filter(|list| list.len() < 200_000).collect();
        let mut damaged = Vec::new();
        for kind in Kind::ALL {
            for (number, list) in small.iter().enumerate() {
                damaged.push((name(damaged.len()), kind.apply(list, &mut Random::new(5, number as u64))));
            }
        }
        for path in compound_files(&samples().join("damaged")).into_iter().chain([bloated()]) {
            damaged.push((name(damaged.len()), fs::read(path).unwrap()));
        }
        damaged.iter().for_each(|(name, list)| drop(cli.write(name, list)));
        let out = cli.run("repair .");
        // Some are past mending, and told.
        assert!(out.code == 0 || out.code == 3, "{out:?}");
        let count = judge(&cli, &damaged, "repaired");
        assert!(count > damaged.len() / 2, "only {count} of {} were mended", damaged.len());
    }

    #[test]
    fn ole32_reads_every_merged_list_as_we_do() {
        let cli = Cli::new();
        let mut merged = Vec::new();
        for (number, list) in lists().into_iter().enumerate().filter(|(_, list)| list.len() < 200_000) {
            let (base, out) = (name(number), format!("{number:03}/out.{AUTOMATIC}"));
            let other = format!("{number:03}/other.{AUTOMATIC}");
            cli.write(&base, &list);
            cli.write(&other, &ListBuilder::files(4, 12).pin(2).build());
            cli.run(&format!("merge {base} {other} --into {out}")).clean();
            merged.push((out, Vec::new()));
        }
        assert_eq!(judge(&cli, &merged, "merged"), merged.len());
    }

    #[test]
    fn ole32_reads_every_list_with_an_added_or_a_moved_pin_as_we_do() {
        let cli = Cli::new();
        let mut changed = Vec::new();
        for (number, list) in lists().into_iter().enumerate().filter(|(_, list)| list.len() < 200_000) {
            cli.write(name(number), &list);
            let into = format!("{number:03}");
            let app = &name(number)[4..20];
            cli.run_words(["pins", "add", r"C:\pinned\", "--app", app, "--list-format", "4", "--into", &into]).exits(0);
            let new = format!("{number:03} moved");
            fs::create_dir(cli.path(&new)).unwrap();
            cli.run_words(["pins", "move", &into, &new, "--map", "C:=D:", "--list-format", "6"]).exits(0);
            changed.push((name(number), list));
            changed.push((format!("{new}/{}", &name(number)[4..]), Vec::new()));
        }
        assert_eq!(judge(&cli, &changed, "changed"), changed.len());
    }
}
