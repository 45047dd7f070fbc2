//! The entries of any kind of file, as they are matched and compared.

use crate::format::custom::CustomLink;
use crate::format::guid::Guid;
use crate::format::link::Link;
use crate::model::{Entry, Source};
use crate::plan::identity;

use super::Side;

/// An entry of an automatic list, a link of a custom list, or a link in a file of its own.
#[derive(Debug)]
pub(super) struct Item<'c> {
    /// Position in the file, from 0.
    pub(super) position: usize,
    pub(super) content: Content<'c>,
    key: String,
}

#[derive(Debug)]
pub(super) enum Content<'c> {
    Automatic(&'c Entry<'c>),
    Custom { category: Option<String>, link: &'c CustomLink<'c> },
    Link { raw: &'c [u8], link: &'c Link<'c> },
}

/// The entries of a file.
pub(super) fn items<'c>(side: &Side<'c>) -> Vec<Item<'c>> {
    let number = |(position, (key, content))| Item { position, content, key };
    match (side.source, side.list) {
        (Source::Automatic(_), Some(list)) => {
            let entries = list.entries.iter().map(|entry| (identity::key(entry.dest.path), Content::Automatic(entry)));
            entries.enumerate().map(number).collect()
        }
        (Source::Custom(custom), _) => {
            let links = custom.links().map(|(index, entry)| {
                let category = custom.categories.get(index).map(|category| category.kind.to_string());
                (
                    link_key(category.as_deref().unwrap_or_default(), &entry.link),
                    Content::Custom { category, link: entry },
                )
            });
            links.enumerate().map(number).collect()
        }
        // Two files are compared: the one link of each is the same item, whatever it points at.
        (Source::Link(raw, Ok(link)), _) => {
            vec![Item { position: 0, content: Content::Link { raw, link }, key: String::new() }]
        }
        _ => Vec::new(),
    }
}

/// What a link of a custom list is of: its category, its target and its arguments, or its name if it has no target.
fn link_key(category: &str, link: &Link<'_>) -> String {
    let target = link.target().map(|target| identity::fold(&target)).unwrap_or_default();
    let arguments = link.arguments.map(|text| text.to_string()).unwrap_or_default();
    let name = link.name.filter(|_| target.is_empty()).map(|text| text.to_string()).unwrap_or_default();
    format!("{category}\0{target}\0{arguments}\0{name}")
}

impl<'c> Item<'c> {
    /// What it is of, as it is compared.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn id(&self) -> Option<u64> {
        if let Content::Automatic(entry) = self.content { Some(entry.dest.id) } else { None }
    }

    /// Volume and object id of the target, if link tracking knows them.
    pub(super) fn droid(&self) -> Option<(Guid, Guid)> {
        let Content::Automatic(entry) = self.content else { return None };
        (!entry.dest.object_id.is_zero()).then_some((entry.dest.volume_id, entry.dest.object_id))
    }

    /// Place among the pinned.
    pub(super) fn pin(&self) -> Option<i32> {
        let Content::Automatic(entry) = self.content else { return None };
        entry.dest.is_pinned().then_some(entry.dest.pin)
    }

    /// The category of a link in a custom list.
    pub(super) fn category(&self) -> Option<&str> {
        if let Content::Custom { category, .. } = &self.content { category.as_deref() } else { None }
    }

    /// The bytes of the DestList entry.
    pub(super) fn entry_bytes(&self) -> &'c [u8] {
        if let Content::Automatic(entry) = self.content { entry.dest.raw } else { &[] }
    }

    /// The bytes of the link.
    pub(super) fn link_bytes(&self) -> Option<&'c [u8]> {
        match self.content {
            Content::Automatic(entry) => entry.link.map(|stream| stream.data.as_ref()),
            Content::Custom { link, .. } => Some(link.raw),
            Content::Link { raw, .. } => Some(raw),
        }
    }

    /// The path of the entry, or the target of the link.
    pub(super) fn shown_path(&self) -> Option<String> {
        match &self.content {
            Content::Automatic(entry) => Some(entry.dest.path.to_string()),
            Content::Custom { link, .. } => link.link.target().or_else(|| link.link.name.map(|name| name.to_string())),
            Content::Link { link, .. } => link.target(),
        }
    }
}
