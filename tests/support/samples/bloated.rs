//! The list of the story: Explorer's own, grown to 4,027,904 bytes, so that one right-click on a folder reads it
//! nearly twice, 68 bytes at a time.
//!
//! Links and paths are as long as those of real folders, and fill the file to its exact size without a free
//! sector: then the read pattern of format.md (last section) comes out near the published one.

use std::collections::HashSet;

use jlfix::format::time::FileTime;

use super::build::{Link, LinkBuilder, ListBuilder, NewEntry, Random, object_id, time};

/// Where it lies below `samples/`.
pub const PATH: &str = "AutomaticDestinations/f01b4d95cf55d32a.automaticDestinations-ms";
/// Bytes of the file, as published.
pub const SIZE: usize = 4_027_904;
/// Folders besides Explorer's own four. With the seed below this gives the exact size.
const FOLDERS: usize = 3063;
/// Link sizes that fill their last mini sector, or nearly.
const LINK_SIZES: std::ops::RangeInclusive<usize> = 886..=896;
const TICKS_PER_SECOND: u64 = 10_000_000;
const MAC: [u8; 6] = [0x02, 0x00, 0x5E, 0x10, 0x20, 0x30];

const SUBJECTS: [&str; 40] = [
    "Harbour",
    "Orchard",
    "Lighthouse",
    "Railway",
    "Bridge",
    "Garden",
    "Kitchen",
    "Library",
    "Workshop",
    "Valley",
    "River",
    "Museum",
    "Theatre",
    "Market",
    "Station",
    "Airport",
    "Factory",
    "Meadow",
    "Mountain",
    "Village",
    "Canal",
    "Castle",
    "Chapel",
    "Forest",
    "Gallery",
    "Hospital",
    "Island",
    "Laboratory",
    "Observatory",
    "Pavilion",
    "Quarry",
    "Reservoir",
    "School",
    "Stadium",
    "Terrace",
    "Tunnel",
    "University",
    "Vineyard",
    "Warehouse",
    "Windmill",
];
const KINDS: [&str; 24] = [
    "plans",
    "survey",
    "drawings",
    "budget",
    "photos",
    "letters",
    "minutes",
    "reports",
    "invoices",
    "contracts",
    "schedule",
    "estimates",
    "references",
    "translation",
    "inventory",
    "permits",
    "proposal",
    "samples",
    "recordings",
    "statistics",
    "measurements",
    "exhibition",
    "renovation",
    "maintenance",
];

/// The four folders that Explorer starts its list with, pinned, by id, place and points.
const OWN: [(&str, &str, u32, f32); 4] = [
    ("754ac886-df64-4cba-86b5-f7fbf4fbcef5", r"C:\Users\sam\Desktop", 412, 61.5),
    ("374de290-123f-4565-9164-39c4925e467b", r"C:\Users\sam\Downloads", 388, 58.25),
    ("fdd39ad0-238f-46af-adb4-6c85480369c7", r"C:\Users\sam\Documents", 97, 24.75),
    ("33e28130-4e1e-4676-835a-98395c3bc3bb", r"C:\Users\sam\Pictures", 12, 4.0),
];

/// A folder that was opened: path and link.
struct Folder {
    path: String,
    link: LinkBuilder,
}

fn path(random: &mut Random) -> String {
    let (subject, kind) = (random.pick(&SUBJECTS), random.pick(&KINDS));
    let year = 2008 + random.below(12);
    match random.below(4) {
        0 => format!(r"C:\Users\sam\Documents\{subject} {kind} {year}"),
        1 => format!(r"C:\Users\sam\Documents\{year}-{:02} {subject} {kind}", 1 + random.below(12)),
        2 => format!(r"C:\Users\sam\Work\{subject} {year}\{kind}"),
        _ => format!(r"C:\Users\sam\Work\{year}\{subject} {kind}"),
    }
}

/// Folders, all different, whose links have a size in [`LINK_SIZES`].
fn folders(random: &mut Random) -> Vec<Folder> {
    let mut seen = HashSet::new();
    let mut folders = Vec::new();
    while folders.len() < FOLDERS {
        let path = path(random);
        let made = FileTime(time("2009-01-05T09:00:00Z").0 + random.below(3_000 * 86_400) * TICKS_PER_SECOND);
        let written = FileTime(made.0 + random.below(200 * 86_400) * TICKS_PER_SECOND);
        let link = LinkBuilder::folder(&path).times(made, written, written).with(|link| link.serial = 0x6C1D_40A3);
        if LINK_SIZES.contains(&link.build().len()) && seen.insert(path.clone()) {
            folders.push(Folder { path, link });
        }
    }
    folders
}

/// The list, ready to be built.
pub fn list() -> ListBuilder {
    let mut random = Random(2020);
    let volume = super::build::guid("0d3f8c52-94ab-4e07-8d26-5b7ac01f93e4");
    let mut list = ListBuilder::new(4);
    list.newest = time("2019-11-18T17:42:08.3170000Z");
    list.root.modified = list.newest;
    let mut entries: Vec<NewEntry> = OWN
        .iter()
        .map(|(id, place, interactions, score)| {
            NewEntry::known_folder(id, place).with(|entry| (entry.interactions, entry.score) = (*interactions, *score))
        })
        .collect();
    entries.extend(folders(&mut random).into_iter().map(|Folder { path, link }| {
        let opens = 1 + random.below(9) * random.below(2) * random.below(2);
        NewEntry::new(&path, Link::Made(Box::new(link))).with(|entry| {
            entry.interactions = opens as u32;
            entry.score = 1.0 + (opens - 1) as f32 * 0.75;
        })
    }));
    // An id is given at the first visit, and some entries have gone since.
    let mut id = 0;
    for entry in &mut entries {
        id += if id >= 4 && random.below(20) == 0 { 2 } else { 1 };
        let boot = FileTime(time("2016-02-01T06:00:00Z").0 + id / 6 * 86_400 * TICKS_PER_SECOND);
        let object = object_id(FileTime(boot.0 + id), 0x0C41, MAC);
        entry.id = Some(id);
        entry.droids = Some([volume, object, volume, object]);
    }
    // Most folders were last seen near their first visit; Explorer's own four stand where their use puts them.
    let count = entries.len();
    let mut order: Vec<(u64, usize)> = (0..count).map(|at| (at as u64 + random.below(400), at)).collect();
    for (own, place) in order.iter_mut().zip([count as u64 + 500, count as u64 + 380, 2_400, 60]) {
        own.0 = place;
    }
    order.sort_by_key(|key| std::cmp::Reverse(*key));
    let mut last_access = list.newest.0;
    for (_, at) in &order {
        let mut entry = entries[*at].clone();
        entry.last_access = Some(FileTime(last_access));
        last_access -= (60 + random.below(72_000)) * TICKS_PER_SECOND + random.below(TICKS_PER_SECOND);
        list.entries.push(entry);
    }
    let mut list = list.ranked();
    let own: Vec<usize> =
        (1..=4).map(|id| list.entries.iter().position(|entry| entry.id == Some(id)).unwrap()).collect();
    for position in own.into_iter().chain([7, count - 40]) {
        list = list.pin(position);
    }
    list
}

/// The file.
pub fn file() -> Vec<u8> {
    list().build()
}
