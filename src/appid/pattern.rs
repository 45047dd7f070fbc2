//! Names that nobody can list, because a part of them differs from one machine to the next: when Opera was
//! installed, which instance of Visual Studio it is, whose profile a program lies in, or simply what a
//! program is called.
//!
//! An AppID is a CRC, and a CRC is linear: each bit of the name that is flipped flips its own fixed set of
//! bits of the id, whatever the other bits are. So where all of a name but a few characters is known, those
//! are the solution of 64 linear equations, found without trying a single one. Eight characters of seven
//! bits leave eight equations over, and most of what would satisfy those by chance is no readable text.
//! So an id also shows the user's name to whoever holds it.
//!
//! Nearly every id has no such name, and a scan asks for every list. So what does not depend on the id is computed once:
//! the equations, solved as far as they go, and eight parities of the id that no value of the unknown part changes. They
//! rule out all but one in 256 names before an equation is solved.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::{AppId, name_bytes, path::FOLDERS, users::PROGRAMS};
use crate::format::checksum::crc64;

/// A name that was computed back from an id, and not looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// What people call the application, where the name belongs to one that is known.
    pub name: Option<&'static str>,
    /// What Windows calls it. The part that was computed is in capitals: case leaves no trace in an id.
    pub source: String,
}

/// What the unknown part is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Letters {
    Digits,
    Hex,
    /// What the names of programs and users are made of, in ASCII.
    Name,
}

impl Letters {
    /// The character that stands for "no bit flipped yet", and the bits that may be flipped in it.
    fn bits(self) -> (u8, &'static [u8]) {
        match self {
            // A letter of hex differs from a digit in three bits that are never seen apart.
            Self::Hex => (0x30, &[1, 2, 4, 8, 0x70]),
            Self::Digits => (0x30, &[1, 2, 4, 8]),
            Self::Name => (0, &[1, 2, 4, 8, 16, 32, 64]),
        }
    }

    fn allow(self, text: &[u8]) -> bool {
        match self {
            Self::Digits => text.iter().all(u8::is_ascii_digit),
            Self::Hex => text.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'A'..=b'F')),
            Self::Name => {
                let fits =
                    |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() || b" .-_+&'()".contains(byte);
                // The longest parts have the fewest equations to spare, so they have to look like names.
                let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
                let letters = text.get(..text.len().saturating_sub(digits)).unwrap_or_default();
                let plain = text.len() < MAX_NAME || letters.iter().all(u8::is_ascii_uppercase);
                text.iter().all(fits)
                    && plain
                    && text.iter().any(u8::is_ascii_uppercase)
                    && text.first() != Some(&b' ')
                    && !matches!(text.last(), Some(b' ' | b'.'))
            }
        }
    }
}

/// A name with a hole: the unknown part is between each two of `parts`, the same each time.
struct Template {
    name: Option<&'static str>,
    parts: Vec<String>,
    letters: Letters,
    counts: std::ops::RangeInclusive<usize>,
}

/// The longest unknown part of a program's or a user's name that is looked for. One more, and chance alone
/// would satisfy every other set of equations.
const MAX_NAME: usize = 8;

fn templates() -> impl Iterator<Item = Template> {
    let family = |(name, before, letters, counts): (_, &str, _, _)| Template {
        name: Some(name),
        parts: vec![before.to_owned(), String::new()],
        letters,
        counts,
    };
    let families = [
        // The time of its installation, in seconds since 1970.
        ("Opera", "OperaSoftware.OperaWebBrowser.", Letters::Digits, 10..=10),
        // The instance's id, from 2017 on.
        ("Visual Studio", "VisualStudio.", Letters::Hex, 8..=8),
        ("Google Chrome", "Chrome.UserData.Profile", Letters::Digits, 1..=4),
        ("Microsoft Edge", "MSEdge.UserData.Profile", Letters::Digits, 1..=4),
        ("Brave", "Brave.UserData.Profile", Letters::Digits, 1..=4),
    ];
    let of_users = PROGRAMS.iter().map(|(program, name)| Template {
        name: Some(name),
        parts: vec![r"C:\Users\".to_owned(), format!("\\{program}")],
        letters: Letters::Name,
        counts: 1..=MAX_NAME,
    });
    let plain = |parts: &[&str]| Template {
        name: None,
        parts: parts.iter().map(|part| (*part).to_owned()).collect(),
        letters: Letters::Name,
        counts: 1..=MAX_NAME,
    };
    let in_folders = FOLDERS.iter().flat_map(move |(variable, guids)| {
        guids.iter().map(move |guid| match *variable {
            "%ProgramFiles%" => plain(&[&format!("{guid}\\"), "\\", ".exe"]),
            _ => plain(&[&format!("{guid}\\"), ".exe"]),
        })
    });
    let others = [
        plain(&["", ""]),
        plain(&["com.squirrel.", ".", ""]),
        plain(&["Microsoft.Office.", ".EXE.15"]),
        plain(&["Microsoft.", "_8wekyb3d8bbwe!App"]),
    ];
    families.into_iter().map(family).chain(of_users).chain(in_folders).chain(others)
}

/// The unknown part is at most this long: the seconds since 1970 have ten digits.
const MAX_COUNT: usize = 10;

/// What flips can do to an id, for one kind of letters in one or more places. The effect of a flip depends on how many
/// code units follow it and on nothing else, so templates share this.
struct Effects {
    letters: Letters,
    count: usize,
    /// What a set of flips does to the id, and the set: no two with the same highest bit, the highest first.
    rows: Vec<(u64, u64)>,
}

/// A template with one length of its unknown part.
struct Candidate {
    /// In [`Solver::templates`].
    template: usize,
    /// In [`Solver::effects`].
    effects: usize,
    /// In [`Solver::checks`].
    check: usize,
    /// The parities of `start`.
    parities: u8,
    /// The id of the name with nothing flipped.
    start: u64,
}

/// Eight parity checks that no flip of a group of [`Effects`] changes, for eight such groups at a time: byte `n` of a
/// word is that of the group `n`. For each of the 16 hex digits of an id, the words that its 16 values add.
type Checks = [[u64; 16]; 16];

/// Everything that does not depend on the id.
struct Solver {
    templates: Vec<Template>,
    effects: Vec<Effects>,
    checks: Vec<Checks>,
    /// In the order in which they are tried.
    candidates: Vec<Candidate>,
}

static SOLVER: LazyLock<Solver> = LazyLock::new(Solver::new);

/// How many code units follow the last one of the unknown part, in each of its places.
type Places = Vec<usize>;

impl Solver {
    fn new() -> Self {
        let templates: Vec<Template> = templates().collect();
        let longest = templates.iter().map(|template| template.units(*template.counts.end()).count()).max();
        let flips = flips(longest.unwrap_or_default());
        let mut solver = Self { templates, effects: Vec::new(), checks: Vec::new(), candidates: Vec::new() };
        let mut known: BTreeMap<(Letters, usize, Places), usize> = BTreeMap::new();
        let mut groups: Vec<usize> = Vec::new();
        let mut candidates = Vec::new();
        for (at, template) in solver.templates.iter().enumerate() {
            let mut of_template = Vec::new();
            let mut group = None;
            // The longest part first: in one place, what a shorter one can do is among what a longer one can.
            for count in template.counts.clone().rev() {
                let places = template.places(count);
                let is_group = group.is_none() || places.len() > 1;
                let effects = *known.entry((template.letters, count, places.clone())).or_insert_with(|| {
                    solver.effects.push(Effects::new(template.letters, count, &places, &flips));
                    solver.effects.len().saturating_sub(1)
                });
                if is_group {
                    let found = groups.iter().position(|group| *group == effects);
                    group = Some(found.unwrap_or_else(|| {
                        groups.push(effects);
                        groups.len().saturating_sub(1)
                    }));
                }
                let start = template.start(count);
                let check = group.unwrap_or_default();
                of_template.push(Candidate { template: at, effects, check, parities: 0, start });
            }
            candidates.extend(of_template.into_iter().rev());
        }
        let of_groups = groups.iter().filter_map(|at| solver.effects.get(*at));
        let parities: Vec<[u64; 8]> = of_groups.map(|effects| orthogonal(&effects.rows)).collect();
        solver.checks = parities.chunks(8).map(checks).collect();
        for candidate in &mut candidates {
            candidate.parities = solver.parities(candidate.start).byte(candidate.check);
        }
        solver.candidates = candidates;
        solver
    }

    fn parities(&self, id: u64) -> Parities {
        let mut words = [0; MAX_CHECKS];
        for (word, checks) in words.iter_mut().zip(&self.checks) {
            *word = checks.iter().zip(0_u32..).fold(0, |sum, (digit, at)| {
                let value = usize::try_from(id >> at.saturating_mul(4) & 15).unwrap_or_default();
                sum ^ digit.get(value).copied().unwrap_or_default()
            });
        }
        Parities(words)
    }

    fn solve(&self, id: AppId) -> Option<Recovered> {
        let parities = self.parities(id.0);
        let may_fit = |candidate: &&Candidate| candidate.parities == parities.byte(candidate.check);
        self.candidates.iter().filter(may_fit).find_map(|candidate| {
            let effects = self.effects.get(candidate.effects)?;
            let template = self.templates.get(candidate.template)?;
            let mut text = [0; MAX_COUNT];
            let text = effects.solve(id.0 ^ candidate.start, &mut text)?;
            let text = std::str::from_utf8(text).ok()?;
            Some(Recovered { name: template.name, source: template.parts.join(text) })
        })
    }
}

/// Room for the checks of 128 groups, twice what there are.
const MAX_CHECKS: usize = 16;

/// The parities of an id, a byte for each group.
struct Parities([u64; MAX_CHECKS]);

impl Parities {
    fn byte(&self, group: usize) -> u8 {
        let word = self.0.get(group / 8).copied().unwrap_or_default();
        word.to_le_bytes().get(group % 8).copied().unwrap_or_default()
    }
}

/// Eight vectors at right angles to all rows: a bit that no set of flips changes is the parity of the id and one of them.
/// Rows are at most 56, so there are eight.
fn orthogonal(rows: &[(u64, u64)]) -> [u64; 8] {
    // Each row without the highest bits of the others, so that a free bit decides the highest bits one by one.
    let mut reduced: Vec<u64> = Vec::with_capacity(rows.len());
    for (row, _) in rows.iter().rev() {
        let row = reduced.iter().fold(*row, |row, lower| if row & highest(*lower) == 0 { row } else { row ^ lower });
        reduced.push(row);
    }
    let taken = reduced.iter().fold(0, |taken, row| taken | highest(*row));
    let mut free = (0..64).map(|bit| 1_u64 << bit).filter(|bit| taken & bit == 0);
    std::array::from_fn(|_| {
        let Some(bit) = free.next() else { return 0 };
        reduced.iter().filter(|row| *row & bit != 0).fold(bit, |vector, row| vector | highest(*row))
    })
}

fn highest(row: u64) -> u64 {
    row.checked_ilog2().map_or(0, |bit| 1 << bit)
}

/// The table of checks of up to eight groups.
fn checks(groups: &[[u64; 8]]) -> Checks {
    let word = |id: u64| {
        let bits = groups.iter().flatten().zip(0_u32..);
        bits.fold(0, |word, (vector, at)| word | u64::from((id & vector).count_ones() & 1) << at)
    };
    let digits: [u64; 16] = std::array::from_fn(|digit| digit as u64);
    digits.map(|at| digits.map(|value| word(value << at.saturating_mul(4))))
}

/// What flipping each of the seven low bits of a code unit does to the id, by how many units follow it.
fn flips(longest: usize) -> Vec<[u64; 7]> {
    let zeros = vec![0; longest.saturating_mul(2)];
    (0..longest)
        .map(|after| {
            let zeros = zeros.get(..after.saturating_mul(2)).unwrap_or_default();
            [1_u16, 2, 4, 8, 16, 32, 64].map(|bit| crc64(&[&bit.to_le_bytes(), zeros]) ^ crc64(&[&[0, 0], zeros]))
        })
        .collect()
}

impl Template {
    /// The name with nothing flipped; `None` for a unit of the unknown part.
    fn units(&self, count: usize) -> impl Iterator<Item = Option<u16>> {
        self.parts.iter().enumerate().flat_map(move |(at, part)| {
            let hole = if at == 0 { 0..0 } else { 0..count };
            let bytes = name_bytes(part);
            let units: Vec<u16> = bytes.as_chunks().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
            hole.map(|_| None).chain(units.into_iter().map(Some))
        })
    }

    /// The id of the name with nothing flipped.
    fn start(&self, count: usize) -> u64 {
        let (zero, _) = self.letters.bits();
        let bytes: Vec<u8> = self.units(count).flat_map(|unit| unit.unwrap_or(zero.into()).to_le_bytes()).collect();
        crc64(&[&bytes])
    }

    fn places(&self, count: usize) -> Places {
        let unit = |part: &String| name_bytes(part).len() / 2;
        let after = self.parts.iter().skip(1).rev().scan(0_usize, |after, part| {
            let here = after.saturating_add(unit(part));
            *after = here.saturating_add(count);
            Some(here)
        });
        after.collect()
    }
}

impl Effects {
    fn new(letters: Letters, count: usize, places: &[usize], flips: &[[u64; 7]]) -> Self {
        let (_, masks) = letters.bits();
        let mut rows: Vec<(u64, u64)> = Vec::new();
        let unknowns = (0..count).rev().flat_map(|after| masks.iter().map(move |mask| (after, *mask)));
        for (column, (after, mask)) in unknowns.enumerate() {
            let places = places.iter().filter_map(|place| flips.get(place.saturating_add(after)));
            let flipped = places.flat_map(|flips| flips.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1));
            let effect = flipped.fold(0, |sum, (_, flip)| sum ^ flip);
            let (left, set) = reduce(&rows, effect);
            if left != 0 {
                let place = rows.partition_point(|(row, _)| *row > left);
                rows.insert(place, (left, set ^ (1 << column)));
            }
        }
        Self { letters, count, rows }
    }

    /// The unknown part that changes the id by `change`, if there is one and it is made of what it should be.
    fn solve<'t>(&self, change: u64, text: &'t mut [u8; MAX_COUNT]) -> Option<&'t [u8]> {
        let (left, mut set) = reduce(&self.rows, change);
        if left != 0 {
            return None;
        }
        let (zero, masks) = self.letters.bits();
        for unit in text.iter_mut().take(self.count) {
            let flipped = masks.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
            *unit = flipped.fold(zero, |unit, (_, mask)| unit ^ mask);
            set >>= masks.len();
        }
        text.get(..self.count).filter(|text| self.letters.allow(text))
    }
}

/// `value` with every row taken away whose highest bit it has, and the flips that were taken together.
fn reduce(rows: &[(u64, u64)], value: u64) -> (u64, u64) {
    let take = |(value, set): (u64, u64), (row, flips): &(u64, u64)| {
        if value ^ row < value { (value ^ row, set ^ flips) } else { (value, set) }
    };
    rows.iter().fold((value, 0), take)
}

/// The name that gives `id`, computed back, if it is of one of the kinds that this can be done for: an
/// installation of Opera or Visual Studio; a profile of Chrome, Edge or Brave; a program known to be
/// installed in the user's own folder, for a user's name of up to eight ASCII characters; and any program
/// with a name that short in `Program Files\NAME\NAME.exe`, System32 or the Windows folder, or of which
/// that name is the whole AppUserModelID. About one id in half a million gets a name by chance.
pub fn recover(id: AppId) -> Option<Recovered> {
    SOLVER.solve(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_differs_on_every_machine_is_computed_back() {
        for (source, name) in [
            ("OperaSoftware.OperaWebBrowser.1397434327", Some("Opera")),
            ("VisualStudio.9d322f3d", Some("Visual Studio")),
            ("MSEdge.UserData.Profile12", Some("Microsoft Edge")),
            (r"C:\Users\jo d. b\Desktop\Tor Browser\Browser\firefox.exe", Some("Tor Browser")),
            (r"C:\Users\Standard\AppData\Roaming\uTorrent\uTorrent.exe", Some("uTorrent")),
            (r"{6D809377-6AF0-444B-8957-A3773F02200E}\Gizmo\Gizmo.exe", None),
            (r"{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\OpenWith.exe", None),
            ("com.squirrel.Gizmo.gizmo", None),
            ("Gizmo", None),
        ] {
            let found = recover(AppId::of(source)).expect(source);
            assert!(found.source.eq_ignore_ascii_case(source), "{found:?}");
            assert_eq!(found.name, name);
        }
        let seen = AppId::parse("7ff0b18f1611daa4").unwrap();
        assert_eq!(recover(seen).unwrap().source, "OperaSoftware.OperaWebBrowser.1397434327");
    }

    #[test]
    fn every_kind_of_name_is_computed_back_in_every_length() {
        for candidate in &SOLVER.candidates {
            let effects = &SOLVER.effects[candidate.effects];
            let template = &SOLVER.templates[candidate.template];
            let text = match template.letters {
                Letters::Name => &"GIZMOTRN"[..effects.count],
                Letters::Hex | Letters::Digits => &"9071532846"[..effects.count],
            };
            let id = AppId::of(&template.parts.join(text));
            // Another name, tried before this one, can have the same id by chance.
            assert_eq!(recover(id).map(|found| AppId::of(&found.source)), Some(id), "{:?} {text}", template.parts);
        }
        assert!(SOLVER.checks.len() <= MAX_CHECKS);
    }

    #[test]
    fn what_cannot_be_computed_back_is_not_made_up() {
        for source in ["OperaSoftware.OperaWebBrowser.13974343278", "VisualStudio.9g322f3d", "Gizmogadget"] {
            assert_eq!(recover(AppId::of(source)), None, "{source}");
        }
        for number in 0..500 {
            let id = AppId::of(&format!("Somebody.Something.{number}"));
            assert_eq!(recover(id), None, "{id}");
        }
    }
}
