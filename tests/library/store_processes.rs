//! What the store promises where several processes change one file at once, and where one of them is killed.

use crate::support::place;
use crate::support::start;

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use jlfix::{
    error::Error,
    limits::Limits,
    os::Folder,
    store::{Decision, OnBusy, Options, Run, Store, change, edit},
};
use place::{NAME, Place, names};
use start::start;

/// Another process of this very test: `which` runs in it, and nothing else does.
fn another_process(which: &str, place: &Place, path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&format!("store_processes::{which}"), "--exact", "--nocapture", "--ignored"]);
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
