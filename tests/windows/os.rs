//! What only Windows can show of a changed file: attributes, other processes' handles, links, names.
//!
//! Under Wine too, but for what Wine cannot do: then a test says that it skips, and why.

use crate::support::skip::skip;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use jlfix::error::{Error, Refusal};
use jlfix::os;
use jlfix::store::{Decision, OnBusy, Options, Outcome, Store, change, restore};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_ARCHIVE, FILE_ATTRIBUTE_HIDDEN, FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_SYSTEM, FILE_SHARE_DELETE,
    FILE_SHARE_READ, FILE_SHARE_WRITE, GetShortPathNameW, SetFileAttributesW,
};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};

use crate::support::start;
use start::start;

const NAME: &str = "f01b4d95cf55d32a.automaticDestinations-ms";
const OWN_ATTRIBUTES: u32 =
    FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM | FILE_ATTRIBUTE_ARCHIVE;

/// A folder for files and a store beside it.
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

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join("files").join(name)
    }

    fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, "old").unwrap();
        path
    }

    /// Changes the file with a backup, restores it from there, and says what it held in between.
    fn change_and_restore(&self, path: &Path, look: impl Fn(&Path)) {
        let mut run = self.store.begin("prune", OnBusy::Fail).unwrap();
        change(path, &Options::default(), Some(&mut run), |_| Ok(Decision::Write(b"new!".to_vec().into()))).unwrap();
        let manifest = self.store.load(&run.finish().unwrap().unwrap()).unwrap();
        assert_eq!(fs::read(path).unwrap(), b"new!");
        look(path);

        let mut run = self.store.begin("restore", OnBusy::Fail).unwrap();
        let record = &manifest.files[0];
        let outcome =
            restore(&self.store, &manifest.id, record, &Options::default().any_file(true), Some(&mut run)).unwrap();
        run.finish().unwrap();
        assert_eq!(outcome, Outcome::Written { before: Some(4), after: 3 });
        assert_eq!(fs::read(path).unwrap(), b"old");
        look(path);
        self.assert_alone(path);
    }

    /// Nothing of ours may lie beside the file.
    fn assert_alone(&self, path: &Path) {
        let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, [path.file_name().unwrap()]);
    }
}

fn write_new(path: &Path) -> Result<Outcome, Error> {
    change(path, &Options::default(), None, |_| Ok(Decision::Write(b"new!".to_vec().into())))
}

fn refusal(path: &Path) -> Refusal {
    match write_new(path) {
        Err(Error::Refused { reason, .. }) => reason,
        other => panic!("{}: {other:?}", path.display()),
    }
}

fn wide(text: &OsStr) -> Vec<u16> {
    text.encode_wide().chain([0]).collect()
}

fn set_attributes(path: &Path, attributes: u32) {
    let path = wide(path.as_os_str());
    // SAFETY: the path ends in a zero and outlives the call.
    assert_ne!(unsafe { SetFileAttributesW(path.as_ptr(), attributes) }, 0);
}

fn attributes(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().file_attributes() & OWN_ATTRIBUTES
}

pub(crate) fn is_wine() -> bool {
    // SAFETY: both names end in a zero; ntdll is in every process.
    unsafe {
        GetProcAddress(GetModuleHandleA(c"ntdll.dll".as_ptr().cast()), c"wine_get_version".as_ptr().cast()).is_some()
    }
}

/// Another process that has a file open, until this is dropped.
struct Holder {
    child: Child,
    release: Option<ChildStdin>,
}

impl Holder {
    /// `share` as FILE_SHARE_ bits.
    fn of(path: &Path, share: u32) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "os::hold_a_file_for_another_test", "--nocapture"]);
        command.env("JLFIX_TEST_HOLD", path).env("JLFIX_TEST_SHARE", share.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = start(|| command.spawn()).unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.ends_with("holding")), "the other process has the file");
        // Nothing reads on, and the child's last lines have to go somewhere.
        std::thread::spawn(move || lines.for_each(drop));
        Self { release: child.stdin.take(), child }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.release.take());
        self.child.wait().unwrap();
    }
}

#[test]
#[ignore = "run by other tests, as a process of its own"]
fn hold_a_file_for_another_test() {
    let Some(path) = std::env::var_os("JLFIX_TEST_HOLD") else { return };
    let share = std::env::var("JLFIX_TEST_SHARE").unwrap().parse().unwrap();
    let _file = OpenOptions::new().read(true).write(true).share_mode(share).open(path).unwrap();
    println!("holding");
    std::io::stdout().flush().unwrap();
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
}

#[test]
fn a_changed_and_restored_file_keeps_its_attributes() {
    let place = Place::new();
    for own in [
        FILE_ATTRIBUTE_ARCHIVE,
        FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM,
        FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_ARCHIVE | FILE_ATTRIBUTE_READONLY,
        FILE_ATTRIBUTE_READONLY,
    ] {
        let path = place.file(NAME);
        set_attributes(&path, own);
        // Wine gives every file the archive bit.
        let before = attributes(&path);
        assert_eq!(before & !FILE_ATTRIBUTE_ARCHIVE, own & !FILE_ATTRIBUTE_ARCHIVE);
        place.change_and_restore(&path, |path| assert_eq!(attributes(path), before, "of {own:#x}"));
        set_attributes(&path, FILE_ATTRIBUTE_ARCHIVE);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_file_that_another_process_holds_is_told_and_left_as_it_is() {
    let place = Place::new();
    let path = place.file(NAME);
    for share in [0, FILE_SHARE_READ] {
        let holder = Holder::of(&path, share);
        match write_new(&path) {
            Err(Error::InUse { path: told, waited_ms }) => {
                assert_eq!(told, path);
                assert!(waited_ms >= 2000, "waited {waited_ms} ms");
            }
            other => panic!("shared {share}: {other:?}"),
        }
        drop(holder);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        place.assert_alone(&path);
    }
}

#[test]
fn a_file_that_another_process_lets_go_of_meanwhile_is_changed() {
    let place = Place::new();
    let path = place.file(NAME);
    let holder = Holder::of(&path, 0);
    let releasing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(holder);
    });
    assert_eq!(write_new(&path).unwrap(), Outcome::Written { before: Some(3), after: 4 });
    releasing.join().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new!");
    place.assert_alone(&path);
}

#[test]
fn a_file_that_another_process_writes_to_can_be_looked_at() {
    let place = Place::new();
    let path = place.file(NAME);
    let _holder = Holder::of(&path, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE);
    assert_eq!(os::read_whole(&path, &jlfix::limits::Limits::default()).unwrap(), b"old");
}

#[test]
fn nobody_can_write_to_a_file_between_the_last_look_and_the_replacing() {
    let place = Place::new();
    let path = place.file(NAME);
    let (folder, name) = os::Folder::of(&path).unwrap();
    let held = folder.hold(&name).unwrap().unwrap();
    let writing = OpenOptions::new().write(true).open(&path);
    assert_eq!(writing.unwrap_err().raw_os_error(), Some(32), "a sharing violation");
    drop(held);
    File::options().write(true).open(&path).unwrap();
}

#[test]
fn a_file_with_two_names_is_refused_under_both() {
    let place = Place::new();
    let path = place.file(NAME);
    let other = place.path("other");
    fs::hard_link(&path, &other).unwrap();
    assert_eq!(refusal(&path), Refusal::HardLinks(2));
    assert_eq!(refusal(&other), Refusal::HardLinks(2));
    fs::remove_file(&other).unwrap();
    write_new(&path).unwrap();
}

#[test]
fn a_symbolic_link_is_refused_and_what_it_points_to_stays() {
    let place = Place::new();
    let path = place.file(NAME);
    let link = place.path("link");
    let made = std::os::windows::fs::symlink_file(&path, &link);
    if made.is_err() || !fs::symlink_metadata(&link).is_ok_and(|found| found.is_symlink()) {
        skip(format_args!("no symbolic links here ({made:?})"));
        return;
    }
    assert_eq!(refusal(&link), Refusal::Symlink);
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

/// Makes a link to a folder as anyone may: a junction, or under Wine, which makes none, the symbolic link of the system
/// below.
fn junction(target: &Path, link: &Path) {
    if is_wine() {
        let unix = |path: &Path| {
            let out = start(|| Command::new("winepath").arg("-u").arg(path).output()).unwrap();
            String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
        };
        // There is no waiting for a process of the system below.
        let _ = start(|| Command::new(r"Z:\bin\ln").args(["-s", &unix(target), &unix(link)]).status());
        let made = (0..6000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            link.is_dir()
        });
        assert!(made, "{} is no folder after 30 s", link.display());
    } else {
        let command = ["/d", "/c", "mklink", "/J"];
        assert!(
            Command::new("cmd").args(command).arg(link).arg(target).stdout(Stdio::null()).status().unwrap().success()
        );
    }
}

#[test]
fn a_junction_is_no_file_and_a_restore_does_not_go_through_one() {
    let place = Place::new();
    let path = place.file(NAME);
    let link = place.dir.path().join("junction");
    junction(path.parent().unwrap(), &link);
    // Wine does not tell an open folder from a link to one.
    let expected = if is_wine() { Refusal::NotAFile("folder") } else { Refusal::ReparsePoint };
    assert_eq!(refusal(&link), expected);

    let recorded = Options::default().no_links(true);
    let outcome = change(&link.join(NAME), &recorded, None, |_| Ok(Decision::Write(b"new!".to_vec().into())));
    assert!(matches!(outcome, Err(Error::Refused { reason: Refusal::FolderMoved(_), .. })), "{outcome:?}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[test]
fn a_short_name_is_refused_as_it_would_cost_the_long_one() {
    let place = Place::new();
    let path = place.file(NAME);
    let long = wide(path.as_os_str());
    let mut short = [0; 1024];
    // SAFETY: the path ends in a zero, and `short` has the room that is told.
    let length = unsafe { GetShortPathNameW(long.as_ptr(), short.as_mut_ptr(), short.len() as u32) };
    let short = PathBuf::from(OsString::from_wide(&short[..length as usize]));
    if short.file_name() == path.file_name() || !short.is_file() {
        skip(format_args!("no short names here ({})", short.display()));
        return;
    }
    assert!(matches!(refusal(&short), Refusal::AlternateName(_)));
    place.assert_alone(&path);
}

/// A profile that is made up in the registry, in Wine's only.
struct MadeUpProfile(String);

impl MadeUpProfile {
    fn new(sid: &str, folder: &str) -> Self {
        let key = format!(r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\ProfileList\{sid}");
        let add = ["add", &key, "/v", "ProfileImagePath", "/t", "REG_EXPAND_SZ", "/d", folder, "/f"];
        assert!(start(|| Command::new("reg").args(add).stdout(Stdio::null()).status()).unwrap().success());
        Self(key)
    }
}

impl Drop for MadeUpProfile {
    fn drop(&mut self) {
        let _ = start(|| Command::new("reg").args(["delete", &self.0, "/f"]).stdout(Stdio::null()).status());
    }
}

#[test]
fn the_profiles_of_all_users_come_from_the_registry() {
    if !is_wine() {
        skip("a real machine's registry is left alone");
        return;
    }
    let place = Place::new();
    let plain = place.dir.path().to_str().unwrap();
    let _first = MadeUpProfile::new("S-1-5-21-1-2-3-1001", plain);
    let _second = MadeUpProfile::new("S-1-5-21-1-2-3-1002", r"%SystemDrive%\users\gone");
    let profiles = os::profiles().unwrap();
    let of = |sid: &str| profiles.iter().find(|profile| profile.sid == sid).map(|profile| profile.folder.clone());
    assert_eq!(of("S-1-5-21-1-2-3-1001"), Some(PathBuf::from(plain)));
    assert_eq!(of("S-1-5-21-1-2-3-1002"), Some(PathBuf::from(r"C:\users\gone")));
}
