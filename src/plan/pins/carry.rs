//! A pin of one profile made into one of another: paths mapped, link rewritten.
//!
//! **What is dropped.** The tracker block, the serial number and the id of the volume, the file references in the ID list,
//! and host and object ids of the entry are those of a file on the old machine: with them, Windows would look for the
//! target there, or take another file for it. They are dropped for every target but one on a share that is not mapped,
//! where they are the server's and lead to the file from every machine.
//!
//! The link of a known folder or of a place in the namespace has an ID list that leads there on every machine. Its LinkInfo
//! is mapped if a mapping matches, and dropped otherwise: its path is that of the old profile.

use super::file::{StoredPin, check_path};
use super::map::PathMap;
use super::rewrite::{self, Carrying, mapped_properties};
use crate::format::destlist::{Entry, Usage};
use crate::format::guid::Guid;
use crate::format::text::{CodePage, Utf16};
use crate::format::time::FileTime;
use crate::plan::identity::is_plain;
use crate::plan::made_link;

/// A pin that can be written to a list.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPin {
    pub(super) stored: StoredPin,
    pub(super) link: Vec<u8>,
    /// What could not be kept, as text.
    pub(super) notes: Vec<String>,
}

impl NewPin {
    /// The path of the entry; an unpaired surrogate becomes U+FFFD.
    pub fn path(&self) -> String {
        self.stored.shown_path()
    }

    /// The link.
    pub fn link(&self) -> &[u8] {
        &self.link
    }

    /// What could not be kept of the link.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// A pin for a path that no list has yet. `is_folder` says what the target is, if that is known; then the link has an
    /// item ID list.
    ///
    /// # Errors
    /// What a path has to be, or that no link can be made of it.
    pub fn of_path(path: &str, is_folder: Option<bool>, now: FileTime) -> Result<Self, String> {
        let units: Vec<u8> = path.encode_utf16().flat_map(u16::to_le_bytes).collect();
        check_path(Utf16(&units)).map_err(|need| format!("need {need}"))?;
        let stored = StoredPin {
            path: units,
            link: None,
            last_access: now,
            score: 1.0,
            interactions: 0,
            host: [0; 16],
            droids: [Guid([0; 16]); 4],
            property_store: Vec::new(),
        };
        let link = made(&stored, is_folder).ok_or("need a path that a link can be made of")?;
        Ok(Self { stored, link, notes: Vec::new() })
    }
}

/// Carries a pin over.
///
/// # Errors
/// Why it cannot be.
pub fn carry(pin: &StoredPin, map: &PathMap, code_page: CodePage) -> Result<NewPin, String> {
    let path = Utf16(&pin.path);
    let mapped = map.map(path);
    let shown = path.decode();
    let has_path = is_plain(&shown);
    let is_share = shown.starts_with(r"\\") && !shown.starts_with(r"\\?\") && !shown.starts_with(r"\\.\");
    let keeps_ids = is_share && mapped.is_none();
    let mut notes = Vec::new();
    let mut stored = StoredPin { link: None, ..pin.clone() };
    if let Some(mapped) = mapped {
        check_path(Utf16(&mapped.path))
            .map_err(|need| format!("mapped, it would be {}: need {need}", mapped.text()))?;
        stored.path = mapped.path;
    }
    if !keeps_ids {
        (stored.host, stored.droids) = ([0; 16], [Guid([0; 16]); 4]);
    }
    stored.property_store = mapped_properties(&pin.property_store, map, keeps_ids, code_page).unwrap_or_else(|| {
        notes.push("the property store of its entry cannot be read and was left out".to_owned());
        Vec::new()
    });
    let how = Carrying { map, keeps_ids, has_path, code_page };
    let rewritten = match &pin.link {
        Some(link) => rewrite::rewrite(link, how).map_err(Some),
        None => Err(None),
    };
    let link = match rewritten {
        Ok(rewritten) => {
            notes.extend(rewritten.notes);
            rewritten.bytes
        }
        Err(why) => {
            let why = why.map_or_else(|| "it has no link".to_owned(), |why| format!("its link cannot be used ({why})"));
            let made = made(&stored, None).ok_or_else(|| format!("{why}, and none can be made of its path"))?;
            notes.push(format!("{why}; a plain one was made of its path"));
            made
        }
    };
    Ok(NewPin { stored, link, notes })
}

/// A plain link made of a path.
fn made(pin: &StoredPin, is_folder: Option<bool>) -> Option<Vec<u8>> {
    let path = Utf16(&pin.path);
    let plain = made_link::of_entry(&entry(pin, 0, true))?;
    let list = is_folder.filter(|_| is_plain(&path.decode()) && !path.has_unpaired());
    let list = list.and_then(|is_folder| rewrite::made_id_list(&path.decode(), is_folder));
    Some(match list {
        Some(list) => rewrite::with_id_list(&plain, &list, is_folder == Some(true)).unwrap_or(plain),
        None => plain,
    })
}

/// The entry of a pin; its pin and its checksum are set when it has its place.
pub(super) fn entry(pin: &StoredPin, id: u64, has_usage: bool) -> Entry<'_> {
    let [volume_id, object_id, birth_volume_id, birth_object_id] = pin.droids;
    Entry {
        offset: 0,
        raw: &[],
        checksum: 0,
        volume_id,
        object_id,
        birth_volume_id,
        birth_object_id,
        host: pin.host,
        id,
        score: pin.score,
        last_access: pin.last_access,
        pin: 0,
        usage: has_usage.then_some(Usage { rank: -1, interactions: pin.interactions, reserved: 0 }),
        path: Utf16(&pin.path),
        property_store: if has_usage { &pin.property_store } else { &[] },
    }
}
