//! Names that nobody can list, because a part of them differs from one machine to the next: when Opera was
//! installed, which instance of Visual Studio it is, whose profile a program lies in, or simply what a
//! program is called.
//!
//! An AppID is a CRC, and a CRC is linear: each bit of the name that is flipped flips its own fixed set of
//! bits of the id, whatever the other bits are. So where all of a name but a few characters is known, those
//! are the solution of 64 linear equations, found without trying a single one. Eight characters of seven
//! bits leave eight equations over, and most of what would satisfy those by chance is no readable text.
//! So an id also tells the user's name to whoever holds it.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letters {
    Digits,
    Hex,
    /// What the names of programs and users are made of, in ASCII.
    Name,
}

impl Letters {
    /// The code unit that stands for "nothing flipped yet", and what may be flipped in it.
    fn bits(self) -> (u16, &'static [u16]) {
        match self {
            // A letter of hex differs from a digit in three bits that are never seen apart.
            Self::Hex => (0x30, &[1, 2, 4, 8, 0x70]),
            Self::Digits => (0x30, &[1, 2, 4, 8]),
            Self::Name => (0, &[1, 2, 4, 8, 16, 32, 64]),
        }
    }

    fn allow(self, text: &str) -> bool {
        match self {
            Self::Digits => text.bytes().all(|byte| byte.is_ascii_digit()),
            Self::Hex => text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'A'..=b'F')),
            Self::Name => {
                let fits =
                    |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() || b" .-_+&'()".contains(&byte);
                // The longest parts have the fewest equations to spare, so they have to look like names.
                let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
                let plain = text.len() < MAX_NAME || letters.bytes().all(|byte| byte.is_ascii_uppercase());
                text.bytes().all(fits)
                    && plain
                    && text.bytes().any(|byte| byte.is_ascii_uppercase())
                    && !text.starts_with(' ')
                    && !text.ends_with([' ', '.'])
            }
        }
    }
}

/// A name with a hole: the unknown part stands between each two of `parts`, the same each time.
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

/// The equations of one template with one length of its unknown part.
struct Equations {
    template: usize,
    count: usize,
    /// The id of the name with nothing flipped.
    start: u64,
    /// What a set of flips does to the id, and the set: no two with the same highest bit, the highest first.
    rows: Vec<(u64, u64)>,
}

static TEMPLATES: LazyLock<(Vec<Template>, Vec<Equations>)> = LazyLock::new(|| {
    let templates: Vec<Template> = templates().collect();
    let longest = templates.iter().map(|template| template.units(template.counts.end().to_owned()).count()).max();
    let flips = flips(longest.unwrap_or_default());
    let equations = templates
        .iter()
        .enumerate()
        .flat_map(|(at, template)| template.counts.clone().map(move |count| (at, template, count)))
        .map(|(at, template, count)| Equations::new(at, template, count, &flips))
        .collect();
    (templates, equations)
});

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
    /// The name with nothing flipped; the units of the unknown part, in each of its places, are numbered
    /// from 0.
    fn units(&self, count: usize) -> impl Iterator<Item = (u16, Option<usize>)> {
        let (zero, _) = self.letters.bits();
        self.parts.iter().enumerate().flat_map(move |(at, part)| {
            let hole = if at == 0 { 0..0 } else { 0..count };
            let bytes = name_bytes(part);
            let units: Vec<u16> = bytes.as_chunks().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
            hole.map(move |number| (zero, Some(number))).chain(units.into_iter().map(|unit| (unit, None)))
        })
    }
}

impl Equations {
    fn new(at: usize, template: &Template, count: usize, flips: &[[u64; 7]]) -> Self {
        let (_, masks) = template.letters.bits();
        let units: Vec<_> = template.units(count).collect();
        let bytes: Vec<u8> = units.iter().flat_map(|(unit, _)| unit.to_le_bytes()).collect();
        let mut rows: Vec<(u64, u64)> = Vec::new();
        let unknowns = (0..count).flat_map(|number| masks.iter().map(move |mask| (number, *mask)));
        for (column, (number, mask)) in unknowns.enumerate() {
            let mut effect = 0;
            for ((_, hole), flips) in units.iter().rev().zip(flips) {
                if *hole == Some(number) {
                    let flipped = flips.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1);
                    effect = flipped.fold(effect, |sum, (_, flip)| sum ^ flip);
                }
            }
            let (left, set) = reduce(&rows, effect);
            if left != 0 {
                let place = rows.partition_point(|(row, _)| *row > left);
                rows.insert(place, (left, set ^ (1 << column)));
            }
        }
        Self { template: at, count, start: crc64(&[&bytes]), rows }
    }

    /// The unknown part that gives `id`, if there is one and it is made of what it should be.
    fn solve(&self, id: AppId, letters: Letters) -> Option<String> {
        let (left, set) = reduce(&self.rows, id.0 ^ self.start);
        let (zero, masks) = letters.bits();
        let flipped = |number: usize| {
            let bits = masks.iter().enumerate();
            bits.filter(|(bit, _)| set >> number.saturating_mul(masks.len()).saturating_add(*bit) & 1 == 1)
                .fold(zero, |unit, (_, mask)| unit ^ mask)
        };
        let text: String = (0..self.count).filter_map(|number| char::from_u32(flipped(number).into())).collect();
        (left == 0 && letters.allow(&text)).then_some(text)
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
    let (templates, equations) = &*TEMPLATES;
    equations.iter().find_map(|equations| {
        let template = templates.get(equations.template)?;
        let text = equations.solve(id, template.letters)?;
        Some(Recovered { name: template.name, source: template.parts.join(&text) })
    })
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
