//! A row of equal units that streams are made of: the file's sectors, the mini sectors of the mini stream, or, where
//! nothing is known, the file itself in pieces of 64 bytes.

use std::ops::Range;

use super::links::Work;
use super::rebuild::is_sector;
use crate::format::compound::header::MINI_SIZE;
use crate::format::compound::layout::Layout;
use crate::format::compound::tables::Sectors;
use crate::format::link::looks_like_link;

/// Where the units of a stream are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Where {
    Sectors,
    Minis,
    /// Pieces of 64 bytes of the file.
    Raw,
}

/// Units, which follow which, and which are taken.
#[derive(Debug, Clone)]
pub(super) struct Space<'l, 'a> {
    sectors: &'l Sectors<'a>,
    /// The sectors that contain the units, in order; `None` if the units are the sectors.
    host: Option<&'l [u32]>,
    table: &'l [u32],
    /// Bytes of a unit.
    pub(super) unit: usize,
    /// By unit: belongs to something that is proven.
    taken: Vec<bool>,
    /// By unit: something starts here, so nothing else goes on here.
    head: Vec<bool>,
    /// By unit: another unit leads here.
    once: Vec<bool>,
    /// By unit: more than one unit leads here.
    twice: Vec<bool>,
}

/// How a chain is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    /// As the table says.
    Table,
    /// To the next unit, as long as it is free.
    Straight,
    /// As the table says where that can be right, otherwise to the next free unit.
    Mended,
    /// To the next free unit, whatever the table says.
    NextFree,
    /// As `Mended`, but with the step of this number, from 0, to the next free unit.
    MendedAt(usize),
}

impl<'l, 'a> Space<'l, 'a> {
    /// The sectors of the file; `heads` are those in which a link starts.
    pub(super) fn sectors(layout: &'l Layout<'a>, taken: Vec<bool>, heads: Vec<bool>) -> Self {
        let count = usize::try_from(layout.sectors.count()).unwrap_or_default();
        Self::new(&layout.sectors, None, &layout.fat, layout.sectors.size(), count, taken, heads)
    }

    /// The mini sectors of a mini stream that is made of the sectors `host`.
    pub(super) fn minis(layout: &'l Layout<'a>, host: &'l [u32]) -> Self {
        Self::cut(&layout.sectors, host, &layout.mini_fat, Vec::new())
    }

    /// Sectors in pieces of 64 bytes, with no table.
    pub(super) fn raw(sectors: &'l Sectors<'a>, all: &'l [u32], taken: Vec<bool>) -> Self {
        Self::cut(sectors, all, &[], taken)
    }

    /// Sectors, or what is cut from them, with no table and nothing taken: to look at what is in them.
    pub(super) fn bare(sectors: &'l Sectors<'a>, host: Option<&'l [u32]>) -> Self {
        let unit = if host.is_some() { MINI_SIZE } else { sectors.size() };
        Self::new(sectors, host, &[], unit, 0, Vec::new(), Vec::new())
    }

    fn cut(sectors: &'l Sectors<'a>, host: &'l [u32], table: &'l [u32], taken: Vec<bool>) -> Self {
        let count = host.len().saturating_mul((sectors.size() / MINI_SIZE).max(1));
        let mut space = Self::new(sectors, Some(host), table, MINI_SIZE, count, taken, Vec::new());
        for unit in 0..space.count() {
            if space.bytes(unit).is_some_and(looks_like_link) {
                space.mark_head(unit);
            }
        }
        space
    }

    fn new(
        sectors: &'l Sectors<'a>,
        host: Option<&'l [u32]>,
        table: &'l [u32],
        unit: usize,
        count: usize,
        mut taken: Vec<bool>,
        mut head: Vec<bool>,
    ) -> Self {
        taken.resize(count, false);
        head.resize(count, false);
        let mut once = vec![false; count];
        let mut twice = vec![false; count];
        for value in table.iter().take(count) {
            let slot = usize::try_from(*value).unwrap_or(usize::MAX);
            if let (Some(once), Some(twice)) = (once.get_mut(slot), twice.get_mut(slot)) {
                *twice |= std::mem::replace(once, true);
            }
        }
        Self { sectors, host, table, unit, taken, head, once, twice }
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.taken.len()).unwrap_or(u32::MAX)
    }

    /// Offset of the unit in the file: `None` if the file does not have it, fewer bytes than a unit if the file
    /// ends in it.
    pub(super) fn place(&self, unit: u32) -> Option<Range<usize>> {
        let (sector, inside) = match self.host {
            Some(host) => {
                let per_sector = u32::try_from(self.sectors.size() / self.unit).ok()?;
                let sector = *host.get(usize::try_from(unit / per_sector).ok()?)?;
                (sector, usize::try_from(unit % per_sector).ok()?.saturating_mul(self.unit))
            }
            None => (unit, 0),
        };
        let have = self.sectors.get(sector)?.len().saturating_sub(inside).min(self.unit);
        let start = usize::try_from(self.sectors.offset(sector)).ok()?.saturating_add(inside);
        (have > 0).then_some(start..start.saturating_add(have))
    }

    pub(super) fn bytes(&self, unit: u32) -> Option<&'a [u8]> {
        self.sectors.data().get(self.place(unit)?)
    }

    /// The sector that the unit is in.
    pub(super) fn sector(&self, unit: u32) -> Option<u32> {
        let Some(host) = self.host else { return Some(unit) };
        let per_sector = u32::try_from(self.sectors.size() / self.unit).ok()?;
        host.get(usize::try_from(unit / per_sector).ok()?).copied()
    }

    fn flag(flags: &[bool], unit: u32) -> bool {
        flags.get(usize::try_from(unit).unwrap_or(usize::MAX)).copied().unwrap_or_default()
    }

    pub(super) fn is_taken(&self, unit: u32) -> bool {
        Self::flag(&self.taken, unit)
    }

    pub(super) fn is_head(&self, unit: u32) -> bool {
        Self::flag(&self.head, unit)
    }

    /// True if the table has another unit lead to this one.
    pub(super) fn is_led_to(&self, unit: u32) -> bool {
        Self::flag(&self.once, unit)
    }

    /// True if a chain could go on with the unit.
    fn is_open(&self, unit: u32) -> bool {
        unit < self.count() && !self.is_taken(unit) && !self.is_head(unit)
    }

    pub(super) fn mark_head(&mut self, unit: u32) {
        if let Some(mark) = self.head.get_mut(usize::try_from(unit).unwrap_or(usize::MAX)) {
            *mark = true;
        }
    }

    pub(super) fn take(&mut self, units: &[u32]) {
        for unit in units {
            if let Some(mark) = self.taken.get_mut(usize::try_from(*unit).unwrap_or(usize::MAX)) {
                *mark = true;
            }
        }
    }

    /// True if one of these is taken.
    pub(super) fn any_taken(&self, units: &[u32]) -> bool {
        units.iter().any(|unit| self.is_taken(*unit))
    }

    /// True if each step of the chain is to the next unit, or to one that no other unit leads to.
    pub(super) fn is_trusted(&self, chain: &[u32]) -> bool {
        chain.windows(2).all(|pair| match pair {
            [from, to] => from.checked_add(1) == Some(*to) || !Self::flag(&self.twice, *to),
            _ => true,
        })
    }

    /// What the table has for a unit.
    pub(super) fn next(&self, unit: u32) -> Option<u32> {
        self.table.get(usize::try_from(unit).ok()?).copied()
    }

    /// The unit that the table has go on from `unit`, if that can be right.
    pub(super) fn next_trusted(&self, unit: u32) -> Option<u32> {
        let next = self.next(unit).filter(|next| is_sector(*next))?;
        let sure = unit.checked_add(1) == Some(next) || !Self::flag(&self.twice, next);
        (sure && self.is_open(next)).then_some(next)
    }

    /// The first unit after `unit` that a chain could go on with.
    pub(super) fn next_free(&self, unit: u32, work: &mut Work) -> Option<u32> {
        let mut at = unit.checked_add(1)?;
        while at < self.count() {
            if self.is_open(at) {
                return Some(at);
            }
            if !work.spend(0) {
                return None;
            }
            at = at.checked_add(1)?;
        }
        None
    }

    /// Up to `most` units from `start`.
    pub(super) fn chain(&self, start: u32, follow: Follow, most: usize, work: &mut Work) -> Vec<u32> {
        let mut chain = Vec::new();
        let mut at = start;
        while at < self.count() && chain.len() < most {
            chain.push(at);
            if chain.len() == most || !work.spend(0) {
                break;
            }
            let next = match follow {
                Follow::Table => self.next(at).filter(|next| *next < self.count()),
                Follow::Straight => at.checked_add(1).filter(|next| self.is_open(*next)),
                Follow::MendedAt(step) if step.saturating_add(1) == chain.len() => self.next_free(at, work),
                Follow::Mended | Follow::MendedAt(_) => self.next_trusted(at).or_else(|| self.next_free(at, work)),
                Follow::NextFree => self.next_free(at, work),
            };
            let Some(next) = next else { break };
            at = next;
        }
        chain
    }

    /// The bytes of these units, one after the other, at the most `size`.
    pub(super) fn gather(&self, units: &[u32], size: usize) -> Vec<u8> {
        let mut data = Vec::with_capacity(size.min(units.len().saturating_mul(self.unit)));
        for unit in units {
            let bytes = self.bytes(*unit).unwrap_or_default();
            let left = size.saturating_sub(data.len());
            data.extend_from_slice(bytes.get(..left).unwrap_or(bytes));
            if bytes.len() < self.unit || data.len() >= size {
                break;
            }
        }
        data
    }

    /// How many units `size` bytes take.
    pub(super) fn units_of(&self, size: u64) -> usize {
        usize::try_from(size.div_ceil(self.unit.max(1) as u64)).unwrap_or(usize::MAX)
    }
}
