//! Writes a changed DestList: the counts follow the entries, and the ranks are closed up.

use crate::format::destlist::{Entry, Header};

/// The bytes of a DestList with these entries. The counts of the header are set from them.
pub(super) fn encode(header: Header, entries: &[Entry<'_>]) -> Vec<u8> {
    let pinned = entries.iter().filter(|entry| entry.is_pinned()).count();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let header = Header { count: number(entries.len()), pinned: number(pinned), ..header };
    let mut out = Vec::new();
    header.encode(&mut out);
    for entry in entries {
        entry.encode(&mut out);
    }
    out
}

/// Ranks of the entries, closed up to 0..n-1 in their old order; -1 is left alone.
pub(super) fn close_ranks(mut entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let mut ranked: Vec<_> = entries.iter_mut().filter(|entry| entry.rank().is_some()).collect();
    ranked.sort_by_key(|entry| entry.rank());
    for (entry, rank) in ranked.into_iter().zip(0_i32..) {
        if let Some(usage) = &mut entry.usage {
            usage.rank = rank;
        }
    }
    entries
}
