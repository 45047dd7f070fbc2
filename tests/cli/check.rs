//! `jlfix check`: what is wrong, how grave, where, and what mends it.

use crate::support;

use jlfix::model::Code;
use serde_json::{Value, json};
use support::build::ListBuilder;
use support::cli::{CHROME, Cli, NOTEPAD};

#[test]
fn each_damaged_sample_is_told_with_its_code_its_place_and_the_command_that_mends_it() {
    let cli = Cli::with_samples();
    for (sample, line) in [
        ("cut-short", "  error   JL105 stream \"b\" needs 920 bytes, has 853: the file ends [offset 18304]\n"),
        ("fat-loop", "  error   JL106 stream \"DestList\" needs 5262 bytes, has 1536"),
        (
            "missing-link",
            "  error   JL207 entry 20 (C:\\Users\\sam\\Documents\\Notes\\recipe 2023.txt) has no link: no stream 14",
        ),
        (
            "orphan-link",
            "  warning JL208 stream 1c is a link (to C:\\Users\\sam\\Documents\\left behind.txt) that no entry owns",
        ),
        (
            "wrong-checksum",
            "  error   JL206 entry 17: checksum 0123456789abcdef, its bytes give f7aeb96382b5bad9 [offset 3096]\n",
        ),
        ("wrong-count", "  error   JL201 the header counts 27 entries, there are 24\n"),
    ] {
        let file = format!("samples/damaged/{sample}/{NOTEPAD}");
        let out = cli.run(&format!("check {file}")).exits(1);
        let out = out.says(&[
            &format!("{file}\n"),
            line,
            &format!("  repair it with: jlfix repair {file}\n"),
            "1 file checked: ",
        ]);
        assert_eq!(out.stderr, "", "{sample}");
    }
}

#[test]
fn what_is_normal_draws_no_finding_and_what_is_only_worth_knowing_no_exit_code() {
    let cli = Cli::with_samples();
    for folder in ["AutomaticDestinations", "windows-7", "windows-10", "windows-11"] {
        cli.run(&format!("check samples/{folder}")).clean().says(&["checked: no findings"]);
    }
    let custom = cli.run("check samples/CustomDestinations").clean();
    custom.says(&[CHROME, "info    JL405 3403 bytes follow the last footer", "6 files checked: 1 finding\n"]);
    // A file whose last sector is short.
    let mut list = ListBuilder::files(4, 10).stream("zzz", &[7; 5_000]).build();
    let data = list.windows(5_000).position(|window| window == [7; 5_000]).unwrap();
    if data + 5_120 == list.len() {
        list.truncate(data + 5_000);
    }
    assert_ne!(list.len() % 512, 0);
    cli.write(NOTEPAD, &list);
    cli.run(&format!("check {NOTEPAD}")).clean();
}

#[test]
fn every_rule_of_the_list_is_held() {
    let list = || ListBuilder::files(4, 6).ranked().pin(1).pin(4);
    let moment = support::build::time("2030-01-01T00:00:00Z");
    let cases: [(&str, ListBuilder); 11] = [
        ("JL201", list().header(|header| header.count = 7)),
        ("JL202", list().header(|header| header.pinned = 0)),
        ("JL203", list().header(|header| header.total = 1.0)),
        ("JL204", list().edit(2, |entry| entry.rank = 77)),
        ("JL205", list().edit(5, |entry| entry.last_access = Some(moment))),
        ("JL206", list().edit(5, |entry| entry.checksum = Some(0))),
        (
            "JL209",
            list()
                .edit(0, |entry| entry.id = Some(77))
                .edit(3, |entry| entry.id = Some(77))
                .edit(3, |entry| entry.link = support::build::Link::Missing),
        ),
        ("JL210", list().trailing(b"left over")),
        ("JL212", list().header(|header| header.last_id = 5)),
        ("JL216", list().edit(4, |entry| entry.pin = 0)),
        ("JL301", list().edit(2, |entry| entry.link = support::build::Link::Raw(vec![0; 90]))),
    ];
    for (code, list) in cases {
        let cli = Cli::with(&[(NOTEPAD, list.build())]);
        let found = cli.run("check --format json .").exits(1).json()["files"][0]["findings"].take();
        let codes: Vec<&Value> = found.as_array().unwrap().iter().map(|finding| &finding["code"]).collect();
        assert_eq!(codes, [code]);
    }
}

#[test]
fn a_finding_tells_the_entry_the_place_and_the_fix_as_data() {
    let cli = Cli::with_samples();
    let file = format!("samples/damaged/wrong-checksum/{NOTEPAD}");
    let found = cli.run(&format!("check --format json {file}")).exits(1).json()["files"][0]["findings"][0].take();
    let expected = json!({
        "code": "JL206", "severity": "error", "entry_id": 17, "offset": 3096, "fix": "repair",
        "message": "entry 17: checksum 0123456789abcdef, its bytes give f7aeb96382b5bad9",
    });
    assert_eq!(found, expected);
    let bytes = cli.read(&file);
    assert_eq!(
        bytes[3096..3104],
        0x0123_4567_89AB_CDEF_u64.to_le_bytes(),
        "the place is that of the entry in the file"
    );
    let rows = cli.run(&format!("check --format csv {file}")).exits(1).csv();
    assert_eq!(
        (&*rows[0]["path"], &*rows[0]["code"], &*rows[0]["entry_id"], &*rows[0]["fix"]),
        (&*file, "JL206", "17", "repair")
    );
}

#[test]
fn the_page_of_findings_says_of_every_code_what_the_program_does() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/findings.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| JL")).collect();
    let expected: Vec<String> = Code::ALL
        .iter()
        .map(|code| {
            let fix = code.fix().map(|fix| format!("`{}`", fix.command())).unwrap_or_default();
            format!("| {code} | {} | {} | {fix} |", code.severity(), code.title())
        })
        .collect();
    assert_eq!(rows, expected);
}
