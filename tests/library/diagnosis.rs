//! One diagnosis: `repair` and `prune` act only on what `check` reports, and what `repair` can recover, `prune` never
//! loses. Held over healthy lists, the cases of public reports, and damaged copies of both, each from a seed.
//!
//! `JLFIX_MUTANTS=20000 cargo test --test library diagnosis -- --nocapture` tries more of them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use jlfix::format::compound::Compound;
use jlfix::format::link;
use jlfix::limits::Limits;
use jlfix::model::{AutomaticList, Code, Fix, Severity};
use jlfix::plan::{self, PlanError, PruneRules, RepairOptions};
use walkdir::WalkDir;

use crate::support::build::{Link, ListBuilder, NewEntry};
use crate::support::mutants::{Kind, Random};

/// Healthy lists: samples, built ones, cases, and the real lists where they are at hand.
fn originals() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = std::env::var_os("JLFIX_CORPUS").map_or_else(|| root.join("../shared/corpus"), Into::into);
    let mut lists = vec![
        ListBuilder::files(4, 12).pin(0).pin(7).build(),
        ListBuilder::files(1, 9).pin(8).build(),
        ListBuilder::folders(6, 15).ranked().pin(3).build(),
        ListBuilder::new(4).entry(NewEntry::url("https://example.org/a")).entry(NewEntry::folder(r"C:\a")).build(),
        ListBuilder::files(4, 3).edit(1, |entry| entry.link = Link::Missing).build(),
    ];
    for folder in [root.join("samples"), root.join("tests/cases"), corpus.join("jumplists")] {
        for file in WalkDir::new(folder).sort_by_file_name().into_iter().flatten() {
            let is_list = file.file_name().to_string_lossy().to_lowercase().ends_with(".automaticdestinations-ms");
            // The largest sample takes too long to damage hundreds of times.
            if is_list && file.metadata().is_ok_and(|metadata| metadata.len() < 200_000) {
                lists.push(fs::read(file.path()).unwrap());
            }
        }
    }
    assert!(lists.len() > 30, "{} lists", lists.len());
    lists
}

/// The originals, and `count` damaged copies of them.
fn each(count: usize, mut check: impl FnMut(&str, &[u8])) {
    let count = std::env::var("JLFIX_MUTANTS").map_or(count, |count| count.parse().unwrap());
    let originals = originals();
    for (number, original) in originals.iter().enumerate() {
        check(&format!("list {number}"), original);
    }
    for number in 0..count {
        let (at, kind) = (number % originals.len(), Kind::ALL[number / originals.len() % Kind::ALL.len()]);
        let mutant = kind.apply(&originals[at], &mut Random::new(4_711, number as u64));
        check(&format!("list {at}, {} {number}", kind.name()), &mutant);
    }
    println!("{} lists and {count} damaged copies", originals.len());
}

fn read(bytes: &[u8]) -> Option<Compound<'_>> {
    jlfix::salvage::read(bytes, &Limits::default()).ok()
}

/// The codes that `check` names `repair` for.
fn repairable(list: &AutomaticList<'_>) -> Vec<Code> {
    let findings = list.findings(Default::default()).into_iter();
    findings.filter(|finding| finding.fix == Some(Fix::Repair)).map(|finding| finding.code).collect()
}

/// Entries by id, path and object id.
fn identities(list: &AutomaticList<'_>) -> HashMap<(u64, String), usize> {
    let mut found = HashMap::new();
    for entry in &list.entries {
        *found.entry((entry.dest.id, entry.dest.path.to_string())).or_default() += 1;
    }
    found
}

#[test]
fn a_list_that_check_calls_clean_is_left_as_it_is_and_a_repaired_list_is_clean() {
    let (mut unchanged, mut repaired, mut refused) = (0, 0, 0);
    each(1_500, |what, bytes| {
        let Some(compound) = read(bytes) else { return };
        let list = AutomaticList::read(&compound);
        let reported = repairable(&list);
        match plan::repair(&list, &RepairOptions::default(), &Limits::default()) {
            Ok(None) => unchanged += 1,
            Ok(Some(plan)) => {
                assert!(!reported.is_empty(), "{what}: repaired, and check reports nothing to repair");
                let compound = read(&plan.bytes).unwrap();
                let after = AutomaticList::read(&compound);
                assert_eq!(repairable(&after), [], "{what}: check still reports this after a repair");
                let again = plan::repair(&after, &RepairOptions::default(), &Limits::default());
                assert!(matches!(again, Ok(None)), "{what}: repaired twice: {again:?}, {:?}", plan.steps);
                repaired += 1;
            }
            Err(PlanError::Rebuild(why)) => panic!("{what}: {why}"),
            Err(_) => refused += 1,
        }
    });
    println!("{repaired} repaired, {unchanged} left, {refused} refused");
    assert!(repaired > 100 && unchanged > 30);
}

#[test]
fn a_repair_loses_no_entry_without_a_finding_and_changes_no_readable_link() {
    each(1_500, |what, bytes| {
        let Some(compound) = read(bytes) else { return };
        let list = AutomaticList::read(&compound);
        let Ok(Some(plan)) = plan::repair(&list, &RepairOptions::default(), &Limits::default()) else { return };
        let repaired = read(&plan.bytes).unwrap();
        let after = AutomaticList::read(&repaired);
        let findings = list.findings(Default::default());
        // Entries that a finding is about, or that are in a list whose entries can not be told apart.
        let about: HashSet<u64> = findings.iter().filter_map(|finding| finding.entry_id).collect();
        let kept = identities(&after);
        for (identity, count) in identities(&list) {
            let has = kept.get(&identity).copied().unwrap_or(0);
            assert!(
                has >= count.min(1) || about.contains(&identity.0),
                "{what}: entry {identity:?} is gone without a finding; {findings:?}, {:?}",
                plan.steps
            );
        }
        let links: HashMap<u64, &[u8]> =
            after.entries.iter().filter_map(|entry| Some((entry.dest.id, entry.link?.data.as_ref()))).collect();
        for entry in &list.entries {
            let (Some(stream), Some(now)) = (entry.link, links.get(&entry.dest.id)) else { continue };
            let readable = link::parse(&stream.data, Default::default()).is_ok_and(|link| link.complete);
            // Of several entries or streams with one id, which link belongs to which entry is not certain.
            let single = list.entries.iter().filter(|other| other.dest.id == entry.dest.id).count() == 1;
            let streams = compound.streams.iter().filter(|other| other.entry_id() == stream.entry_id()).count();
            if readable && single && streams == 1 {
                assert!(*now == stream.data.as_ref(), "{what}: the readable link of entry {} changed", entry.dest.id);
            }
        }
    });
}

/// Ids and paths of entries.
type Identities = HashSet<(u64, String)>;

/// Pins and entries of the list that a repair makes.
fn recovered(bytes: &[u8]) -> Option<(Identities, Identities)> {
    let compound = read(bytes)?;
    let list = AutomaticList::read(&compound);
    let plan = plan::repair(&list, &RepairOptions::default(), &Limits::default()).ok()??;
    let repaired = read(&plan.bytes)?;
    let after = AutomaticList::read(&repaired);
    let of = |pinned: bool| {
        let entries = after.entries.iter().filter(|entry| entry.dest.is_pinned() || !pinned);
        entries.map(|entry| (entry.dest.id, entry.dest.path.to_string())).collect()
    };
    Some((of(true), of(false)))
}

/// A prune either refuses or keeps every pin that a repair would recover.
#[track_caller]
fn prune_loses_no_pin(what: &str, bytes: &[u8], lost: &mut usize, tried: &mut usize) {
    let Some(compound) = read(bytes) else { return };
    let list = AutomaticList::read(&compound);
    let rules = PruneRules::new().keep(usize::MAX).compact(true);
    let strict = PruneRules::new().keep(1);
    let Some((pins, entries)) = recovered(bytes) else { return };
    *tried += 1;
    for (rules, wanted) in [(&strict, &pins), (&rules, &entries)] {
        let Ok(plan) = plan::prune(&list, rules, &Limits::default()) else { continue };
        let Some(new) = plan.bytes else { continue };
        let pruned = read(&new).unwrap();
        let after = AutomaticList::read(&pruned);
        // What a repair still makes of the pruned list counts as kept.
        let mut kept: HashSet<(u64, String)> =
            after.entries.iter().map(|entry| (entry.dest.id, entry.dest.path.to_string())).collect();
        kept.extend(recovered(&new).into_iter().flat_map(|(_, entries)| entries));
        for identity in wanted.iter().filter(|identity| !kept.contains(identity)) {
            println!("{what}: {identity:?} is lost; {:?}", list.findings(Default::default()));
            *lost += 1;
        }
    }
}

#[test]
fn what_repair_can_recover_prune_never_loses() {
    let (mut lost, mut tried) = (0, 0);
    each(1_500, |what, bytes| prune_loses_no_pin(what, bytes, &mut lost, &mut tried));
    // Every bit of the last entry, which nothing after it guards.
    for version in [1, 4, 6] {
        let list = ListBuilder::files(version, 5).pin(4);
        let file = list.build();
        let dest_list = list.dest_list();
        let start = file.windows(dest_list.len()).position(|window| window == dest_list).unwrap();
        let last = start + dest_list.len() - dest_list.len() / 5;
        for bit in 0..(start + dest_list.len() - last) * 8 {
            let mut bytes = file.clone();
            bytes[last + bit / 8] ^= 1 << (bit % 8);
            prune_loses_no_pin(
                &format!("version {version}, bit {bit} of the last entry"),
                &bytes,
                &mut lost,
                &mut tried,
            );
        }
    }
    println!("{tried} lists that a repair changes, {lost} entries or pins lost");
    assert_eq!(lost, 0);
}

#[test]
fn what_repair_can_recover_delete_never_loses() {
    let (mut deleted, mut refused) = (0, 0);
    each(1_500, |what, bytes| {
        let Some(compound) = read(bytes) else { return };
        let list = AutomaticList::read(&compound);
        if list.pinned() > 0 || list.unseen().is_some() {
            refused += 1;
            return;
        }
        deleted += 1;
        let Some((pins, entries)) = recovered(bytes) else { return };
        assert_eq!(pins, HashSet::new(), "{what}: these pins would be deleted");
        let seen = identities(&list);
        for identity in entries {
            // A path that was damaged is seen under another text.
            let is_seen = seen.keys().any(|(id, path)| *id == identity.0 || *path == identity.1);
            assert!(is_seen, "{what}: {identity:?} would be deleted unseen");
        }
    });
    println!("{deleted} without pins, {refused} refused");
    assert!(deleted > 100 && refused > 100);
}

#[test]
fn the_real_lists_and_the_healthy_samples_have_nothing_to_repair() {
    let lists = originals();
    let clean = |bytes: &Vec<u8>| {
        let compound = read(bytes).unwrap();
        AutomaticList::read(&compound).findings(Default::default()).iter().all(|f| f.severity() < Severity::Error)
    };
    assert!(lists.iter().filter(|bytes| clean(bytes)).count() > 20);
}
