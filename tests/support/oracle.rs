//! What has to hold of any input at all: the oracles that the fuzz targets use, and the tests on what they found.
//!
//! Each takes bytes from anybody and panics where a promise is broken. Everything that is read is also told, as JSON, so
//! that nothing lazy stays unread.

#![allow(dead_code, unreachable_pub, reason = "every user takes in the whole of it and uses a part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "to panic is what an oracle does"
)]

use std::collections::BTreeSet;
use std::path::{Component, Path};

use jlfix::appid::AppNames;
use jlfix::cost::Cost;
use jlfix::format::compound::{Compound, Recovery};
use jlfix::format::custom::Custom;
use jlfix::format::destlist::{self, DestList, Soundness};
use jlfix::format::link;
use jlfix::format::text::CodePage;
use jlfix::format::time::FileTime;
use jlfix::limits::Limits;
use jlfix::model::{AutomaticList, Code, DEST_LIST, Deleted, Fix, Kind, Leftover, ReadOptions, Severity, Source};
use jlfix::plan::{self, Input, KeepBy, PlanError, PruneRules, RebuildError, RepairOptions};
use jlfix::report::{FileFacts, FileRow, LinkDetail, ReportOptions};
use jlfix::store::Manifest;
use jlfix::write::{self, NewStream};

/// A target: its name, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// The targets.
pub const TARGETS: &[Target] = &[
    ("parse", parse),
    ("destlist", destlist),
    ("link", link),
    ("custom", custom),
    ("prune", prune),
    ("repair", repair),
    ("merge", merge),
    ("manifest", manifest),
];

/// A file is read, whatever it is, and told.
pub fn parse(data: &[u8]) {
    for hint in [None, Some(Kind::Automatic), Some(Kind::Custom), Some(Kind::Link)] {
        if hint.is_some() && hint == Kind::of_content(data) {
            continue;
        }
        tell(data, hint);
    }
    if let Ok(compound) = jlfix::salvage::read(data, &Limits::default()) {
        container(data, &compound);
    }
}

fn tell(data: &[u8], hint: Option<Kind>) {
    let Some(source) = Source::read(data, hint, &ReadOptions::default()) else { return };
    let list = match &source {
        Source::Automatic(Ok(compound)) => Some(AutomaticList::read(compound)),
        _ => None,
    };
    let facts = FileFacts {
        path: String::new(),
        name: String::new(),
        size: data.len() as u64,
        modified: None,
        accessed: None,
        created: None,
        user: None,
    };
    let names = AppNames::default();
    let options = ReportOptions::new(&names).entries(LinkDetail::Whole).deleted(true);
    let leftover = Leftover::of(&source, list.as_ref());
    let deleted = Deleted::find(&leftover, &source, list.as_ref(), &Limits::default(), options.code_page);
    for item in &deleted.items {
        let end = item.offset + item.size as u64;
        assert!(item.size > 0 && item.offset < data.len() as u64, "{item:?}");
        // A link can lie in mini sectors that do not follow one another in the file.
        assert!(end <= data.len() as u64 || item.word() == "link" || item.word() == "entry", "{item:?}");
    }
    assert!(deleted.items.len() <= data.len() / 32, "{} of {} bytes", deleted.items.len(), data.len());
    let row = FileRow::new(&facts, &source, list.as_ref(), &options).with_deleted(&deleted, &options);
    let json = serde_json::to_vec(&row).unwrap();
    serde_json::from_slice::<serde::de::IgnoredAny>(&json).unwrap();
    if let Some(list) = &list {
        let cost = Cost::of(list);
        assert!(cost.reads <= 64 * (data.len() as u64 + 512), "{cost:?} for {} bytes", data.len());
    }
}

/// What is read without a fault can be written again, and is the same when it is read again.
fn container(data: &[u8], compound: &Compound<'_>) {
    let handed_out: usize = compound.streams.iter().map(|stream| stream.data.len()).sum();
    assert!(handed_out <= 5 * data.len(), "{handed_out} bytes of streams from {}", data.len());
    let healthy = compound.faults.is_empty()
        && compound.streams.iter().all(|stream| stream.recovery == Recovery::Intact && stream.missing() == 0);
    let writable = |name: &str| !name.is_empty() && !name.contains(['\u{fffd}', '/', '\\', ':', '!']);
    let names: Vec<String> = compound.streams.iter().map(|stream| stream.name.to_string()).collect();
    if !healthy || !names.iter().all(|name| writable(name)) || !compound.storages.is_empty() {
        return;
    }
    let streams: Vec<_> = compound
        .streams
        .iter()
        .zip(&names)
        .map(|(stream, name)| NewStream { storage: &stream.storage, name, data: &stream.data })
        .collect();
    let written = write::build(&compound.root, &compound.storages, &streams).expect("what was read can be written");
    write::second_opinion(&written).expect("cfb reads what was written");
    let again = Compound::parse(&written, &Limits::default()).unwrap();
    assert_eq!(again.faults, []);
    assert_eq!(again.root, compound.root);
    let content = |compound: &Compound<'_>| -> BTreeSet<(String, Vec<u8>)> {
        compound.streams.iter().map(|stream| (stream.name.to_string(), stream.data.to_vec())).collect()
    };
    assert!(content(&again) == content(compound), "streams are others");
}

/// A DestList that is read to its end is the same when it is written, and is found again by its checksums.
pub fn destlist(data: &[u8]) {
    let found = destlist::resync(data);
    let mut end = 0;
    for found in &found.entries {
        let entry = &found.entry;
        assert!(entry.offset >= end, "entries overlap at {}", entry.offset);
        end = entry.offset + entry.raw.len();
        assert!(&data[entry.offset..end] == entry.raw);
        if found.soundness == Soundness::Sound {
            assert!(entry.checksum_ok());
        }
        // Where the length of its path was damaged, the entry has another than stands there.
        let mut out = Vec::new();
        entry.encode(&mut out);
        assert!(out[..112] == entry.raw[..112]);
    }
    for gap in &found.gaps {
        assert!(gap.start < gap.end && gap.end <= data.len(), "{gap:?} of {}", data.len());
    }
    let Ok(list) = DestList::decode(data) else { return };
    let used: usize = list.entries.iter().map(|entry| entry.raw.len()).sum();
    assert!(used + list.trailing.len() <= data.len());
    if list.cut.is_none() {
        assert!(list.encode() == data, "encoded, it is another");
    }
    let sound = list.cut.is_none() && list.trailing.is_empty() && list.entries.iter().all(destlist::Entry::checksum_ok);
    if sound && list.header.is_known_version() {
        // There may be more: a path, or a property store, in which somebody put a whole entry.
        let offsets: BTreeSet<usize> = found.entries.iter().map(|found| found.entry.offset).collect();
        assert!(list.entries.iter().all(|entry| offsets.contains(&entry.offset)), "a sound entry is not found");
    }
}

/// A link never claims more than is there, and what it claims is all that it needs.
pub fn link(data: &[u8]) {
    for code_page in [CodePage::default()] {
        let Ok(link) = link::parse(data, code_page) else { continue };
        assert!(link.size <= data.len(), "{} of {}", link.size, data.len());
        let (target, details) = (link.target(), link.details());
        if link.complete {
            let alone = link::parse(&data[..link.size], code_page).unwrap();
            assert_eq!((alone.size, alone.complete), (link.size, true));
            assert_eq!(alone.target(), target);
            // Problems say how much is left in all, and that is another number.
            let read = |details: &link::Details<'_>| {
                format!("{:?} {:?} {:?}", details.id_list, details.blocks, details.properties)
            };
            assert!(read(&details) == read(&alone.details()), "alone, it reads otherwise");
        }
    }
    tell(data, Some(Kind::Link));
}

/// The links of a custom list lie in it, one after the other.
pub fn custom(data: &[u8]) {
    let custom = Custom::parse(data, CodePage::default());
    let mut end = 0;
    for (_, link) in custom.links() {
        assert!(link.offset >= end, "links overlap at {}", link.offset);
        end = link.offset + link.raw.len();
        assert!(&data[link.offset..end] == link.raw);
        assert_eq!(link.link.size, link.raw.len());
    }
    assert!(custom.slack_offset + custom.slack.len() <= data.len());
    tell(data, Some(Kind::Custom));
}

/// A jump list out of fuzzed bytes. The first byte says how: 0 for the bytes as they are; bit 0 for a whole container
/// around a DestList and links (each with its length before it), so that a change in them does not break it; then bit 1
/// for checksums put right, and bit 2 for bytes of the container altered at last.
pub fn list_of(data: &[u8]) -> Vec<u8> {
    let Some((&mode, mut rest)) = data.split_first() else { return Vec::new() };
    if mode & 1 == 0 {
        return rest.to_vec();
    }
    let mut edits = Vec::new();
    if mode & 4 != 0
        && let Some((tail, edited)) = rest.split_last_chunk::<12>().map(|(head, tail)| (tail, head))
    {
        edits = tail.chunks_exact(3).map(|edit| (usize::from(edit[0]) << 8 | usize::from(edit[1]), edit[2])).collect();
        rest = edited;
    }
    let mut take = |with_id: bool| -> Option<(u64, Vec<u8>)> {
        let id = if with_id { u64::from(*rest.split_off_first()?) } else { 0 };
        let size = usize::from(u16::from_le_bytes([*rest.split_off_first()?, *rest.split_off_first()?]));
        let bytes = rest.split_off(..size.min(rest.len()))?;
        Some((id, bytes.to_vec()))
    };
    let mut dest_list = take(false).map(|(_, bytes)| bytes).unwrap_or_default();
    let mut links: Vec<(String, Vec<u8>)> = Vec::new();
    while links.len() < 64
        && let Some((id, bytes)) = take(true)
    {
        let name = format!("{id:x}");
        if links.iter().all(|(known, _)| *known != name) {
            links.push((name, bytes));
        }
    }
    if mode & 2 != 0 {
        mend_checksums(&mut dest_list);
    }
    let mut streams = vec![NewStream { storage: "", name: DEST_LIST, data: &dest_list }];
    streams.extend(links.iter().map(|(name, data)| NewStream { storage: "", name, data }));
    let mut bytes = write::build(&Default::default(), &[], &streams).unwrap();
    for (at, value) in edits {
        let at = at % bytes.len();
        bytes[at] = value;
    }
    bytes
}

/// The other way: a list as a seed of the structured kind.
pub fn seed_of(data: &[u8], mode: u8) -> Option<Vec<u8>> {
    let compound = jlfix::salvage::read(data, &Limits::default()).ok()?;
    let mut out = vec![mode | 1];
    let mut put = |bytes: &[u8]| {
        out.extend(u16::try_from(bytes.len()).ok()?.to_le_bytes());
        out.extend(bytes);
        Some(())
    };
    put(compound.stream(DEST_LIST).map(|stream| &*stream.data).unwrap_or_default())?;
    for stream in &compound.streams {
        let Some((id, _)) = stream.entry_id() else { continue };
        let (Ok(id), Ok(size)) = (u8::try_from(id), u16::try_from(stream.data.len())) else { continue };
        out.push(id);
        out.extend(size.to_le_bytes());
        out.extend(&*stream.data);
    }
    if mode & 4 != 0 {
        out.extend([0; 12]);
    }
    Some(out)
}

fn mend_checksums(dest_list: &mut [u8]) {
    let Ok(list) = DestList::decode(dest_list) else { return };
    let right: Vec<_> = list.entries.iter().map(|entry| (entry.offset, entry.computed_checksum())).collect();
    for (at, checksum) in right {
        dest_list[at..at + 8].copy_from_slice(&checksum.to_le_bytes());
    }
}

/// The codes of warnings and errors.
fn breaches(list: &AutomaticList<'_>) -> BTreeSet<Code> {
    let found = list.findings(CodePage::default());
    found.iter().filter(|finding| finding.severity() >= Severity::Warning).map(|finding| finding.code).collect()
}

/// True for what the program itself calls a fault of its own.
fn is_our_fault(error: &PlanError) -> bool {
    matches!(error, PlanError::Rebuild(RebuildError::Differs(_)))
}

/// What is pruned has nothing wrong with it that was not wrong before, keeps what it should, and is done at once.
pub fn prune(data: &[u8]) {
    let Some((options, data)) = data.split_first_chunk::<3>() else { return };
    let bytes = list_of(data);
    let limits = Limits::default();
    let Ok(compound) = jlfix::salvage::read(&bytes, &limits) else { return };
    let list = AutomaticList::read(&compound);
    let include_pinned = options[0] & 16 != 0;
    let rules = PruneRules::new()
        .keep((options[0] & 1 == 0).then_some(usize::from(options[1] % 8)))
        .keep_by(if options[0] & 2 == 0 { KeepBy::Recent } else { KeepBy::Score })
        .older_than((options[0] & 4 != 0).then_some(FileTime(133_000_000_000_000_000)))
        .ids((options[0] & 8 != 0).then_some(u64::from(options[2])))
        .include_pinned(include_pinned);
    let plan = match plan::prune(&list, &rules, &limits) {
        Err(error) => {
            assert!(!is_our_fault(&error), "{error}");
            return;
        }
        Ok(plan) => plan,
    };
    let Some(bytes) = plan.bytes else { return };
    write::second_opinion(&bytes).expect("cfb reads it");
    let compound = Compound::parse(&bytes, &limits).unwrap();
    let after = AutomaticList::read(&compound);
    let (had, has) = (breaches(&list), breaches(&after));
    assert!(has.is_subset(&had), "new: {:?}, before: {had:?}", has.difference(&had).collect::<Vec<_>>());
    // Read by every means too, there is no error that was not there.
    let errors = |list: &AutomaticList<'_>| -> BTreeSet<Code> {
        breaches(list).into_iter().filter(|code| code.severity() == Severity::Error).collect()
    };
    let salvaged = jlfix::salvage::read(&bytes, &limits).unwrap();
    let (had, has) = (errors(&list), errors(&AutomaticList::read(&salvaged)));
    assert!(has.is_subset(&had), "new: {:?}, before: {had:?}", has.difference(&had).collect::<Vec<_>>());
    assert_eq!(after.entries.len() + plan.dropped.len(), list.entries.len());
    assert!(include_pinned || after.pinned() == list.pinned(), "pins are gone");
    let gone: BTreeSet<u64> = plan.dropped.iter().map(|dropped| dropped.id).collect();
    let kept = list.entries.iter().filter(|entry| !gone.contains(&entry.dest.id));
    for (before, after) in kept.zip(&after.entries) {
        assert!(before.dest.raw[..112] == after.dest.raw[..112], "entry {} is another", before.dest.id);
        assert!(before.link.map(|link| &link.data) == after.link.map(|link| &link.data), "a link is another");
    }
    assert!(plan::prune(&after, &rules, &limits).unwrap().bytes.is_none(), "pruned again, more goes");
}

/// What is mended has nothing left to mend, keeps every pin whose entry and link are sound, and is mended at once.
pub fn repair(data: &[u8]) {
    let Some((&how, data)) = data.split_first() else { return };
    let bytes = list_of(data);
    let limits = Limits::default();
    let Ok(compound) = jlfix::salvage::read(&bytes, &limits) else { return };
    let list = AutomaticList::read(&compound);
    let options = RepairOptions::default().keep_linkless(how & 1 != 0).drop_orphans(how & 2 != 0).reset(how & 4 != 0);
    let to_mend = |list: &AutomaticList<'_>| -> BTreeSet<Code> {
        let mut codes = to_mend(list);
        if options.keep_linkless {
            codes.remove(&Code::NoLink);
        }
        codes
    };
    let mended = match plan::repair(&list, &options, &limits) {
        Err(error) => {
            assert!(!is_our_fault(&error), "{error}");
            assert!(!options.reset || !matches!(error, PlanError::NothingLeft { .. }), "{error}");
            return;
        }
        Ok(None) => {
            assert!(to_mend(&list).is_empty(), "nothing is mended, and there is {:?}", to_mend(&list));
            return;
        }
        Ok(Some(mended)) => mended,
    };
    write::second_opinion(&mended.bytes).expect("cfb reads it");
    for read in [Compound::parse, jlfix::salvage::read] {
        let compound = read(&mended.bytes, &limits).unwrap();
        let after = AutomaticList::read(&compound);
        assert!(to_mend(&after).is_empty(), "mended, there is {:?}", to_mend(&after));
        let again = plan::repair(&after, &options, &limits).unwrap();
        let steps = again.iter().flat_map(|again| &again.steps).map(|step| &step.what).collect::<Vec<_>>();
        assert!(again.is_none(), "mended again: {steps:?}");
        for entry in list.entries.iter().filter(|entry| entry.dest.is_pinned() && entry.soundness == Soundness::Sound) {
            let links = entry.read_link(options.code_page).is_some_and(|link| link.is_ok_and(|link| link.complete));
            let ids = list.entries.iter().filter(|other| other.dest.id == entry.dest.id).count();
            // It has another id where a link of that name turned out to be another's.
            let is_it = |kept: &jlfix::model::Entry<'_>| {
                kept.dest.id == entry.dest.id || kept.dest.path == entry.dest.path && !entry.dest.path.is_empty()
            };
            let kept = |kept: &&jlfix::model::Entry<'_>| kept.dest.is_pinned() && is_it(kept);
            assert!(!links || ids > 1 || after.entries.iter().any(|e| kept(&e)), "pin {} is lost", entry.dest.id);
        }
    }
}

/// The codes of what repair would mend in a list.
fn to_mend(list: &AutomaticList<'_>) -> BTreeSet<Code> {
    let mut codes = breaches(list);
    codes.retain(|code| code.fix() == Some(Fix::Repair));
    codes
}

/// A list that is mended first, as the command does it; none if nothing can be saved of it.
fn whole(bytes: Vec<u8>, limits: &Limits) -> Option<Vec<u8>> {
    let compound = jlfix::salvage::read(&bytes, limits).ok()?;
    let mended = plan::repair(&AutomaticList::read(&compound), &RepairOptions::default(), limits).ok()?;
    Some(mended.map_or_else(|| bytes.clone(), |mended| mended.bytes))
}

/// In what two lists differ, for the message.
fn difference(one: &AutomaticList<'_>, other: &AutomaticList<'_>) -> String {
    if one.header != other.header {
        return format!("{:?} and {:?}", one.header, other.header);
    }
    if one.entries.len() != other.entries.len() {
        return format!("{} and {} entries", one.entries.len(), other.entries.len());
    }
    let mut pairs = one.entries.iter().zip(&other.entries);
    if let Some((one, other)) = pairs.find(|(one, other)| one.dest.raw != other.dest.raw) {
        return format!("{:?} and {:?}", one.dest, other.dest);
    }
    let names = |list: &AutomaticList<'_>| -> Vec<String> {
        list.compound.streams.iter().map(|stream| format!("{} {}", stream.name, stream.data.len())).collect()
    };
    format!("{:?} and {:?}", names(one), names(other))
}

/// What is merged is whole, has every entry and every pin, and is the same when one of its lists is merged in again.
pub fn merge(data: &[u8]) {
    let Some((size, data)) = data.split_first_chunk::<2>() else { return };
    let (one, other) = data.split_at(usize::from(u16::from_le_bytes(*size)).min(data.len()));
    let limits = Limits::default();
    let (Some(one), Some(other)) = (whole(list_of(one), &limits), whole(list_of(other), &limits)) else { return };
    let (one, other) = (jlfix::salvage::read(&one, &limits).unwrap(), jlfix::salvage::read(&other, &limits).unwrap());
    let (one, other) = (AutomaticList::read(&one), AutomaticList::read(&other));
    let inputs = |lists: &[&AutomaticList<'_>]| -> Result<plan::Merge, PlanError> {
        let inputs: Vec<_> = lists.iter().map(|list| Input { name: "list", list }).collect();
        plan::merge(&inputs, &limits)
    };
    let merged = match inputs(&[&one, &other]) {
        Ok(merged) => merged,
        Err(error) => {
            assert!(!is_our_fault(&error), "{error}");
            return;
        }
    };
    write::second_opinion(&merged.bytes).expect("cfb reads it");
    let compound = Compound::parse(&merged.bytes, &limits).unwrap();
    let after = AutomaticList::read(&compound);
    assert!(to_mend(&after).is_empty(), "merged, there is {:?}", to_mend(&after));
    let (most, all) = (one.entries.len().max(other.entries.len()), one.entries.len() + other.entries.len());
    assert!((most..=all).contains(&after.entries.len()), "{} of {most} to {all}", after.entries.len());
    assert!(after.pinned() >= one.pinned().max(other.pinned()), "pins are gone");
    let alone = inputs(&[&one, &one]).unwrap();
    if !alone.same_as.contains(&0) {
        let compound = Compound::parse(&alone.bytes, &limits).unwrap();
        panic!("with itself, it is another: {}", difference(&one, &AutomaticList::read(&compound)));
    }
}

/// A manifest that is believed leads nowhere but into its own folder.
pub fn manifest(data: &[u8]) {
    let id = "20261130T184501.123Z-4f0a".parse().unwrap();
    let path = Path::new("/store/manifest.json");
    for manifest in [Manifest::parse(&id, data, path), Manifest::parse_journal(&id, data, path)].into_iter().flatten() {
        let (mut paths, mut names) = (BTreeSet::new(), BTreeSet::new());
        for record in &manifest.files {
            assert!(record.path.is_absolute() && record.path.file_name().is_some(), "{:?}", record.path);
            assert!(record.path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_))));
            assert!(paths.insert(&record.path), "{:?} twice", record.path);
            let Some(saved) = &record.saved else { continue };
            let parts: Vec<_> = Path::new(&saved.stored).components().collect();
            assert!(matches!(parts.as_slice(), [Component::Normal(_)]), "{:?}", saved.stored);
            let harmless = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            assert!(saved.stored.ends_with(".bak") && saved.stored.chars().all(harmless), "{:?}", saved.stored);
            assert!(names.insert(&saved.stored), "{:?} twice", saved.stored);
            assert_eq!(saved.sha256.len(), 64);
        }
    }
}
