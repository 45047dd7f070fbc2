//! The programs in `examples/`, each run on the samples.

use std::fs;
use std::path::Path;

#[allow(dead_code, reason = "an example has a main")]
#[path = "../../examples/carve_deleted.rs"]
mod carve_deleted;
#[allow(dead_code, reason = "an example has a main")]
#[path = "../../examples/dump_links.rs"]
mod dump_links;
#[allow(dead_code, reason = "an example has a main")]
#[path = "../../examples/prune_list.rs"]
mod prune_list;
#[allow(dead_code, reason = "an example has a main")]
#[path = "../../examples/recent_files.rs"]
mod recent_files;
#[allow(dead_code, reason = "an example has a main")]
#[path = "../../examples/watch_cost.rs"]
mod watch_cost;

const NOTEPAD: &str = "samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms";
const CHROME: &str = "samples/CustomDestinations/5d696d521de238c3.customDestinations-ms";

fn text(out: Vec<u8>) -> String {
    String::from_utf8(out).unwrap()
}

#[test]
fn recent_files_lists_the_newest_first() {
    let mut out = Vec::new();
    recent_files::run(Path::new("samples/AutomaticDestinations"), 3, &mut out).unwrap();
    let text = text(out);
    let times: Vec<&str> = text.lines().map(|line| &line[..28]).collect();
    assert_eq!(times.len(), 3, "{text}");
    assert!(times.is_sorted_by(|a, b| a >= b), "{text}");
    assert!(text.contains("LibreOffice Calc"), "{text}");
}

#[test]
fn prune_list_prunes_one_list_and_names_the_undo() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(Path::new(NOTEPAD).file_name().unwrap());
    fs::copy(NOTEPAD, &path).unwrap();
    let mut out = Vec::new();
    prune_list::run(&path, 5, &dir.path().join("backups"), &mut out).unwrap();
    let text = text(out);
    assert_eq!(text.lines().filter(|line| line.starts_with("drop C:\\")).count(), 17, "{text}");
    assert!(text.contains("7 entries are left of 24, ") && text.contains("undo it with: jlfix restore 20"), "{text}");
    assert_eq!(jlfix::JumpList::open(&path).unwrap().entries().len(), 7);
}

#[test]
fn carve_deleted_prints_the_links_behind_the_last_category() {
    let mut out = Vec::new();
    carve_deleted::run(Path::new(CHROME), &mut out).unwrap();
    let text = text(out);
    assert!(text.lines().any(|line| line.starts_with("offset ") && line.contains("link to ")), "{text}");
}

#[test]
fn watch_cost_prints_a_list_when_its_cost_changes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("9b9cdc69c1c24e2b.automaticDestinations-ms");
    fs::copy(NOTEPAD, &path).unwrap();
    let mut costs = watch_cost::Costs::new();
    let mut look = || {
        let mut out = Vec::new();
        watch_cost::look(dir.path(), &mut costs, &mut out).unwrap();
        text(out)
    };
    assert!(look().contains(": new -> 760 reads, 3.0 ms"));
    assert_eq!(look(), "");
    let list = jlfix::JumpList::open(&path).unwrap();
    let plan = list.prune(&jlfix::PruneRules::new().keep(5)).unwrap();
    fs::write(&path, plan.bytes.unwrap()).unwrap();
    let changed = look();
    assert!(changed.contains(": 760 -> "), "{changed}");
}

#[test]
fn dump_links_writes_each_link_and_overwrites_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut out = Vec::new();
    dump_links::run(Path::new(NOTEPAD), dir.path(), &mut out).unwrap();
    let text = text(out);
    assert_eq!((text.lines().count(), fs::read_dir(dir.path()).unwrap().count()), (24, 24));
    let (name, target) = text.lines().next().unwrap().split_once(": ").unwrap();
    let link = jlfix::JumpList::open(dir.path().join(name)).unwrap();
    assert_eq!(link.links().next().unwrap().target().as_deref(), Some(target));
    assert!(dump_links::run(Path::new(NOTEPAD), dir.path(), &mut Vec::new()).is_err());
}
