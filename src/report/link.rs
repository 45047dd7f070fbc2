//! The row of a link.

use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::format::compound::Stream;
use crate::format::link::{self, Link, attribute_names};
use crate::format::shell_item;
use crate::format::text::CodePage;

/// How much of a link is in its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkDetail {
    /// Where it is, how large, and what it points at.
    Target,
    /// Every field.
    Whole,
}

/// A link and where it is in its file.
#[derive(Debug)]
pub struct LinkRow<'c> {
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// Bytes of it.
    pub size: usize,
    /// The link.
    pub link: Cow<'c, Link<'c>>,
    detail: LinkDetail,
}

impl<'c> LinkRow<'c> {
    pub(crate) fn borrowed(link: &'c Link<'c>, offset: u64, size: usize, detail: LinkDetail) -> Self {
        Self { offset, size, link: Cow::Borrowed(link), detail }
    }

    /// The link in `stream`, if it can be read.
    pub(super) fn of_stream(stream: &'c Stream<'c>, detail: LinkDetail, code_page: CodePage) -> Option<Self> {
        Self::of_bytes(&stream.data, stream.offset, detail, code_page)
    }

    /// The link in `raw`, at `offset` of the file, if it can be read.
    pub(super) fn of_bytes(raw: &'c [u8], offset: u64, detail: LinkDetail, code_page: CodePage) -> Option<Self> {
        let link = link::parse(raw, code_page).ok()?;
        Some(Self { offset, size: raw.len(), link: Cow::Owned(link), detail })
    }

    /// What it points at.
    pub fn target(&self) -> Option<String> {
        self.link.target()
    }
}

impl Serialize for LinkRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let link = &*self.link;
        let mut row = serializer.serialize_struct("link", if self.detail == LinkDetail::Whole { 34 } else { 4 })?;
        row.serialize_field("offset", &self.offset)?;
        row.serialize_field("size", &self.size)?;
        row.serialize_field("target", &link.target())?;
        if self.detail == LinkDetail::Target {
            row.serialize_field("problems", &link.problems)?;
            return row.end();
        }
        let details = link.details();
        let header = &link.header;
        let volume = link.info.as_ref().and_then(|info| info.volume);
        let tracker = link.tracker();
        row.serialize_field("local_path", &link.local_path())?;
        row.serialize_field("network_path", &link.network_path())?;
        let network = link.info.as_ref().and_then(|info| info.network);
        let provider = network.and_then(|network| network.provider);
        row.serialize_field("network_device", &network.and_then(|network| network.device_name))?;
        row.serialize_field("network_provider", &provider.map(link::provider_text))?;
        row.serialize_field("file_size", &header.file_size)?;
        row.serialize_field("attributes", &header.attributes)?;
        row.serialize_field("attribute_names", &attribute_names(header.attributes))?;
        row.serialize_field("created", &header.created)?;
        row.serialize_field("modified", &header.modified)?;
        row.serialize_field("accessed", &header.accessed)?;
        row.serialize_field("drive_type", &volume.map(|volume| volume.drive_type))?;
        row.serialize_field("volume_serial", &volume.map(|volume| volume.serial))?;
        row.serialize_field("volume_label", &volume.and_then(|volume| volume.label))?;
        row.serialize_field("machine_id", &tracker.and_then(|tracker| tracker.machine_id))?;
        row.serialize_field("tracker_volume", &tracker.map(|tracker| tracker.volume))?;
        row.serialize_field("tracker_file", &tracker.map(|tracker| tracker.file))?;
        row.serialize_field("tracker_birth_volume", &tracker.map(|tracker| tracker.birth_volume))?;
        row.serialize_field("tracker_birth_file", &tracker.map(|tracker| tracker.birth_file))?;
        row.serialize_field("mac", &tracker.and_then(|tracker| tracker.file.mac()))?;
        row.serialize_field("name", &link.name)?;
        row.serialize_field("relative_path", &link.relative_path)?;
        row.serialize_field("working_dir", &link.working_dir)?;
        row.serialize_field("arguments", &link.arguments)?;
        row.serialize_field("icon", &link.icon)?;
        row.serialize_field("icon_index", &header.icon_index)?;
        row.serialize_field("flags", &header.flags.names())?;
        row.serialize_field("show_command", header.show_command.word())?;
        row.serialize_field("hotkey", &header.hotkey.is_some().then(|| format!("{:#06x}", header.hotkey.0)))?;
        row.serialize_field("id_list_path", &shell_item::path(&details.id_list))?;
        row.serialize_field("id_list", &details.id_list)?;
        row.serialize_field("properties", &details.properties)?;
        row.serialize_field("extra", &details.blocks)?;
        row.serialize_field("problems", &details.problems)?;
        row.end()
    }
}
