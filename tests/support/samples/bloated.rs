//! Explorer's own list, grown over years to 4,027,904 bytes and 3,067 entries, as the published list had them.
//!
//! The file is aged rather than written in one piece: some 38,000 visits to folders in ten years go through the allocator
//! of [`Docfile`]. At each visit the link of the folder is written, new or again, and then the whole DestList, as in the
//! log of Explorer's writes (docs/format.md). So the streams are fragmented as they are in an old list. No number was
//! chosen to meet the published counts of reads; the seed was chosen so that the file has its exact size.

use std::collections::HashSet;

use jlfix::format::time::FileTime;

use super::build::{Docfile, Link, LinkBuilder, ListBuilder, NewEntry, Random, guid, object_id, time};

/// The path below `samples/`.
pub const PATH: &str = "AutomaticDestinations/f01b4d95cf55d32a.automaticDestinations-ms";
/// Bytes of the file, as published.
pub const SIZE: usize = 4_027_904;
/// Entries at the end.
pub const ENTRIES: usize = 3_067;
const SEED: u64 = 2069;
/// Visits for each new entry: a folder is opened ten times on average (assumed).
const VISITS_PER_ENTRY: u64 = 10;
/// For how many new entries an old one is removed (assumed): its folder was deleted, or the user removed it.
const ENTRIES_PER_REMOVAL: u64 = 5;
const TICKS_PER_SECOND: u64 = 10_000_000;
const MAC: [u8; 6] = [0x02, 0x00, 0x5E, 0x10, 0x20, 0x30];
const DEST_LIST: &str = "DestList";
/// Bytes of a DestList entry of format 4 besides its path, and of the header.
const ENTRY_SIZE: usize = 134;
const HEADER_SIZE: usize = 32;

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

/// A folder of a person with years of projects: two to six levels deep.
fn path(random: &mut Random) -> String {
    let (subject, kind, other) = (random.pick(&SUBJECTS), random.pick(&KINDS), random.pick(&KINDS));
    let (year, month) = (2008 + random.below(12), 1 + random.below(12));
    match random.below(8) {
        0 => format!(r"D:\{subject} {kind} {year}-{month:02}"),
        1 => format!(r"D:\Archive\{year}\{subject} {kind}\{other}"),
        2 => format!(r"C:\Users\sam\Documents\{subject} {kind} {year}-{month:02}"),
        3 => format!(r"C:\Users\sam\Documents\{year}-{month:02} {subject} {kind}"),
        4 => format!(r"C:\Users\sam\Work\{subject} {year}\{kind}"),
        5 => format!(r"C:\Users\sam\Work\{subject} {kind}"),
        6 => format!(r"C:\Users\sam\Work\{subject}\{year}\{kind}\{other}"),
        _ => format!(r"C:\Users\sam\Work\{subject}\{year}\{month:02}\{kind}\{other}"),
    }
}

/// A folder in the list, and what is known of its visits.
struct Visited {
    id: u64,
    entry: NewEntry,
    /// Bytes of its link.
    link_size: usize,
    last_access: FileTime,
    visits: u32,
}

impl Visited {
    fn name(&self) -> String {
        format!("{:x}", self.id)
    }
}

/// A list that is used for years, and the layout of its file.
struct History {
    random: Random,
    seen: HashSet<String>,
    file: Docfile,
    /// In the order of the last visit, the latest at the end.
    entries: Vec<Visited>,
    last_id: u64,
    now: FileTime,
}

impl History {
    fn new() -> Self {
        Self {
            random: Random(SEED),
            seen: HashSet::new(),
            file: Docfile::new(),
            entries: Vec::new(),
            last_id: 0,
            now: time("2009-11-02T08:00:00Z"),
        }
    }

    fn dest_list_size(&self) -> usize {
        HEADER_SIZE + self.entries.iter().map(|visited| ENTRY_SIZE + visited.entry.path.len()).sum::<usize>()
    }

    /// The files of a visit: first the link, then the DestList.
    fn write(&mut self, name: &str, link_size: usize) {
        self.file.write(name, link_size);
        self.file.write(DEST_LIST, self.dest_list_size());
    }

    fn add(&mut self, entry: NewEntry) {
        self.last_id += 1;
        let id = self.last_id;
        let volume = guid("0d3f8c52-94ab-4e07-8d26-5b7ac01f93e4");
        // An object id tells the boot session in which it was made.
        let object = object_id(FileTime(self.now.0 - self.now.0 % (86_400 * TICKS_PER_SECOND) + id), 0x0C41, MAC);
        let entry = entry.with(|entry| {
            entry.id = Some(id);
            entry.droids = Some([volume, object, volume, object]);
        });
        let Link::Made(link) = &entry.link else { unreachable!("every entry here has a link") };
        let link_size = link.build().len();
        let visited = Visited { id, entry, link_size, last_access: self.now, visits: 1 };
        let name = visited.name();
        self.entries.push(visited);
        self.write(&name, link_size);
    }

    fn add_folder(&mut self) {
        let path = loop {
            let path = path(&mut self.random);
            if self.seen.insert(path.clone()) {
                break path;
            }
        };
        let written = FileTime(self.now.0 - self.random.below(90 * 86_400) * TICKS_PER_SECOND);
        let made = FileTime(written.0 - self.random.below(200 * 86_400) * TICKS_PER_SECOND);
        let link = LinkBuilder::folder(&path).times(made, written, written).with(|link| link.serial = 0x6C1D_40A3);
        self.add(NewEntry::new(&path, Link::Made(Box::new(link))));
    }

    /// Opens a folder again, rather one that was opened of late.
    fn open_again(&mut self) {
        let count = self.entries.len() as u64;
        let most = self.random.below(count) + 1;
        let back = self.random.below(most) as usize;
        let mut visited = self.entries.remove(self.entries.len() - 1 - back);
        visited.last_access = self.now;
        visited.visits += 1;
        let (name, link_size) = (visited.name(), visited.link_size);
        self.entries.push(visited);
        self.write(&name, link_size);
    }

    /// The user removes an entry that is not one of Explorer's own.
    fn remove(&mut self) {
        let at = self.random.below(self.entries.len() as u64) as usize;
        if self.entries[at].id > OWN.len() as u64 {
            let name = self.entries.remove(at).name();
            self.file.remove(&name);
            self.file.write(DEST_LIST, self.dest_list_size());
        }
    }

    fn live(&mut self) {
        for (id, place, ..) in OWN {
            self.add(NewEntry::known_folder(id, place));
        }
        while self.entries.len() < ENTRIES {
            self.now.0 += (60 + self.random.below(16_000)) * TICKS_PER_SECOND + self.random.below(TICKS_PER_SECOND);
            if self.random.below(VISITS_PER_ENTRY) > 0 {
                self.open_again();
                continue;
            }
            self.add_folder();
            if self.random.below(ENTRIES_PER_REMOVAL) == 0 {
                self.remove();
            }
        }
    }

    /// The list at the end, newest first.
    fn list(&self) -> ListBuilder {
        let mut list = ListBuilder::new(4);
        list.newest = self.now;
        list.root.modified = self.now;
        list.removed = self.last_id - self.entries.len() as u64;
        for visited in self.entries.iter().rev() {
            let own = OWN.get(visited.id as usize - 1).map(|(.., opens, score)| (*opens, *score));
            let (opens, score) = own.unwrap_or((visited.visits, 1.0 + (visited.visits - 1) as f32 * 0.75));
            list.entries.push(visited.entry.clone().with(|entry| {
                (entry.interactions, entry.score, entry.last_access) = (opens, score, Some(visited.last_access));
            }));
        }
        let mut list = list.ranked();
        let own: Vec<usize> =
            (1..=4).map(|id| list.entries.iter().position(|entry| entry.id == Some(id)).unwrap()).collect();
        let others = [7, ENTRIES - 40].map(|at| (at..ENTRIES).find(|at| !own.contains(at)).unwrap());
        for position in own.into_iter().chain(others) {
            list = list.pin(position);
        }
        list
    }
}

/// The file.
pub fn file() -> Vec<u8> {
    let mut history = History::new();
    history.live();
    let list = history.list();
    let streams: std::collections::HashMap<String, Vec<u8>> = list.all_streams().into_iter().collect();
    history.file.build(&list.root, |name| streams[name].clone())
}

/// The entries and links of the file in one piece, as a fresh list would have them.
pub fn list() -> ListBuilder {
    let mut history = History::new();
    history.live();
    history.list()
}
