//! `jlfix prune`: the pins and the newest entries stay, the rest goes, and one command brings it back.

use crate::support;

use std::fs;

use jlfix::format::guid::Guid;
use support::build::{Link, LinkBuilder, ListBuilder, NewEntry, time};
use support::cli::{CHROME, Cli, EXPLORER, NOTEPAD, bloated, samples};
use support::read::List;

/// Ten files with ids from 10 for the newest to 1 for the oldest; 8 and 1 are pinned.
fn ten() -> ListBuilder {
    ListBuilder::files(4, 10).pin(2).pin(9)
}

/// A place with one list.
fn place(list: &ListBuilder) -> Cli {
    Cli::with(&[(NOTEPAD, list.build())])
}

/// The ids that a prune leaves of `list`.
#[track_caller]
fn left(list: &ListBuilder, rules: &str) -> Vec<u64> {
    let cli = place(list);
    cli.run(&format!("prune {rules} {NOTEPAD}")).clean();
    List::at(cli.path(NOTEPAD)).ids()
}

#[test]
fn the_newest_unpinned_entries_stay_and_every_pinned_one() {
    assert_eq!(left(&ten(), "--keep 3"), [10, 9, 8, 7, 1]);
    assert_eq!(left(&ten(), "--keep 0"), [8, 1]);
    assert_eq!(left(&ten(), "--keep 1"), [10, 8, 1]);
}

#[test]
fn the_newest_are_those_last_used_even_where_the_list_is_out_of_order() {
    let list = ten().edit(6, |entry| entry.last_access = Some(time("2024-04-01T00:00:00Z")));
    assert_eq!(left(&list, "--keep 1"), [8, 4, 1]);
}

#[test]
fn a_line_a_file_tells_before_and_after_and_the_last_line_undoes_it() {
    let cli = Cli::with(&[(NOTEPAD, ten().build()), (EXPLORER, ListBuilder::folders(4, 4).build())]);
    let before = cli.snapshot();
    let out = cli.run("prune --keep 3 .").clean();
    let lines: Vec<Vec<&str>> = out.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["Application", "AppID", "Entries", "Size", "Reads", "per", "click"]);
    assert_eq!(lines[1][..5], ["Notepad", "9b9cdc69c1c24e2b", "10", "→", "5"]);
    assert_eq!(lines[2][..6], ["File", "Explorer", "f01b4d95cf55d32a", "4", "→", "3"]);
    let last = out.stdout.lines().last().unwrap();
    assert_eq!(last.trim(), out.undo());
    assert!(out.undo().ends_with(&format!(" restore {}", cli.runs()[0])), "{last}");
    let words: Vec<String> = out.undo().split_whitespace().skip(1).map(str::to_owned).collect();
    cli.run_words(words).clean();
    assert_eq!(cli.snapshot(), before);
}

/// The promise of the project, on the file of its story.
#[test]
fn the_bloated_list_shrinks_to_50_and_its_pins_and_the_printed_line_brings_it_back() {
    let cli = Cli::new();
    let original = fs::read(bloated()).unwrap();
    cli.write(EXPLORER, &original);
    let out = cli.run(&format!("prune --keep 50 {EXPLORER}")).clean();
    out.clone().says(&["3,067 → 56", "3.8 MiB → ", "104,198 → 1,772"]);
    let after = cli.read(EXPLORER);
    assert!(after.len() < 120_000, "{} bytes", after.len());
    let (old, new) = (List::of(&original), List::of(&after));
    assert_eq!((new.entries.len(), new.pinned(), old.pinned()), (56, 6, 6));
    assert_eq!(new.streams.len(), 56);
    cli.run("scan .").clean().says(&["1,772", "1 ok"]);
    #[cfg(unix)]
    {
        cli.shell(&out.undo()).clean().says(&["56 → 3,067"]);
        assert!(cli.read(EXPLORER) == original);
    }
}

#[cfg(unix)]
#[test]
fn the_line_that_undoes_it_works_with_a_store_whose_name_has_spaces_and_quotes() {
    let cli = place(&ten());
    let before = cli.snapshot();
    let out = cli.run_words(["prune", "--keep", "3", ".", "--backup-dir", "../it's my $HOME; store"]).clean();
    assert!(cli.runs().is_empty() && cli.root().join("it's my $HOME; store").is_dir());
    // From anywhere.
    cli.shell(&format!("cd / && {}", out.undo())).clean();
    assert_eq!(cli.snapshot(), before);
}

#[test]
fn what_stays_is_as_it_was_and_the_header_and_the_ranks_fit_it() {
    for version in 1..=6 {
        let clsid = support::build::guid("0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9");
        let mut list =
            ListBuilder::folders(version, 30).ranked().pin(4).pin(29).removed(3).stream("somebody's own", b"kept");
        list.root.clsid = clsid;
        let cli = place(&list);
        let old = List::at(cli.path(NOTEPAD));
        cli.run("prune --keep 7 .").clean();
        let new = List::at(cli.path(NOTEPAD));
        assert_eq!(new.root, old.root, "times and class of the root");
        assert!(new.root.clsid != Guid::default() && new.root.modified.0 != 0);
        assert_eq!(new.entries.len(), 9, "format {version}");
        let mut ranks = Vec::new();
        for entry in &new.entries {
            let was = old.entries.iter().find(|was| was.id == entry.id).unwrap();
            assert_eq!(entry.bytes, was.bytes, "entry {}", entry.id);
            let name = format!("{:x}", entry.id);
            assert_eq!(new.streams[&name], old.streams[&name], "link {name}");
            ranks.push((was.rank, entry.rank));
        }
        ranks.sort_unstable();
        let closed: Vec<_> = ranks.iter().map(|(_, rank)| *rank).collect();
        let expected: Vec<_> = (0..9).map(|rank| (version > 1).then_some(rank)).collect();
        assert_eq!(closed, expected, "format {version}");
        assert_eq!(new.streams["somebody's own"], b"kept");
        assert_eq!(new.streams.contains_key("DestListPropertyStore"), version == 6);
        let (is, was) = (new.header, old.header);
        assert_eq!((is.version, is.count, is.pinned, is.last_id), (version, 9, 2, was.last_id));
        assert_eq!(is.actions, was.actions + 21);
        // Format 2 is built with the total of format 1, 30 points for 30 entries, which is the sum of the scores, too.
        assert!((is.total - 9.0).abs() < 1e-6, "format {version}: {}", is.total);
    }
}

#[test]
fn the_total_of_format_1_loses_a_point_an_entry_and_is_never_below_none() {
    let total = |before: fn(&mut jlfix::format::destlist::Header)| {
        let cli = place(&ListBuilder::files(1, 10).header(before));
        cli.run("prune --keep 4 .").clean();
        List::at(cli.path(NOTEPAD)).header.total
    };
    assert_eq!(total(|header| header.total = 55.6), 55.6 - 6.0);
    assert_eq!(total(|header| header.total = 2.0), 0.0);
}

#[test]
fn a_link_that_cannot_be_read_or_is_missing_stops_no_prune() {
    let list = ten().edit(0, |entry| entry.link = Link::Raw(b"no link at all".to_vec()));
    let list = list.edit(1, |entry| entry.link = Link::Missing);
    let cli = place(&list);
    cli.run("prune --keep 2 .").clean();
    let new = List::at(cli.path(NOTEPAD));
    assert_eq!(new.ids(), [10, 9, 8, 1]);
    assert_eq!(new.streams["a"], b"no link at all");
}

#[test]
fn the_same_list_and_options_give_the_same_bytes() {
    let first = place(&ten());
    let second = place(&ten());
    first.run("prune --keep 3 .").clean();
    second.run("prune --keep 3 .").clean();
    assert_eq!(first.read(NOTEPAD), second.read(NOTEPAD));
}

#[test]
fn nothing_is_written_or_saved_where_nothing_goes() {
    let cli = place(&ten());
    let path = cli.path(NOTEPAD);
    let modified = |path| fs::metadata(path).unwrap().modified().unwrap();
    let (before, then) = (cli.snapshot(), modified(&path));
    let out = cli.run("prune --keep 8 .").clean();
    assert_eq!(out.stdout, "0 files pruned, 1 unchanged\n");
    assert_eq!((cli.snapshot(), modified(&path)), (before, then));
    assert!(cli.runs().is_empty());
    assert_eq!(cli.run("prune --keep 8 --dry-run .").clean().stdout.lines().count(), 1);
}

#[test]
fn empty_lists_and_custom_files_are_left_alone() {
    let cli = Cli::new();
    cli.write(NOTEPAD, &ListBuilder::empty().build());
    cli.write(EXPLORER, &ListBuilder::without_dest_list().build());
    cli.write(CHROME, &fs::read(samples().join("CustomDestinations").join(CHROME)).unwrap());
    let before = cli.snapshot();
    cli.run("prune --keep 0 .").clean().says(&["0 files pruned, 2 unchanged"]);
    cli.run(&format!("prune --keep 0 {CHROME}")).exits(0).complains(&[CHROME, "a custom list"]);
    assert_eq!(cli.snapshot(), before);
}

#[test]
fn a_dry_run_tells_what_would_go_and_writes_nothing() {
    let cli = place(&ten());
    let before = cli.snapshot();
    let out = cli.run("prune --keep 3 --dry-run .").exits(1);
    assert_eq!(out.stderr, "");
    let out = out.says(&["10 → 5", "1 file would be pruned (dry run: nothing was written)", "entry 6: ", "entry 2: "]);
    assert!(!out.stdout.contains("Undo") && !out.stdout.contains("entry 1:"));
    assert_eq!(cli.snapshot(), before);
    assert!(!cli.store().exists());
    // What it tells is what is done.
    let told = cli.run("prune --keep 3 --dry-run --format json .").exits(1).json();
    let done = cli.run("prune --keep 3 --format json .").clean().json();
    assert_eq!(told["files"][0]["after"], done["files"][0]["after"]);
    assert_eq!(told["files"][0]["steps"], done["files"][0]["steps"]);
    assert_eq!(done["files"][0]["after"]["bytes"].as_u64(), Some(cli.read(NOTEPAD).len() as u64));
    assert_eq!((&told["undo"], &told["files"][0]["status"]), (&serde_json::Value::Null, &"would_change".into()));
    assert_eq!(done["backup"].as_str(), Some(cli.runs()[0].as_str()));
}

#[test]
fn without_a_backup_nothing_is_saved_and_nothing_is_said_to_undo_it() {
    let cli = place(&ten());
    let out = cli.run("prune --keep 3 --no-backup .").clean();
    assert!(!out.stdout.contains("Undo"));
    assert!(!cli.store().exists());
    assert_eq!(List::at(cli.path(NOTEPAD)).ids().len(), 5);
}

#[test]
fn what_was_not_used_for_so_long_goes() {
    let days_ago = |days: i64| {
        let moment = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * days);
        Some(jlfix::format::time::FileTime::from_timestamp(moment))
    };
    let mut list = ListBuilder::files(4, 6).pin(5);
    for (entry, days) in list.entries.iter_mut().zip([1, 29, 31, 89, 91, 900]) {
        entry.last_access = days_ago(days);
    }
    assert_eq!(left(&list, "--older-than 90d"), [6, 5, 4, 3, 1]);
    assert_eq!(left(&list, "--older-than 720h"), [6, 5, 1]);
    assert_eq!(left(&list, "--older-than 4w"), [6, 1]);
    assert_eq!(left(&list, "--older-than 1y"), [6, 5, 4, 3, 2, 1]);
    assert_eq!(left(&list, "--older-than 1y --include-pinned"), [6, 5, 4, 3, 2]);
    // An entry that tells no time is not old.
    let list = list.edit(4, |entry| entry.last_access = Some(jlfix::format::time::FileTime(0)));
    assert_eq!(left(&list, "--older-than 90d"), [6, 5, 4, 3, 2, 1]);
    let cli = place(&list);
    for age in ["90", "d", "-3d", "3m", "90parsecs", "99999999999d"] {
        let out = cli.run_words(["prune", &format!("--older-than={age}"), "."]).exits(2);
        assert!(out.stderr.contains("--older-than"), "{age}: {}", out.stderr);
    }
}

/// A list with these paths, from the newest to the oldest.
fn paths(paths: &[&str]) -> ListBuilder {
    ListBuilder::new(4).entries(paths.iter().map(|path| NewEntry::file(path)))
}

#[test]
fn what_matches_a_pattern_goes_whatever_its_case_and_with_either_slash() {
    let list = paths(&[r"C:\Temp\a.txt", r"C:\Users\sam\b.txt", r"C:\Users\sam\TEMP\c.log", r"\\files\temp\d.txt"]);
    assert_eq!(left(&list, r"--match *\temp\*"), [3]);
    assert_eq!(left(&list, "--match */Temp/*.txt"), [3, 2]);
    assert_eq!(left(&list, r"--match *.LOG --match C:\Users\sam\?.txt"), [4, 1]);
    assert_eq!(left(&list, "--match {*.log,*/b.*}"), [4, 1]);
    // Without wildcards it matches anywhere.
    assert_eq!(left(&list, "--match temp"), [3]);
    assert_eq!(left(&list, r"--match sam\b"), [4, 2, 1]);
    let cli = place(&list);
    cli.run("prune --match nothing* .").exits(0).complains(&["--match: no entry matches"]).says(&["1 unchanged"]);
    place(&list).run("prune --match [ .").exits(2).complains(&["--match"]);
}

#[test]
fn entries_go_by_their_ids_and_a_pinned_one_only_if_it_is_asked_for() {
    assert_eq!(left(&ten(), "--entry 9 --entry 2"), [10, 8, 7, 6, 5, 4, 3, 1]);
    assert_eq!(left(&ten(), "--entry 8 --include-pinned"), [10, 9, 7, 6, 5, 4, 3, 2, 1]);
    place(&ten()).run("prune --entry first .").exits(2);
}

#[test]
fn ids_without_effect_are_reported_with_the_reason() {
    for dry_run in ["", "--dry-run "] {
        let cli = place(&ten());
        let before = cli.read(NOTEPAD);
        let run = |ids: &str| cli.run(&format!("prune {dry_run}{ids} {NOTEPAD}"));
        run("--entry 8").exits(4).complains(&["entry 8 is pinned and was kept (--include-pinned drops it)"]);
        run("--entry 99").exits(4).complains(&["no entry has the id 99"]);
        run("--entry 8 --entry 99").exits(4).complains(&["entry 8 is pinned", "no entry has the id 99"]);
        assert_eq!(cli.read(NOTEPAD), before);
        let partly = run("--entry 9 --entry 8 --format json").exits(3).complains(&["entry 8 is pinned"]).json();
        assert!(partly["files"][0]["error"].as_str().unwrap().contains("entry 8 is pinned"));
        assert_eq!(partly["files"][0]["after"]["entries"], 9);
        assert_eq!(cli.read(NOTEPAD) == before, !dry_run.is_empty());
    }
}

#[test]
fn ids_are_refused_where_more_than_one_list_is_found() {
    let cli = Cli::with(&[(NOTEPAD, ten().build()), (EXPLORER, ten().build())]);
    let before = cli.snapshot();
    cli.run("prune --entry 3 .").exits(2).complains(&["--entry", "2 lists"]);
    assert_eq!(cli.snapshot(), before);
}

#[test]
fn an_entry_is_kept_if_any_keep_rule_keeps_it() {
    let mut list = ListBuilder::files(4, 8).pin(7);
    for (entry, days) in list.entries.iter_mut().zip([1, 2, 3, 40, 50, 95, 100, 900]) {
        let moment = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(days * 24);
        entry.last_access = Some(jlfix::format::time::FileTime::from_timestamp(moment));
    }
    assert_eq!(left(&list, "--keep 2 --keep-within 90d"), [8, 7, 6, 5, 4, 1]);
    assert_eq!(left(&list, "--keep 4 --keep-within 36h"), [8, 7, 6, 5, 1]);
    assert_eq!(left(&list, "--keep-within 60h"), [8, 7, 1]);
    assert_eq!(left(&list, "--keep-within 60h --include-pinned"), [8, 7]);
    // Drop rules apply to what a keep rule keeps.
    assert_eq!(left(&list, "--keep 4 --keep-within 90d --entry 7"), [8, 6, 5, 4, 1]);
    // The age of an entry without a time is not known.
    let list = list.edit(6, |entry| entry.last_access = Some(jlfix::format::time::FileTime(0)));
    assert_eq!(left(&list, "--keep-within 60h"), [8, 7, 2, 1]);
}

#[test]
fn a_dry_run_names_the_rule_and_the_field_of_each_dropped_entry() {
    let list = ListBuilder::new(4)
        .entry(NewEntry::file(r"C:\a.txt"))
        .entry(NewEntry::file(r"C:\Temp\b.txt"))
        .entry(NewEntry::known_folder("754ac886-df64-4cba-86b5-f7fbf4fbcef5", r"C:\Users\Sam\Tempest"))
        .entry(NewEntry::known_folder("B4BFCC3A-DB2C-424C-B029-7FE99A87C641", r"C:\Users\Sam\Schreibtisch"))
        .entry(NewEntry::file(r"C:\c.txt"));
    let cli = place(&list);
    cli.run("prune --keep 1 --entry 1 --match temp --match desktop --dry-run .").exits(1).says(&[
        "  the path matches",
        "  the target of the link matches",
        "  the name of the known folder matches",
        "  selected by its id",
    ]);
    cli.run("prune --keep 2 --keep-within 1h --dry-run .").exits(1).says(&["  not among the most recent"]);
}

#[test]
fn pins_that_match_a_pattern_are_reported_as_kept() {
    let cli = place(&paths(&[r"C:\Temp\a.txt", r"C:\Temp\b.txt"]).pin(1));
    let out = cli.run("prune --match Temp .").exits(0).says(&["2 → 1"]);
    out.complains(&["1 pinned entry selected by a rule is kept; --include-pinned drops it"]);
}

#[test]
fn an_entry_goes_if_any_of_the_rules_drops_it() {
    let list = paths(&["C:\\a.txt", "C:\\b.log", "C:\\c.txt", "C:\\d.log", "C:\\e.txt"]).pin(4);
    assert_eq!(left(&list, "--keep 3 --match *.log --entry 5"), [3, 1]);
    // The pinned one counts among those to keep, if pins may go.
    assert_eq!(left(&list, "--keep 2 --include-pinned"), [5, 4]);
}

#[test]
fn the_highest_scores_stay_if_the_user_asks_for_that() {
    let mut list = ListBuilder::files(4, 6).pin(3);
    for (entry, score) in list.entries.iter_mut().zip([1.0, 4.0, 2.0, 0.5, 9.0, 4.0]) {
        entry.score = score;
    }
    assert_eq!(left(&list, "--keep 2 --by score"), [5, 3, 2]);
    assert_eq!(left(&list, "--keep 2"), [6, 5, 3]);
    place(&list).run("prune --by score .").exits(2);
}

#[cfg(unix)]
#[test]
fn what_points_at_a_file_that_is_gone_goes_and_what_cannot_be_looked_for_stays() {
    let mut list = paths(&[
        r"C:\Users\Sam\there.txt",
        r"C:\Users\Sam\gone.txt",
        r"c:\users\SAM\There.TXT",
        r"C:\Users\nobody\deep\gone.txt",
        r"D:\on another drive.txt",
        r"\\files-01\share\gone.txt",
        "https://www.example.org/",
        r"C:\Users\Sam\pinned and gone.txt",
    ]);
    list = list.entry(NewEntry::known_folder("754ac886-df64-4cba-86b5-f7fbf4fbcef5", r"C:\Users\Sam\Desktop")).pin(7);
    let cli = place(&list);
    cli.write("drive/Users/Sam/there.txt", b"");
    cli.run("prune --missing .").exits(2).complains(&["--missing", "--drive C=/mnt/c"]);
    cli.run("prune --missing --drive C .").exits(2);
    // Where everything would be missing, the drive is named wrong.
    cli.run("prune --missing --drive C=nowhere .").exits(2).complains(&["C=nowhere", "no such folder"]);
    cli.write("other/Music/a.mp3", b"");
    cli.run("prune --missing --drive C=other .").exits(2).complains(&["C=other", "no Users folder"]);
    let out = cli.run(&format!("prune --missing --drive C=drive {NOTEPAD}")).exits(0);
    assert!(out.stderr.contains("4 targets could not be looked up and are kept"), "{}", out.stderr);
    assert_eq!(List::at(cli.path(NOTEPAD)).ids(), [9, 7, 5, 4, 3, 2, 1]);
    let none = cli.run(&format!("prune --missing --drive C=drive --include-pinned {NOTEPAD}")).exits(0);
    none.says(&["7 → 6"]);
}

#[cfg(unix)]
#[test]
fn a_target_is_missing_only_where_a_folder_that_can_be_read_does_not_have_it() {
    let kept = [
        r"C:\Users\Sam\OneDrive\a.txt",
        r"C:\Users\SAMUEL~1\b.txt",
        r"C:\Users\Sam\twice\c.txt",
        r"C:\Users\Sam\dot.",
        r"C:\Users\Sam\space ",
        r"C:\Users\Sam\link",
    ];
    let mut all: Vec<&str> = kept.to_vec();
    all.push(r"C:\Users\Sam\gone.txt");
    let cli = place(&paths(&all));
    cli.write("drive/Users/Sam/there.txt", b"");
    cli.write("drive/Users/Sam/Twice/x", b"");
    cli.write("drive/Users/Sam/twice/x", b"");
    std::os::unix::fs::symlink("/nowhere/at/all", cli.path("drive/Users/Sam/OneDrive")).unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", cli.path("drive/Users/Sam/link")).unwrap();
    let out = cli.run(&format!("prune --missing --drive C=drive {NOTEPAD}")).exits(0);
    assert!(out.stderr.contains("6 targets could not be looked up"), "{}", out.stderr);
    let list = List::at(cli.path(NOTEPAD));
    assert_eq!(list.entries.iter().map(|entry| entry.path.as_str()).collect::<Vec<_>>(), kept);
}

#[test]
fn an_entry_that_is_damaged_can_be_dropped_by_its_id() {
    let cli = Cli::with_samples();
    let file = format!("samples/damaged/wrong-checksum/{NOTEPAD}");
    cli.run(&format!("prune --entry 17 {file}")).exits(4).complains(&["entry 17", "jlfix repair"]);
    cli.run(&format!("prune --entry 17 --include-pinned {file}")).clean();
    cli.run(&format!("check {file}")).clean();
}

#[test]
fn what_a_killed_run_left_beside_a_list_is_removed_by_the_next() {
    let left = ".jlfix-4242-0123456789abcdef.tmp";
    let cli = Cli::with(&[(NOTEPAD, ten().build()), (left, b"half of a file".to_vec())]);
    cli.run("prune --keep 3 --dry-run .").exits(1);
    assert!(cli.path(left).exists(), "a dry run changes nothing");
    cli.run("prune --keep 3 .").clean();
    assert_eq!(cli.snapshot().len(), 1);
}

#[test]
fn a_file_of_several_folders_is_told_with_its_folder_and_the_others_by_name() {
    let cli = Cli::with(&[("a/unknown.bin", ten().build()), (&format!("b/{NOTEPAD}"), ten().build())]);
    let out = cli.run("prune --keep 3 a/unknown.bin b").clean();
    out.says(&["a/unknown.bin", "Folder", "2 files pruned"]);
}

#[test]
fn link_bytes_are_copied_whatever_they_are() {
    // Above the mini stream's cutoff, and of a length that fills no sector.
    let long = LinkBuilder::file(r"C:\a.txt").with(|link| link.extra = vec![(0xA000_0009, vec![0x5A; 9_001])]).build();
    let list = ten().edit(0, |entry| entry.link = Link::Raw(long.clone()));
    let cli = place(&list);
    cli.run("prune --keep 1 .").clean();
    assert_eq!(List::at(cli.path(NOTEPAD)).streams["a"], long);
}

/// A file with cut links in a container that is intact: with fewer streams around them they would be taken for sectors that
/// stand in each other's place.
#[test]
fn what_would_look_damaged_only_when_pruned_is_to_be_mended_first() {
    let finding = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/findings/prune/cut-links-taken-for-exchanged-sectors.bin");
    let bytes = fs::read(finding).unwrap()[4..].to_vec();
    let cli = Cli::with(&[(NOTEPAD, bytes.clone())]);
    let told = cli.run(&format!("prune --keep 4 {NOTEPAD}")).exits(4);
    told.complains(&["without these entries, JL102", "nothing was changed. Repair it first: jlfix repair"]);
    assert_eq!(cli.read(NOTEPAD), bytes);
    let errors = || -> Vec<String> {
        let found = cli.run(&format!("check {NOTEPAD}"));
        found.stdout.lines().filter(|line| line.starts_with("  error")).map(str::to_owned).collect()
    };
    assert_eq!(errors().len(), 2, "{:?}", errors());
    cli.run(&format!("repair {NOTEPAD}")).exits(0);
    cli.run(&format!("prune --keep 4 {NOTEPAD}")).clean();
    assert_eq!(errors(), [""; 0]);
}

#[test]
fn compact_rewrites_a_fragmented_list_in_one_piece_and_drops_nothing() {
    let cli = Cli::new();
    let original = fs::read(bloated()).unwrap();
    cli.write(EXPLORER, &original);
    let cost = |cli: &Cli| cli.run(&format!("show --format json {EXPLORER}")).json()["files"][0]["cost"].take();
    let before = cost(&cli);
    let out = cli.run(&format!("prune --compact {EXPLORER}")).clean().says(&["3,067", "1 file pruned"]);
    let after = cost(&cli);
    let reads = |cost: &serde_json::Value, name: &str| cost[name].as_u64().unwrap();
    assert!(reads(&after, "split_reads") * 4 < reads(&before, "split_reads"), "{before} {after}");
    assert_eq!(
        reads(&before, "reads") - reads(&before, "split_reads"),
        reads(&after, "reads") - reads(&after, "split_reads"),
        "only the layout differs"
    );
    let (old, new) = (List::of(&original), List::of(&cli.read(EXPLORER)));
    assert_eq!(old, new, "the same entries, links and order");
    cli.run(&format!("prune --compact {EXPLORER}")).says(&["unchanged"]);
    let words: Vec<String> = out.undo().split_whitespace().skip(1).map(str::to_owned).collect();
    cli.run_words(words).clean();
    assert_eq!(cli.read(EXPLORER), original);
}
