//! Builds the new file of a plan, and holds it against what the plan calls for before anyone sees it.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Size;
use crate::format::compound::{Compound, Root, Stream};
use crate::limits::Limits;
use crate::model::AutomaticList;
use crate::write::{self, NewStream};

/// Why a new file was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RebuildError {
    /// A stream's name holds an unpaired surrogate, which the writer cannot write.
    #[error("stream {0} has a name that cannot be written again; nothing was changed")]
    Name(String),
    /// The writer refused.
    #[error("the new file could not be built: {0}")]
    Write(#[source] std::io::Error),
    /// The new file is not what it should be: a fault of this program.
    #[error(
        "the new file is not what was planned ({0}); nothing was changed. This is a fault of jlfix, please report it"
    )]
    Differs(String),
}

/// A stream of the new file.
#[derive(Debug, Clone)]
pub(super) struct Part<'c> {
    storage: Cow<'c, str>,
    name: String,
    data: Cow<'c, [u8]>,
}

impl<'c> Part<'c> {
    /// A stream of the root with new content.
    pub(super) fn new(name: impl Into<String>, data: impl Into<Cow<'c, [u8]>>) -> Self {
        Self { storage: Cow::Borrowed(""), name: name.into(), data: data.into() }
    }

    /// A stream as it is.
    pub(super) fn kept(stream: &'c Stream<'c>) -> Result<Self, RebuildError> {
        let name = stream.name.to_string();
        if stream.name.has_unpaired() || stream.storage.contains(char::REPLACEMENT_CHARACTER) {
            return Err(RebuildError::Name(name));
        }
        Ok(Self { storage: Cow::Borrowed(&stream.storage), name, data: Cow::Borrowed(&stream.data) })
    }

    /// The same, borrowing nothing.
    pub(super) fn into_owned(self) -> Part<'static> {
        let Self { storage, name, data } = self;
        Part { storage: Cow::Owned(storage.into_owned()), name, data: Cow::Owned(data.into_owned()) }
    }

    /// Its storage and name.
    pub(super) fn key(&self) -> (&str, String) {
        (&self.storage, self.name.clone())
    }

    /// True if this is the stream as it is.
    pub(super) fn is(&self, stream: &Stream<'_>) -> bool {
        self.storage == stream.storage && stream.name.chars().eq(self.name.chars()) && self.data == stream.data
    }
}

/// Builds a file of these streams, reads it again with our own reader and with the writer's strict one, and compares
/// every stream byte for byte. Returns the file and its size.
pub(super) fn rebuild(
    root: &Root,
    storages: &[String],
    parts: &[Part<'_>],
    limits: &Limits,
) -> Result<(Vec<u8>, Size), RebuildError> {
    let bytes = build(root, storages, parts)?;
    let size = verify(&bytes, root, parts, limits)?;
    write::second_opinion(&bytes).map_err(|why| RebuildError::Differs(format!("cfb in strict mode: {why}")))?;
    Ok((bytes, size))
}

/// Builds a file of these streams, without looking at it again.
pub(super) fn build(root: &Root, storages: &[String], parts: &[Part<'_>]) -> Result<Vec<u8>, RebuildError> {
    let streams: Vec<_> =
        parts.iter().map(|part| NewStream { storage: &part.storage, name: &part.name, data: &part.data }).collect();
    write::build(root, storages, &streams).map_err(RebuildError::Write)
}

fn verify(bytes: &[u8], root: &Root, parts: &[Part<'_>], limits: &Limits) -> Result<Size, RebuildError> {
    let differs = |what: String| RebuildError::Differs(what);
    // As Windows reads it: where a link was damaged before, a repair would change a file that is healthy.
    let compound = Compound::parse(bytes, limits).map_err(|short| differs(short.to_string()))?;
    if let Some(fault) = compound.faults.first() {
        return Err(differs(fault.message.clone()));
    }
    if compound.root != *root {
        return Err(differs("the root's times or class are others".to_owned()));
    }
    if compound.streams.len() != parts.len() {
        return Err(differs(format!("{} streams, planned {}", compound.streams.len(), parts.len())));
    }
    let written: HashMap<(&str, String), &Stream<'_>> =
        compound.streams.iter().map(|stream| ((stream.storage.as_str(), stream.name.to_string()), stream)).collect();
    for part in parts {
        let found = written.get(&(part.storage.as_ref(), part.name.clone()));
        if found.is_none_or(|stream| stream.data != part.data) {
            return Err(differs(format!("stream {} is other than planned", part.name)));
        }
    }
    Ok(Size::of(&AutomaticList::read(&compound)))
}
