//! Files and folders as somebody who means ill would lay them out: nothing outside is read, written or shown as it should
//! not be, and the other files are done all the same.

use crate::support;
use crate::support::skip::skip;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Command;

use jlfix::error::{Error, Refusal};
use jlfix::store::{Decision, OnBusy, Options, Store, change, delete};
use support::build::ListBuilder;
use support::cli::{AUTOMATIC, Cli, EXPLORER, NOTEPAD};

fn list() -> Vec<u8> {
    ListBuilder::files(4, 4).pin(1).build()
}

#[test]
fn whatever_a_file_is_called_it_is_pruned_restored_and_shown_without_harm() {
    let cli = Cli::new();
    let longest = "x".repeat(255 - 1 - AUTOMATIC.len());
    let stems = ["CON", "NUL", "..", "a\u{202e}gpj", "a\u{1b}[2J\u{7}", "a\nb", "-rf", "$(reboot)", "'\"", &longest];
    for stem in stems {
        cli.write(format!("{stem}.{AUTOMATIC}"), &list());
    }
    let before = cli.snapshot();
    let pruned = cli.run("prune --keep 1 . -v").clean();
    let refused = cli.run("prune --keep 1 --format json .").clean();
    for shown in [&pruned.stdout, &cli.run("scan .").stdout, &cli.run("backup list -v").clean().stdout] {
        let harmful = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
        assert!(!shown.contains(harmful), "{shown:?}");
        assert!(!shown.contains("a\nb"), "{shown:?}");
    }
    let names = refused.json();
    let raw = names["files"].as_array().unwrap().iter().any(|f| f["path"].as_str().unwrap().contains('\u{202e}'));
    assert!(raw, "raw in JSON: {names}");
    assert!(cli.snapshot().iter().all(|(path, now)| now.len() < before[path].len()));
    let runs = cli.runs();
    assert_eq!(runs.len(), 1);
    for entry in fs::read_dir(cli.store().join(&runs[0])).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)) && name.len() < 120, "{name:?}");
    }
    cli.run("restore").clean();
    assert_eq!(cli.snapshot(), before);
}

#[test]
fn links_in_a_folder_are_refused_by_name_and_the_plain_file_beside_them_is_done() {
    let cli = Cli::with(&[(NOTEPAD, list())]);
    let outside = cli.root().join("outside");
    fs::create_dir(&outside).unwrap();
    for name in ["aaaa", "bbbb", "cccc"] {
        fs::write(outside.join(format!("{name}.{AUTOMATIC}")), list()).unwrap();
    }
    symlink(outside.join(format!("aaaa.{AUTOMATIC}")), cli.path(format!("aaaa.{AUTOMATIC}"))).unwrap();
    fs::hard_link(outside.join(format!("bbbb.{AUTOMATIC}")), cli.path(format!("bbbb.{AUTOMATIC}"))).unwrap();
    symlink(&outside, cli.path("folder")).unwrap();
    for line in ["prune --keep 1 .", "delete --include-pinned ."] {
        let output = cli.run(line);
        assert!(matches!(output.code, 0 | 3), "{output:?}");
        assert!(output.stderr.contains("bbbb"), "{output:?}");
        assert!(output.stderr.lines().all(|line| line.starts_with("jlfix: ")), "{output:?}");
        for name in ["aaaa", "bbbb", "cccc"] {
            assert_eq!(fs::read(outside.join(format!("{name}.{AUTOMATIC}"))).unwrap(), list(), "{line}: {name}");
        }
    }
    assert!(!cli.path(NOTEPAD).exists(), "pruned, then deleted");
    assert_eq!(cli.runs().len(), 2);
}

#[test]
fn a_store_inside_the_folder_is_no_part_of_it() {
    let cli = Cli::with(&[(NOTEPAD, list()), (EXPLORER, ListBuilder::folders(4, 3).build())]);
    let before = cli.snapshot();
    let jlfix = |line: &str| cli.run(&format!("{line} --backup-dir backups"));
    jlfix("prune --keep 1 .").clean();
    let files = |line: &str| jlfix(line).json()["files"].as_array().unwrap().len();
    assert_eq!(files("scan --format json ."), 2);
    assert_eq!(files("prune --keep 1 --format json ."), 2);
    let saved = |n: usize| {
        let mut runs: Vec<_> = fs::read_dir(cli.path("backups")).unwrap().map(|run| run.unwrap().path()).collect();
        runs.retain(|run| run.is_dir());
        assert_eq!(runs.len(), n);
        runs.sort();
        runs.remove(0)
    };
    let first = saved(1);
    let stored = first.join(format!("0001-{NOTEPAD}.bak"));
    // Even under a name that is searched for, it is the store's.
    fs::write(first.join(NOTEPAD), list()).unwrap();
    for line in ["prune --keep 0 .", "delete --include-pinned ."] {
        let output = jlfix(line);
        assert!(output.code == 3 && output.stderr.contains("backup store"), "{output:?}");
        assert_eq!(fs::read(first.join(NOTEPAD)).unwrap(), list());
        assert!(stored.exists());
    }
    fs::remove_file(first.join(NOTEPAD)).unwrap();
    let id = first.file_name().unwrap().to_str().unwrap();
    jlfix(&format!("restore {id}")).clean();
    let now: Vec<_> = cli.snapshot().into_iter().filter(|(path, _)| before.contains_key(path)).collect();
    assert_eq!(now, before.into_iter().collect::<Vec<_>>());
}

#[test]
fn a_read_only_file_is_changed_and_stays_read_only() {
    let cli = Cli::with(&[(NOTEPAD, list())]);
    fs::set_permissions(cli.path(NOTEPAD), fs::Permissions::from_mode(0o444)).unwrap();
    cli.run("prune --keep 1 .").clean();
    assert!(cli.read(NOTEPAD).len() < list().len());
    assert_eq!(fs::metadata(cli.path(NOTEPAD)).unwrap().mode() & 0o777, 0o444);
    cli.run("restore").clean();
    assert_eq!((cli.read(NOTEPAD), fs::metadata(cli.path(NOTEPAD)).unwrap().mode() & 0o777), (list(), 0o444));
}

/// Makes a file or folder immutable as long as it lives, where the system lets us.
#[cfg(target_os = "linux")]
struct Immutable(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl Immutable {
    fn new(path: std::path::PathBuf) -> Option<Self> {
        let done = Command::new("chattr").arg("+i").arg(&path).output().is_ok_and(|output| output.status.success());
        done.then_some(Self(path))
    }
}

#[cfg(target_os = "linux")]
impl Drop for Immutable {
    fn drop(&mut self) {
        let _ = Command::new("chattr").arg("-i").arg(&self.0).status();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_immutable_file_or_folder_is_told_and_nothing_is_left_behind() {
    let cli = Cli::with(&[(NOTEPAD, list()), (EXPLORER, list())]);
    let before = cli.snapshot();
    let Some(file) = Immutable::new(cli.path(NOTEPAD)) else {
        skip("nothing can be made immutable here");
        return;
    };
    let output = cli.run("prune --keep 1 .").exits(3).complains(&[NOTEPAD, "not permitted"]);
    assert!(output.stdout.contains("1 file pruned, 1 failed"), "{output:?}");
    assert_eq!(cli.read(NOTEPAD), list());
    cli.run("restore").clean();
    drop(file);
    let folder = Immutable::new(cli.files());
    for line in ["prune --keep 1 .", "delete --include-pinned ."] {
        let output = cli.run(line).exits(4);
        assert!(output.stderr.contains("not permitted"), "{output:?}");
    }
    drop(folder);
    assert_eq!(cli.snapshot(), before, "the files are as they were, and nothing is beside them");
    assert_eq!(cli.runs().len(), 2, "a prune and its undoing; what failed leaves no run");
}

#[test]
fn a_hard_link_that_appears_while_the_program_runs_is_refused() {
    let cli = Cli::with(&[(NOTEPAD, list())]);
    let (path, other) = (cli.path(NOTEPAD), cli.root().join("other"));
    let store = Store::open(cli.store()).unwrap();
    let mut run = store.begin("prune", OnBusy::Fail).unwrap();
    let options = Options::default();
    let linked = change(&path, &options, Some(&mut run), |_| {
        fs::hard_link(&path, &other).unwrap();
        Ok(Decision::Write(b"new".to_vec().into()))
    });
    assert!(matches!(linked, Err(Error::Refused { reason: Refusal::HardLinks(2), .. })), "{linked:?}");
    fs::remove_file(&other).unwrap();
    let deleted = delete(&path, &options, Some(&mut run), |_| {
        fs::hard_link(&path, &other).unwrap();
        Ok(())
    });
    assert!(matches!(deleted, Err(Error::Refused { reason: Refusal::HardLinks(2), .. })), "{deleted:?}");
    assert_eq!((fs::read(&path).unwrap(), fs::read(&other).unwrap()), (list(), list()));
    assert_eq!(run.finish().unwrap(), None);
}

#[test]
fn a_link_in_the_store_is_not_followed() {
    let cli = Cli::with(&[(NOTEPAD, list())]);
    cli.run("prune --keep 1 .").clean();
    let pruned = cli.read(NOTEPAD);
    let run = cli.store().join(&cli.runs()[0]);
    let (stored, away) = (run.join(format!("0001-{NOTEPAD}.bak")), cli.root().join("away"));
    // The saved file, then the whole run, lies elsewhere, with the right content.
    fs::rename(&stored, &away).unwrap();
    symlink(&away, &stored).unwrap();
    cli.run("restore").exits(4);
    cli.run("backup verify").exits(1);
    fs::remove_file(&stored).unwrap();
    fs::rename(&away, &stored).unwrap();
    fs::rename(&run, &away).unwrap();
    symlink(&away, &run).unwrap();
    cli.run("restore").exits(4);
    cli.run(&format!("restore {}", run.file_name().unwrap().to_str().unwrap())).exits(4);
    cli.run(&format!("backup drop {}", run.file_name().unwrap().to_str().unwrap())).exits(4);
    assert_eq!(cli.read(NOTEPAD), pruned);
    assert_eq!(fs::read_dir(&away).unwrap().count(), 2, "what it leads to is all there");
    fs::remove_file(&run).unwrap();
    fs::rename(&away, &run).unwrap();
    cli.run("restore").clean();
    assert_eq!(cli.read(NOTEPAD), list());
}

/// A store with one prune, and the folder of its run.
fn store_with_a_prune() -> (Cli, std::path::PathBuf) {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 9).build())]);
    cli.run("prune --keep 3 .").clean();
    let run = cli.store().join(&cli.runs()[0]);
    (cli, run)
}

#[test]
fn a_store_that_others_can_write_to_is_refused_with_the_command_that_corrects_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let (cli, run) = store_with_a_prune();
    let before = cli.snapshot();
    let copy =
        std::fs::read_dir(&run).unwrap().map(|file| file.unwrap().path()).find(|path| path.ends_with("manifest.json"));
    for (path, good) in [(cli.store(), 0o700), (run, 0o700), (copy.unwrap(), 0o600)] {
        mode(&path, 0o777);
        let out = cli.run("restore").exits(4);
        assert!(out.stderr.contains("others can write to it (mode 777)"), "{}", out.stderr);
        assert!(out.stderr.contains(&format!("chmod go-w {}", path.display())), "{}", out.stderr);
        assert_eq!(cli.snapshot(), before);
        // Copies in a folder of the user's choice are always allowed.
        cli.run("restore --to ../copies").exits(0);
        mode(&path, good);
    }
    mode(&cli.store(), 0o777);
    cli.run("restore --trust-store").clean();
}

#[test]
fn a_store_that_belongs_to_somebody_else_is_refused() {
    let (cli, run) = store_with_a_prune();
    // Only root can give a file away.
    if std::os::unix::fs::chown(&run, Some(12_345), None).is_err() {
        skip("needs root");
        return;
    }
    let before = cli.snapshot();
    cli.run("restore").exits(4);
    let id = cli.runs()[0].clone();
    cli.run(&format!("restore {id}")).exits(4).complains(&["it belongs to user 12345", "chown"]);
    assert_eq!(cli.snapshot(), before);
}

#[test]
fn a_manifest_writes_no_file_that_is_no_jump_list() {
    let (cli, run) = store_with_a_prune();
    let text = cli.write("notes/important.txt", b"mine");
    let manifest = run.join("manifest.json");
    let edited = std::fs::read_to_string(&manifest).unwrap();
    let path = cli.path(NOTEPAD).canonicalize().unwrap();
    std::fs::write(&manifest, edited.replace(path.to_str().unwrap(), text.to_str().unwrap())).unwrap();
    let before = cli.snapshot();
    let id = cli.runs()[0].clone();
    for command in ["restore --force".to_owned(), format!("restore {id}")] {
        let out = cli.run(&command).exits(4);
        assert!(out.stderr.contains("not a jump list"), "{}", out.stderr);
        assert_eq!(cli.snapshot(), before);
    }
}

#[test]
fn a_manifest_makes_no_file_of_another_name_even_from_a_saved_jump_list() {
    let (cli, run) = store_with_a_prune();
    let manifest = run.join("manifest.json");
    let edited = std::fs::read_to_string(&manifest).unwrap();
    let path = cli.path(NOTEPAD).canonicalize().unwrap();
    let other = path.with_file_name("new.desktop");
    std::fs::write(&manifest, edited.replace(path.to_str().unwrap(), other.to_str().unwrap())).unwrap();
    let before = cli.snapshot();
    let id = cli.runs()[0].clone();
    for command in ["restore --force".to_owned(), format!("restore {id}"), format!("restore {id} --dry-run")] {
        cli.run(&command).exits(4).complains(&["not a jump list", "--trust-store"]);
        assert_eq!(cli.snapshot(), before);
    }
    // The user may know better.
    cli.run(&format!("restore {id} --trust-store")).clean();
    assert_eq!(std::fs::read(other).unwrap(), ListBuilder::files(4, 9).build());
}

#[test]
fn a_deleted_list_of_another_name_comes_back_by_the_printed_command() {
    let cli = Cli::with(&[("copy.bin", ListBuilder::files(4, 9).build())]);
    let before = cli.snapshot();
    let out = cli.run("delete copy.bin").clean();
    assert!(!cli.path("copy.bin").exists());
    let undo = out.stdout.lines().last().unwrap().trim();
    let words = undo.split_once(" restore ").unwrap().1;
    cli.run(&format!("restore {words}")).clean();
    assert_eq!(cli.snapshot(), before);
}

#[test]
fn nothing_is_changed_with_a_store_that_others_can_write_to() {
    use std::os::unix::fs::PermissionsExt as _;
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 9).build())]);
    std::fs::create_dir_all(cli.store()).unwrap();
    std::fs::set_permissions(cli.store(), std::fs::Permissions::from_mode(0o770)).unwrap();
    let before = cli.snapshot();
    for command in ["prune --keep 3 .", "delete .", "backup create ."] {
        cli.run(command).exits(4).complains(&["others can write to it (mode 770)", "chmod go-w"]);
        assert_eq!(cli.snapshot(), before);
    }
    cli.run("prune --keep 3 . --trust-store").clean();
}

#[test]
fn an_access_list_of_the_original_is_kept_in_the_manifest_and_comes_back() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 9).build())]);
    let path = cli.path(NOTEPAD);
    // Version 2: owner rw, user 12345 rw, group r, mask rw, others none.
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 6, 12_345), (4, 4, u32::MAX), (0x10, 6, u32::MAX), (0x20, 0, u32::MAX)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend(tag.to_le_bytes().into_iter().chain(rights.to_le_bytes()).chain(id.to_le_bytes()));
    }
    if xattr::set(&path, "system.posix_acl_access", &list).is_err() {
        skip("the file system keeps no access lists");
        return;
    }
    cli.run("delete .").clean();
    cli.run("restore").clean();
    assert_eq!(xattr::get(&path, "system.posix_acl_access").unwrap(), Some(list));
}

#[test]
fn owner_mode_and_attributes_of_a_deleted_list_come_back() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 9).build())]);
    let path = cli.path(NOTEPAD);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let root = std::os::unix::fs::chown(&path, Some(12_345), Some(12_346)).is_ok();
    let attributes = xattr::set(&path, "user.tag", b"kept").is_ok();
    cli.run("delete .").clean();
    cli.run("restore").clean();
    let found = std::fs::metadata(&path).unwrap();
    assert_eq!(found.mode() & 0o777, 0o640);
    assert!(!root || (found.uid(), found.gid()) == (12_345, 12_346));
    assert!(!attributes || xattr::get(&path, "user.tag").unwrap().as_deref() == Some(b"kept"));
}
