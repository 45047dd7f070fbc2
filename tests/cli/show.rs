//! `jlfix show`: everything that is in a file.

use crate::support;

use serde_json::{Value, json};
use support::build::{Link, LinkBuilder, ListBuilder, NewEntry};
use support::cli::{CHROME, Cli, EXPLORER, NOTEPAD};

#[test]
fn a_list_is_told_with_its_header_its_cost_and_a_row_an_entry() {
    let list = ListBuilder::folders(4, 5).ranked().pin(3).removed(2);
    let cli = Cli::with(&[(EXPLORER, list.build())]);
    let out = cli.run(&format!("show {EXPLORER}")).clean();
    let out = out.says(&[
        "File Explorer  f01b4d95cf55d32a  automatic, format 4\n",
        "holds      5 entries (1 pinned), 5 links, ",
        "header     5 entries, 1 pinned, total 5, last id 7, actions 16\n",
        "state      ok\n",
    ]);
    let rows: Vec<Vec<&str>> = out
        .rows(&["0", "1", "2", "3", "4"])
        .map(|row| row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    let path = |number| format!(r"C:\Users\sam\Documents\Projects\job {number:05}");
    assert_eq!(rows[0], ["0", "5", "-", "2024-03-01 08:00", "1", "1.0", "desk-01", &path(0)]);
    assert_eq!(rows[3], ["3", "2", "0", "2024-03-01 06:09", "1", "1.0", "desk-01", &path(3)]);
    assert!(out.stdout.lines().all(|line| line == line.trim_end()), "no line ends in spaces");
}

#[test]
fn several_files_are_told_in_the_order_in_which_they_are_named() {
    let cli = Cli::with_samples();
    let windows_7 = format!("samples/windows-7/AutomaticDestinations/{NOTEPAD}");
    let custom = format!("samples/CustomDestinations/{CHROME}");
    let out = cli.run(&format!("show --format json {custom} {windows_7}")).clean().json();
    let told: Vec<_> =
        out["files"].as_array().unwrap().iter().map(|file| (&file["path"], &file["format_version"])).collect();
    assert_eq!(told, [(&json!(custom), &json!(2)), (&json!(windows_7), &json!(1))]);
    assert_eq!(out["totals"]["files"], 2);
    let text = cli.run(&format!("show {custom} {windows_7}")).clean().stdout;
    assert!(text.find("Google Chrome").unwrap() < text.find("Notepad").unwrap());
}

#[test]
fn every_field_of_a_link_is_told_if_the_user_asks_for_it() {
    let link = LinkBuilder::task(r"C:\Program Files\Tide\tide.exe", "--harbour \"north\"", "Tides");
    let link = link.with(|link| {
        link.name = Some("What the tide does".to_owned());
        link.relative_path = Some(r".\tide.exe".to_owned());
        link.working_dir = Some(r"C:\Program Files\Tide".to_owned());
        link.icon = Some((r"C:\Program Files\Tide\icons.dll".to_owned(), -3));
        link.label = "SYSTEM".to_owned();
    });
    let size = link.build().len();
    let entry = NewEntry::new(r"C:\Program Files\Tide\tide.exe", Link::Made(Box::new(link)));
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::new(4).entry(entry).build())]);
    let short = cli.run(&format!("show --format json {NOTEPAD}")).clean().json();
    let short = &short["files"][0]["entries"][0]["link"];
    assert_eq!((&short["target"], &short["name"]), (&json!(r"C:\Program Files\Tide\tide.exe"), &Value::Null));
    let whole = cli.run(&format!("show --links --format json {NOTEPAD}")).clean().json();
    let whole = &whole["files"][0]["entries"][0]["link"];
    for (field, value) in [
        ("size", json!(size)),
        ("target", json!(r"C:\Program Files\Tide\tide.exe")),
        ("local_path", json!(r"C:\Program Files\Tide\tide.exe")),
        ("network_path", Value::Null),
        ("file_size", json!(3_554_696)),
        ("attributes", json!(32)),
        ("attribute_names", json!(["archive"])),
        ("created", json!("2023-11-02T07:42:11.1234567Z")),
        ("modified", json!("2024-02-19T09:10:27.0010000Z")),
        ("accessed", json!("2024-02-20T16:05:33.7654321Z")),
        ("drive_type", json!("fixed")),
        ("volume_serial", json!("4e2a91c7")),
        ("volume_label", json!("SYSTEM")),
        ("machine_id", json!("desk-01")),
        ("tracker_volume", json!("5a1c0f3e-77d2-4c1b-9a64-30c1d2e4f506")),
        ("mac", json!("02:00:5e:10:20:30")),
        ("name", json!("What the tide does")),
        ("relative_path", json!(r".\tide.exe")),
        ("working_dir", json!(r"C:\Program Files\Tide")),
        ("arguments", json!("--harbour \"north\"")),
        ("icon", json!(r"C:\Program Files\Tide\icons.dll")),
        ("icon_index", json!(-3)),
        ("problems", json!([])),
    ] {
        assert_eq!(whole[field], value, "{field}");
    }
    let text = cli.run(&format!("show --links {NOTEPAD}")).clean();
    let text = text.says(&[
        "arguments             --harbour \"north\"\n",
        "icon_index            -3\n",
        "volume_serial         4e2a91c7\n",
    ]);
    // In the order that a person reads: target, times, size, drive, host, then ID list, LinkInfo and extra blocks.
    let link = text.stdout.split_once("link\n").unwrap().1;
    let order = ["target", "created", "file_size", "drive_type", "machine_id", "id_list", "local_path", "extra"];
    let at = |field: &str| {
        let is_it = |line: &str| line.trim_start().split(' ').next() == Some(field);
        link.lines().position(is_it).unwrap_or_else(|| panic!("no {field} in {link}"))
    };
    let places: Vec<usize> = order.iter().map(|field| at(field)).collect();
    assert!(places.is_sorted(), "{order:?}: {places:?}");
}

#[test]
fn a_known_folder_has_its_name_in_tables_and_its_path_in_json() {
    let folder = NewEntry::known_folder("374de290-123f-4565-9164-39c4925e467b", r"C:\Users\sam\Downloads");
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::new(4).entry(folder).build())]);
    let path = "knownfolder:{374DE290-123F-4565-9164-39C4925E467B}";
    let named = format!("Downloads ({path})");
    cli.run(&format!("show {NOTEPAD}")).clean().says(&[&named]);
    cli.run(&format!("show --links {NOTEPAD}")).clean().says(&[&named]);
    let json = cli.run(&format!("show --format json {NOTEPAD}")).clean().json();
    assert_eq!(json["files"][0]["entries"][0]["path"], path);
    let plan = cli.run(&format!("prune --match downloads --dry-run {NOTEPAD}")).exits(1);
    plan.says(&[&named, "the name of the known folder matches"]);
}

#[test]
fn both_paths_of_a_shared_folder_are_told_and_a_url_is_a_target() {
    let list = ListBuilder::new(3)
        .entry(NewEntry::url("https://www.example.org/tides?place=harbour"))
        .entry(NewEntry::file(r"\\files-01\projects\Harbour\plan.txt"));
    let cli = Cli::with(&[(NOTEPAD, list.build())]);
    let entries =
        cli.run(&format!("show --links --format json {NOTEPAD}")).clean().json()["files"][0]["entries"].take();
    assert_eq!(entries[0]["path"], "https://www.example.org/tides?place=harbour");
    assert_eq!(entries[0]["link"]["target"], "https://www.example.org/tides?place=harbour");
    assert_eq!(entries[0]["link"]["local_path"], Value::Null);
    assert_eq!(entries[1]["link"]["network_path"], r"\\files-01\projects\Harbour\plan.txt");
}

#[test]
fn a_custom_list_is_told_by_its_categories() {
    let cli = Cli::with_samples();
    let file = format!("samples/CustomDestinations/{CHROME}");
    cli.run(&format!("show {file}")).clean().says(&[
        "Google Chrome  5d696d521de238c3  custom, format 2\n",
        "category   Most visited, 2 links\n",
        "category   Recent, 0 links\n",
        "category   Tasks, 2 links\n",
        "0  Most visited  -     C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe\n",
    ]);
    let row = cli.run(&format!("show --format json {file}")).clean().json()["files"][0].take();
    let kinds: Vec<_> =
        row["categories"].as_array().unwrap().iter().map(|category| (&category["kind"], &category["links"])).collect();
    assert_eq!(kinds, [(&json!("named"), &json!(2)), (&json!("known"), &json!(0)), (&json!("tasks"), &json!(2))]);
    assert_eq!(
        (&row["entries"][2]["category"], &row["cost"], &row["pinned_count"]),
        (&json!("Tasks"), &Value::Null, &Value::Null)
    );
}

#[test]
fn a_plain_link_is_one_entry() {
    let cli = Cli::with(&[("report.lnk", LinkBuilder::file(r"C:\Users\sam\report.odt").build())]);
    let row = cli.run("show --links --format json report.lnk").clean().json()["files"][0].take();
    assert_eq!((&row["kind"], &row["entries_count"], &row["app_id"]), (&json!("link"), &json!(1), &Value::Null));
    assert_eq!(row["entries"].as_array().unwrap().len(), 1);
    assert_eq!(row["entries"][0]["link"]["local_path"], r"C:\Users\sam\report.odt");
    cli.run("show report.lnk").clean().says(&[r"C:\Users\sam\report.odt"]);
}

#[test]
fn what_is_missing_or_left_over_is_told_in_its_row() {
    let cli = Cli::with_samples();
    let show = |sample: &str, code| cli.run(&format!("show samples/damaged/{sample}/{NOTEPAD}")).exits(code);
    let row = |out: &support::cli::Output, start: &str| out.rows(&[start]).next().unwrap().trim_end().to_owned();
    // A warning is no reason for exit code 1 here; an error is.
    let orphan = show("orphan-link", 0);
    let row_of_orphan = row(&orphan, "-");
    assert!(
        row_of_orphan.contains(r" C:\Users\sam\Documents\left behind.txt ") && row_of_orphan.ends_with(" no entry")
    );
    assert!(row(&show("missing-link", 1), "4").ends_with("no link"));
    assert!(row(&show("wrong-checksum", 1), "7").ends_with("wrong checksum"));
    let entries = |sample: &str, code| {
        let out = cli.run(&format!("show --format json samples/damaged/{sample}/{NOTEPAD}")).exits(code);
        out.json()["files"][0]["entries"].take()
    };
    let orphan = entries("orphan-link", 0)[24].take();
    assert_eq!((&orphan["position"], &orphan["id"], &orphan["checksum_ok"]), (&Value::Null, &json!(28), &Value::Null));
    assert_eq!(entries("missing-link", 1)[4]["link"], Value::Null);
    assert_eq!(entries("wrong-checksum", 1)[7]["checksum_ok"], false);
}

#[test]
fn the_text_of_a_link_is_read_in_the_code_page_that_the_user_names() {
    let link =
        LinkBuilder::file(r"C:\a.txt").with(|link| (link.unicode, link.name) = (false, Some("\u{e9}".to_owned())));
    let cli = Cli::with(&[("a.lnk", link.build())]);
    let name = |option: &str| {
        cli.run(&format!("show --links --format json a.lnk {option}")).json()["files"][0]["entries"][0]["link"]["name"]
            .take()
    };
    assert_eq!(name(""), "é");
    assert_eq!(name("--code-page 1251"), "й");
    assert_eq!(name("--code-page windows-1253"), "ι");
}

#[test]
fn a_part_of_a_link_that_cannot_be_read_costs_that_part_only() {
    let mut link = LinkBuilder::file(r"C:\a.txt").with(|link| link.name = Some("kept".to_owned())).build();
    // The size of the first item of the ID list, after the header and the list's own size.
    link[78] = 0xFF;
    link[79] = 0xFF;
    let cli = Cli::with(&[("a.lnk", link)]);
    let row = cli.run("show --links --format json a.lnk").json()["files"][0]["entries"][0]["link"].take();
    assert_eq!((&row["local_path"], &row["name"]), (&json!(r"C:\a.txt"), &json!("kept")));
}

#[test]
fn links_that_other_readers_turn_down_are_read() {
    let cli = Cli::new();
    let link = || LinkBuilder::file(r"C:\Users\sam\a.txt");
    // A name with an unpaired surrogate where the X was.
    let mut lone = link().with(|link| link.name = Some("name X!".to_owned())).build();
    let name = support::build::utf16("name X!");
    let at = lone.windows(name.len()).position(|bytes| bytes == name).unwrap() + 10;
    lone[at..at + 2].copy_from_slice(&[0x34, 0xD8]);
    cli.write("lone.lnk", &lone);
    let time = jlfix::format::time::FileTime;
    cli.write("date.lnk", &link().with(|link| link.created = time(u64::MAX)).build());
    cli.write("padded.lnk", &link().with(|link| link.arguments = Some(" ".repeat(5000) + "/c calc")).build());
    cli.write("cloud.lnk", &link().with(|link| link.attributes = 0x0050_1620).build());
    cli.write("block.lnk", &link().with(|link| link.extra.push((0xA000_00FF, vec![1, 2, 3]))).build());
    let read = |name: &str| {
        let file = cli.run(&format!("show --links --format json {name}.lnk")).clean().json()["files"][0].take();
        let findings: Vec<_> = file["findings"].as_array().unwrap().iter().map(|f| f["code"].clone()).collect();
        let expected = match name {
            "date" => vec![json!("JL217")],
            "padded" => vec![json!("JL305")],
            _ => Vec::new(),
        };
        assert_eq!(findings, expected, "{name}");
        let link = file["entries"][0]["link"].clone();
        assert_eq!([&link["target"], &link["problems"]], [&json!(r"C:\Users\sam\a.txt"), &json!([])], "{name}");
        link
    };
    assert_eq!(read("lone")["name"], "name \u{FFFD}!");
    assert_eq!(read("date")["created"], Value::Null);
    assert_eq!(read("date")["modified"], "2024-02-19T09:10:27.0010000Z");
    let arguments = read("padded")["arguments"].as_str().unwrap().to_owned();
    assert_eq!((arguments.len(), arguments.trim_start()), (5007, "/c calc"));
    let names = ["archive", "sparse_file", "reparse_point", "offline", "unpinned", "recall_on_data_access"];
    assert_eq!(read("cloud")["attribute_names"], json!(names));
    assert_eq!(read("block")["extra"][0]["signature"], json!("0xa00000ff"));
}
