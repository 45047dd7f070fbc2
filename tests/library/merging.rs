//! Merging copies: the result does not depend on their order, and every destination of every copy is in it. Held over
//! made copies with shared object ids, twins, other cases of a path, and mixed format versions, each from a seed.

use std::collections::BTreeSet;

use jlfix::format::guid::Guid;
use jlfix::limits::Limits;
use jlfix::model::AutomaticList;
use jlfix::plan::{self, Input};

use crate::support::build::{Link, ListBuilder, NewEntry, Random, object_id, time, utf16};

/// One copy: some of a few paths, in some case, with some of a few object ids.
fn copy(random: &mut Random) -> Vec<u8> {
    let version = [1, 3, 4, 4, 6][random.below(5) as usize];
    let mut list = ListBuilder::new(version);
    let count = random.below(6);
    let mut entries = Vec::new();
    for number in 0..count {
        let name = format!(r"C:\docs\{}.txt", ["a", "b", "c", "d"][random.below(4) as usize]);
        let name = if random.below(5) == 0 { name.to_uppercase() } else { name };
        let mut entry = NewEntry::file(&name);
        entry.path = utf16(&name);
        entry.id = Some(count - number + random.below(3) * 10);
        entry.interactions = 1 + random.below(9) as u32;
        let minute = time("2024-03-01T08:00:00Z").0 + random.below(40) * 600_000_000;
        entry.last_access = Some(jlfix::format::time::FileTime(minute));
        let object = object_id(time("2023-11-02T07:30:00Z"), random.below(4) as u16, [2, 0, 0x5E, 0x10, 0x20, 0x30]);
        let volume = Guid([7; 16]);
        entry.droids = Some([volume, object, volume, object]);
        if random.below(5) == 0 {
            entry.link = Link::Missing;
        }
        if entries.iter().all(|other: &NewEntry| other.id != entry.id) {
            entries.push(entry);
        }
    }
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.last_access));
    let pinned = entries.len().min(random.below(3) as usize);
    list = list.entries(entries);
    for position in 0..pinned {
        list = list.pin(position);
    }
    list.build()
}

/// Paths in lower case, and which of them are pinned.
fn contents(list: &AutomaticList<'_>) -> (BTreeSet<String>, BTreeSet<String>) {
    let path = |entry: &jlfix::model::Entry<'_>| entry.dest.path.to_string().to_lowercase();
    let pinned = list.entries.iter().filter(|entry| entry.dest.is_pinned()).map(path).collect();
    (list.entries.iter().map(path).collect(), pinned)
}

/// Every order of the numbers below `count`.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(count - 1);
    let insert = |order: &Vec<usize>, at: usize| {
        let mut order = order.clone();
        order.insert(at, count - 1);
        order
    };
    shorter.iter().flat_map(|order| (0..count).map(move |at| insert(order, at))).collect()
}

#[test]
fn the_result_is_the_same_in_every_order_and_has_every_destination_and_pin() {
    let cases = std::env::var("JLFIX_MERGES").map_or(150, |count| count.parse().unwrap());
    let mut renamed = 0;
    for seed in 0..cases {
        let mut random = Random(90_000 + seed);
        let copies: Vec<Vec<u8>> = (0..2 + random.below(3)).map(|_| copy(&mut random)).collect();
        let limits = Limits::default();
        let compounds: Vec<_> = copies.iter().map(|copy| jlfix::salvage::read(copy, &limits).unwrap()).collect();
        let lists: Vec<_> = compounds.iter().map(AutomaticList::read).collect();
        let mut first: Option<Vec<u8>> = None;
        for order in orders(lists.len()) {
            let inputs: Vec<_> = order.iter().map(|at| Input { name: "copy", list: &lists[*at] }).collect();
            let merged = plan::merge(&inputs, &limits).unwrap();
            let same = first.get_or_insert_with(|| merged.bytes.clone());
            assert!(*same == merged.bytes, "seed {seed}: another result in the order {order:?}");
        }
        let merged = first.unwrap();
        let compound = jlfix::salvage::read(&merged, &limits).unwrap();
        let (paths, pinned) = contents(&AutomaticList::read(&compound));
        let objects = |pinned: bool| -> BTreeSet<String> {
            let list = AutomaticList::read(&compound);
            let entries = list.entries.iter().filter(|entry| entry.dest.is_pinned() || !pinned);
            entries.map(|entry| entry.dest.object_id.to_string()).collect()
        };
        let (objects, pinned_objects) = (objects(false), objects(true));
        for list in &lists {
            for entry in &list.entries {
                let path = entry.dest.path.to_string().to_lowercase();
                // A destination that was renamed is there under its last name.
                if !paths.contains(&path) {
                    assert!(objects.contains(&entry.dest.object_id.to_string()), "seed {seed}: {path} is lost");
                    renamed += 1;
                } else if entry.dest.is_pinned() {
                    // Of twins, the pinned one can be the one that was renamed.
                    let object = entry.dest.object_id.to_string();
                    assert!(
                        pinned.contains(&path) || pinned_objects.contains(&object),
                        "seed {seed}: the pin of {path} is lost"
                    );
                }
            }
        }
        let findings = AutomaticList::read(&compound).findings(Default::default());
        let repairable: Vec<_> = findings.iter().filter(|finding| finding.fix.is_some()).collect();
        assert!(repairable.is_empty(), "seed {seed}: {repairable:?}");
    }
    println!("{cases} groups of copies in every order, {renamed} entries under a newer name");
}
