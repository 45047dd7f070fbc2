//! Pins carried over: links of every kind, of the corpus and damaged.

use crate::support;

use jlfix::format::guid::Guid;
use jlfix::format::link;
use jlfix::format::text::{CodePage, Utf16};
use jlfix::limits::Limits;
use jlfix::model::AutomaticList;
use jlfix::plan::pins::{ApplicationPins, PathMap, PinsFile, StoredPin, carry};
use support::build::{LinkBuilder, utf16};
use support::mutants::Random;

fn map(rules: &[&str]) -> PathMap {
    let mut map = PathMap::default();
    rules.iter().for_each(|rule| map.add(rule).unwrap());
    map
}

/// Every entry of the corpus as a pin.
fn real_entries() -> Vec<StoredPin> {
    let Some(corpus) = support::skip::corpus() else { return Vec::new() };
    let files = walkdir::WalkDir::new(corpus.join("jumplists")).sort_by_file_name().into_iter().filter_map(Result::ok);
    let mut pins = Vec::new();
    for file in files.filter(|file| file.file_name().to_string_lossy().ends_with(".automaticDestinations-ms")) {
        let data = std::fs::read(file.path()).unwrap();
        let compound = jlfix::salvage::read(&data, &Limits::default()).unwrap();
        for entry in AutomaticList::read(&compound).entries {
            pins.push(StoredPin {
                path: entry.dest.path.0.to_vec(),
                link: entry.link.map(|stream| stream.data.to_vec()),
                ..pin("")
            });
        }
    }
    pins
}

fn pin(path: &str) -> StoredPin {
    StoredPin {
        path: utf16(path),
        link: None,
        last_access: jlfix::FileTime(0),
        score: 1.0,
        interactions: 1,
        host: [0; 16],
        droids: [Guid([0; 16]); 4],
        property_store: Vec::new(),
    }
}

/// A copy with some bytes changed behind the header of a link, every fourth truncated.
fn damage(original: &[u8], number: u64) -> Vec<u8> {
    let mut random = Random::new(18, number);
    let mut damaged = original.to_vec();
    for _ in 0..=random.within(0..6) {
        let at = random.within(20..damaged.len());
        damaged[at] = random.within(0..256) as u8;
    }
    if number.is_multiple_of(4) {
        damaged.truncate(random.within(80..damaged.len()));
    }
    damaged
}

fn new_path(pin: &jlfix::plan::pins::NewPin) -> Vec<u8> {
    utf16(&pin.path())
}

fn is_plain(path: &str) -> bool {
    path.starts_with(r"\\") || path.get(1..3) == Some(r":\")
}

#[test]
fn every_real_link_leads_to_its_mapped_path_and_is_carried_again_without_a_change() {
    let pins = real_entries();
    if pins.is_empty() {
        return;
    }
    let page = CodePage::default();
    let maps = [map(&[r"C:\Users=D:\Profiles and settings"]), map(&["C:=E:", "D:=F:"]), map(&[])];
    let (mut mapped, mut lists) = (0, 0);
    for (number, old) in pins.iter().enumerate() {
        for map in &maps {
            let new = carry(old, map, page).unwrap_or_else(|why| panic!("{}: {why}", old.shown_path()));
            // A folder of the old machine that was reached through a share of it.
            let is_share = |note: &String| note.starts_with("the share through which");
            assert!(new.notes().iter().all(is_share), "{}: {:?}", old.shown_path(), new.notes());
            let (was, now) =
                (link::parse(old.link.as_ref().unwrap(), page).unwrap(), link::parse(new.link(), page).unwrap());
            assert!(now.complete && now.all_problems().is_empty(), "{}: {:?}", old.shown_path(), now.all_problems());
            let path = map.map(Utf16(&old.path)).map_or_else(|| old.shown_path(), |mapped| mapped.text());
            assert_eq!(new.path(), path);
            let moved = |path: String| map.map_text(&path).map_or(path, |mapped| mapped.text());
            let drops = !is_plain(&old.shown_path()) && now.info.is_none();
            if !drops {
                assert_eq!(now.target(), was.target().map(moved), "entry {number}");
            }
            // The item ID list names the same as the LinkInfo.
            let spelled = now.items().and_then(|list| list.target()).filter(|path| is_plain(path));
            if let (Some(spelled), Some(local)) = (&spelled, now.local_path()) {
                lists += 1;
                assert_eq!(spelled.to_lowercase(), local.to_lowercase());
            }
            mapped += usize::from(now.target() != was.target());
            // Without a mapping, the path of a known folder is dropped.
            if is_plain(&path) || now.info.is_none() {
                let stored = StoredPin { path: new_path(&new), link: Some(new.link().to_vec()), ..pin("") };
                let again = carry(&stored, &PathMap::default(), page).unwrap();
                assert_eq!(again.link(), new.link(), "entry {number}");
            }
        }
    }
    println!("{} links, {mapped} mapped, {lists} with an item ID list and a path", pins.len());
    assert!(mapped > pins.len() / 2 && lists > 0);
}

#[test]
fn a_damaged_link_is_carried_over_or_replaced_and_never_panics() {
    let page = CodePage::default();
    let maps = map(&[r"C:\Users\sam=D:\me", r"\\srv\share=\\other\place"]);
    for path in [r"C:\Users\sam\Documents\notes.txt", r"\\srv\share\a\b.txt", "https://example.org/"] {
        let built = if is_plain(path) { LinkBuilder::file(path) } else { LinkBuilder::url(path) };
        let link = built.build();
        for number in 0..400 {
            let damaged = damage(&link, number);
            let carried = carry(&StoredPin { link: Some(damaged), ..pin(path) }, &maps, page).unwrap();
            let now = link::parse(carried.link(), page).unwrap();
            assert!(now.complete && now.problems.is_empty(), "{path}: {:?}", now.problems);
        }
    }
}

#[test]
fn a_pins_file_gives_back_what_was_written_to_it() {
    let mut odd = pin(r"C:\odd");
    odd.path.extend([0x00, 0xD8]);
    odd.droids[1] = Guid([7; 16]);
    odd.host = *b"desk-01\0\0\0\0\0\0\0\0\0";
    odd.property_store = vec![0; 4];
    odd.last_access = jlfix::FileTime(133_500_000_000_000_001);
    let mut linked = pin("https://example.org/");
    linked.link = Some(LinkBuilder::url("https://example.org/").build());
    let application = ApplicationPins { app_id: jlfix::AppId::of("Chrome"), app_name: None, pins: vec![linked, odd] };
    let file = PinsFile { applications: vec![application] };
    let json = file.to_json();
    assert_eq!(PinsFile::parse(&json, CodePage::default()).unwrap(), file);
    // Any damage to it is refused or read; none of it panics.
    for number in 0..400 {
        let _ = PinsFile::parse(&damage(&json, number), CodePage::default());
    }
}
