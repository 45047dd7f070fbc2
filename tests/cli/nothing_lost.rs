//! Nothing is lost, whatever happens: the real program is killed at every single call that writes, opens, locks or
//! tells, and each such call is made to fail once; then the promise of the store is held against what is there.
//!
//! A short run (the default) kills at every call, fails every call with one of four errors in turn, and recovers in one
//! order; with `JLFIX_HARNESS=full` every call fails with each of them, the calls that only read fail too, and after each
//! blow both ways back are taken.

use crate::harness;
use crate::support;
use crate::support::skip::skip;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use harness::strace::{self, Blow, Call, ERRORS, Traced};
use support::build::{Link, ListBuilder};
use support::cli::{Cli, EXPLORER, NOTEPAD};

/// Path to content; none is a folder.
type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// A command that changes files.
struct Verb {
    name: &'static str,
    /// Makes the files, and says the words of the command.
    set_up: fn(&Cli) -> Vec<String>,
    /// Whether it saves what it changes.
    saves: bool,
    /// Whether it changes files, or only the store.
    changes: bool,
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(ToOwned::to_owned).collect()
}

/// Two small lists, one of them with an attribute that a new file has to take over.
fn two_lists(cli: &Cli) {
    let one = cli.write(NOTEPAD, &ListBuilder::files(4, 4).pin(1).build());
    cli.write(EXPLORER, &ListBuilder::folders(4, 3).ranked().build());
    let _ = xattr::set(one, "user.tag", b"kept");
}

const PRUNE: Verb = Verb {
    name: "prune",
    set_up: |cli| {
        two_lists(cli);
        words("prune --keep 1 .")
    },
    saves: true,
    changes: true,
};

const PRUNE_WITHOUT_BACKUP: Verb = Verb {
    name: "prune --no-backup",
    set_up: |cli| {
        two_lists(cli);
        words("prune --keep 1 --no-backup .")
    },
    saves: false,
    changes: true,
};

const DELETE: Verb = Verb {
    name: "delete",
    set_up: |cli| {
        two_lists(cli);
        words("delete --include-pinned .")
    },
    saves: true,
    changes: true,
};

/// One file is there, one is gone: both ways of bringing back.
const RESTORE: Verb = Verb {
    name: "restore",
    set_up: |cli| {
        two_lists(cli);
        let prune = cli.run("prune --keep 1 .").clean();
        let id = prune.undo().split_whitespace().last().unwrap().to_owned();
        fs::remove_file(cli.path(EXPLORER)).unwrap();
        vec!["restore".to_owned(), id]
    },
    saves: true,
    changes: true,
};

/// A prune with an older change in the store.
const PRUNE_AFTER_A_CHANGE: Verb = Verb {
    name: "prune after a change",
    set_up: |cli| {
        cli.write(NOTEPAD, &ListBuilder::files(4, 6).pin(1).build());
        cli.write(EXPLORER, &ListBuilder::folders(4, 5).ranked().build());
        cli.run("prune --keep 3 .").clean();
        words("prune --keep 1 .")
    },
    saves: true,
    changes: true,
};

/// The undo of a change, with an older one in the store.
const UNDO: Verb = Verb {
    name: "restore (undo)",
    set_up: |cli| {
        (PRUNE_AFTER_A_CHANGE.set_up)(cli);
        cli.run("prune --keep 1 .").clean();
        words("restore")
    },
    saves: true,
    changes: true,
};

const REDO: Verb = Verb {
    name: "restore --redo",
    set_up: |cli| {
        (UNDO.set_up)(cli);
        cli.run("restore").clean();
        words("restore --redo")
    },
    saves: true,
    changes: true,
};

const REPAIR: Verb = Verb {
    name: "repair",
    set_up: |cli| {
        let wrong = ListBuilder::files(4, 4).pin(1).header(|header| header.count = 9);
        cli.write(NOTEPAD, &wrong.edit(2, |entry| entry.link = Link::Missing).build());
        cli.write(EXPLORER, &ListBuilder::folders(4, 3).header(|header| header.pinned = 7).build());
        words("repair .")
    },
    saves: true,
    changes: true,
};

/// Two copies that went on by themselves, the second into the first.
const MERGE: Verb = Verb {
    name: "merge",
    set_up: |cli| {
        let list = |files: usize, pin| ListBuilder::files(4, files).pin(pin).build();
        cli.write(Path::new("a").join(NOTEPAD), &list(3, 0));
        cli.write(Path::new("b").join(NOTEPAD), &list(5, 4));
        let [a, b] = ["a", "b"].map(|folder| format!("{folder}/{NOTEPAD}"));
        words(&format!("merge {a} {b} --into {a}"))
    },
    saves: true,
    changes: true,
};

/// The same into a file that was not there.
const MERGE_INTO_A_NEW_FILE: Verb = Verb {
    name: "merge --into a new file",
    set_up: |cli| {
        let mut line = (MERGE.set_up)(cli);
        fs::create_dir(cli.path("c")).unwrap();
        line.pop();
        line.push(format!("c/{NOTEPAD}"));
        line
    },
    saves: true,
    changes: true,
};

/// A store with two runs, of which one goes.
const DROP: Verb = Verb {
    name: "backup drop",
    set_up: |cli| {
        two_lists(cli);
        for keep in ["prune --keep 2 .", "prune --keep 1 ."] {
            cli.run(keep).clean();
        }
        words("backup drop --keep-last 1")
    },
    saves: false,
    changes: false,
};

/// How many blows were struck, and what came of them.
#[derive(Default)]
struct Count {
    kills: usize,
    faults: usize,
    violations: Vec<String>,
}

/// What is known of a verb before the first blow.
struct Scene {
    verb: Verb,
    cli: Cli,
    words: Vec<String>,
    /// Everything before the run.
    start: Tree,
    old: Tree,
    new: Tree,
    /// What a plain `restore` makes of the files before the run, and its exit code.
    normal: (i32, Tree),
    runs: BTreeSet<String>,
    calls: Vec<Call>,
    /// Calls that only read.
    looks: Vec<Call>,
}

/// A run as `backup list` tells it.
#[derive(Debug)]
struct Listed {
    id: String,
    state: String,
    paths: BTreeSet<PathBuf>,
}

fn is_temp(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    name.starts_with(".jlfix-") && name.ends_with(".tmp")
}

fn is_full() -> bool {
    std::env::var_os("JLFIX_HARNESS").is_some_and(|mode| mode == "full")
}

fn tree(folder: &Path) -> Tree {
    let entries = walkdir::WalkDir::new(folder).min_depth(1).into_iter().filter_map(Result::ok);
    let content = |entry: &walkdir::DirEntry| entry.file_type().is_file().then(|| fs::read(entry.path()).unwrap());
    entries.map(|entry| (entry.path().to_owned(), content(&entry))).collect()
}

macro_rules! need {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(format!($($why)+));
        }
    };
}

impl Scene {
    fn new(verb: Verb) -> Self {
        let cli = Cli::new();
        let words = (verb.set_up)(&cli);
        let (start, old) = (tree(cli.root()), tree(&cli.files()));
        let runs = cli.runs().into_iter().collect();
        let traced = strace::run(&cli, &words, None, &[strace::WRITE_SIDE, strace::READ_SIDE].concat());
        assert_eq!(traced.code, Some(0), "{}: {traced:?}", verb.name);
        let new = tree(&cli.files());
        assert_eq!(old != new, verb.changes, "{}: {traced:?}", verb.name);
        let all = strace::calls(&traced, cli.root());
        let (calls, looks) = all.into_iter().partition(|call| strace::WRITE_SIDE.contains(&call.name.as_str()));
        let normal = (0, Tree::new());
        let mut scene = Self { verb, cli, words, start, old, new, normal, runs, calls, looks };
        scene.reset(&scene.start);
        let code = scene.cli.run_words(["restore"]).code;
        scene.normal = (code, scene.files());
        scene
    }

    /// What a plain `restore` does after a kill: files that were replaced come back, and nothing older is undone; if none
    /// was replaced, the run counts as never run.
    fn plain_restore(&self, changed: &BTreeSet<PathBuf>) -> Result<(), String> {
        let out = self.cli.run_words(["restore"]);
        let now = self.files();
        let without_temps = |tree: &Tree| -> Tree {
            tree.iter()
                .filter(|(path, _)| !is_temp(path))
                .map(|(path, content)| (path.clone(), content.clone()))
                .collect()
        };
        if changed.is_empty() {
            let same = out.code == self.normal.0 && without_temps(&now) == self.normal.1;
            need!(same, "nothing was replaced, and restore is not as if it never ran: {} {}", out.code, out.stderr);
            return Ok(());
        }
        need!(out.code == 0, "{changed:?} were replaced, and restore ends with {}: {}", out.code, out.stderr);
        need!(without_temps(&now) == self.old, "restored, the files are not the old ones: {:?}", now.keys());
        // The next one goes on where a run that never was would have. Not where a file was changed by hand before: the
        // undo has saved that state, so that it needs no yes any more.
        if self.normal.0 == 3 {
            return Ok(());
        }
        let out = self.cli.run_words(["restore"]);
        let same = out.code == self.normal.0 && without_temps(&self.files()) == self.normal.1;
        need!(same, "the killed run is not undone: {} {}", out.code, out.stderr);
        Ok(())
    }

    /// Everything as it was before the run.
    fn reset(&self, to: &Tree) {
        for entry in fs::read_dir(self.cli.root()).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
        for (path, content) in to {
            match content {
                None => fs::create_dir(path).unwrap(),
                Some(content) => fs::write(path, content).unwrap(),
            }
        }
        if self.start.contains_key(&self.cli.path(NOTEPAD)) {
            let _ = xattr::set(self.cli.path(NOTEPAD), "user.tag", b"kept");
        }
    }

    fn files(&self) -> Tree {
        tree(&self.cli.files())
    }

    fn run(&self, words: &[String]) -> Result<support::cli::Output, String> {
        let output = self.cli.run_words(words);
        if output.code == 0 {
            Ok(output)
        } else {
            Err(format!("{words:?} ends with {}: {}", output.code, output.stderr))
        }
    }

    /// The runs that were not there before.
    fn listed(&self) -> Result<Vec<Listed>, String> {
        let list = self.run(&words("backup list --format json"))?.json();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let all = list["runs"].as_array().unwrap().iter().map(|run| Listed {
            id: text(&run["id"]),
            state: text(&run["state"]),
            paths: run["paths"].as_array().unwrap().iter().map(|path| PathBuf::from(text(path))).collect(),
        });
        Ok(all.filter(|run| !self.runs.contains(&run.id)).collect())
    }

    /// Every name is the old file or the new one, whole, and nothing else is there. Says which are changed.
    fn whole(&self, with_temps: bool) -> Result<BTreeSet<PathBuf>, String> {
        let now = self.files();
        for path in now.keys() {
            let known = self.old.contains_key(path) || self.new.contains_key(path);
            need!(known || (with_temps && is_temp(path)), "{} is left behind", path.display());
        }
        let mut changed = BTreeSet::new();
        for path in self.old.keys().chain(self.new.keys()) {
            let (now, old, new) = (now.get(path), self.old.get(path), self.new.get(path));
            need!(now == old || now == new, "{} is neither the old nor the new file", path.display());
            if now != old {
                changed.insert(path.clone());
            }
        }
        Ok(changed)
    }

    /// No temporary file anywhere.
    fn tidy(&self) -> Result<(), String> {
        let left: Vec<_> = tree(self.cli.root()).into_keys().filter(|path| is_temp(path)).collect();
        need!(left.is_empty(), "temporary files stay: {left:?}");
        Ok(())
    }

    /// What has been changed is saved, and the copy holds.
    fn saved(&self, changed: &BTreeSet<PathBuf>) -> Result<Option<Listed>, String> {
        let mut runs = self.listed()?;
        need!(runs.len() <= 1, "more than one run: {runs:?}");
        for run in &runs {
            need!(run.state != "unreadable", "the run cannot be read");
            self.run(&["backup".to_owned(), "verify".to_owned(), run.id.clone()])?;
        }
        let run = runs.pop();
        if self.verb.saves {
            let paths = run.as_ref().map(|run| run.paths.clone()).unwrap_or_default();
            need!(changed.is_subset(&paths), "changed {changed:?}, saved {paths:?}");
        }
        Ok(run.filter(|run| !run.paths.is_empty()))
    }

    /// Both ways on from here: back to the old files, and on to the new ones.
    fn recovers(&self, run: Option<&Listed>, back_first: bool) -> Result<(), String> {
        if back_first && let Some(run) = run {
            self.back(run)?;
            let now = self.files();
            need!(now == self.old, "restored, the files are not the old ones: {:?}", now.keys());
            self.tidy()?;
        }
        if self.files() != self.new || self.words.iter().all(|word| word != "--into") {
            self.run(&self.words).map_err(|why| format!("the next run: {why}"))?;
        } else {
            // A file that is new is not made again; any other run cleans up as well.
            self.run(&words("prune --keep 99 ."))?;
        }
        let now = self.files();
        need!(now == self.new, "after the next run the files are not the new ones: {:?}", now.keys());
        self.tidy().map_err(|why| format!("after the next run {why}"))?;
        self.run(&words("backup verify"))?;
        let empty: Vec<_> = self.listed()?.into_iter().filter(|run| run.paths.is_empty()).collect();
        need!(empty.is_empty(), "the next run leaves runs that saved nothing: {empty:?}");
        if !back_first && let Some(run) = run {
            self.back(run)?;
            let now = self.files();
            for path in &run.paths {
                need!(now.get(path) == self.old.get(path), "{} is not restored after the next run", path.display());
            }
        }
        Ok(())
    }

    fn back(&self, run: &Listed) -> Result<(), String> {
        self.run(&["restore".to_owned(), run.id.clone()]).map(drop)
    }

    fn after_kill(&self) -> Result<Option<Listed>, String> {
        self.saved(&self.whole(true)?)
    }

    /// After a call that failed: what the exit code and the message say is so.
    fn after_fault(&self, traced: &Traced, error: &str) -> Result<Option<Listed>, String> {
        let changed = self.whole(false)?;
        self.tidy()?;
        let run = self.saved(&changed)?;
        let (done, said) = (self.files() == self.new, traced.stderr.trim_end());
        match traced.code {
            Some(0) => {
                need!(done, "exit code 0, and not all is done");
                let complete = run.as_ref().is_some_and(|run| run.state == "complete");
                need!(complete || !self.verb.saves, "exit code 0, and the run is {run:?}");
                let undo = run.as_ref().is_none_or(|run| self.names_undo(&traced.stdout, &run.id));
                need!(undo, "exit code 0, and nothing is said to undo it: {}", traced.stdout);
                need!(self.verb.changes || self.cli.runs().len() == 1, "exit code 0, and the run is still there");
                return Ok(run);
            }
            Some(3) => {}
            Some(4) => {
                let told = said.contains("the change is in place");
                need!(changed.is_empty() || told, "exit code 4, and {changed:?} are changed: {said}");
            }
            code => return Err(format!("exit code {code:?}: {said}")),
        }
        let names_it = ERRORS.iter().any(|(name, text)| *name == error && said.contains(text));
        // The standard library says of a folder that is there and cannot be looked at that it is there.
        let names_it = names_it || said.contains("cannot make the backup store: File exists");
        need!(names_it, "the message does not say {error}: {said}");
        need!(said.lines().all(|line| line.starts_with("jlfix: ")), "no message of ours: {said}");
        // Nothing that was changed is without a way back that the user is told.
        if let Some(run) = &run
            && self.verb.changes
            && !changed.is_empty()
        {
            let all = format!("{}{said}", traced.stdout);
            need!(self.names_undo(&all, &run.id), "no way back is told: {all}");
        }
        Ok(run)
    }

    /// True if the text names the command that undoes the run.
    fn names_undo(&self, text: &str, id: &str) -> bool {
        let plain = match self.words.first().map(String::as_str) {
            Some("restore") if self.words.len() == 1 => "restore --redo",
            Some("restore") if self.words[1] == "--redo" => " restore",
            _ => "",
        };
        text.contains(&format!("restore {id}")) || (!plain.is_empty() && text.contains(plain))
    }

    fn strike(&self, call: &Call, blow: Blow) -> Result<(), String> {
        self.reset(&self.start);
        let traced = strace::run(&self.cli, &self.words, Some((call, blow)), &[]);
        // An undo that was killed when it was complete is one: the next undo goes on from there.
        let is_complete_undo = self.words == ["restore"] && self.listed()?.iter().any(|run| run.state == "complete");
        if matches!(blow, Blow::Kill) && self.verb.saves && !is_complete_undo {
            let changed = self.whole(true)?;
            let then = tree(self.cli.root());
            self.plain_restore(&changed).map_err(|why| format!("plain restore: {why}"))?;
            self.reset(&then);
        }
        // An undo and a redo go by the history: after one of them the same words do another thing.
        if self.words[0] == "restore" && self.words.get(1).is_none_or(|word| word == "--redo") {
            return match blow {
                Blow::Kill => self.after_kill().map(drop),
                Blow::Fail(error) => self.after_fault(&traced, error).map(drop),
            };
        }
        let run = match blow {
            Blow::Kill => self.after_kill()?,
            Blow::Fail(error) => {
                self.after_fault(&traced, error).map_err(|why| format!("{why} [{}]", traced.stderr))?
            }
        };
        if is_full() {
            let then = tree(self.cli.root());
            self.recovers(run.as_ref(), false).map_err(|why| format!("on, then back: {why}"))?;
            self.reset(&then);
        }
        self.recovers(run.as_ref(), true)
    }
}

/// Strikes a verb at each of its calls.
fn nothing_is_lost(verb: Verb) {
    if let Some(why) = strace::unusable() {
        skip(why);
        return;
    }
    let command = verb.name.split(' ').next().unwrap();
    if Cli::new().run_words([command, "--help"]).code != 0 {
        skip(format_args!("there is no {command} yet"));
        return;
    }
    let scene = Scene::new(verb);
    // A file that is opened for reading changes nothing: what a kill there leaves, the kill at the next call leaves too.
    let writes = |call: &&Call| call.name != "openat" || call.line.contains("O_CREAT");
    let mut blows: Vec<_> = scene.calls.iter().filter(writes).map(|call| (call, Blow::Kill)).collect();
    for (place, call) in scene.calls.iter().enumerate() {
        let errors = ERRORS.iter().enumerate().filter(|(n, _)| is_full() || place % ERRORS.len() == *n);
        blows.extend(errors.map(|(_, (error, _))| (call, Blow::Fail(error))));
    }
    if is_full() {
        blows.extend(scene.looks.iter().map(|call| (call, Blow::Fail("EIO"))));
    }
    let mut count = Count::default();
    for (call, blow) in blows {
        match blow {
            Blow::Kill => count.kills += 1,
            Blow::Fail(_) => count.faults += 1,
        }
        if let Err(why) = scene.strike(call, blow) {
            count.violations.push(format!("{blow:?} at {} number {}: {}\n    {why}", call.name, call.nth, call.line));
        }
    }
    println!(
        "{}: {} calls, {} kills, {} faults, {} violations",
        scene.verb.name,
        scene.calls.len(),
        count.kills,
        count.faults,
        count.violations.len()
    );
    assert!(count.violations.is_empty(), "{}", count.violations.join("\n"));
}

#[test]
fn prune_loses_nothing_wherever_it_is_killed_or_fails() {
    nothing_is_lost(PRUNE);
}

#[test]
fn prune_without_a_backup_leaves_whole_files_wherever_it_is_killed_or_fails() {
    nothing_is_lost(PRUNE_WITHOUT_BACKUP);
}

#[test]
fn delete_loses_nothing_wherever_it_is_killed_or_fails() {
    nothing_is_lost(DELETE);
}

#[test]
fn restore_loses_nothing_wherever_it_is_killed_or_fails() {
    nothing_is_lost(RESTORE);
}

#[test]
fn prune_after_a_change_loses_nothing_wherever_it_is_killed_or_fails() {
    nothing_is_lost(PRUNE_AFTER_A_CHANGE);
}

#[test]
fn an_undo_loses_nothing_wherever_it_is_killed_or_fails() {
    nothing_is_lost(UNDO);
}

#[test]
fn a_redo_loses_nothing_wherever_it_is_killed_or_fails() {
    nothing_is_lost(REDO);
}

#[test]
fn repair_loses_nothing_wherever_it_is_killed_or_fails() {
    nothing_is_lost(REPAIR);
}

#[test]
fn merge_loses_nothing_wherever_it_is_killed_or_fails() {
    nothing_is_lost(MERGE);
}

#[test]
fn merge_into_a_new_file_loses_nothing_wherever_it_is_killed_or_fails() {
    nothing_is_lost(MERGE_INTO_A_NEW_FILE);
}

#[test]
fn dropping_a_backup_harms_no_file_and_no_other_backup() {
    nothing_is_lost(DROP);
}
