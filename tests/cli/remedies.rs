//! What docs/findings.md names as the remedy of a finding is run on a file that shows the finding, as `check` prints it.

use std::collections::BTreeMap;

use crate::support;

use jlfix::format::time::FileTime;
use jlfix::limits::Limits;
use jlfix::model::{AutomaticList, Code, Fix};
use support::build::{CustomBuilder, Link, LinkBuilder, ListBuilder, file_of};
use support::cli::{CHROME, Cli, NOTEPAD, Output};
use support::mutants::{Kind, Random};

/// A list with a finding of each code that `repair` corrects: built ones, then damaged copies until every code was seen.
fn lists() -> BTreeMap<Code, Vec<u8>> {
    let list = || ListBuilder::files(4, 6).ranked().pin(1).pin(4);
    let mut links = list().all_streams();
    links.retain(|(name, _)| name != "DestList");
    let built = [
        list().header(|header| header.count = 7).build(),
        list().header(|header| header.pinned = 0).header(|header| header.last_id = 5).trailing(b"left over").build(),
        list().edit(2, |entry| entry.link = Link::Raw(vec![0; 90])).build(),
        list().edit(4, |entry| entry.pin = 0).build(),
        support::mended::renamed(&list(), "DestList", "destlist"),
        list().edit(3, |entry| entry.last_access = Some(FileTime(1 << 63))).build(),
        file_of(&list().root, &links),
    ];
    let wanted: Vec<Code> = Code::ALL.iter().copied().filter(|code| code.fix() == Some(Fix::Repair)).collect();
    let mut found = BTreeMap::new();
    let mut add = |bytes: &[u8]| {
        let Ok(compound) = jlfix::salvage::read(bytes, &Limits::default()) else { return false };
        for finding in AutomaticList::read(&compound).findings(Default::default()) {
            if finding.fix == Some(Fix::Repair) {
                found.entry(finding.code).or_insert_with(|| bytes.to_vec());
            }
        }
        wanted.iter().all(|code| found.contains_key(code))
    };
    built.iter().for_each(|bytes| {
        add(bytes);
    });
    let original = ListBuilder::files(4, 24).ranked().pin(1).build();
    (0..2_000_u64).any(|number| {
        let kind = Kind::ALL[usize::try_from(number).unwrap() % Kind::ALL.len()];
        add(&kind.apply(&original, &mut Random::new(13, number)))
    });
    let missing: Vec<&Code> = wanted.iter().filter(|code| !found.contains_key(code)).collect();
    assert!(missing.is_empty(), "no list shows {missing:?}");
    found
}

/// The commands that `check` prints, without the name of the program.
fn remedies(out: &Output) -> Vec<String> {
    let lines = out.stdout.lines().filter_map(|line| line.trim().strip_prefix("repair it with: "));
    lines.map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
}

#[test]
fn each_repair_that_check_names_corrects_the_finding() {
    let lists = lists();
    assert!(lists.len() > 20);
    for (code, bytes) in lists {
        let cli = Cli::with(&[(NOTEPAD, bytes.clone())]);
        let checked = cli.run(&format!("check {NOTEPAD}")).exits(1);
        assert!(checked.stdout.contains(code.as_str()), "{code}: {}", checked.stdout);
        let remedies = remedies(&checked);
        assert_eq!(remedies.len(), 1, "{code}: {}", checked.stdout);
        let out = cli.run(&remedies[0]);
        assert_eq!(out.code, 0, "{code}: {}: {}", remedies[0], out.stderr);
        let after = cli.run(&format!("check {NOTEPAD} --format json")).json()["files"][0]["findings"].take();
        assert!(after.as_array().unwrap().iter().all(|finding| finding["fix"].is_null()), "{code}: {after}");
        cli.run("restore").exits(0);
        assert_eq!(cli.read(NOTEPAD), bytes, "{code}");
    }
}

#[test]
fn a_file_of_which_nothing_is_left_is_reset() {
    let nothing = ListBuilder::files(4, 6).build()[..1_000].to_vec();
    for bytes in [b"sixsix".to_vec(), Vec::from([0; 3_000]), nothing] {
        let cli = Cli::with(&[(NOTEPAD, bytes)]);
        let checked = cli.run(&format!("check {NOTEPAD}")).exits(1);
        let remedy = remedies(&checked);
        assert_eq!(remedy, [format!("repair --reset {NOTEPAD}")], "{}", checked.stdout);
        cli.run(&remedy[0]).exits(0);
        cli.run(&format!("check {NOTEPAD}")).clean();
        let scanned = cli.run(&format!("scan {NOTEPAD} --format jsonl")).clean().json_lines();
        assert_eq!(scanned[0]["state"], "empty");
    }
}

#[test]
fn each_restore_that_check_names_brings_back_the_copy_without_the_finding() {
    let links: Vec<LinkBuilder> =
        ["a", "b"].iter().map(|name| LinkBuilder::file(&format!(r"C:\x\{name}.txt"))).collect();
    let intact = CustomBuilder::new().tasks(&links).named("Lakes", &links[..1]).build();
    let edit = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = intact.clone();
        change(&mut bytes);
        bytes
    };
    let cases = [
        (Code::CustomHeader, edit(&|bytes| bytes[0] = 9)),
        (Code::CustomCategory, edit(&|bytes| bytes[12] = 9)),
        (Code::CustomLink, edit(&|bytes| bytes[36..40].fill(0xFF))),
        (
            Code::CustomFooter,
            edit(&|bytes| {
                let at = bytes.len() - 4;
                bytes[at] ^= 1;
            }),
        ),
        (Code::CustomCount, edit(&|bytes| bytes[4] = 3)),
    ];
    let restored: Vec<Code> = Code::ALL.iter().copied().filter(|code| code.fix() == Some(Fix::Restore)).collect();
    assert_eq!(cases.iter().map(|(code, _)| *code).collect::<Vec<_>>(), restored);
    for (code, damaged) in cases {
        let cli = Cli::with(&[(CHROME, damaged.clone())]);
        let checked = cli.run(&format!("check {CHROME}")).exits(1);
        assert!(checked.stdout.contains(code.as_str()), "{code}: {}", checked.stdout);
        // Without an intact copy no command is named.
        assert_eq!(remedies(&checked), [""; 0], "{code}");
        assert!(checked.stdout.contains("no intact copy of it is in the backup store"), "{}", checked.stdout);
        cli.write(CHROME, &intact);
        cli.run(&format!("backup create {CHROME}")).clean();
        cli.write(CHROME, &damaged);
        let checked = cli.run(&format!("check {CHROME}")).exits(1);
        let remedy = remedies(&checked);
        assert_eq!(remedy.len(), 1, "{code}: {}", checked.stdout);
        // On Windows the path is in quotes.
        cli.run_words(remedy[0].split_whitespace().map(|word| word.trim_matches('"'))).exits(0);
        assert_eq!(cli.read(CHROME), intact, "{code}");
    }
}
