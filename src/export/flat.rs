//! JSON lines and CSV: an object, or a line, an entry, flat, with the same keys in the same order whatever the file.
//!
//! Both are written field by field, and what is the same for all rows of a file is written once: examiners export whole
//! images, and a serializer that looks at each key of each row would take most of the time.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

use super::field::{Blocks, Field, Hex, Properties, Words};
use super::row::{LinkFacts, Row, SourceFile, rows};
use super::visible_nul;
use crate::appid::AppId;
use crate::format::compound::{Place, Recovery};
use crate::format::guid::{Guid, Mac};
use crate::format::link::{self, DriveType, Hotkey, Tracker, VolumeSerial, attribute_names};
use crate::format::property_store;
use crate::format::text::{Text, Utf16};
use crate::format::time::FileTime;
use crate::model::{Kind, Live};

/// Writes fields in one of the two formats.
trait Sink {
    /// `key` and `null` are what JSON has before the field, and before and in place of one that is none.
    fn field(&mut self, key: &'static str, null: &'static str, field: &impl Field);
}

macro_rules! flat {
    (@field $sink:ident, $key:ident, $value:expr) => {
        $sink.field(concat!(",\"", stringify!($key), "\":"), concat!(",\"", stringify!($key), "\":null"), &$value)
    };
    ($file:ident { $($file_key:ident: $file_type:ty,)* } $row:ident { $($key:ident: $type:ty,)* }) => {
        /// The keys of a line, in their order.
        pub const COLUMNS: &[&str] = &[$(stringify!($file_key),)* $(stringify!($key),)*];

        struct $file<'a> { $($file_key: $file_type,)* }
        struct $row<'a> { $($key: $type,)* }

        impl $file<'_> {
            fn write(&self, sink: &mut impl Sink) {
                $(flat!(@field sink, $file_key, self.$file_key);)*
            }
        }

        impl $row<'_> {
            fn write(&self, sink: &mut impl Sink) {
                $(flat!(@field sink, $key, self.$key);)*
            }
        }
    };
}

flat! {
    FileFields {
    source: &'a str,
    source_kind: Kind,
    source_size: u64,
    source_created: Option<FileTime>,
    source_modified: Option<FileTime>,
    source_accessed: Option<FileTime>,
    source_sha256: Option<&'a str>,
    user: Option<&'a str>,
    app_id: Option<AppId>,
    app_name: Option<&'a str>,
    format_version: Option<u32>,
    last_id: Option<u64>,
    actions: Option<u64>,
    }
    RowFields {
    position: Option<usize>,
    category: Option<Cow<'a, str>>,
    category_index: Option<usize>,
    entry_id: Option<u64>,
    pinned: Option<bool>,
    pin: Option<i32>,
    rank: Option<i32>,
    score: Option<f32>,
    interactions: Option<u32>,
    last_access: Option<FileTime>,
    host: Option<Text<'a>>,
    path: Option<Utf16<'a>>,
    path_utf16: Option<String>,
    checksum: Option<Hex>,
    checksum_ok: Option<bool>,
    volume_id: Option<Guid>,
    object_id: Option<Guid>,
    birth_volume_id: Option<Guid>,
    birth_object_id: Option<Guid>,
    mac: Option<Mac>,
    object_time: Option<FileTime>,
    object_sequence: Option<u16>,
    moved: Option<bool>,
    entry_properties: Option<Properties<'a>>,
    recovered: Option<Recovery>,
    deleted: bool,
    deleted_where: Option<Place>,
    deleted_offset: Option<u64>,
    deleted_whole: Option<bool>,
    deleted_joined: Option<bool>,
    deleted_live: Option<Live>,
    deleted_stream: Option<Utf16<'a>>,
    link_offset: Option<u64>,
    link_size: Option<usize>,
    target: Option<Cow<'a, str>>,
    local_path: Option<&'a str>,
    network_path: Option<&'a str>,
    network_device: Option<Text<'a>>,
    network_provider: Option<String>,
    id_list_path: Option<String>,
    file_size: Option<u32>,
    attributes: Option<u32>,
    attribute_names: Option<Words>,
    target_created: Option<FileTime>,
    target_modified: Option<FileTime>,
    target_accessed: Option<FileTime>,
    drive_type: Option<DriveType>,
    volume_serial: Option<VolumeSerial>,
    volume_label: Option<Text<'a>>,
    name: Option<Text<'a>>,
    relative_path: Option<Text<'a>>,
    working_dir: Option<Text<'a>>,
    arguments: Option<Text<'a>>,
    icon: Option<Text<'a>>,
    icon_index: Option<i32>,
    link_flags: Option<Words>,
    show_command: Option<&'static str>,
    hotkey: Option<Hotkey>,
    environment_target: Option<Text<'a>>,
    app_user_model_id: Option<Text<'a>>,
    mft_entry: Option<u64>,
    mft_sequence: Option<u16>,
    machine_id: Option<Text<'a>>,
    tracker_volume: Option<Guid>,
    tracker_file: Option<Guid>,
    tracker_birth_volume: Option<Guid>,
    tracker_birth_file: Option<Guid>,
    tracker_mac: Option<Mac>,
    tracker_time: Option<FileTime>,
    tracker_moved: Option<bool>,
    extra_blocks: Option<Blocks<'a>>,
    link_properties: Option<Properties<'a>>,
    problems: Option<String>,
    }
}

struct Json<'o>(&'o mut Vec<u8>);

impl Sink for Json<'_> {
    // Inlined, a key's size is known, and a key is a move or two instead of a call.
    #[inline(always)]
    fn field(&mut self, key: &'static str, null: &'static str, field: &impl Field) {
        if field.is_none() {
            self.0.extend_from_slice(null.as_bytes());
        } else {
            self.0.extend_from_slice(key.as_bytes());
            field.json(self.0);
        }
    }
}

/// Writes a file's rows as lines of JSON.
pub fn jsonl(file: &SourceFile<'_>, out: &mut Vec<u8>) {
    out.reserve(file.rows.saturating_mul(ROOM_A_ROW));
    let mut start = Vec::new();
    FileFields::of(file).write(&mut Json(&mut start));
    // The comma before the first key.
    if let Some(first) = start.first_mut() {
        *first = b'{';
    }
    for row in rows(file) {
        out.reserve(ROOM_A_ROW);
        out.extend_from_slice(&start);
        RowFields::of(&row).write(&mut Json(out));
        out.extend_from_slice(b"}\n");
    }
}

/// What a row takes in bytes, about.
const ROOM_A_ROW: usize = 2700;

/// Hands every field on as text.
struct Cells<'s, W: FnMut(&[u8])> {
    take: W,
    scratch: &'s mut Vec<u8>,
}

impl<W: FnMut(&[u8])> Sink for Cells<'_, W> {
    fn field(&mut self, _: &'static str, _: &'static str, field: &impl Field) {
        self.scratch.clear();
        if !field.is_none() {
            field.text(self.scratch);
        }
        (self.take)(self.scratch);
    }
}

/// Writes the first line of CSV.
pub fn csv_header(out: &mut Vec<u8>) {
    let _ = csv::Writer::from_writer(out).write_record(COLUMNS);
}

/// Writes a file's rows as lines of CSV.
pub fn csv(file: &SourceFile<'_>, out: &mut Vec<u8>) {
    let (mut start, mut scratch): (Vec<Vec<u8>>, _) = (Vec::new(), Vec::new());
    let take = |cell: &[u8]| start.push(visible_nul(cell).into_owned());
    FileFields::of(file).write(&mut Cells { take, scratch: &mut scratch });
    let mut writer = csv::Writer::from_writer(out);
    for row in rows(file) {
        // Writing to memory cannot fail.
        start.iter().for_each(|cell| drop(writer.write_field(cell)));
        let take = |cell: &[u8]| drop(writer.write_field(visible_nul(cell)));
        RowFields::of(&row).write(&mut Cells { take, scratch: &mut scratch });
        let _ = writer.write_record(None::<&[u8]>);
    }
}

impl<'a> FileFields<'a> {
    fn of(file: &'a SourceFile<'_>) -> Self {
        let header = file.header();
        Self {
            source: &file.facts.path,
            source_kind: file.kind,
            source_size: file.facts.size,
            source_created: file.facts.created,
            source_modified: file.facts.modified,
            source_accessed: file.facts.accessed,
            source_sha256: file.sha256.as_deref(),
            user: file.user,
            app_id: file.app_id,
            app_name: file.app_name,
            format_version: file.format_version(),
            last_id: header.map(|header| header.last_id),
            actions: header.map(|header| header.actions),
        }
    }
}

impl<'a> RowFields<'a> {
    fn of(row: &'a Row<'_>) -> Self {
        let (file, entry, facts) = (row.file, row.entry, row.facts());
        let link = facts.map(|facts| &*facts.link);
        let link_header = link.map(|link| &link.header);
        let volume = link.and_then(|link| link.info.as_ref()).and_then(|info| info.volume);
        let network = link.and_then(|link| link.info.as_ref()).and_then(|info| info.network);
        let tracker = facts.and_then(|facts| facts.tracker);
        let reference = facts.and_then(LinkFacts::file_reference);
        let link_store = facts.and_then(LinkFacts::properties);
        let entry_store = entry.filter(|entry| !entry.property_store.is_empty());
        let entry_store = entry_store.map(|entry| property_store::parse(entry.property_store, 0, file.code_page()));
        let problems = row.problems(link_store.as_ref(), entry_store.as_ref());
        Self {
            position: row.position,
            category: row.category.map(|(_, kind)| Cow::Owned(kind.to_string())),
            category_index: row.category.map(|(index, _)| index),
            entry_id: row.entry_id(),
            pinned: entry.map(|entry| entry.is_pinned()),
            pin: entry.map(|entry| entry.pin),
            rank: entry.and_then(|entry| entry.rank()),
            score: entry.map(|entry| entry.score),
            interactions: entry.and_then(|entry| entry.usage).map(|usage| usage.interactions),
            last_access: entry.map(|entry| entry.last_access),
            host: entry.and_then(|entry| entry.host_name().non_empty()),
            path: entry.map(|entry| entry.path),
            path_utf16: entry.filter(|entry| entry.path.has_unpaired()).map(|entry| entry.path.to_hex()),
            checksum: entry.map(|entry| Hex(entry.checksum)),
            checksum_ok: row.checksum_ok(),
            volume_id: entry.and_then(|entry| entry.volume_id.non_zero()),
            object_id: entry.and_then(|entry| entry.object_id.non_zero()),
            birth_volume_id: entry.and_then(|entry| entry.birth_volume_id.non_zero()),
            birth_object_id: entry.and_then(|entry| entry.birth_object_id.non_zero()),
            mac: entry.and_then(|entry| entry.object_id.mac()),
            object_time: entry.and_then(|entry| entry.object_id.time()),
            object_sequence: entry.and_then(|entry| entry.object_id.sequence()),
            moved: entry.filter(|entry| !entry.object_id.is_zero()).map(|entry| {
                let (volume, file) = (entry.volume_id, entry.object_id);
                let (birth_volume, birth_file) = (entry.birth_volume_id, entry.birth_object_id);
                Tracker { machine_id: None, volume, file, birth_volume, birth_file }.moved()
            }),
            entry_properties: entry_store.map(|store| Properties(store.properties)),
            recovered: row.recovered(),
            deleted: row.deleted.is_some(),
            deleted_where: row.deleted.map(|item| item.place),
            deleted_offset: row.deleted.map(|item| item.offset),
            deleted_whole: row.deleted.map(|item| item.whole),
            deleted_joined: row.deleted.map(|item| item.joined),
            deleted_live: row.deleted.map(|item| item.live),
            deleted_stream: row.deleted.and_then(|item| item.stream()).map(|stream| stream.name),
            link_offset: row.raw.map(|(offset, _)| offset),
            link_size: row.raw.map(|(_, raw)| raw.len()),
            target: facts.and_then(LinkFacts::target),
            local_path: facts.and_then(|facts| facts.local_path.as_deref()),
            network_path: facts.and_then(|facts| facts.network_path.as_deref()),
            network_device: network.and_then(|network| network.device_name),
            network_provider: network.and_then(|network| network.provider).map(link::provider_text),
            id_list_path: facts.and_then(|facts| facts.items.as_ref()).and_then(|items| items.path()),
            file_size: link_header.map(|header| header.file_size),
            attributes: link_header.map(|header| header.attributes),
            attribute_names: link_header.map(|header| Words(attribute_names(header.attributes))),
            target_created: link_header.map(|header| header.created),
            target_modified: link_header.map(|header| header.modified),
            target_accessed: link_header.map(|header| header.accessed),
            drive_type: volume.map(|volume| volume.drive_type),
            volume_serial: volume.map(|volume| volume.serial),
            volume_label: volume.and_then(|volume| volume.label),
            name: link.and_then(|link| link.name),
            relative_path: link.and_then(|link| link.relative_path),
            working_dir: link.and_then(|link| link.working_dir),
            arguments: link.and_then(|link| link.arguments),
            icon: link.and_then(|link| link.icon),
            icon_index: link_header.map(|header| header.icon_index),
            link_flags: link_header.map(|header| Words(header.flags.names())),
            show_command: link_header.map(|header| header.show_command.word()),
            hotkey: link_header.map(|header| header.hotkey).filter(|key| key.is_some()),
            environment_target: link.and_then(link::Link::environment_target),
            app_user_model_id: link_store.as_ref().and_then(|store| store.text(property_store::APP_USER_MODEL_ID)),
            mft_entry: reference.map(|reference| reference.entry()),
            mft_sequence: reference.map(|reference| reference.sequence()),
            machine_id: tracker.and_then(|tracker| tracker.machine_id),
            tracker_volume: tracker.map(|tracker| tracker.volume),
            tracker_file: tracker.map(|tracker| tracker.file),
            tracker_birth_volume: tracker.map(|tracker| tracker.birth_volume),
            tracker_birth_file: tracker.map(|tracker| tracker.birth_file),
            tracker_mac: tracker.and_then(|tracker| tracker.file.mac()),
            tracker_time: tracker.and_then(|tracker| tracker.file.time()),
            tracker_moved: tracker.map(|tracker| tracker.moved()),
            extra_blocks: link.map(|link| Blocks(&link.extra)),
            link_properties: link_store.map(|store| Properties(store.properties)),
            problems,
        }
    }
}

impl Row<'_> {
    /// What could not be read, and why.
    fn problems(
        &self,
        link_store: Option<&property_store::PropertyStore<'_>>,
        entry_store: Option<&property_store::PropertyStore<'_>>,
    ) -> Option<String> {
        let mut out = String::new();
        let mut tell = |what: &dyn Display| {
            let _ = write!(out, "{}{what}", if out.is_empty() { "" } else { "; " });
        };
        if let Some(Err(why)) = &self.link {
            tell(why);
        }
        let facts = self.facts();
        let of_link = facts.into_iter().flat_map(|facts| &facts.link.problems);
        let of_items = facts.and_then(|facts| facts.items.as_ref()).into_iter().flat_map(|items| &items.problems);
        let of_stores = link_store.into_iter().chain(entry_store).flat_map(|store| &store.problems);
        for problem in of_link.chain(of_items).chain(of_stores) {
            tell(problem);
        }
        (!out.is_empty()).then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_exports_lists_every_key() {
        let page = include_str!("../../docs/export.md");
        for column in COLUMNS {
            assert!(page.contains(&format!("`{column}`")), "docs/export.md lacks {column}");
        }
    }
}
