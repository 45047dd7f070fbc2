//! `restore --all-users`, with profiles that are made up in the registry of Wine.

use crate::support::skip::skip;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::os::is_wine;
use crate::support::build::ListBuilder;
use crate::support::cli::{Cli, NOTEPAD};
use crate::support::start::start;

/// A profile with one jump list and a store in which a prune of that list is saved.
struct User {
    key: String,
    list: PathBuf,
    store: PathBuf,
}

impl User {
    fn new(cli: &Cli, name: &str, sid: &str) -> Self {
        let folder = cli.path(name);
        let lists = folder.join(r"AppData\Roaming\Microsoft\Windows\Recent\AutomaticDestinations");
        fs::create_dir_all(&lists).unwrap();
        let list = lists.join(NOTEPAD);
        fs::write(&list, ListBuilder::files(4, 9).build()).unwrap();
        let store = folder.join(r"AppData\Local\jlfix\backups");
        let key = format!(r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\ProfileList\{sid}");
        let folder = folder.to_str().unwrap();
        let add = ["add", &key, "/v", "ProfileImagePath", "/t", "REG_EXPAND_SZ", "/d", folder, "/f"];
        assert!(start(|| Command::new("reg").args(add).stdout(Stdio::null()).status()).unwrap().success());
        Self { key, list, store }
    }

    fn prune(&self, cli: &Cli) {
        let mut command = cli.jlfix();
        command.env_remove("JLFIX_BACKUP_DIR").arg("prune").arg("--keep").arg("3").arg(&self.list);
        command.arg("--backup-dir").arg(&self.store);
        assert!(start(|| command.output()).unwrap().status.success());
        assert_ne!(fs::read(&self.list).unwrap(), ListBuilder::files(4, 9).build());
    }

    fn is_restored(&self) -> bool {
        fs::read(&self.list).unwrap() == ListBuilder::files(4, 9).build()
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = start(|| Command::new("reg").args(["delete", &self.key, "/f"]).stdout(Stdio::null()).status());
    }
}

#[test]
fn each_user_gets_the_last_change_undone_from_the_own_store() {
    if !is_wine() {
        skip("a real machine's registry is left alone");
        return;
    }
    let cli = Cli::new();
    let (anna, bob) = (User::new(&cli, "anna", "S-1-5-21-1-2-3-2001"), User::new(&cli, "bob", "S-1-5-21-1-2-3-2002"));
    for user in [&anna, &bob] {
        user.prune(&cli);
    }
    // A store names only files of its own user.
    let run = fs::read_dir(&anna.store).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    let manifest = run.unwrap().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let json = |path: &Path| path.to_str().unwrap().replace('\\', r"\\");
    assert!(text.contains(&json(&anna.list)), "{text}");
    fs::write(&manifest, text.replace(&json(&anna.list), &json(&bob.list))).unwrap();
    let out = cli.run("restore --all-users --force").exits(3);
    assert!(out.stderr.contains("not in the profile"), "{}", out.stderr);
    assert!(!anna.is_restored() && bob.is_restored());
    fs::write(&manifest, text).unwrap();
    cli.run("restore --all-users").exits(0).says(&["anna", "1 file restored", "restore --all-users --redo"]);
    assert!(anna.is_restored() && bob.is_restored());
    cli.run("restore --all-users --redo").exits(0);
    assert!(!anna.is_restored() && !bob.is_restored());
}
