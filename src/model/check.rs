//! Checks a list against the rules of its format; each violation is a finding.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use super::finding::{Code, Finding, Fix};
use super::{AutomaticList, DEST_LIST, Entry, PROPERTY_STORE};
use crate::format::compound::{Fault as ContainerFault, FaultKind, Recovery, Stream};
use crate::format::custom::{Custom, Fault as CustomFault};
use crate::format::destlist::{Header, Soundness, TotalRule, Version, total};
use crate::format::link::{self, Link, Mismatch, NotALink, looks_like_link};
use crate::format::text::{CodePage, Utf16};

/// The findings of an automatic list, container first, then DestList.
pub(super) fn structure(list: &AutomaticList<'_>) -> Vec<Finding> {
    // What was recovered is reported below, stream by stream and entry by entry.
    let faults =
        list.compound.faults.iter().filter(|fault| !matches!(fault.kind, FaultKind::Mended | FaultKind::Carved));
    let mut out: Vec<Finding> = faults.map(container).collect();
    for stream in list.compound.streams.iter().filter(|stream| stream.recovery != Recovery::Intact) {
        out.push(recovered(stream));
    }
    for carved in &list.compound.carved_entries {
        if let Some(entry) = carved.entry() {
            let message = format!("entry {} ({}) was found in sectors that belong to nothing", entry.id, entry.path);
            out.push(Finding::new(Code::Recovered, message).entry(entry.id).at(carved.offset));
        }
    }
    misnamed(list, &mut out);
    if let Some(header) = &list.header {
        dest_list(list, header, &mut out);
    } else if let Some(short) = list.cut {
        out.push(Finding::new(Code::EntryCut, short.to_string()));
    } else if !list.orphans.is_empty() {
        let message = match list.orphans.len() {
            1 => "1 link and no DestList that names it".to_owned(),
            count => format!("{count} links and no DestList that names them"),
        };
        out.push(Finding::new(Code::NoDestList, message));
    } else if list.is_foreign() {
        let names: Vec<String> = list.others.iter().take(3).map(|stream| format!("{:?}", stream.name)).collect();
        let message = format!("not a jump list: no DestList and no link, but streams such as {}", names.join(", "));
        out.push(Finding::new(Code::NotAJumpList, message));
    }
    out
}

/// All findings of an automatic list: its structure, then its links.
pub(super) fn automatic(list: &AutomaticList<'_>, code_page: CodePage) -> Vec<Finding> {
    let mut out = structure(list);
    for orphan in &list.orphans {
        let target = link::parse(&orphan.data, code_page).ok().and_then(|link| link.target());
        let target = target.map(|target| format!(" (to {target})")).unwrap_or_default();
        let message = format!("stream {} is a link{target} that no entry owns", orphan.name);
        out.push(about(Finding::new(Code::OrphanLink, message), orphan));
    }
    for entry in &list.entries {
        link_of(entry, code_page, &mut out);
    }
    for orphan in &list.orphans {
        link_stream(orphan, code_page, &mut out);
    }
    out
}

/// Streams that are not named as what they are: Windows finds a name in any case, other readers do not, and a link only
/// under its entry's id.
fn misnamed(list: &AutomaticList<'_>, out: &mut Vec<Finding>) {
    let mut report = |stream: &Stream<'_>, message| out.push(about(Finding::new(Code::StreamName, message), stream));
    for stream in list.dest_list.iter().copied().chain(list.others.iter().copied()) {
        let is_other = |name: &&str| {
            let own = stream.name.to_string();
            own.eq_ignore_ascii_case(name) && own != **name
        };
        if !stream.storage.is_empty() || stream.entry_id().is_some() {
            continue;
        }
        let has_store = list.others.iter().any(|other| other.name.to_string() == PROPERTY_STORE);
        if is_nearly(stream.name, PROPERTY_STORE) && !has_store {
            report(stream, format!("stream {} is probably {PROPERTY_STORE}, with a damaged name", stream.name));
        } else if let Some(name) = [DEST_LIST, PROPERTY_STORE].iter().find(|name| is_other(name)) {
            report(stream, format!("stream {} is named otherwise than {name}", stream.name));
        } else if looks_like_link(&stream.data) {
            report(stream, format!("stream {} is a link, and its name is no entry's id", stream.name));
        }
    }
}

/// True if one or two characters of the name were damaged, or truncated.
pub(crate) fn is_nearly(name: Utf16<'_>, of: &str) -> bool {
    let wrong = name.units().zip(of.encode_utf16()).filter(|(a, b)| a != b).count();
    let wrong = wrong.saturating_add(name.units().count().abs_diff(of.encode_utf16().count()));
    (1..=2).contains(&wrong)
}

fn container(fault: &ContainerFault) -> Finding {
    let code = match fault.kind {
        FaultKind::Header => Code::Header,
        FaultKind::Fat => Code::Fat,
        FaultKind::Directory => Code::Directory,
        FaultKind::MiniStream => Code::MiniStream,
        FaultKind::Stream => Code::StreamCut,
        FaultKind::Loop => Code::Loop,
        FaultKind::CrossLinked => Code::CrossLinked,
        FaultKind::Unreachable => Code::Unreachable,
        FaultKind::DuplicateName => Code::DuplicateName,
        FaultKind::Exchanged => Code::Fat,
        FaultKind::Mended | FaultKind::Carved => Code::Recovered,
        FaultKind::Limit => Code::Limit,
    };
    Finding { entry_id: fault.stream_id, ..Finding::new(code, fault.message.clone()).at(fault.offset) }
}

fn recovered(stream: &Stream<'_>) -> Finding {
    let how = match stream.recovery {
        Recovery::Intact => "as it is",
        Recovery::Chain => "along a repaired chain",
        Recovery::Contiguous => "as the bytes that follow its start",
        Recovery::Carved => "from sectors that belong to nothing",
    };
    let name = if stream.name.is_empty() { "a link".to_owned() } else { format!("stream {}", stream.name) };
    let message = format!("{name} was recovered {how}: {} bytes at {}", stream.data.len(), stream.offset);
    about(Finding::new(Code::Recovered, message), stream)
}

/// A number with its noun.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// How many bytes come after something.
fn following(bytes: usize) -> String {
    counted(bytes, "byte follows", "bytes follow")
}

/// The finding, about this stream.
fn about(finding: Finding, stream: &Stream<'_>) -> Finding {
    Finding { entry_id: stream.entry_id().map(|(id, _)| id), offset: Some(stream.offset), ..finding }
}

fn dest_list(list: &AutomaticList<'_>, header: &Header, out: &mut Vec<Finding>) {
    let entries = &list.entries;
    if !header.is_known_version() {
        let read_as = layout(header);
        let message = format!("format version {} is not supported (1 to 6 are); read as {read_as}", header.version);
        // A number that no later Windows is likely to use is damage.
        let fix = (!header.is_plausible_version()).then_some(Fix::Repair);
        out.push(Finding { fix, ..Finding::new(Code::Version, message) });
    }
    let mut report = |code, message: String| out.push(Finding::new(code, message));
    if header.count as usize != entries.len() {
        let counts = counted(header.count as usize, "entry", "entries");
        let have = entries.len();
        report(
            Code::Count,
            format!("the header counts {counts}, there {} {have}", if have == 1 { "is" } else { "are" }),
        );
    }
    let pinned = list.pinned();
    if header.pinned as usize != pinned {
        let counts = counted(header.pinned as usize, "pinned entry", "pinned entries");
        let are = if pinned == 1 { "is" } else { "are" };
        report(Code::PinnedCount, format!("the header counts {counts}, there {are} {pinned}"));
    }
    let sum = total::sum_of_scores(entries.iter().map(|entry| &entry.dest));
    if !total::is_right(header, sum) {
        let message = match Version::from(header.version).total_rule() {
            TotalRule::Sum => format!("the header's total is {}, the scores add up to {sum}", header.total),
            TotalRule::Added | TotalRule::AsFound => format!("the header's total is {}, out of range", header.total),
        };
        report(Code::Total, message);
    }
    let highest = entries.iter().map(|entry| entry.dest.id).max().unwrap_or(0);
    if highest > header.last_id {
        report(Code::LastId, format!("the last id given is {}, an entry has {highest}", header.last_id));
    }
    // The last entry, if the DestList ends in it: what is missing is reported with it.
    let last = entries.iter().max_by_key(|entry| entry.dest.offset).map(|entry| entry.dest.offset);
    let is_truncated = |entry: &Entry<'_>| {
        entry.soundness == Soundness::Bounded && Some(entry.dest.offset) == last && list.cut.is_some()
    };
    if let Some(short) = list.cut.filter(|_| !entries.iter().any(is_truncated)) {
        let offset = file_offset(list.dest_list, short.offset);
        out.push(Finding { offset, ..Finding::new(Code::EntryCut, short.to_string()) });
    }
    for gap in &list.gaps {
        let end = list.entries.iter().map(|entry| entry.dest.offset).max().unwrap_or(0);
        let (code, message) = if gap.start > end && list.cut.is_none() {
            (Code::Trailing, format!("{} the last entry", following(gap.len())))
        } else {
            let bytes = counted(gap.len(), "byte", "bytes");
            let message = format!("no entry can be read in {bytes} of the DestList, from {}", gap.start);
            (Code::EntryCut, message)
        };
        out.push(Finding { offset: file_offset(list.dest_list, gap.start as u64), ..Finding::new(code, message) });
    }
    order(entries, out);
    ranks(entries, out);
    identities(entries, out);
    for entry in entries {
        let Entry { dest, soundness, link } = entry;
        let at = |finding: Finding| Finding {
            offset: file_offset(list.dest_list, dest.offset as u64),
            ..finding.entry(dest.id)
        };
        if *soundness != Soundness::Sound && !dest.checksum_ok() {
            let message = format!(
                "entry {}: checksum {:016x}, its bytes give {:016x}",
                dest.id,
                dest.checksum,
                dest.computed_checksum()
            );
            out.push(at(Finding::new(Code::Checksum, message)));
        }
        if *soundness == Soundness::Bounded {
            let why = match list.cut.filter(|_| is_truncated(entry)) {
                Some(short) => short.to_string(),
                None => "a length in it is invalid".to_owned(),
            };
            let message = format!("entry {}: {why}; its path is read to where text ends", dest.id);
            out.push(at(Finding::new(Code::EntryCut, message)));
        }
        if dest.is_path_overwritten() {
            let message =
                format!("entry {}: its path was overwritten: a NUL follows {}", dest.id, dest.path.until_nul());
            out.push(at(Finding::new(Code::EntryCut, message)));
        }
        if !dest.last_access.is_plausible() {
            let message = format!("entry {}: last access is {}", dest.id, dest.last_access);
            out.push(at(Finding::new(Code::Time, message)));
        }
        match link {
            None => {
                let message = format!("entry {} ({}) has no link: no stream {:x}", dest.id, dest.path, dest.id);
                out.push(at(Finding::new(Code::NoLink, message)));
            }
            Some(stream) if stream.entry_id().is_some_and(|(_, canonical)| !canonical) => {
                let message = format!("the link of entry {} is named {}, expected {:x}", dest.id, stream.name, dest.id);
                out.push(about(Finding::new(Code::StreamName, message), stream));
            }
            Some(_) => {}
        }
    }
}

/// So many white-space characters in a row are no accident: a properties dialog shows fewer.
const LONG_PADDING: usize = 64;

fn layout(header: &Header) -> &'static str {
    if crate::format::destlist::has_rank(header.version) { "version 2 and later" } else { "version 1" }
}

/// Where in the file a place in the DestList is.
fn file_offset(stream: Option<&Stream<'_>>, offset: u64) -> Option<u64> {
    stream?.file_offset(usize::try_from(offset).ok()?)
}

fn order(entries: &[Entry<'_>], out: &mut Vec<Finding>) {
    // An impossible time is a finding.
    let timed = || entries.iter().filter(|entry| entry.dest.last_access.is_plausible());
    let pairs = timed().zip(timed().skip(1));
    let breaks = pairs.filter(|(before, after)| before.dest.last_access < after.dest.last_access);
    let count = breaks.clone().count();
    if let Some((before, after)) = breaks.into_iter().next() {
        let message = format!(
            "{} before one that was used later, first entry {} before entry {}",
            if count == 1 { "1 entry is".to_owned() } else { format!("{count} entries are") },
            before.dest.id,
            after.dest.id
        );
        out.push(Finding::new(Code::Order, message).entry(after.dest.id));
    }
}

fn ranks(entries: &[Entry<'_>], out: &mut Vec<Finding>) {
    let mut ranks: Vec<i32> = entries.iter().filter_map(|entry| entry.dest.rank()).collect();
    ranks.sort_unstable();
    let wrong = ranks.iter().zip(0_i32..).find(|(rank, expected)| *rank != expected);
    if let Some((rank, expected)) = wrong {
        let message =
            format!("{} entries have a rank; the first that is wrong is {rank}, expected {expected}", ranks.len());
        out.push(Finding::new(Code::Ranks, message));
    }
}

fn identities(entries: &[Entry<'_>], out: &mut Vec<Finding>) {
    let mut ids = HashSet::with_capacity(entries.len());
    let mut pins: HashMap<i32, u64> = HashMap::new();
    for Entry { dest, .. } in entries {
        if !ids.insert(dest.id) {
            out.push(Finding::new(Code::DuplicateId, format!("entry id {} is used twice", dest.id)).entry(dest.id));
        }
        if let Some(other) = dest.is_pinned().then(|| pins.insert(dest.pin, dest.id)).flatten() {
            let message = format!("entries {other} and {} are both pinned in place {}", dest.id, dest.pin);
            out.push(Finding::new(Code::PinTwice, message).entry(dest.id));
        }
    }
}

fn link_of(entry: &Entry<'_>, code_page: CodePage, out: &mut Vec<Finding>) {
    if let Some(stream) = entry.link {
        link_stream(stream, code_page, out);
    }
}

fn link_stream(stream: &Stream<'_>, code_page: CodePage, out: &mut Vec<Finding>) {
    let name = stream.name;
    match link::parse(&stream.data, code_page) {
        Err(why) => out.push(about(Finding::new(Code::LinkUnreadable, format!("link {name}: {why}")), stream)),
        Ok(link) => {
            let id = stream.entry_id().map(|(id, _)| id);
            let found = link_findings(&link, &stream.data, &format_args!("link {name}"), stream.offset);
            out.extend(found.map(|finding| Finding { entry_id: id, ..finding }));
        }
    }
}

/// What is wrong with a link: the parts that could not be read, as one finding, and what follows its end in `data`.
fn link_findings(
    link: &Link<'_>,
    data: &[u8],
    what: &dyn Display,
    offset: u64,
) -> impl Iterator<Item = Finding> + use<> {
    let problems = link.all_problems();
    let part = problems.first().map(|problem| {
        let more = match problems.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count.saturating_sub(1)),
        };
        Finding::new(Code::LinkPart, format!("{what}: {problem}{more}")).at(offset.saturating_add(problem.offset))
    });
    let slack = (link.complete && link.size < data.len()).then(|| {
        let slack = data.len().saturating_sub(link.size);
        let message = format!("{what}: {} its end", following(slack));
        Finding::new(Code::LinkSlack, message).at(offset.saturating_add(link.size as u64))
    });
    let targets = link.mismatch().map(|Mismatch { id_list, link_info }| {
        let message = format!("{what}: its item ID list names {id_list}, its LinkInfo {link_info}");
        let at = link.info.as_ref().map_or(0, |info| info.offset as u64);
        Finding::new(Code::LinkTargets, message).at(offset.saturating_add(at))
    });
    let padding = link.arguments_padding();
    let padded = (padding >= LONG_PADDING).then(|| {
        let message =
            format!("{what}: its arguments have {padding} white-space characters in a row, which hide what follows");
        Finding::new(Code::LinkPadding, message).at(offset)
    });
    let times: Vec<Finding> = link
        .times_out_of_range()
        .map(|(which, at, time)| {
            let message = format!("{what}: {which} is {time}");
            Finding::new(Code::Time, message).at(offset.saturating_add(at)).without_fix()
        })
        .collect();
    part.into_iter().chain(slack).chain(targets).chain(padded).chain(times)
}

/// The findings of a custom list.
pub(super) fn custom(custom: &Custom<'_>) -> Vec<Finding> {
    let mut out: Vec<Finding> = custom.faults.iter().map(custom_fault).collect();
    for (category, entry) in custom.links() {
        let what = match custom.categories.get(category) {
            Some(_) => format!("link at {} (category {category})", entry.offset),
            None => format!("link at {} (in no category)", entry.offset),
        };
        out.extend(link_findings(&entry.link, entry.raw, &what, entry.offset as u64));
    }
    if custom.faults.is_empty() && !custom.slack.is_empty() {
        let message = format!("{} the last footer", following(custom.slack.len()));
        out.push(Finding::new(Code::CustomSlack, message).at(custom.slack_offset as u64));
    }
    out
}

fn custom_fault(fault: &CustomFault) -> Finding {
    match fault {
        CustomFault::Header(short) => Finding::new(Code::CustomHeader, short.to_string()).at(short.offset),
        CustomFault::Version(version) => {
            Finding::new(Code::CustomHeader, format!("version at offset 0: is {version}, expected 2")).at(0)
        }
        CustomFault::Category(short) => Finding::new(Code::CustomCategory, short.to_string()).at(short.offset),
        CustomFault::UnknownType(at, kind) => {
            Finding::new(Code::CustomCategory, format!("category type at offset {at}: is {kind}, expected 0, 1 or 2"))
                .at(*at)
        }
        CustomFault::Link(at, why, skipped) => Finding::new(
            Code::CustomLink,
            format!("link at offset {at}: {why}; {} skipped", counted(*skipped as usize, "byte", "bytes")),
        )
        .at(*at),
        CustomFault::Class(at, class, skipped) => {
            let message = format!(
                "link at offset {at}: class {class} is not that of a link; {} skipped",
                counted(*skipped as usize, "byte", "bytes")
            );
            Finding::new(Code::CustomLink, message).at(*at)
        }
        CustomFault::Footer(at, found) => {
            let found = found.map_or("the end of the file".to_owned(), |found| format!("{found:#010x}"));
            Finding::new(Code::CustomFooter, format!("footer at offset {at}: is {found}, expected 0xbabffbab")).at(*at)
        }
        CustomFault::Stray(at) => {
            let message = format!("link at offset {at}: is outside the categories that could be read");
            Finding::new(Code::CustomLink, message).at(*at)
        }
        CustomFault::Count(need, have) => {
            let counts = counted(*need as usize, "category", "categories");
            Finding::new(Code::CustomCount, format!("the header counts {counts}, {have} could be read")).at(4)
        }
    }
}

/// The findings of a file that is a single link.
pub(super) fn single_link(data: &[u8], link: &Result<Link<'_>, NotALink>) -> Vec<Finding> {
    match link {
        Err(why) => {
            vec![Finding::new(Code::LinkUnreadable, format!("not a shell link: {why}")).at(0).without_fix()]
        }
        Ok(link) => link_findings(link, data, &"link", 0).map(Finding::without_fix).collect(),
    }
}
