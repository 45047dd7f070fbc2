//! Plans the repair of a list.
//!
//! Most facts are stored more than once in a jump list: a link knows its destination, an
//! entry knows its link, a checksum covers its entry, and the header counts them all. So nearly everything can be
//! restored from what is left. What cannot is dropped and reported; a file in which nothing is left is not touched.
//!
//! A healthy file has no plan, and a repaired file is healthy: a second plan for it is empty, which is checked
//! before a plan is returned.

mod assemble;
mod checksum;
mod entries;
mod judge;
mod links;

use super::rebuild::{Part, RebuildError, build, rebuild};
use super::{PlanError, Size, Step, refuse_unsupported};
use crate::cost::Cost;
use crate::format::compound::{Compound, FaultKind, Recovery, Root};
use crate::format::text::CodePage;
use crate::format::time::FileTime;
use crate::limits::Limits;
use crate::model::{AutomaticList, DEST_LIST, Fix};
use crate::write;
use entries::{Draft, Gathered};
use judge::Judge;
use links::{Links, Role};

/// How many times the result is repaired again at most.
const MOST_ROUNDS: usize = 4;

/// Options of a repair.
///
/// ```
/// use jlfix::{JumpList, RepairOptions};
///
/// let list = JumpList::open("samples/damaged/wrong-count/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
/// let repair = list.repair(&RepairOptions::default().drop_orphans(true))?.expect("a damaged list");
/// assert!(repair.steps.iter().all(|step| !step.lost));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct RepairOptions {
    /// Keep entries that have no link, as they are. Windows cannot open them.
    pub keep_linkless: bool,
    /// Drop links that have no entry, instead of making one of what they say.
    pub drop_orphans: bool,
    /// Make an empty list of a file in which nothing is left.
    pub reset: bool,
    /// The code page of ANSI strings in links.
    pub code_page: CodePage,
}

impl RepairOptions {
    /// Sets [`keep_linkless`](Self#structfield.keep_linkless).
    #[must_use]
    pub fn keep_linkless(mut self, keep_linkless: bool) -> Self {
        self.keep_linkless = keep_linkless;
        self
    }

    /// Sets [`drop_orphans`](Self#structfield.drop_orphans).
    #[must_use]
    pub fn drop_orphans(mut self, drop_orphans: bool) -> Self {
        self.drop_orphans = drop_orphans;
        self
    }

    /// Sets [`reset`](Self#structfield.reset).
    #[must_use]
    pub fn reset(mut self, reset: bool) -> Self {
        self.reset = reset;
        self
    }

    /// Sets [`code_page`](Self#structfield.code_page).
    #[must_use]
    pub fn code_page(mut self, code_page: CodePage) -> Self {
        self.code_page = code_page;
        self
    }
}

/// A repaired list, ready to be written.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Repair {
    /// What was repaired, as text.
    pub steps: Vec<Step>,
    /// The list as it is.
    pub before: Size,
    /// The list as it will be.
    pub after: Size,
    /// The new file, checked.
    pub bytes: Vec<u8>,
}

/// Plans the repair of a list. `None` if nothing is wrong with it that could be repaired.
///
/// # Errors
/// [`PlanError::NothingLeft`] if nothing is left in the file; [`PlanError::Rebuild`] if the new file could not be made.
pub fn repair(list: &AutomaticList<'_>, options: &RepairOptions, limits: &Limits) -> Result<Option<Repair>, PlanError> {
    refuse_unsupported(list)?;
    // What `check` does not report is not changed.
    let findings = list.findings(options.code_page);
    if !findings.iter().any(|finding| finding.fix == Some(Fix::Repair)) {
        return Ok(None);
    }
    let before = Size::of(list);
    let mut mended = match mend(list, options) {
        Err(PlanError::NothingLeft { why, .. }) if options.reset => return reset(before, &why, limits).map(Some),
        Err(error) => return Err(error),
        Ok(None) => return Ok(None),
        Ok(Some(mended)) => mended.into_owned(),
    };
    // A link that is damaged inside reads differently once the file around it is complete.
    let mut built = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let bytes = build(&mended.root, &mended.storages, &mended.parts)?;
        let compound =
            crate::salvage::read(&bytes, limits).map_err(|short| RebuildError::Differs(short.to_string()))?;
        let again = if bytes == built { None } else { mend(&AutomaticList::read(&compound), options)? };
        let Some(again) = again else {
            // What looks like a leftover can be in the middle of a stream, and is there however often it is laid out again.
            if bytes == list.compound.file() {
                return Ok(None);
            }
            let (bytes, after) = rebuild(&mended.root, &mended.storages, &mended.parts, limits)?;
            return Ok(Some(Repair { steps: mended.steps, before, after, bytes }));
        };
        // Steps about the file are reported once.
        let again = again.into_owned();
        let mut steps = std::mem::take(&mut mended.steps);
        let told: Vec<Step> = steps.iter().filter(|step| step.entry_id.is_none()).cloned().collect();
        steps.extend(again.steps.into_iter().filter(|step| !told.contains(step)));
        mended = Mended { steps, ..again };
        built = bytes;
    }
    let what = mended.steps.last().map_or_else(String::new, |step| step.what.clone());
    Err(RebuildError::Differs(format!("it would be repaired again: {what}")).into())
}

/// An empty list, for a file of `size` bytes that is not even a compound file.
///
/// # Errors
/// [`PlanError::Rebuild`] if it could not be made.
pub fn empty_list(size: u64, why: &str, limits: &Limits) -> Result<Repair, PlanError> {
    let before = Size { entries: 0, pinned: 0, bytes: size, cost: Cost::of_file(size) };
    reset(before, why, limits)
}

/// A DestList of 0 bytes: what Windows leaves where nothing ever was (docs/format.md), in whatever version.
fn reset(before: Size, why: &str, limits: &Limits) -> Result<Repair, PlanError> {
    let (bytes, after) = rebuild(&Root::default(), &[], &[Part::new(DEST_LIST, Vec::new())], limits)?;
    let mut steps = Steps::default();
    steps.file_lost(format!("made an empty list: {why}"));
    Ok(Repair { steps: steps.told, before, after, bytes })
}

/// The steps of a repair, as they are found.
#[derive(Debug, Default)]
struct Steps {
    told: Vec<Step>,
    /// Remarks that are reported only together with steps.
    asides: Vec<String>,
}

impl Steps {
    fn push(&mut self, draft: Option<&Draft<'_>>, what: String, lost: bool) {
        self.told.push(Step {
            what,
            entry_id: draft.map(|draft| draft.entry.id),
            path: draft.map(|draft| draft.path().to_string()),
            pinned: draft.is_some_and(|draft| draft.entry.is_pinned()),
            lost,
        });
    }

    fn file(&mut self, what: impl Into<String>) {
        self.push(None, what.into(), false);
    }

    fn file_lost(&mut self, what: impl Into<String>) {
        self.push(None, what.into(), true);
    }

    fn about(&mut self, draft: &Draft<'_>, what: impl Into<String>) {
        self.push(Some(draft), what.into(), false);
    }

    /// Gives the step about a new entry, recorded under the id `was`, the id that the entry has now.
    fn renumber(&mut self, draft: &Draft<'_>, was: u64) {
        let path = draft.path().to_string();
        let is_it = |step: &&mut Step| step.entry_id == Some(was) && step.path.as_deref() == Some(&path);
        if let Some(step) = self.told.iter_mut().find(is_it) {
            step.entry_id = Some(draft.entry.id);
        }
    }

    fn lost(&mut self, draft: &Draft<'_>, what: impl Into<String>) {
        self.push(Some(draft), what.into(), true);
    }

    fn aside(&mut self, what: impl Into<String>) {
        self.asides.push(what.into());
    }
}

/// The content of a repaired file.
struct Mended<'c> {
    root: Root,
    storages: Vec<String>,
    parts: Vec<Part<'c>>,
    steps: Vec<Step>,
}

impl Mended<'_> {
    fn into_owned(self) -> Mended<'static> {
        let Self { root, storages, parts, steps } = self;
        Mended { root, storages, parts: parts.into_iter().map(Part::into_owned).collect(), steps }
    }
}

/// Repairs a list. `None` if the result equals the input.
fn mend<'c>(list: &AutomaticList<'c>, options: &RepairOptions) -> Result<Option<Mended<'c>>, PlanError> {
    let compound = list.compound;
    let mut steps = Steps::default();
    container(compound, &mut steps);
    let gathered = Gathered::read(list);
    // The list of a later Windows can be there under a damaged name.
    if !gathered.header.is_known_version() {
        return Err(PlanError::UnsupportedVersion(gathered.header.version));
    }
    if let Some(stream) = gathered.stream.filter(|stream| !stream.name.chars().eq(DEST_LIST.chars())) {
        steps.file(format!("stream {} is the DestList; it has its name again", stream.name));
    }
    let links = Links::read(&compound.streams, gathered.stream, options.code_page);
    let unreadable = links.roles.iter().filter(|role| **role == Role::Unreadable).count();
    let links_found = links.all.len();
    assemble::compare_header(&gathered, &mut steps);
    let mut judge = Judge::new(&gathered, links, options, &mut steps);
    judge.decide(compound);

    let hopeless = judge.drafts.is_empty() && loses_all(&gathered, compound, links_found.saturating_add(unreadable));
    if hopeless && !(options.drop_orphans && gathered.drafts.is_empty() && links_found > 0) {
        return Err(nothing_left(&gathered, compound));
    }
    let known = gathered.claimed.is_some() || !judge.drafts.is_empty();
    let dest_list = if known {
        Some(assemble::dest_list(&mut judge, &gathered.drafts))
    } else {
        // There is nothing to say; Windows leaves a DestList of 0 bytes then, or none.
        gathered.stream.map(|_| Vec::new())
    };
    let root = if compound.faults.is_empty() { compound.root } else { root(compound.root, &judge.drafts) };
    if gathered.stream.is_none() && dest_list.is_some() {
        judge.steps.file(format!("there was no DestList; made, in format version {}", judge.header.version));
    }
    let mut storages = compound.storages.clone();
    storages.retain(|storage| compound.streams.iter().any(|stream| is_in(&stream.storage, storage)));
    if !compound.faults.is_empty() && storages.len() < compound.storages.len() {
        judge.steps.file("a storage with nothing in it was left out");
    } else {
        storages.clone_from(&compound.storages);
    }
    let parts = assemble::parts(compound, judge, dest_list);
    if is_same(compound, &parts, root) {
        // What our reader passes over, Windows' own may not.
        match write::second_opinion(compound.file()) {
            Ok(()) => return Ok(None),
            Err(why) => steps.file(format!("the file is laid out anew: {why}")),
        }
    }
    let Steps { mut told, asides } = steps;
    told.extend(asides.into_iter().map(|what| Step { what, entry_id: None, path: None, pinned: false, lost: false }));
    Ok(Some(Mended { root, storages, parts, steps: told }))
}

/// True for a stream whose storage is `storage`, or lies in it.
fn is_in(holder: &str, storage: &str) -> bool {
    holder.strip_prefix(storage).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// True if the repair changes nothing.
fn is_same(compound: &Compound<'_>, parts: &[Part<'_>], root: Root) -> bool {
    let intact = compound.streams.iter().all(|stream| stream.recovery == Recovery::Intact && stream.missing() == 0);
    compound.faults.is_empty()
        && intact
        && root == compound.root
        && parts.len() == compound.streams.len()
        && parts.iter().zip(&compound.streams).all(|(part, stream)| part.is(stream))
}

/// The root's times and class; a list whose root is lost was changed last when it was used last.
fn root(root: Root, drafts: &[Draft<'_>]) -> Root {
    let newest = drafts.iter().map(|draft| draft.entry.last_access).max().unwrap_or(FileTime(0));
    if root.modified == FileTime(0) && root.clsid.is_zero() && newest.is_plausible() {
        Root { modified: newest, ..root }
    } else {
        root
    }
}

/// Adds steps for the faults of the container and for streams that had to be searched for.
fn container(compound: &Compound<'_>, steps: &mut Steps) {
    let faults: Vec<_> = compound.faults.iter().filter(|fault| fault.kind != FaultKind::Carved).collect();
    if let Some(first) = faults.first() {
        let more = match faults.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count.saturating_sub(1)),
        };
        steps.file(format!("the file is laid out anew: {}{more}", first.message));
    }
    let ways = [
        (Recovery::Chain, "along chains that had to be repaired"),
        (Recovery::Contiguous, "as the bytes that follow their start"),
        (Recovery::Carved, "in sectors that belong to nothing"),
    ];
    for (recovery, how) in ways {
        let named =
            |stream: &&crate::format::compound::Stream<'_>| stream.recovery == recovery && !stream.name.is_empty();
        let count = compound.streams.iter().filter(named).count();
        if count > 0 {
            let streams = if count == 1 { "stream was" } else { "streams were" };
            steps.file(format!("{count} {streams} found again {how}"));
        }
    }
    if faults.is_empty() && !compound.faults.is_empty() {
        steps.file("the file is laid out anew, without what nothing names any more");
    }
}

/// True if there was something in the file, and nothing is left of it.
fn loses_all(gathered: &Gathered<'_>, compound: &Compound<'_>, links: usize) -> bool {
    let claimed = gathered.claimed.is_some_and(|header| header.count > 0);
    let cut = gathered
        .stream
        .is_some_and(|stream| stream.missing() > 0 || (gathered.claimed.is_none() && !stream.data.is_empty()));
    let gone = gathered.stream.is_none() && !compound.faults.is_empty();
    claimed || cut || gone || links > 0 || gathered.unread > 0
}

fn nothing_left(gathered: &Gathered<'_>, compound: &Compound<'_>) -> PlanError {
    let linkless = gathered.drafts.iter().filter(|draft| !draft.carved).count();
    if linkless > 0 {
        let entries =
            if linkless == 1 { "its one entry".to_owned() } else { format!("each of its {linkless} entries") };
        return PlanError::NothingLeft { why: format!("{entries} lacks a link that can be read"), linkless };
    }
    let first = compound.faults.first().map(|fault| format!(" ({})", fault.message)).unwrap_or_default();
    let why = format!("no entry and no link that an entry could be made of is left in it{first}");
    PlanError::NothingLeft { why, linkless }
}
