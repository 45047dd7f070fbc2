//! What the store promises of a file beyond its content, and what it refuses to touch: links, devices, what is not to be
//! written to; as the system at hand has them.

use crate::support::place;
#[cfg(windows)]
use crate::support::start;

use std::{fs, process::Command};

use jlfix::{
    error::Error,
    store::{Decision, Options, change, delete},
};
use place::{NAME, Place, write};

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

    use jlfix::error::Refusal;
    use jlfix::store::backup;

    use super::place::names;
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
        ffi::{OsStr, OsString},
        os::windows::{
            ffi::OsStringExt,
            fs::{MetadataExt, OpenOptionsExt},
        },
        path::Path,
    };

    use super::start::start;
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
                crate::support::skip::skip(format_args!("the file system does not take the name {name:?} ({e})"));
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
