//! What the store promises: a file is the old one or the new one, nobody's write is lost, and what was
//! saved comes back as it was.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::{
    ffi::OsString,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, SystemTime},
};

use jlfix::{
    error::{Error, Refusal},
    limits::Limits,
    os::Folder,
    store::{
        Decision, Manifest, NewContent, OnBusy, Options, Outcome, Record, Run, RunId, Store, backup, change, create,
        delete, edit, restore, restore_to,
    },
};

#[path = "support/start.rs"]
mod start;
use start::start;

const NAME: &str = "f01b4d95cf55d32a.automaticDestinations-ms";

struct Place {
    dir: tempfile::TempDir,
    store: Store,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store")).unwrap();
        fs::create_dir(dir.path().join("files")).unwrap();
        Self { dir, store }
    }

    fn files(&self) -> PathBuf {
        self.dir.path().join("files")
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.files().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn run(&self, command: &str) -> Run {
        self.store.begin(command, OnBusy::Fail).unwrap()
    }

    /// Changes one file in a run of its own.
    fn change(&self, path: &Path, to: &[u8]) -> Manifest {
        let mut run = self.run("prune");
        change(path, &Options::default(), Some(&mut run), |_| Ok(Decision::Write(to.to_vec().into()))).unwrap();
        self.store.load(&run.finish().unwrap().unwrap()).unwrap()
    }

    fn names(&self) -> Vec<String> {
        names(&self.files())
    }

    fn runs(&self) -> Vec<String> {
        names(self.store.root()).into_iter().filter(|name| name.parse::<RunId>().is_ok()).collect()
    }

    fn undo(&self, manifest: &Manifest) -> Vec<Outcome> {
        let mut run = self.run("restore");
        let undone = manifest.files.iter().rev().map(|record| self.restore(manifest, record, &mut run).unwrap());
        let undone = undone.collect();
        run.finish().unwrap();
        undone
    }

    fn restore(&self, manifest: &Manifest, record: &Record, run: &mut Run) -> Result<Outcome, Error> {
        restore(&self.store, &manifest.id, record, &Options::default(), Some(run))
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn write(to: &[u8]) -> impl FnMut(&[u8]) -> Result<Decision, Error> {
    move |_| Ok(Decision::Write(to.to_vec().into()))
}

#[test]
fn a_changed_file_comes_back_with_its_content_and_time_and_the_restore_can_be_undone() {
    let place = Place::new();
    let path = place.file(NAME, b"old");
    let then = SystemTime::UNIX_EPOCH + Duration::new(1_500_000_000, 123_456_700);
    fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
    let manifest = place.change(&path, b"new!");
    assert_eq!(fs::read(&path).unwrap(), b"new!");
    assert_eq!(manifest.command, "prune");
    assert_eq!((manifest.files.len(), manifest.bytes()), (1, 3));

    assert_eq!(place.undo(&manifest), [Outcome::Written { before: Some(4), after: 3 }]);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), then);

    let latest = place.store.latest().unwrap().unwrap();
    assert_eq!(latest.command, "restore");
    place.undo(&latest);
    assert_eq!(fs::read(&path).unwrap(), b"new!");
    assert_eq!(place.names(), [NAME], "nothing else was left in the folder");
}

#[test]
fn a_file_that_changes_while_it_is_planned_is_planned_again_from_its_new_content() {
    let place = Place::new();
    let path = place.file(NAME, b"a");
    let mut run = place.run("prune");
    let mut plans = 0;
    let outcome = change(&path, &Options::default(), Some(&mut run), |content| {
        plans += 1;
        if plans == 1 {
            fs::write(&path, b"from Windows").unwrap();
        }
        Ok(Decision::Write([content, b", pruned"].concat().into()))
    });
    assert_eq!(outcome.unwrap(), Outcome::Written { before: Some(12), after: 20 });
    assert_eq!(fs::read(&path).unwrap(), b"from Windows, pruned");
    let id = run.finish().unwrap().unwrap();
    let manifest = place.store.load(&id).unwrap();
    let saved = manifest.files[0].saved.as_ref().unwrap();
    assert_eq!(manifest.files.len(), 1, "what was saved in vain is forgotten");
    assert_eq!(place.store.read_saved(&id, saved, &Limits::default()).unwrap(), b"from Windows");
    assert_eq!(names(&place.store.root().join(id.as_str())).len(), 2, "the manifest and one file");
}

#[test]
fn a_change_with_the_same_size_and_time_is_seen_by_its_content() {
    let place = Place::new();
    let path = place.file(NAME, b"one");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let mut first = true;
    change(&path, &Options::default(), None, |content| {
        if std::mem::take(&mut first) {
            fs::write(&path, b"two").unwrap();
            fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        }
        Ok(Decision::Write([content, b"!"].concat().into()))
    })
    .unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two!");
}

#[test]
fn a_file_that_changes_every_time_is_given_up_and_keeps_its_newest_content() {
    let place = Place::new();
    let path = place.file(NAME, b"0");
    let mut run = place.run("prune");
    let mut plans = 0;
    let error = change(&path, &Options::default(), Some(&mut run), |_| {
        plans += 1;
        fs::write(&path, format!("write {plans}")).unwrap();
        Ok(Decision::Write(b"mine".to_vec().into()))
    })
    .unwrap_err();
    assert!(matches!(error, Error::Changed { times: 4, .. }), "{error}");
    assert_eq!((plans, fs::read(&path).unwrap().as_slice()), (4, b"write 4".as_slice()));
    assert_eq!(place.names(), [NAME]);
    assert_eq!(run.finish().unwrap(), None);
    assert_eq!(place.runs(), [""; 0], "a run that saved nothing leaves no folder");
}

#[test]
fn a_file_replaced_by_another_program_is_not_overwritten() {
    let place = Place::new();
    let path = place.file(NAME, b"same");
    let mut first = true;
    change(&path, &Options::default(), None, |content| {
        if std::mem::take(&mut first) {
            fs::rename(place.file("other", b"theirs"), &path).unwrap();
        }
        Ok(Decision::Write([content, b"+"].concat().into()))
    })
    .unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"theirs+");
}

#[test]
fn a_plan_that_fails_or_leaves_the_file_touches_nothing_and_a_dry_run_only_tells() {
    let place = Place::new();
    let path = place.file(NAME, b"old");
    let mut run = place.run("prune");
    let options = Options::default();
    assert_eq!(change(&path, &options, Some(&mut run), |_| Ok(Decision::Leave)).unwrap(), Outcome::Unchanged);
    assert_eq!(change(&path, &options, Some(&mut run), write(b"old")).unwrap(), Outcome::Unchanged);
    let need = "x".to_owned();
    let caller = change(&path, &options, Some(&mut run), |_| {
        Err(Error::Caller { what: "rule", need: need.clone(), have: need.clone() })
    });
    assert!(matches!(caller, Err(Error::Caller { .. })));
    let dry = Options { dry_run: true, ..options };
    let told = change(&path, &dry, Some(&mut run), write(b"new!")).unwrap();
    assert_eq!(told, Outcome::Written { before: Some(3), after: 4 });
    let large = Options { limits: Limits { file_size: 2, ..options.limits }, ..options };
    assert!(matches!(change(&path, &large, None, write(b"")), Err(Error::Limit { limit: 2, have: 3, .. })));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    drop(run);
    assert_eq!(place.runs(), [""; 0]);
}

#[test]
fn a_deleted_file_comes_back_and_a_created_one_goes_again() {
    let place = Place::new();
    let (old, new) = (place.file(NAME, b"old"), place.files().join("new"));
    let mut run = place.run("delete");
    let options = Options::default();
    assert_eq!(delete(&old, &options, Some(&mut run), |_| Ok(())).unwrap(), Outcome::Deleted { before: 3 });
    create(&new, &b"made".to_vec().into(), &options, Some(&mut run)).unwrap();
    let taken = create(&new, &NewContent::default(), &options, Some(&mut run));
    assert!(matches!(taken, Err(Error::Refused { reason: Refusal::Exists, .. })));
    let manifest = place.store.load(&run.finish().unwrap().unwrap()).unwrap();
    assert_eq!(place.names(), ["new"]);
    assert_eq!(place.undo(&manifest), [Outcome::Deleted { before: 4 }, Outcome::Written { before: None, after: 3 }]);
    assert_eq!(place.names(), [NAME]);
    assert_eq!(fs::read(&old).unwrap(), b"old");
}

#[test]
fn one_file_twice_in_a_run_is_refused_so_that_undoing_it_gives_the_first_content() {
    let place = Place::new();
    let path = place.file(NAME, b"1");
    let mut run = place.run("prune");
    change(&path, &Options::default(), Some(&mut run), write(b"2")).unwrap();
    let again = change(&path, &Options::default(), Some(&mut run), write(b"3"));
    assert!(matches!(again, Err(Error::Caller { .. })), "{again:?}");
    assert_eq!(fs::read(&path).unwrap(), b"2");
}

#[test]
fn an_altered_or_missing_backup_is_found_and_never_restored() {
    let place = Place::new();
    let path = place.file(NAME, b"old");
    let manifest = place.change(&path, b"new");
    let record = &manifest.files[0];
    let folder = place.store.root().join(manifest.id.as_str());
    let stored = folder.join(&record.saved.as_ref().unwrap().stored);
    let verify = || place.store.verify(&manifest.id, &Limits::default()).unwrap();
    assert_eq!((verify().files, verify().bytes, verify().problems.len()), (1, 3, 0));

    for damage in [Some("olD"), Some("older"), None] {
        match damage {
            Some(content) => fs::write(&stored, content).unwrap(),
            None => fs::remove_file(&stored).unwrap(),
        }
        assert!(matches!(verify().problems.as_slice(), [Error::Verification { .. }]), "{damage:?}");
        let mut run = place.run("restore");
        let refused = place.restore(&manifest, record, &mut run);
        assert!(matches!(refused, Err(Error::Verification { .. })), "{refused:?}");
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}

#[test]
fn a_manifest_that_this_program_would_not_have_written_is_refused() {
    let place = Place::new();
    let path = place.file(NAME, b"old");
    let good = place.change(&path, b"new");
    let file = place.store.root().join(good.id.as_str()).join("manifest.json");
    let text = fs::read_to_string(&file).unwrap();
    let stored = format!("{:?}", good.files[0].saved.as_ref().unwrap().stored);
    let shown = serde_json::to_string(&good.files[0].path).unwrap();
    let files = text.find("\"files\": [").unwrap() + "\"files\": [".len();
    let record = text[files..text.rfind(']').unwrap()].trim().to_owned();

    let replaced = |what: &str, with: &str| {
        assert!(text.contains(what), "{what} in {text}");
        text.replacen(what, with, 1)
    };
    let mut bad = vec![
        ("not JSON", text[..text.len() / 2].to_owned()),
        ("another version", replaced("\"version\": 1", "\"version\": 2")),
        ("a checksum of no length", replaced(&good.files[0].saved.as_ref().unwrap().sha256, "")),
        ("a size below zero", replaced("\"size\": 3", "\"size\": -3")),
        ("a file without its size", replaced("\"size\": 3", "\"size\": null")),
        ("a file twice", replaced(&record, &format!("{record}, {record}"))),
        ("a time that is none", replaced("\"started\": \"2", "\"started\": \"x")),
        ("deep nesting", replaced("\"files\": [", &format!("\"x\": {}", "[".repeat(100_000)))),
    ];
    for name in ["../../x", "/etc/passwd", "..", "", "manifest.json", "0001-a/b.bak", "C:\\x", "0001-a:b.bak", "CON"] {
        bad.push(("a stored name", replaced(&stored, &serde_json::to_string(name).unwrap())));
    }
    for name in ["x", "../x", "", "/", "/a/../b", "/a\u{0}b", "\\\\.\\PhysicalDrive0"] {
        bad.push(("a path", replaced(&shown, &serde_json::to_string(name).unwrap())));
    }
    for (what, text) in bad {
        fs::write(&file, &text).unwrap();
        let refused = place.store.load(&good.id);
        assert!(matches!(refused, Err(Error::File { .. })), "{what}: {refused:?}");
        assert!(place.store.latest().is_err(), "{what}: no older run is taken instead");
        assert!(place.store.list().unwrap()[0].manifest.is_err());
    }
    fs::File::options().write(true).open(&file).unwrap().set_len(1 << 33).unwrap();
    assert!(matches!(place.store.load(&good.id), Err(Error::Limit { .. })));
    fs::write(&file, text).unwrap();
    assert_eq!(place.store.load(&good.id).unwrap(), good);
}

#[test]
fn a_run_that_did_not_end_is_listed_as_such_and_is_not_the_latest_but_can_be_restored_by_name() {
    let place = Place::new();
    let path = place.file(NAME, b"1");
    let finished = place.change(&path, b"2");
    let mut run = place.run("prune --keep 3");
    change(&path, &Options::default(), Some(&mut run), write(b"3")).unwrap();
    let id = run.id().clone();
    drop(run);
    let journal = place.store.root().join(id.as_str()).join("journal.jsonl");
    let mut torn = fs::read(&journal).unwrap();
    torn.extend_from_slice(br#"{"file":{"path":"/x"#);
    fs::write(&journal, torn).unwrap();

    let listed = place.store.list().unwrap();
    assert_eq!(listed.iter().map(|run| &run.id).collect::<Vec<_>>(), [&id, &finished.id], "newest first");
    let incomplete = listed[0].manifest.as_ref().unwrap();
    assert!(!incomplete.is_finished());
    assert_eq!((incomplete.command.as_str(), incomplete.files.len()), ("prune --keep 3", 1));
    assert_eq!(place.store.latest().unwrap().unwrap(), finished);
    place.undo(incomplete);
    assert_eq!(fs::read(&path).unwrap(), b"2");
}

#[test]
fn runs_are_dropped_whole_and_only_runs() {
    let place = Place::new();
    let path = place.file(NAME, b"0");
    let ids: Vec<_> = (1..5).map(|n| place.change(&path, &[n]).id).collect();
    assert!(ids.is_sorted(), "{ids:?}");
    fs::create_dir(place.store.root().join("mine")).unwrap();
    place.store.drop_run(&ids[1], OnBusy::Fail).unwrap();
    assert!(place.store.drop_run(&ids[1], OnBusy::Fail).is_err());
    assert_eq!(place.store.drop_keep_last(2, OnBusy::Fail).unwrap(), [ids[0].clone()]);
    assert_eq!(place.runs(), [ids[2].as_str(), ids[3].as_str()]);
    assert_eq!(names(place.store.root()).len(), 4, "two runs, the lock, and the folder that is not ours");
    fs::create_dir(place.store.root().join(ids[3].as_str()).join("folder")).unwrap();
    assert!(matches!(place.store.drop_run(&ids[3], OnBusy::Fail), Err(Error::Refused { .. })));
    assert!(place.store.verify(&ids[3], &Limits::default()).unwrap().problems.is_empty());
}

#[test]
fn a_second_run_is_kept_out_while_the_first_one_lasts() {
    let place = Place::new();
    let run = place.run("prune");
    assert!(matches!(place.store.begin("prune", OnBusy::Fail), Err(Error::InUse { .. })));
    assert!(matches!(place.store.drop_keep_last(0, OnBusy::Fail), Err(Error::InUse { .. })));
    let mut told = 0;
    let mut first = Some(run);
    // The first run ends only when the second one has said that it waits.
    let mut tell = || {
        told += 1;
        drop(first.take());
    };
    place.store.begin("prune", OnBusy::Wait(&mut tell)).unwrap();
    assert_eq!(told, 1);
}

#[test]
fn what_a_killed_run_left_is_removed_and_nothing_else() {
    let place = Place::new();
    place.file(".jlfix-4294967292-0123456789abcdef.tmp", b"half");
    let kept = [".jlfix-4294967292-0123456789abcdef.tmp.txt", "a.jlfix-4294967292-0123456789abcdef.tmp"];
    for name in kept {
        place.file(name, b"mine");
    }
    fs::create_dir(place.files().join(".jlfix-4294967292-0000000000000000.tmp")).unwrap();
    let folder = Folder::open(&place.files()).unwrap();
    let alive = folder.temp().unwrap();
    assert_eq!(folder.clean_leftovers().unwrap(), [".jlfix-4294967292-0123456789abcdef.tmp"]);
    assert_eq!(place.names().len(), 4, "{:?}", place.names());
    drop(alive);
    assert_eq!(place.names().len(), 3);

    let path = place.file(NAME, b"1");
    let id = place.change(&path, b"2").id;
    let mut run = place.run("prune");
    backup(&path, &Options::default(), &mut run).unwrap();
    let killed = place.store.root().join(run.id().as_str());
    drop(run);
    fs::write(killed.join(".jlfix-4294967292-0123456789abcdef.tmp"), b"half").unwrap();
    let dropped = place.store.root().join(format!(".jlfix-drop-{id}"));
    fs::rename(place.store.root().join(id.as_str()), &dropped).unwrap();
    drop(place.run("prune"));
    assert_eq!((names(&killed).len(), dropped.exists()), (2, false), "journal and copy stay, the dropped run goes");
}

#[test]
fn files_of_one_name_are_restored_side_by_side_under_another_folder() {
    let place = Place::new();
    let path = place.file(NAME, b"old");
    let manifest = place.change(&path, b"new");
    let to = place.dir.path().join("to");
    let go = || restore_to(&place.store, &manifest.id, &manifest.files[0], &Options::default(), &to).unwrap().unwrap();
    let (first, second) = (go(), go());
    assert!(first.ends_with(Path::new("to/files").join(NAME)), "{first:?}");
    assert!(second.ends_with(Path::new("to/files-2").join(NAME)), "{second:?}");
    assert_eq!((fs::read(first).unwrap(), fs::read(second).unwrap()), (b"old".to_vec(), b"old".to_vec()));
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn a_backup_is_not_taken_for_a_file_to_change() {
    let place = Place::new();
    let path = place.file(NAME, b"old");
    let manifest = place.change(&path, b"new");
    let stored = &manifest.files[0].saved.as_ref().unwrap().stored;
    let inside = place.store.root().join(manifest.id.as_str()).join(stored);
    let refused = change(&inside, &Options::default(), Some(&mut place.run("prune")), write(b""));
    assert!(matches!(refused, Err(Error::Refused { reason: Refusal::InStore, .. })), "{refused:?}");
}

#[test]
fn the_store_is_where_the_environment_says() {
    let root = |set: &[(&str, &str)]| {
        let set: Vec<(String, OsString)> =
            set.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        Store::default_root(move |name| set.iter().find(|(set, _)| set == name).map(|(_, value)| value.clone()))
    };
    if cfg!(windows) {
        assert_eq!(root(&[("LOCALAPPDATA", "C:\\L")]).unwrap(), Path::new("C:\\L\\jlfix\\backups"));
    } else {
        assert_eq!(root(&[("HOME", "/h")]).unwrap(), Path::new("/h/.local/share/jlfix/backups"));
        assert_eq!(root(&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")]).unwrap(), Path::new("/x/jlfix/backups"));
        assert_eq!(
            root(&[("HOME", "/h"), ("XDG_DATA_HOME", "x")]).unwrap(),
            Path::new("/h/.local/share/jlfix/backups")
        );
    }
    assert_eq!(root(&[("HOME", "/h"), ("LOCALAPPDATA", "/l"), ("JLFIX_BACKUP_DIR", "b")]).unwrap(), Path::new("b"));
    assert!(root(&[("HOME", "")]).is_err());
}

/// Another process of this very test: `which` runs in it, and nothing else does.
fn another_process(which: &str, place: &Place, path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([which, "--exact", "--nocapture", "--ignored"]);
    command.env("STORE", place.store.root()).env("FILE", path).stdout(Stdio::piped());
    start(|| command.spawn()).unwrap()
}

fn told(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os(name).expect("started by another test"))
}

#[test]
fn no_update_is_lost_when_processes_and_threads_change_one_file_at_once() {
    let place = Place::new();
    let path = place.file(NAME, b"");
    let children: Vec<_> = (0..2).map(|_| another_process("appends_ten_lines", &place, &path)).collect();
    // These go without a store, so that only the file itself is between them and the others.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..10).for_each(|n| append_line(&path, None, n)));
        }
    });
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 40);
    assert_eq!(place.names(), [NAME]);
    assert_eq!(place.store.list().unwrap().len(), 20);
}

fn append_line(path: &Path, mut run: Option<&mut Run>, number: u32) {
    let line = format!("{} {number}\n", std::process::id());
    loop {
        let done = edit(path, &Options::default(), run.as_deref_mut(), |content| {
            Ok(Decision::Write([content.unwrap_or_default(), line.as_bytes()].concat().into()))
        });
        match done {
            Ok(_) => return,
            Err(Error::Changed { .. } | Error::InUse { .. }) => {}
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
#[ignore = "a part of another test"]
fn appends_ten_lines() {
    let (store, path) = (Store::open(told("STORE")).unwrap(), told("FILE"));
    for number in 0..10 {
        let mut run = store.begin("append", OnBusy::Wait(&mut || ())).unwrap();
        append_line(&path, Some(&mut run), number);
        run.finish().unwrap();
    }
}

#[test]
fn a_process_that_is_killed_leaves_a_whole_file_and_the_backup_of_what_it_was() {
    let place = Place::new();
    let path = place.file(NAME, &[0; 100_000]);
    for round in 1..6 {
        let mut child = another_process("changes_for_ever", &place, &path);
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let changes = said.by_ref().filter(|line| line.as_ref().unwrap() == "changed");
        assert_eq!(changes.take(round).count(), round);
        // Wherever it is by now.
        child.kill().unwrap();
        child.wait().unwrap();
        let now = fs::read(&path).unwrap();
        assert_eq!(now.len(), 100_000);
        assert!(now.iter().all(|byte| *byte == now[0]), "half of one and half of another");
        Folder::open(&place.files()).unwrap().clean_leftovers().unwrap();
        assert_eq!(place.names(), [NAME]);
        drop(place.run("next"));
        for run in place.store.list().unwrap().into_iter().take(round + 1) {
            let manifest = run.manifest.unwrap();
            assert!(place.store.verify(&run.id, &Limits::default()).unwrap().problems.is_empty());
            let own = place.store.root().join(run.id.as_str());
            assert!(names(&own).iter().all(|name| !name.ends_with(".tmp")));
            assert!(manifest.is_finished() || !manifest.files.is_empty());
        }
    }
    // Whatever was in the file before its last change is in the newest run that saved anything.
    let newest = place.store.list().unwrap().remove(0).manifest.unwrap();
    let (now, saved) = (fs::read(&path).unwrap()[0], newest.files[0].saved.as_ref().unwrap());
    let saved = place.store.read_saved(&newest.id, saved, &Limits::default()).unwrap()[0];
    assert!(saved == now || saved.wrapping_add(1) == now, "{saved} {now}");
}

#[test]
#[ignore = "a part of another test"]
fn changes_for_ever() {
    let (store, path) = (Store::open(told("STORE")).unwrap(), told("FILE"));
    loop {
        let mut run = store.begin("change", OnBusy::Fail).unwrap();
        change(&path, &Options::default(), Some(&mut run), |content| {
            Ok(Decision::Write(content.iter().map(|byte| byte.wrapping_add(1)).collect::<Vec<_>>().into()))
        })
        .unwrap();
        run.finish().unwrap();
        println!("changed");
    }
}

#[cfg(unix)]
mod unix {
    use std::{
        ffi::OsStr,
        os::unix::{
            ffi::OsStrExt,
            fs::{MetadataExt, PermissionsExt, symlink},
            net::UnixListener,
        },
    };

    use super::*;

    #[test]
    fn links_and_whatever_is_no_plain_file_are_refused_and_stay_as_they_are() {
        let place = Place::new();
        let path = place.file(NAME, b"old");
        let at = |name: &str| place.files().join(name);
        symlink(&path, at("symlink")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        let _socket = UnixListener::bind(at("socket")).unwrap();
        fs::write(at("two names"), b"old").unwrap();
        fs::hard_link(at("two names"), at("second name")).unwrap();
        let mut run = place.run("prune");
        for name in ["symlink", "dangling", "folder", "pipe", "socket", "two names", "second name"] {
            for refused in [
                change(&at(name), &Options::default(), Some(&mut run), write(b"new")).map(drop),
                delete(&at(name), &Options::default(), Some(&mut run), |_| Ok(())).map(drop),
                backup(&at(name), &Options::default(), &mut run).map(drop),
                jlfix::os::refuse_unless_plain(&at(name)),
            ] {
                let error = refused.unwrap_err();
                assert!(matches!(error, Error::Refused { .. }), "{name}: {error}");
                assert!(error.to_string().starts_with(&at(name).display().to_string()), "{error}");
            }
        }
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(place.names().len(), 8);
        fs::remove_file(at("second name")).unwrap();
        change(&at("two names"), &Options::default(), Some(&mut run), write(b"new")).unwrap();
    }

    #[test]
    fn a_link_put_in_the_way_while_the_program_runs_is_not_followed() {
        let place = Place::new();
        let path = place.file(NAME, b"old");
        let victim = place.dir.path().join("victim");
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join(NAME), b"old").unwrap();
        // The file becomes a link.
        let refused = change(&path, &Options::default(), None, |_| {
            fs::remove_file(&path).unwrap();
            symlink(victim.join(NAME), &path).unwrap();
            Ok(Decision::Write(b"new".to_vec().into()))
        });
        assert!(matches!(refused, Err(Error::Refused { reason: Refusal::Symlink, .. })), "{refused:?}");
        fs::remove_file(&path).unwrap();
        // Its folder becomes a link: the file is changed where it was.
        fs::write(&path, b"old").unwrap();
        let moved = place.dir.path().join("moved");
        let mut first = true;
        change(&path, &Options::default(), None, |_| {
            if std::mem::take(&mut first) {
                fs::rename(place.files(), &moved).unwrap();
                symlink(&victim, place.files()).unwrap();
            }
            Ok(Decision::Write(b"new".to_vec().into()))
        })
        .unwrap();
        assert_eq!(fs::read(victim.join(NAME)).unwrap(), b"old");
        assert_eq!(fs::read(moved.join(NAME)).unwrap(), b"new");
        assert_eq!(names(&victim), [NAME]);
    }

    #[test]
    fn a_restore_does_not_go_through_a_link_that_was_not_there_before() {
        let place = Place::new();
        let path = place.file(NAME, b"old");
        let manifest = place.change(&path, b"new");
        let elsewhere = place.dir.path().join("elsewhere");
        fs::rename(place.files(), &elsewhere).unwrap();
        symlink(&elsewhere, place.files()).unwrap();
        let refused = place.restore(&manifest, &manifest.files[0], &mut place.run("restore"));
        assert!(matches!(refused, Err(Error::Refused { reason: Refusal::FolderMoved(_), .. })), "{refused:?}");
        fs::remove_file(place.files()).unwrap();
        fs::rename(&elsewhere, place.files()).unwrap();
        fs::rename(&path, place.files().join("x")).unwrap();
        symlink("x", &path).unwrap();
        let refused = place.restore(&manifest, &manifest.files[0], &mut place.run("restore"));
        assert!(matches!(refused, Err(Error::Refused { reason: Refusal::Symlink, .. })), "{refused:?}");
        assert_eq!(fs::read(place.files().join("x")).unwrap(), b"new");
    }

    #[test]
    fn a_file_given_through_a_linked_folder_is_changed_and_restored_where_it_really_is() {
        let place = Place::new();
        let real = place.file(NAME, b"old");
        let link = place.dir.path().join("link");
        symlink(place.files(), &link).unwrap();
        let manifest = place.change(&link.join(NAME), b"new");
        assert_eq!(manifest.files[0].path, fs::canonicalize(&real).unwrap());
        place.undo(&manifest);
        assert_eq!(fs::read(&real).unwrap(), b"old");
    }

    #[test]
    fn mode_owner_and_extended_attributes_stay_and_the_store_is_the_owners_only() {
        let place = Place::new();
        let path = place.file(NAME, b"old");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
        let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
        if is_root {
            std::os::unix::fs::chown(&path, Some(12345), Some(12346)).unwrap();
        }
        let tagged = xattr::set(&path, "user.tag", b"kept").is_ok();
        let before = fs::metadata(&path).unwrap();
        let manifest = place.change(&path, b"new");
        let after = fs::metadata(&path).unwrap();
        assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
        assert_ne!(after.ino(), before.ino());
        if tagged {
            assert_eq!(xattr::get(&path, "user.tag").unwrap().as_deref(), Some(b"kept".as_slice()));
        }
        let own = place.store.root().join(manifest.id.as_str());
        for folder in [place.store.root(), &own] {
            assert_eq!(fs::metadata(folder).unwrap().mode() & 0o777, 0o700);
        }
        for name in names(&own) {
            assert_eq!(fs::metadata(own.join(name)).unwrap().mode() & 0o777, 0o600);
        }
        fs::remove_file(&path).unwrap();
        place.undo(&manifest);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o440, "a file that was gone gets its mode back");
    }

    #[test]
    fn names_that_are_no_utf_8_or_as_long_as_can_be_are_saved_and_restored_without_loss() {
        let place = Place::new();
        let names = [b"a\xFF\xFE\n.automaticDestinations-ms".as_slice(), &[b'x'; 255], "\u{202e}\u{1}:".as_bytes()];
        for name in names {
            let path = place.files().join(OsStr::from_bytes(name));
            fs::write(&path, b"old").unwrap();
            let manifest = place.change(&path, b"new");
            assert!(manifest.files[0].path.ends_with(OsStr::from_bytes(name)));
            place.undo(&manifest);
            assert_eq!(fs::read(&path).unwrap(), b"old");
        }
    }

    #[test]
    fn a_file_that_another_process_keeps_locked_is_told_and_stays() {
        let place = Place::new();
        let path = place.file(NAME, b"old");
        let held = fs::File::open(&path).unwrap();
        held.lock().unwrap();
        let refused = change(&path, &Options::default(), None, write(b"new"));
        assert!(matches!(refused, Err(Error::InUse { .. })), "{refused:?}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
}

#[cfg(windows)]
mod windows {
    use std::{
        ffi::OsStr,
        os::windows::{
            ffi::OsStringExt,
            fs::{MetadataExt, OpenOptionsExt},
        },
    };

    use super::*;

    const READ_ONLY: u32 = 1;
    const HIDDEN: u32 = 2;

    fn attributes(path: &Path) -> u32 {
        fs::metadata(path).unwrap().file_attributes()
    }

    #[test]
    fn a_file_that_another_process_holds_is_told_and_changed_once_it_is_let_go() {
        let place = Place::new();
        let path = place.file(NAME, b"old");
        let hold = || fs::File::options().read(true).share_mode(0).open(&path).unwrap();
        let held = hold();
        let refused = change(&path, &Options::default(), None, write(b"new"));
        assert!(matches!(refused, Err(Error::InUse { .. })), "{refused:?}");
        drop(held);
        // Held from the planning on.
        let mut held = None;
        let refused = change(&path, &Options::default(), None, |_| {
            held = Some(hold());
            Ok(Decision::Write(b"new".to_vec().into()))
        });
        assert!(matches!(refused, Err(Error::InUse { .. })), "{refused:?}");
        assert_eq!(place.names(), [NAME]);
        drop(held);
        std::thread::scope(|scope| {
            let held = hold();
            let changed = scope.spawn(|| change(&path, &Options::default(), None, write(b"new")).unwrap());
            drop(held);
            changed.join().unwrap();
        });
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_writer_that_came_meanwhile_is_not_overwritten() {
        let place = Place::new();
        let path = place.file(NAME, b"old");
        let refused = change(&path, &Options::default(), None, |_| {
            // A program with the file open for writing, all shared, as long as this test lasts.
            let writer = fs::File::options().write(true).open(&path).unwrap();
            std::mem::forget(writer);
            Ok(Decision::Write(b"new".to_vec().into()))
        });
        assert!(matches!(refused, Err(Error::InUse { .. })), "{refused:?}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn a_read_only_hidden_file_is_changed_deleted_and_restored_with_its_attributes() {
        let place = Place::new();
        let path = place.file(NAME, b"old");
        assert!(start(|| Command::new("attrib").arg("+h").arg(&path).status()).unwrap().success());
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        let wanted = attributes(&path) & (READ_ONLY | HIDDEN);
        assert_ne!(wanted & READ_ONLY, 0);
        let manifest = place.change(&path, b"new!");
        assert_eq!((fs::read(&path).unwrap(), attributes(&path) & 3), (b"new!".to_vec(), wanted));
        place.undo(&manifest);
        assert_eq!((fs::read(&path).unwrap(), attributes(&path) & 3), (b"old".to_vec(), wanted));
        let mut run = place.run("delete");
        delete(&path, &Options::default(), Some(&mut run), |_| Ok(())).unwrap();
        let manifest = place.store.load(&run.finish().unwrap().unwrap()).unwrap();
        assert_eq!(place.names(), [""; 0]);
        place.undo(&manifest);
        assert_eq!((fs::read(&path).unwrap(), attributes(&path) & 3), (b"old".to_vec(), wanted));
    }

    #[test]
    fn long_paths_and_unpaired_surrogates_are_saved_and_restored_without_loss() {
        let place = Place::new();
        let deep = (0..6).fold(place.files(), |path, _| path.join("x".repeat(60)));
        fs::create_dir_all(&deep).unwrap();
        let odd = OsString::from_wide(&[0xD800, 0x78, 0xDC00]);
        for name in [OsStr::new(NAME), &odd, OsStr::new(&"y".repeat(250))] {
            let path = deep.join(name);
            if let Err(e) = fs::write(&path, b"old") {
                println!("skipped {name:?}: the file system does not take the name ({e})");
                continue;
            }
            let manifest = place.change(&path, b"new");
            assert_eq!(fs::read(&path).unwrap(), b"new");
            assert_eq!(manifest.files[0].path.file_name(), Some(name));
            assert!(!manifest.files[0].path.starts_with(r"\\?\"), "{:?}", manifest.files[0].path);
            place.undo(&manifest);
            assert_eq!(fs::read(&path).unwrap(), b"old");
        }
    }

    #[test]
    fn names_that_are_not_the_files_own_are_refused() {
        let place = Place::new();
        let path = place.file(NAME, b"old");
        for name in [format!("{NAME}:stream"), format!("{NAME}."), format!("{NAME}::$DATA"), "NUL".to_owned()] {
            let refused = change(&path.with_file_name(&name), &Options::default(), None, write(b"new"));
            assert!(matches!(refused, Err(Error::Refused { .. })), "{name}: {refused:?}");
        }
        let upper = path.with_file_name(NAME.to_uppercase());
        change(&upper, &Options::default(), None, write(b"new")).unwrap();
        assert_eq!(place.names(), [NAME], "its own name stays as it was written");
    }

    #[test]
    fn the_live_folder_and_the_profiles_are_where_windows_says() {
        let recent = jlfix::os::recent_folder().unwrap().unwrap();
        assert!(recent.is_absolute() && recent.ends_with("Recent"), "{recent:?}");
        for profile in jlfix::os::profiles().unwrap() {
            assert!(profile.sid.starts_with("S-1-") && profile.folder.is_absolute(), "{profile:?}");
        }
    }
}
