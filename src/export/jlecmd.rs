//! The two CSV files of JLECmd, column for column, so that what reads those reads these: one for automatic lists, one
//! for custom ones. Words and number formats are JLECmd's, as its users filter by them. Where it would write a made-up
//! 0 or a date in 1601 the field is empty, a link that no entry owns is a row with a note, and what JLECmd shows as a
//! number because it has no name for one bit keeps the names of the others.

use std::fmt::{self, Write as _};

use super::date::DateFormat;
use super::row::{LinkFacts, Row, SourceFile, known, rows};
use super::visible_nul;
use crate::format::guid::Guid;
use crate::format::link::{self, DriveType, Header, Link, LinkInfo, signature};
use crate::format::time::FileTime;

/// The columns of the file for automatic lists.
pub const AUTOMATIC_COLUMNS: [&str; 46] = [
    "SourceFile",
    "SourceCreated",
    "SourceModified",
    "SourceAccessed",
    "AppId",
    "AppIdDescription",
    "HasSps",
    "DestListVersion",
    "LastUsedEntryNumber",
    "MRU",
    "EntryNumber",
    "CreationTime",
    "LastModified",
    "Hostname",
    "MacAddress",
    "Path",
    "InteractionCount",
    "PinStatus",
    "FileBirthDroid",
    "FileDroid",
    "VolumeBirthDroid",
    "VolumeDroid",
    "TargetCreated",
    "TargetModified",
    "TargetAccessed",
    "FileSize",
    "RelativePath",
    "WorkingDirectory",
    "FileAttributes",
    "HeaderFlags",
    "DriveType",
    "VolumeSerialNumber",
    "VolumeLabel",
    "LocalPath",
    "CommonPath",
    "TargetIDAbsolutePath",
    "TargetMFTEntryNumber",
    "TargetMFTSequenceNumber",
    "MachineID",
    "MachineMACAddress",
    "TrackerCreatedOn",
    "ExtraBlocksPresent",
    "Arguments",
    "NetworkDeviceName",
    "NetworkProviderType",
    "Notes",
];

/// The columns of the file for custom lists.
pub const CUSTOM_COLUMNS: [&str; 30] = [
    "SourceFile",
    "SourceCreated",
    "SourceModified",
    "SourceAccessed",
    "AppId",
    "AppIdDescription",
    "EntryName",
    "TargetCreated",
    "TargetModified",
    "TargetAccessed",
    "FileSize",
    "RelativePath",
    "WorkingDirectory",
    "FileAttributes",
    "HeaderFlags",
    "DriveType",
    "VolumeSerialNumber",
    "VolumeLabel",
    "LocalPath",
    "CommonPath",
    "TargetIDAbsolutePath",
    "TargetMFTEntryNumber",
    "TargetMFTSequenceNumber",
    "MachineID",
    "MachineMACAddress",
    "TrackerCreatedOn",
    "ExtraBlocksPresent",
    "Arguments",
    "NetworkDeviceName",
    "NetworkProviderType",
];

/// Writes the first line for automatic lists.
pub fn automatic_header(out: &mut Vec<u8>) {
    let _ = writer(out).write_record(AUTOMATIC_COLUMNS);
}

/// Writes the first line for custom lists.
pub fn custom_header(out: &mut Vec<u8>) {
    let _ = writer(out).write_record(CUSTOM_COLUMNS);
}

/// Writes the rows of an automatic list.
pub fn automatic(file: &SourceFile<'_>, dates: &DateFormat, out: &mut Vec<u8>) {
    let (mut line, header) = (Line::new(out, dates), file.header());
    for row in rows(file) {
        let entry = row.entry;
        line.source(&row);
        line.text(if file.has_property_store { "True" } else { "False" });
        line.shown(header.map(|header| header.version));
        line.shown(header.map(|header| header.last_id));
        line.shown(row.position);
        line.shown(row.entry_id().map(|id| format!("{id:X}")));
        line.time(entry.and_then(|entry| entry.object_id.time()));
        line.time(row.last_access());
        line.shown(entry.map(|entry| entry.host_name()));
        line.shown(entry.and_then(|entry| entry.object_id.mac()));
        line.shown(entry.map(|entry| entry.path));
        line.shown(entry.and_then(|entry| entry.usage).map(|usage| usage.interactions));
        line.text(entry.map_or("", |entry| if entry.is_pinned() { "True" } else { "False" }));
        for id in entry.map_or([None; 4], |entry| {
            [entry.birth_object_id, entry.object_id, entry.birth_volume_id, entry.volume_id].map(Guid::non_zero)
        }) {
            line.shown(id);
        }
        line.link(row.facts());
        line.shown(notes(&row));
        line.end();
    }
}

/// Writes the rows of a custom list, or of a single link.
pub fn custom(file: &SourceFile<'_>, dates: &DateFormat, out: &mut Vec<u8>) {
    let mut line = Line::new(out, dates);
    for row in rows(file) {
        line.source(&row);
        line.shown(row.category.map(|(_, kind)| kind));
        line.link(row.facts());
        line.end();
    }
}

/// JLECmd runs on Windows, and ends its lines as Windows does.
fn writer(out: &mut Vec<u8>) -> csv::Writer<&mut Vec<u8>> {
    csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out)
}

/// What is to be known of a row that isn't one entry and its link, as they should be.
fn notes(row: &Row<'_>) -> Option<String> {
    let mut notes: Vec<String> = Vec::new();
    match (row.entry, &row.link) {
        (None, _) => notes.push("A link that no entry of the DestList owns".to_owned()),
        (Some(_), None) => notes.push("The entry has no link".to_owned()),
        _ => {}
    }
    if let Some(Err(why)) = &row.link {
        notes.push(format!("The link cannot be read: {why}"));
    }
    if row.recovered().is_some() {
        notes.push("Recovered".to_owned());
    }
    if row.entry.is_some_and(|entry| !entry.checksum_ok()) {
        notes.push("The entry's checksum is wrong".to_owned());
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// Writes one field after another.
struct Line<'o> {
    writer: csv::Writer<&'o mut Vec<u8>>,
    dates: &'o DateFormat,
    field: String,
}

impl<'o> Line<'o> {
    fn new(out: &'o mut Vec<u8>, dates: &'o DateFormat) -> Self {
        Self { writer: writer(out), dates, field: String::new() }
    }

    // Writing to memory cannot fail.
    fn text(&mut self, text: &str) {
        let _ = self.writer.write_field(visible_nul(text.as_bytes()));
    }

    fn shown(&mut self, value: Option<impl fmt::Display>) {
        self.field.clear();
        if let Some(value) = value {
            let _ = write!(self.field, "{value}");
        }
        let _ = self.writer.write_field(visible_nul(self.field.as_bytes()));
    }

    fn time(&mut self, time: Option<FileTime>) {
        let dates = self.dates;
        self.shown(time.and_then(known).map(|time| dates.of(time)));
    }

    fn end(&mut self) {
        let _ = self.writer.write_record(None::<&[u8]>);
    }

    /// `SourceFile` to `AppIdDescription`.
    fn source(&mut self, row: &Row<'_>) {
        let facts = row.file.facts;
        self.text(&facts.path);
        for time in [facts.created, facts.modified, facts.accessed] {
            self.time(time);
        }
        self.shown(row.file.app_id);
        self.text(row.file.app_name.unwrap_or("Unknown AppId"));
    }

    /// `TargetCreated` to `Arguments`.
    fn link(&mut self, facts: Option<&LinkFacts<'_>>) {
        let link = facts.map(|facts| &*facts.link);
        let header = link.map(|link| &link.header);
        let info = link.and_then(|link| link.info.as_ref());
        let volume = info.and_then(|info| info.volume);
        let tracker = facts.and_then(|facts| facts.tracker);
        let reference = facts.and_then(LinkFacts::file_reference);
        let time = |of: fn(&Header) -> FileTime| header.map(of);
        self.time(time(|header| header.created));
        self.time(time(|header| header.modified));
        self.time(time(|header| header.accessed));
        self.shown(header.map(|header| header.file_size));
        self.shown(link.and_then(|link| link.relative_path));
        self.shown(link.and_then(|link| link.working_dir));
        self.shown(header.map(|header| Names(header.attributes, &ATTRIBUTES)));
        self.shown(header.map(|header| Names(header.flags.0, &FLAGS)));
        self.text(volume.map_or("(None)", |volume| drive(volume.drive_type)));
        self.shown(volume.map(|volume| format!("{:08X}", volume.serial.0)));
        self.shown(volume.and_then(|volume| volume.label));
        self.shown(facts.and_then(LinkFacts::base_path));
        self.shown(info.and_then(LinkInfo::path_suffix));
        self.shown(facts.and_then(|facts| facts.absolute_path()));
        self.shown(reference.map(|reference| format!("0x{:X}", reference.entry())));
        self.shown(reference.map(|reference| format!("0x{:X}", reference.sequence())));
        self.shown(tracker.and_then(|tracker| tracker.machine_id));
        self.shown(tracker.and_then(|tracker| tracker.file.mac()));
        self.time(tracker.and_then(|tracker| tracker.file.time()));
        self.shown(link.map(Blocks));
        self.shown(link.and_then(|link| link.arguments));
        let network = info.and_then(|info| info.network);
        self.shown(network.and_then(|network| network.device_name));
        self.shown(network.and_then(|network| network.provider).map(link::provider_text));
    }
}

impl LinkFacts<'_> {
    /// The path that the ID list spells, else that of LinkInfo.
    fn absolute_path(&self) -> Option<String> {
        let spelled = self.items.as_ref().and_then(|items| items.path());
        spelled.or_else(|| self.network_path.clone()).or_else(|| self.local_path.clone())
    }
}

fn drive(drive: DriveType) -> &'static str {
    match drive.0 {
        1 => "No root directory",
        2 => "Removable storage media (Floppy, USB)",
        3 => "Fixed storage media (Hard drive)",
        4 => "Remote storage",
        5 => "Optical disc (CD-ROM, DVD, BD)",
        6 => "RAM drive",
        _ => "Unknown",
    }
}

/// The names of the bits that are set, lowest first, with commas between; those without a name as one number in hex.
struct Names(u32, &'static [(u32, &'static str)]);

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(bits, names) = *self;
        if bits == 0 {
            return f.write_str("0");
        }
        let mut left = bits;
        let mut comma = "";
        for (bit, name) in names.iter().filter(|(bit, _)| bits & bit != 0) {
            write!(f, "{comma}{name}")?;
            left &= !bit;
            comma = ", ";
        }
        if left == 0 { Ok(()) } else { write!(f, "{comma}0x{left:X}") }
    }
}

// MS-SHLLINK 2.1.1, in JLECmd's spelling.
const FLAGS: [(u32, &str); 27] = [
    (1, "HasTargetIdList"),
    (1 << 1, "HasLinkInfo"),
    (1 << 2, "HasName"),
    (1 << 3, "HasRelativePath"),
    (1 << 4, "HasWorkingDir"),
    (1 << 5, "HasArguments"),
    (1 << 6, "HasIconLocation"),
    (1 << 7, "IsUnicode"),
    (1 << 8, "ForceNoLinkInfo"),
    (1 << 9, "HasExpString"),
    (1 << 10, "RunInSeparateProcess"),
    (1 << 11, "Reserved0"),
    (1 << 12, "HasDarwinId"),
    (1 << 13, "RunAsUser"),
    (1 << 14, "HasExpIcon"),
    (1 << 15, "NoPidlAlias"),
    (1 << 16, "Reserved1"),
    (1 << 17, "RunWithShimLayer"),
    (1 << 18, "ForceNoLinkTrack"),
    (1 << 19, "EnableTargetMetadata"),
    (1 << 20, "DisableLinkPathTracking"),
    (1 << 21, "DisableKnownFolderTracking"),
    (1 << 22, "DisableKnownFolderAlias"),
    (1 << 23, "AllowLinkToLink"),
    (1 << 24, "UnaliasOnSave"),
    (1 << 25, "PreferEnvironmentPath"),
    (1 << 26, "KeepLocalIdListForUncTarget"),
];

// winnt.h, in JLECmd's spelling; from bit 15 on in the same manner, as it has no names there (or one of Windows 95).
const ATTRIBUTES: [(u32, &str); 22] = [
    (0x0000_0001, "FileAttributeReadonly"),
    (0x0000_0002, "FileAttributeHidden"),
    (0x0000_0004, "FileAttributeSystem"),
    (0x0000_0010, "FileAttributeDirectory"),
    (0x0000_0020, "FileAttributeArchive"),
    (0x0000_0040, "FileAttributeDevice"),
    (0x0000_0080, "FileAttributeNormal"),
    (0x0000_0100, "FileAttributeTemporary"),
    (0x0000_0200, "FileAttributeSparseFile"),
    (0x0000_0400, "FileAttributeReparsePoint"),
    (0x0000_0800, "FileAttributeCompressed"),
    (0x0000_1000, "FileAttributeOffline"),
    (0x0000_2000, "FileAttributeNotContentIndexed"),
    (0x0000_4000, "FileAttributeEncrypted"),
    (0x0000_8000, "FileAttributeIntegrityStream"),
    (0x0001_0000, "FileAttributeVirtual"),
    (0x0002_0000, "FileAttributeNoScrubData"),
    (0x0004_0000, "FileAttributeRecallOnOpen"),
    (0x0008_0000, "FileAttributePinned"),
    (0x0010_0000, "FileAttributeUnpinned"),
    (0x0040_0000, "FileAttributeRecallOnDataAccess"),
    (0x2000_0000, "FileAttributeStrictlySequential"),
];

/// The names of a link's extra blocks, with commas between.
struct Blocks<'l>(&'l Link<'l>);

impl fmt::Display for Blocks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, block) in self.0.extra.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            f.write_str(match block.signature {
                signature::ENVIRONMENT => "EnvironmentVariableDataBlock",
                signature::CONSOLE => "ConsoleDataBlock",
                signature::TRACKER => "TrackerDataBaseBlock",
                signature::CONSOLE_FE => "ConsoleFeDataBlock",
                signature::SPECIAL_FOLDER => "SpecialFolderDataBlock",
                signature::DARWIN => "DarwinDataBlock",
                signature::ICON_ENVIRONMENT => "IconEnvironmentDataBlock",
                signature::SHIM => "ShimDataBlock",
                signature::PROPERTY_STORE => "PropertyStoreDataBlock",
                signature::KNOWN_FOLDER => "KnownFolderDataBlock",
                signature::VISTA_ID_LIST => "VistaAndAboveIdListDataBlock",
                other => {
                    write!(f, "0x{other:08X}")?;
                    continue;
                }
            })?;
        }
        Ok(())
    }
}
