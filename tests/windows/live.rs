//! What only a Windows has: the live user's lists, a file that another process holds, every user, the settings, and
//! names and attributes of its kind. It takes place in Wine alone: nobody's own lists and settings are touched.

use crate::ole;
use crate::support;
use crate::support::skip::skip;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jlfix::format::compound::looks_like_compound;
use support::build::ListBuilder;
use support::cli::{AUTOMATIC, CHROME, Cli, EXPLORER, NOTEPAD, Output, finish, samples};
use support::start::start;
use windows_registry::{CURRENT_USER, LOCAL_MACHINE};

const ADVANCED: &str = r"Software\Microsoft\Windows\CurrentVersion\Explorer\Advanced";
const POLICIES: &str = r"Software\Microsoft\Windows\CurrentVersion\Policies\Explorer";
const PROFILE_LIST: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion\ProfileList";

/// There is one live user.
static LIVE: Mutex<()> = Mutex::new(());

/// The live user's folder, empty, as long as this is kept, and a place to run the binary in.
struct Live {
    cli: Cli,
    recent: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

impl Live {
    /// None outside Wine.
    fn new() -> Option<Self> {
        if CURRENT_USER.open(r"Software\Wine").is_err() {
            skip("not in Wine");
            return None;
        }
        let alone = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = jlfix::os::recent_folder().unwrap().unwrap();
        let live = Self { cli: Cli::new(), recent, _alone: alone };
        live.clear();
        Some(live)
    }

    fn clear(&self) {
        for name in ["AutomaticDestinations", "CustomDestinations"] {
            let folder = self.recent.join(name);
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        let folder = if name.ends_with(AUTOMATIC) { "AutomaticDestinations" } else { "CustomDestinations" };
        self.recent.join(folder).join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files(&self.recent).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }

    /// The binary, with the live user's own surroundings but for the backup store.
    fn jlfix(&self, line: &str) -> Command {
        let mut command = self.cli.jlfix();
        for name in ["USERPROFILE", "APPDATA", "LOCALAPPDATA"] {
            command.env(name, std::env::var_os(name).unwrap());
        }
        command.args(line.split_whitespace());
        command
    }

    fn run(&self, line: &str) -> Output {
        finish(self.jlfix(line))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// Opens a file so that nobody else can.
fn hold(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).share_mode(0).open(path).unwrap()
}

#[test]
fn without_a_path_the_live_users_lists_are_scanned_pruned_and_restored() {
    let Some(live) = Live::new() else { return };
    live.run("scan").exits(0).says(&["There are no jump lists."]);
    for folder in ["AutomaticDestinations", "CustomDestinations"] {
        for path in files(&samples().join(folder)) {
            live.write(path.file_name().unwrap().to_str().unwrap(), &fs::read(&path).unwrap());
        }
    }
    let before = live.snapshot();
    let scan = live.run("scan").exits(1).says(&["slow   File Explorer", "custom"]);
    println!("{}", scan.stdout);
    live.run("check").says(&["files checked"]);
    let doctor = live.run("doctor");
    assert!(doctor.code < 2, "{doctor:?}");
    println!("{}", doctor.stdout);
    let pruned = live.run("prune --keep 3").clean();
    println!("{}", pruned.stdout);
    let mut streams = 0;
    let after = live.snapshot();
    for (path, bytes) in after.iter().filter(|(_, bytes)| looks_like_compound(bytes)) {
        assert!(bytes.len() <= before[path].len());
        streams += ole::assert_both_read_the_same(path);
    }
    assert!(after[&live.path(EXPLORER)].len() < 100_000);
    println!("ole32 and jlfix read {streams} streams of the pruned lists the same");
    let told = live.run("scan --format json").json();
    let most = told["files"].as_array().unwrap().iter().filter(|file| file["kind"] == "automatic");
    let unpinned =
        |file: &serde_json::Value| file["entries_count"].as_u64().unwrap() - file["pinned_count"].as_u64().unwrap();
    assert_eq!(most.map(unpinned).max(), Some(3));
    let restored = live.run("restore").clean();
    println!("{}", restored.stdout);
    assert_eq!(live.snapshot(), before);
    live.run("prune --keep 3 --app notepad").clean().says(&["1 file pruned\n"]);
    live.run("backup create").clean().says(&["saved"]);
}

#[test]
fn a_file_that_another_process_keeps_to_itself_is_told_and_the_others_are_done() {
    let Some(live) = Live::new() else { return };
    let list = ListBuilder::files(4, 30).build();
    let (held_path, other) = (live.write(EXPLORER, &list), live.write(NOTEPAD, &list));
    let held = hold(&held_path);
    let parts = ["in use by another process (Explorer?)", EXPLORER, "close it, or try again"];
    let started = Instant::now();
    live.run("prune --keep 3").exits(3).says(&["1 file pruned, 1 failed"]).complains(&parts);
    let waited = started.elapsed();
    println!("a held file is told after {:.1} s", waited.as_secs_f64());
    assert!(waited < Duration::from_secs(20), "{waited:?}, need about 2 s");
    assert!(fs::read(&other).unwrap().len() < list.len());
    live.run("scan").exits(3).complains(&parts);
    assert!(live.run("doctor").exits(1).stdout.contains("✗ 1 place could not be looked at"));
    drop(held);
    assert_eq!(fs::read(&held_path).unwrap(), list);
    live.run("prune --keep 3").clean().says(&["1 file pruned, 1 unchanged"]);
}

#[test]
fn a_file_that_is_let_go_of_in_time_is_done() {
    let Some(live) = Live::new() else { return };
    let list = ListBuilder::files(4, 30).build();
    let path = live.write(NOTEPAD, &list);
    let held = hold(&path);
    let mut command = live.jlfix("prune --keep 3");
    command.stdout(std::process::Stdio::piped());
    let pruning = start(|| command.spawn()).unwrap();
    std::thread::sleep(Duration::from_millis(1200));
    drop(held);
    let done = pruning.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert!(fs::read(&path).unwrap().len() < list.len());
}

/// Users of the machine, made up, gone when this is dropped.
struct Users(Vec<String>);

impl Users {
    fn add(&mut self, folder: &Path) {
        let sid = format!("S-1-5-21-1-2-3-{}", 9001 + self.0.len());
        let key = LOCAL_MACHINE.create(format!(r"{PROFILE_LIST}\{sid}")).unwrap();
        key.set_expand_string("ProfileImagePath", folder.to_str().unwrap()).unwrap();
        self.0.push(sid);
    }
}

impl Drop for Users {
    fn drop(&mut self) {
        for sid in &self.0 {
            let _ = LOCAL_MACHINE.remove_tree(format!(r"{PROFILE_LIST}\{sid}"));
        }
    }
}

#[test]
fn the_lists_of_every_user_are_scanned_and_who_is_left_out_is_named() {
    let Some(live) = Live::new() else { return };
    let list = ListBuilder::files(4, 3).build();
    live.write(NOTEPAD, &list);
    let recent = "AppData/Roaming/Microsoft/Windows/Recent";
    live.cli.write(format!("profiles/anna/{recent}/AutomaticDestinations/{EXPLORER}"), &list);
    live.cli.write(format!("profiles/eve/{recent}/AutomaticDestinations"), b"a file where a folder should be");
    live.cli.write("profiles/new/readme.txt", b"");
    let mut users = Users(Vec::new());
    for name in ["anna", "eve", "new", "deleted"] {
        users.add(&live.cli.path("profiles").join(name));
    }
    let out = live.run("scan --all-users --sort name --format json").exits(3).complains(&["eve: skipped: "]);
    let json = out.json();
    let told: Vec<&str> = json["files"].as_array().unwrap().iter().map(|file| file["user"].as_str().unwrap()).collect();
    let own = PathBuf::from(std::env::var_os("USERPROFILE").unwrap());
    let own = own.file_name().unwrap().to_str().unwrap();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.contains(&"anna") && told.contains(&own), "{told:?}");
    let table = live.run("scan --all-users").exits(3);
    assert!(table.stdout.starts_with("State  User "), "{}", table.stdout);
    println!("{}{}", table.stdout, table.stderr);
    live.run("scan --all-users .").exits(2);
}

/// A number of the current user's settings, as it was before when this is dropped.
struct Setting(&'static str, &'static str, Option<u32>);

impl Setting {
    fn keep(key: &'static str, name: &'static str) -> Self {
        let now = CURRENT_USER.open(key).and_then(|key| key.get_u32(name)).ok();
        let setting = Self(key, name, now);
        setting.set(None);
        setting
    }

    fn set(&self, value: Option<u32>) {
        let key = CURRENT_USER.create(self.0).unwrap();
        match value {
            Some(value) => key.set_u32(self.1, value).unwrap(),
            None => drop(key.remove_value(self.1)),
        }
    }

    fn get(&self) -> Option<u32> {
        CURRENT_USER.open(self.0).and_then(|key| key.get_u32(self.1)).ok()
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        self.set(self.2);
    }
}

fn check(live: &Live, id: &str) -> (String, String) {
    let json = live.run("doctor --format json").json();
    let check = json["checks"].as_array().unwrap().iter().find(|check| check["id"] == id).unwrap().clone();
    (check["state"].as_str().unwrap().to_owned(), check["found"].as_str().unwrap().to_owned())
}

#[test]
fn the_toggle_is_set_and_read_back_the_lists_are_saved_first_and_both_are_undone() {
    let Some(live) = Live::new() else { return };
    let toggle = Setting::keep(ADVANCED, "Start_TrackDocs");
    let list = ListBuilder::files(4, 30).build();
    let path = live.write(NOTEPAD, &list);
    live.run("tracking status").clean().says(&["recent items in jump lists: on"]);
    live.run("tracking on").clean().says(&["on already"]);
    assert_eq!(check(&live, "tracking").0, "fine");
    let off = live.run("tracking off").clean().says(&["1 list saved as ", "Undo it with:\n"]);
    println!("{}", off.stdout);
    assert_eq!(toggle.get(), Some(0));
    assert_eq!(check(&live, "tracking").0, "notice");
    assert_eq!(live.run("tracking status --format json").clean().json()["on"], false);
    live.run("tracking off").clean().says(&["off already"]);
    // As Windows does.
    fs::remove_file(&path).unwrap();
    let undo: Vec<&str> = off.stdout.lines().skip_while(|line| !line.starts_with("Undo")).skip(1).collect();
    for line in undo {
        // The program's own path stands before.
        let words = line.split_once("jlfix.exe").map_or(line, |(_, words)| words).trim_start_matches('"');
        live.run(words).clean();
    }
    assert_eq!(toggle.get(), Some(1));
    assert_eq!(fs::read(&path).unwrap(), list);

    // What cannot be saved keeps it from being turned off.
    let held = hold(&path);
    live.run("tracking off").exits(4);
    assert_eq!(toggle.get(), Some(1));
    drop(held);
    live.run("tracking off --no-backup").clean();
    assert_eq!(toggle.get(), Some(0));
}

#[test]
fn the_doctor_reads_policies_and_says_that_old_entries_stay() {
    let Some(live) = Live::new() else { return };
    live.write(NOTEPAD, &ListBuilder::files(4, 30).build());
    for (id, name) in [
        ("policy_no_recent_docs_history", "NoRecentDocsHistory"),
        ("policy_clear_recent_docs_on_exit", "ClearRecentDocsOnExit"),
        ("policy_no_recent_docs_menu", "NoRecentDocsMenu"),
    ] {
        let policy = Setting::keep(POLICIES, name);
        let (state, found) = check(&live, id);
        assert!(state == "fine" && found.contains("is not set"), "{found}");
        policy.set(Some(1));
        let (state, found) = check(&live, id);
        assert!(found.contains("is set (HKEY_CURRENT_USER)"), "{found}");
        assert_eq!(state, if name == "NoRecentDocsMenu" { "fine" } else { "notice" });
        assert!(name != "NoRecentDocsHistory" || found.contains("30 entries"), "{found}");
    }
    let items = Setting::keep(ADVANCED, "JumpListItems_Maximum");
    items.set(Some(42));
    assert!(check(&live, "jump_list_items").1.contains("up to 42 items"));
    let (state, found) = check(&live, "windows_build");
    assert!(state != "skipped" && found.contains("build "), "{found}");
}

#[test]
fn odd_names_long_paths_read_only_and_hidden_files_are_pruned_and_restored_as_they_were() {
    const READ_ONLY: u32 = 1;
    const HIDDEN: u32 = 2;
    let cli = Cli::new();
    let list = ListBuilder::files(4, 30).build();
    let mut odd = OsString::from_wide(&[0xD800, 0x78, 0xDC00]);
    odd.push(format!(".{AUTOMATIC}"));
    let long = [&*"d".repeat(80); 4].iter().collect::<PathBuf>().join(NOTEPAD);
    let verbatim = PathBuf::from(format!(r"\\?\{}", cli.files().display()));
    let mut files = vec![
        (verbatim.join(odd), 0),
        (verbatim.join(long), 0),
        (verbatim.join(EXPLORER), READ_ONLY),
        (verbatim.join(NOTEPAD), HIDDEN),
    ];
    assert!(files[1].0.as_os_str().len() > 260);
    files.retain(|(path, attributes)| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match OpenOptions::new().write(true).create_new(true).attributes(*attributes).open(path) {
            Ok(mut file) => std::io::Write::write_all(&mut file, &list).unwrap(),
            // Wine keeps names as UTF-8, which has no unpaired surrogates.
            Err(error) if path.to_str().is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                skip("no name with an unpaired surrogate here");
                return false;
            }
            Err(error) => panic!("{}: {error}", path.display()),
        }
        true
    });
    let own = |path: &PathBuf| fs::metadata(path).unwrap().file_attributes() & (READ_ONLY | HIDDEN);
    let (paths, attributes): (Vec<PathBuf>, Vec<u32>) = files.into_iter().unzip();
    assert_eq!(paths.iter().map(own).collect::<Vec<_>>(), attributes);
    let count = paths.len();
    let folder = cli.files();
    let words =
        |line: &str| cli.run_words(line.split(' ').map(OsString::from).chain([folder.clone().into_os_string()]));
    words("scan").clean().says(&[&format!("{count} files,")]);
    words("prune --keep 3").clean().says(&[&format!("{count} files pruned\n")]);
    for path in &paths {
        assert!(fs::read(path).unwrap().len() < list.len(), "{}", path.display());
    }
    assert_eq!(paths.iter().map(own).collect::<Vec<_>>(), attributes);
    cli.run("restore").clean().says(&[&format!("{count} files restored\n")]);
    for path in &paths {
        assert!(fs::read(path).unwrap() == list, "{}", path.display());
    }
    assert_eq!(paths.iter().map(own).collect::<Vec<_>>(), attributes);
}

#[test]
fn a_custom_list_is_found_live_and_left_alone_by_a_prune() {
    let Some(live) = Live::new() else { return };
    let bytes = fs::read(samples().join("CustomDestinations").join(CHROME)).unwrap();
    let path = live.write(CHROME, &bytes);
    live.run("scan").says(&["1 file,", "custom"]);
    live.run("prune --keep 0").exits(0).complains(&["1 custom list", "no automatic list"]);
    assert_eq!(fs::read(path).unwrap(), bytes);
}
