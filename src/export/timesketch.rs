//! JSON lines as Timesketch imports them: a line a time, with `message`, `datetime` and `timestamp_desc`.

use serde::{Serialize, Serializer};

use super::row::{Row, SourceFile, known, rows};
use crate::appid::AppId;
use crate::format::compound::Place;
use crate::format::guid::{Guid, Mac};
use crate::format::link::{DriveType, VolumeSerial};
use crate::format::text::Text;
use crate::format::time::FileTime;
use crate::model::{Kind, Live};

#[derive(Serialize)]
struct Event<'a> {
    message: &'a str,
    datetime: Moment,
    timestamp_desc: &'static str,
    exact_time: FileTime,
    data_type: &'static str,
    #[serde(flatten)]
    about: &'a About<'a>,
}

#[derive(Serialize)]
struct About<'a> {
    source: &'a str,
    source_kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_sha256: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<AppId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interactions: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mac: Option<Mac>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_id: Option<Guid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    working_dir: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_size: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drive_type: Option<DriveType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    volume_serial: Option<VolumeSerial>,
    #[serde(skip_serializing_if = "Option::is_none")]
    volume_label: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine_id: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tracker_file: Option<Guid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_where: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_whole: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_live: Option<Live>,
}

/// Writes a file's rows, a line for each time: last access, then the target's creation,
/// modification and access as the link has them, then the times in the object ids of entry and link. No line for a row
/// without any.
pub fn timesketch(file: &SourceFile<'_>, out: &mut Vec<u8>) {
    for row in rows(file) {
        lines(&row, out);
    }
}

fn lines(row: &Row<'_>, out: &mut Vec<u8>) {
    let (file, entry, facts) = (row.file, row.entry, row.facts());
    let link = facts.map(|facts| &*facts.link);
    let header = link.map(|link| &link.header);
    let volume = link.and_then(|link| link.info.as_ref()).and_then(|info| info.volume);
    let tracker = facts.and_then(|facts| facts.tracker);
    let path = entry.map(|entry| entry.path.to_string());
    let target = facts.and_then(|facts| facts.target());
    let about = About {
        source: &file.facts.path,
        source_kind: file.kind,
        source_sha256: file.sha256.as_deref(),
        user: file.user,
        app_id: file.app_id,
        app_name: file.app_name,
        position: row.position,
        category: row.category.map(|(_, kind)| kind.to_string()),
        entry_id: row.entry_id(),
        pinned: entry.map(|entry| entry.is_pinned()),
        interactions: entry.and_then(|entry| entry.usage).map(|usage| usage.interactions),
        path: path.as_deref(),
        target: target.as_deref(),
        host: entry.and_then(|entry| entry.host_name().non_empty()),
        mac: entry.and_then(|entry| entry.object_id.mac()),
        object_id: entry.and_then(|entry| entry.object_id.non_zero()),
        name: link.and_then(|link| link.name),
        arguments: link.and_then(|link| link.arguments),
        working_dir: link.and_then(|link| link.working_dir),
        file_size: header.map(|header| header.file_size),
        drive_type: volume.map(|volume| volume.drive_type),
        volume_serial: volume.map(|volume| volume.serial),
        volume_label: volume.and_then(|volume| volume.label),
        machine_id: tracker.and_then(|tracker| tracker.machine_id),
        tracker_file: tracker.and_then(|tracker| tracker.file.non_zero()),
        deleted: row.deleted.map(|_| true),
        deleted_where: row.deleted.map(|item| item.place),
        deleted_offset: row.deleted.map(|item| item.offset),
        deleted_whole: row.deleted.map(|item| item.whole),
        deleted_live: row.deleted.map(|item| item.live),
    };
    let application = file.app_name.map(ToOwned::to_owned).or_else(|| file.app_id.map(|id| id.to_string()));
    let shown = path.as_deref().filter(|path| !path.is_empty()).or(target.as_deref()).unwrap_or("a link");
    let place = if row.deleted.is_some() { ", deleted," } else { "" };
    let message = match application {
        Some(application) => format!("{shown}{place} in the jump list of {application}"),
        None => format!("{shown}{place} in a jump list"),
    };
    let times = [
        (row.last_access(), "Last Access Time in the Jump List"),
        (header.and_then(|header| known(header.created)), "Creation Time of the Target"),
        (header.and_then(|header| known(header.modified)), "Content Modification Time of the Target"),
        (header.and_then(|header| known(header.accessed)), "Last Access Time of the Target"),
        (entry.and_then(|entry| entry.object_id.time()), "Time in the Entry's Object Id"),
        (tracker.and_then(|tracker| tracker.file.time()), "Time in the Link Tracker's Object Id"),
    ];
    for (time, timestamp_desc) in times {
        let Some(time) = time.and_then(known) else { continue };
        let data_type = "windows:jump_list:entry";
        let event = Event {
            message: &message,
            datetime: Moment(time),
            timestamp_desc,
            exact_time: time,
            data_type,
            about: &about,
        };
        // Writing to memory cannot fail, and every key is a string.
        let _ = serde_json::to_writer(&mut *out, &event);
        out.push(b'\n');
    }
}

/// ISO 8601 with six decimals and the offset written out, which every reader takes.
struct Moment(FileTime);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.0.to_string();
        // Seven decimals and a Z.
        let cut = text.get(..text.len().saturating_sub(2)).unwrap_or_default();
        serializer.collect_str(&format_args!("{cut}+00:00"))
    }
}
