//! What the store promises: a file is the old one or the new one, nobody's write is lost, and what was
//! saved comes back as it was.

use crate::support::place;

use std::{
    ffi::OsString,
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use jlfix::{
    error::{Error, Refusal},
    limits::Limits,
    os::Folder,
    store::{Decision, NewContent, OnBusy, Options, Outcome, Store, backup, change, create, delete, restore_to},
};

use place::{NAME, Place, names, write};

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
    let dry = options.dry_run(true);
    let told = change(&path, &dry, Some(&mut run), write(b"new!")).unwrap();
    assert_eq!(told, Outcome::Written { before: Some(3), after: 4 });
    let large = options.limits(Limits::default().file_size(2));
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
