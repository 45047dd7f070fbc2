//! The front of the library: one type that owns a file, and what a program does with it.

use std::error::Error as _;
use std::fs;

use crate::support;

use jlfix::store::{Options, Outcome};
use jlfix::{Error, JumpList, Kind, LinkOwner, NotAJumpList, PlanError, PruneRules, RepairOptions, Store};
use support::build::{LinkBuilder, ListBuilder};

const NOTEPAD: &str = "samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms";

#[test]
fn a_list_opened_from_a_path_hands_out_entries_links_findings_and_cost() {
    let list = JumpList::open(NOTEPAD).unwrap();
    assert_eq!((list.kind(), list.entries().len(), list.links().count()), (Kind::Automatic, 24, 24));
    assert_eq!(list.app_id().unwrap().to_string(), "9b9cdc69c1c24e2b");
    assert_eq!(list.bytes(), fs::read(NOTEPAD).unwrap());
    assert!(list.findings().is_empty());
    assert_eq!(list.cost().unwrap().reads, 760);
    for (entry, link) in list.entries().zip(list.links()) {
        assert!(matches!(link.owner, LinkOwner::Entry(owner) if owner.dest.id == entry.dest.id));
        assert_eq!(link.target().unwrap(), entry.dest.path.to_string());
        assert_eq!(&list.bytes()[link.offset as usize..][..4], &link.bytes[..4]);
    }
}

#[test]
fn links_of_custom_lists_orphans_and_link_files_are_listed_with_their_owner() {
    let custom = JumpList::open("samples/CustomDestinations/1ced32d74a95c7bc.customDestinations-ms").unwrap();
    assert_eq!((custom.kind(), custom.entries().len()), (Kind::Custom, 0));
    assert!(custom.links().all(|link| matches!(link.owner, LinkOwner::Category(_)) && link.target().is_some()));
    assert!(custom.cost().is_none());
    assert!(matches!(custom.prune(&PruneRules::new().keep(1)), Err(PlanError::NotAnAutomaticList)));

    let orphan = JumpList::open("samples/damaged/orphan-link/9b9cdc69c1c24e2b.automaticDestinations-ms").unwrap();
    assert_eq!(orphan.links().filter(|link| matches!(link.owner, LinkOwner::None)).count(), 1);
    assert_eq!(orphan.links().count(), orphan.entries().len() + 1);

    let link = JumpList::from_bytes(LinkBuilder::file(r"C:\a.txt").build()).unwrap();
    assert_eq!((link.kind(), link.path(), link.app_id()), (Kind::Link, None, None));
    let only: Vec<_> = link.links().collect();
    assert!(
        matches!(&only[..], [link] if matches!(link.owner, LinkOwner::File) && link.target().unwrap() == r"C:\a.txt")
    );
}

#[test]
fn a_plan_is_applied_to_the_file_it_was_made_for_and_undone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("9b9cdc69c1c24e2b.automaticDestinations-ms");
    fs::copy(NOTEPAD, &path).unwrap();
    let store = Store::open(dir.path().join("backups")).unwrap();
    let list = JumpList::open(&path).unwrap();
    let plan = list.prune(&PruneRules::new().keep(5)).unwrap();
    let applied = store.apply(&list, &plan).unwrap();
    assert!(matches!(applied.outcome, Outcome::Written { .. }));
    assert_eq!(JumpList::open(&path).unwrap().entries().len(), 7);

    // The list in memory is no longer the file: nothing is overwritten.
    let after = fs::read(&path).unwrap();
    assert!(matches!(store.apply(&list, &plan), Err(Error::Changed { times: 1, .. })));
    assert_eq!(fs::read(&path).unwrap(), after);
    assert_eq!(store.list().unwrap().len(), 1);

    // A plan that changes nothing leaves no run.
    let small = JumpList::open(&path).unwrap();
    let same = store.apply(&small, &small.prune(&PruneRules::new().keep(5)).unwrap()).unwrap();
    assert_eq!((same.outcome, same.run), (Outcome::Unchanged, None));

    let run = store.load(&applied.run.unwrap()).unwrap();
    jlfix::store::restore(&store, &run.id, &run.files[0], &Options::default(), None).unwrap();
    assert_eq!(fs::read(&path).unwrap(), fs::read(NOTEPAD).unwrap());
}

#[test]
fn a_repair_is_applied_and_a_list_from_bytes_has_no_file_to_write_to() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("9b9cdc69c1c24e2b.automaticDestinations-ms");
    fs::copy("samples/damaged/wrong-count/9b9cdc69c1c24e2b.automaticDestinations-ms", &path).unwrap();
    let store = Store::open(dir.path().join("backups")).unwrap();
    let list = JumpList::open(&path).unwrap();
    let repair = list.repair(&RepairOptions::default()).unwrap().unwrap();
    store.apply(&list, &repair).unwrap();
    let repaired = JumpList::open(&path).unwrap();
    assert!(repaired.findings().is_empty());
    assert!(repaired.repair(&RepairOptions::default()).unwrap().is_none());

    let bytes = JumpList::from_bytes(list.bytes()).unwrap();
    assert!(matches!(store.apply(&bytes, &repair), Err(Error::Caller { .. })));
}

#[test]
fn deleted_entries_are_found_in_the_bytes_of_a_list() {
    let list = JumpList::open("samples/CustomDestinations/5d696d521de238c3.customDestinations-ms").unwrap();
    let deleted = list.deleted();
    assert!(deleted.is_complete() && !deleted.items().is_empty());
    assert!(JumpList::from_bytes(ListBuilder::files(4, 3).build()).unwrap().deleted().items().is_empty());
}

#[test]
fn errors_can_cross_threads_and_keep_their_source() {
    fn can_cross_threads<T: std::error::Error + Send + Sync + 'static>() {}
    can_cross_threads::<Error>();
    can_cross_threads::<PlanError>();
    can_cross_threads::<NotAJumpList>();
    can_cross_threads::<jlfix::scan::ScanError>();
    fn is_shared<T: Send + Sync>() {}
    is_shared::<JumpList>();

    let missing = JumpList::open("samples/none.automaticDestinations-ms").unwrap_err();
    assert!(missing.source().unwrap().downcast_ref::<std::io::Error>().is_some());
    let text = JumpList::open("samples/README.md").unwrap_err();
    assert!(text.source().unwrap().downcast_ref::<NotAJumpList>().is_some());
    let message = "not a jump list: need a compound file, custom destinations or a link, have 23 20 53 61 6d 70 6c 65";
    assert!(text.to_string().ends_with(message), "{text}");
    assert_eq!(
        JumpList::from_bytes([]).unwrap_err().to_string(),
        message.replace("23 20 53 61 6d 70 6c 65", "no bytes")
    );
}
