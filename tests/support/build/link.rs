//! Shell links (MS-SHLLINK) as Explorer writes them for files, folders, shares, web pages and programs.
//!
//! The layout was taken from real links byte by byte: order of the parts, versions of the item extensions, the
//! property store that Explorer adds, and so the size, too.

use jlfix::format::checksum::crc64;
use jlfix::format::guid::Guid;
use jlfix::format::time::FileTime;

use super::{Property, Random, StoreBuilder, ansi_nul, guid, host, object_id, time, utf16, utf16_nul};

const MY_COMPUTER: &str = "20d04fe0-3aea-1069-a2d8-08002b30309d";
const NETWORK: &str = "208d2c60-3aea-1069-a2d7-08002b30309d";
const INTERNET: &str = "871c5380-42a0-1069-a2ea-08002b30309d";
/// The format id of the property that Explorer gives to folders in its list.
pub const FOLDER_STORE_ID: &str = "9f4c2855-9f79-4b39-a8d0-e1d42de1d5f3";
const VOLUME_FORMAT: &str = "446d16b1-8dad-4870-a748-402ea43d788c";
/// A locally administered address, so no maker's.
const MAC: [u8; 6] = [0x02, 0x00, 0x5E, 0x10, 0x20, 0x30];

const FOLDER: u32 = 0x10;
const FILE: u32 = 0x20;

/// Folders whose names Windows translates, and where their names are.
const TRANSLATED: [(&str, &str); 8] = [
    ("Users", "@shell32.dll,-21813"),
    ("Desktop", "@shell32.dll,-21769"),
    ("Documents", "@shell32.dll,-21770"),
    ("Pictures", "@shell32.dll,-21779"),
    ("Music", "@shell32.dll,-21790"),
    ("Videos", "@shell32.dll,-21791"),
    ("Downloads", "@shell32.dll,-21798"),
    ("Program Files", "@shell32.dll,-21781"),
];

/// What the link points to.
#[derive(Debug, Clone, PartialEq)]
enum Target {
    Path(String),
    KnownFolder(Guid, String),
    Url(String),
    Namespace(Guid),
}

/// One link. Every field can be set; what is left alone is as in a link that Explorer made.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkBuilder {
    target: Target,
    /// Attributes of the target (MS-SHLLINK 2.1.2).
    pub attributes: u32,
    /// Size of the target in bytes.
    pub size: u32,
    /// Creation time of the target.
    pub created: FileTime,
    /// Last access of the target.
    pub accessed: FileTime,
    /// Last write to the target.
    pub modified: FileTime,
    /// Serial number of its volume.
    pub serial: u32,
    /// Label of its volume.
    pub label: String,
    /// 3 fixed, 2 removable, 4 remote, 5 CD-ROM (MS-SHLLINK 2.3.1).
    pub drive_type: u32,
    /// Description.
    pub name: Option<String>,
    /// Relative path.
    pub relative_path: Option<String>,
    /// Working folder.
    pub working_dir: Option<String>,
    /// Arguments.
    pub arguments: Option<String>,
    /// File with the icon, and its place there.
    pub icon: Option<(String, i32)>,
    /// False for strings in ANSI.
    pub unicode: bool,
    /// False to leave the item ID list out.
    pub id_list: bool,
    /// False to leave LinkInfo out.
    pub link_info: bool,
    /// False to leave the tracker block out.
    pub tracker: bool,
    /// Host in the tracker block.
    pub machine: String,
    /// Volume and object id in the tracker block, now and at birth.
    pub droids: [Guid; 4],
    /// Serialized property store; none to leave the block out.
    pub properties: Option<Vec<u8>>,
    /// Further blocks of extra data: signature and what follows it.
    pub extra: Vec<(u32, Vec<u8>)>,
}

impl LinkBuilder {
    fn new(target: Target, attributes: u32) -> Self {
        let volume = guid("5a1c0f3e-77d2-4c1b-9a64-30c1d2e4f506");
        let object = object_id(time("2023-11-02T07:30:00Z"), 0x1A2B, MAC);
        let properties = StoreBuilder::new().property(VOLUME_FORMAT, 104, Property::Guid(volume));
        Self {
            target,
            attributes,
            size: 0,
            created: time("2023-11-02T07:42:11.1234567Z"),
            accessed: time("2024-02-20T16:05:33.7654321Z"),
            modified: time("2024-02-19T09:10:27.0010000Z"),
            serial: 0x4E2A_91C7,
            label: String::new(),
            drive_type: 3,
            name: None,
            relative_path: None,
            working_dir: None,
            arguments: None,
            icon: None,
            unicode: true,
            id_list: true,
            link_info: true,
            tracker: true,
            machine: "desk-01".to_owned(),
            droids: [volume, object, volume, object],
            properties: Some(properties.build()),
            extra: Vec::new(),
        }
    }

    /// A link to a file: `C:\…` or `\\server\share\…`.
    pub fn file(path: &str) -> Self {
        Self { size: 18_432, ..Self::new(Target::Path(path.to_owned()), FILE) }
    }

    /// A link to a folder, with the property store that Explorer gives it.
    pub fn folder(path: &str) -> Self {
        let mut link = Self::new(Target::Path(path.to_owned()), FOLDER);
        link.properties = Some(folder_properties(link.droids[0]));
        link
    }

    /// A link to one of Explorer's own folders, which lies at `path`.
    pub fn known_folder(id: &str, path: &str) -> Self {
        let mut link = Self::new(Target::KnownFolder(guid(id), path.to_owned()), FOLDER | 1);
        link.properties = Some(folder_properties(link.droids[0]));
        link
    }

    /// A link to a web page: no path, only an item ID list.
    pub fn url(url: &str) -> Self {
        let link = Self::new(Target::Url(url.to_owned()), 0);
        Self { link_info: false, tracker: false, properties: None, ..link.times(FileTime(0), FileTime(0), FileTime(0)) }
    }

    /// A link to a place in the namespace that is no file, such as the Control Panel.
    pub fn namespace(id: &str) -> Self {
        let link = Self::new(Target::Namespace(guid(id)), 0);
        Self { link_info: false, tracker: false, properties: None, ..link.times(FileTime(0), FileTime(0), FileTime(0)) }
    }

    /// A task of an application: a program, its arguments, and the title that the jump list shows.
    pub fn task(program: &str, arguments: &str, title: &str) -> Self {
        let mut link = Self::file(program);
        link.size = 3_554_696;
        link.arguments = Some(arguments.to_owned());
        link.icon = Some((program.to_owned(), 0));
        link.properties = Some(
            StoreBuilder::new()
                .property("f29f85e0-4ff9-1068-ab91-08002b27b3d9", 2, Property::Text(title.to_owned()))
                .property(VOLUME_FORMAT, 104, Property::Guid(link.droids[0]))
                .build(),
        );
        link
    }

    /// Creation, last access and last write of the target.
    pub fn times(mut self, created: FileTime, accessed: FileTime, modified: FileTime) -> Self {
        (self.created, self.accessed, self.modified) = (created, accessed, modified);
        self
    }

    /// Changes what the other methods don't.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The link's bytes.
    pub fn build(&self) -> Vec<u8> {
        let mut out = self.header();
        if self.id_list {
            let items = self.items();
            out.extend((items.len() as u16 + 2).to_le_bytes());
            out.extend(items);
            out.extend([0; 2]);
        }
        if self.link_info {
            out.extend(self.info());
        }
        for text in self.strings().into_iter().flatten() {
            out.extend((text.encode_utf16().count() as u16).to_le_bytes());
            out.extend(if self.unicode { utf16(text) } else { super::ansi(text) });
        }
        for (signature, content) in &self.extra {
            block(&mut out, *signature, content);
        }
        if self.tracker {
            let mut content = Vec::new();
            content.extend(0x58_u32.to_le_bytes());
            content.extend(0_u32.to_le_bytes());
            content.extend(host(&self.machine));
            content.extend(self.droids.iter().flat_map(|id| id.0));
            block(&mut out, 0xA000_0003, &content);
        }
        if let Some(properties) = &self.properties {
            block(&mut out, 0xA000_0009, properties);
        }
        out.extend([0; 4]);
        out
    }

    fn strings(&self) -> [Option<&str>; 5] {
        let icon = self.icon.as_ref().map(|(path, _)| path.as_str());
        [
            self.name.as_deref(),
            self.relative_path.as_deref(),
            self.working_dir.as_deref(),
            self.arguments.as_deref(),
            icon,
        ]
    }

    fn header(&self) -> Vec<u8> {
        // AllowLinkToLink and DisableKnownFolderTracking, which Explorer sets.
        let mut flags = 0x00A0_0000_u32;
        flags |= u32::from(self.id_list) | u32::from(self.link_info) << 1 | u32::from(self.unicode) << 7;
        for (bit, text) in (2..).zip(self.strings()) {
            flags |= u32::from(text.is_some()) << bit;
        }
        let mut out = 0x4C_u32.to_le_bytes().to_vec();
        out.extend(guid("00021401-0000-0000-c000-000000000046").0);
        out.extend(flags.to_le_bytes());
        out.extend(self.attributes.to_le_bytes());
        for moment in [self.created, self.accessed, self.modified] {
            out.extend(moment.0.to_le_bytes());
        }
        out.extend(self.size.to_le_bytes());
        out.extend(self.icon.as_ref().map_or(0, |(_, index)| *index).to_le_bytes());
        out.extend(1_u32.to_le_bytes());
        out.extend([0; 12]);
        out
    }

    /// The item ID list without its size and its terminal.
    fn items(&self) -> Vec<u8> {
        match &self.target {
            Target::Path(path) => match path.strip_prefix(r"\\") {
                Some(unc) => self.network_items(unc),
                None => self.drive_items(path),
            },
            Target::KnownFolder(id, _) => {
                let mut out = root(0x50, MY_COMPUTER);
                let mut body = vec![0x2E, 0x80];
                body.extend(id.0);
                let mut extension = vec![0x26, 0, 1, 0, 0x26, 0, 0xEF, 0xBE];
                extension.extend(0x11_u32.to_le_bytes());
                for moment in [self.created, self.accessed, self.modified] {
                    extension.extend(moment.0.to_le_bytes());
                }
                extension.extend((body.len() as u16 + 2).to_le_bytes());
                body.extend(extension);
                out.extend(item(&body));
                out
            }
            Target::Url(url) => {
                let mut out = root(0x68, INTERNET);
                let mut body = vec![0x61, 0x80, 0, 0, 0, 0];
                body.extend(utf16_nul(url));
                out.extend(item(&body));
                out
            }
            Target::Namespace(id) => {
                let mut body = vec![0x1F, 0x70];
                body.extend(id.0);
                item(&body)
            }
        }
    }

    fn drive_items(&self, path: &str) -> Vec<u8> {
        let mut parts = path.split('\\');
        let mut out = root(0x50, MY_COMPUTER);
        let mut volume = vec![0x2F];
        volume.extend(ansi_nul(&format!("{}\\", parts.next().unwrap())));
        volume.resize(23, 0);
        out.extend(item(&volume));
        out.extend(self.path_items(parts.filter(|part| !part.is_empty()).collect()));
        out
    }

    fn network_items(&self, unc: &str) -> Vec<u8> {
        let mut parts = unc.split('\\');
        let (server, share) = (parts.next().unwrap(), parts.next().unwrap());
        let mut out = root(0x58, NETWORK);
        let mut location = vec![0xC3, 0x01, 0x81];
        location.extend(ansi_nul(&format!(r"\\{server}\{share}")));
        location.extend(ansi_nul("Microsoft Network"));
        location.extend([0x02, 0]);
        out.extend(item(&location));
        out.extend(self.path_items(parts.filter(|part| !part.is_empty()).collect()));
        out
    }

    /// Items of folders, and last that of the target.
    fn path_items(&self, names: Vec<&str>) -> Vec<u8> {
        let mut out = Vec::new();
        for (depth, name) in names.iter().enumerate() {
            let last = depth + 1 == names.len();
            let translated = TRANSLATED.iter().find(|(known, _)| depth < 3 && known == name).map(|(_, text)| *text);
            let (kind, size, attributes) = match (last, translated) {
                (true, _) if self.attributes & FOLDER == 0 => (0x32, self.size, FILE),
                (_, Some(_)) => (0x31, 0, FOLDER | 1),
                _ => (0x31, 0, FOLDER),
            };
            out.extend(self.file_item(kind, size, attributes as u16, name, translated));
        }
        out
    }

    fn file_item(&self, kind: u8, size: u32, attributes: u16, name: &str, translated: Option<&str>) -> Vec<u8> {
        let mut body = vec![kind, 0];
        body.extend(size.to_le_bytes());
        body.extend(dos_time(self.modified));
        body.extend(attributes.to_le_bytes());
        body.extend(ansi_nul(&short_name(name)));
        // Positions count the item's own two bytes of size, so an even body keeps the extension even.
        body.resize(body.len().next_multiple_of(2), 0);
        let at = body.len() as u16 + 2;

        // The place in the MFT and a hash that nobody documents: any numbers that stay with the name.
        let mut record = Random(crc64(&[&utf16(name)]) ^ u64::from(self.serial));
        let long = utf16_nul(name);
        let translated = translated.map(utf16_nul).unwrap_or_default();
        let mut extension = Vec::new();
        extension.extend(9_u16.to_le_bytes());
        extension.extend(0xBEEF_0004_u32.to_le_bytes());
        extension.extend(dos_time(self.created));
        extension.extend(dos_time(self.accessed));
        extension.extend(0x2E_u16.to_le_bytes());
        extension.extend(0_u16.to_le_bytes());
        extension.extend((record.below(0x4_0000) | 1 << 48).to_le_bytes());
        extension.extend(0_u64.to_le_bytes());
        extension.extend(if translated.is_empty() { 0 } else { 46 + long.len() as u16 }.to_le_bytes());
        extension.extend(0_u32.to_le_bytes());
        extension.extend((record.bits() as u32 & 0x01FF_FFFF).to_le_bytes());
        extension.extend(long);
        extension.extend(translated);
        extension.extend(at.to_le_bytes());

        body.extend((extension.len() as u16 + 2).to_le_bytes());
        body.extend(extension);
        item(&body)
    }

    /// LinkInfo: the volume and the local path, or the share and what lies below it (MS-SHLLINK 2.3).
    fn info(&self) -> Vec<u8> {
        let path = match &self.target {
            Target::Path(path) | Target::KnownFolder(_, path) => path.as_str(),
            Target::Url(_) | Target::Namespace(_) => "",
        };
        let wide = !path.is_ascii() || !self.label.is_ascii();
        let header_size = if wide { 0x24_u32 } else { 0x1C };
        let (share, suffix) = match path.strip_prefix(r"\\") {
            Some(unc) => {
                let end = unc.match_indices('\\').nth(1).map_or(path.len(), |(at, _)| at + 2);
                (Some(&path[..end]), path[end..].trim_start_matches('\\'))
            }
            None => (None, ""),
        };

        let mut body = Vec::new();
        let at = |body: &Vec<u8>| header_size + body.len() as u32;
        let (mut volume_at, mut base_at, mut network_at, mut wide_base_at) = (0, 0, 0, 0);
        if let Some(share) = share {
            network_at = at(&body);
            body.extend(network_location(share));
        } else {
            volume_at = at(&body);
            body.extend(self.volume(wide));
            base_at = at(&body);
            body.extend(ansi_nul(path));
        }
        let suffix_at = at(&body);
        body.extend(ansi_nul(suffix));
        if wide && share.is_none() {
            wide_base_at = at(&body);
            body.extend(utf16_nul(path));
        }
        let wide_suffix_at = at(&body);
        if wide {
            body.extend(utf16_nul(suffix));
        }

        let flags = if share.is_some() { 2 } else { 1 };
        let mut out = Vec::new();
        for value in [header_size + body.len() as u32, header_size, flags, volume_at, base_at, network_at, suffix_at] {
            out.extend(value.to_le_bytes());
        }
        if wide {
            out.extend(wide_base_at.to_le_bytes());
            out.extend(wide_suffix_at.to_le_bytes());
        }
        out.extend(body);
        out
    }

    fn volume(&self, wide: bool) -> Vec<u8> {
        let wide = wide && !self.label.is_ascii();
        let (label_at, label) = if wide { (0x14_u32, utf16_nul(&self.label)) } else { (0x10, ansi_nul(&self.label)) };
        let mut out = Vec::new();
        for value in [label_at + label.len() as u32, self.drive_type, self.serial, label_at] {
            out.extend(value.to_le_bytes());
        }
        if wide {
            // An offset of 0x14 says that the label is in Unicode, and this is where it is.
            out.extend(0x14_u32.to_le_bytes());
        }
        out.extend(label);
        out
    }
}

/// CommonNetworkRelativeLink (MS-SHLLINK 2.3.2) of a share that no drive letter stands for.
fn network_location(share: &str) -> Vec<u8> {
    let name = ansi_nul(share);
    let mut out = Vec::new();
    // WNNC_NET_LANMAN, the only provider there is any more.
    for value in [0x14 + name.len() as u32, 2, 0x14, 0, 0x0002_0000] {
        out.extend(value.to_le_bytes());
    }
    out.extend(name);
    out
}

/// What Explorer keeps with the folders of its list.
fn folder_properties(volume: Guid) -> Vec<u8> {
    StoreBuilder::new()
        .property(FOLDER_STORE_ID, 7, Property::Bool(true))
        .property(VOLUME_FORMAT, 104, Property::Guid(volume))
        .build()
}

fn item(body: &[u8]) -> Vec<u8> {
    let mut out = (body.len() as u16 + 2).to_le_bytes().to_vec();
    out.extend(body);
    out
}

fn root(order: u8, id: &str) -> Vec<u8> {
    let mut body = vec![0x1F, order];
    body.extend(guid(id).0);
    item(&body)
}

fn block(out: &mut Vec<u8>, signature: u32, content: &[u8]) {
    out.extend((content.len() as u32 + 8).to_le_bytes());
    out.extend(signature.to_le_bytes());
    out.extend(content);
}

/// Date and time as FAT keeps them: two 16-bit words, even seconds.
fn dos_time(moment: FileTime) -> [u8; 4] {
    let Some(civil) = moment.civil().filter(|civil| (1980..=2107).contains(&civil.year())) else { return [0; 4] };
    let date = (civil.year() as u16 - 1980) << 9 | (civil.month() as u16) << 5 | civil.day() as u16;
    let time = (civil.hour() as u16) << 11 | (civil.minute() as u16) << 5 | (civil.second() as u16 / 2);
    let ([a, b], [c, d]) = (date.to_le_bytes(), time.to_le_bytes());
    [a, b, c, d]
}

/// The name if it is an 8.3 name, otherwise the alias that Windows would give it first.
fn short_name(name: &str) -> String {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    if plain(stem) && plain(extension) && stem.len() <= 8 && extension.len() <= 3 {
        return name.to_owned();
    }
    let shorten = |text: &str, most: usize| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).take(most).collect::<String>().to_ascii_uppercase()
    };
    let stem = shorten(stem, 6);
    match shorten(extension, 3) {
        extension if extension.is_empty() => format!("{stem}~1"),
        extension => format!("{stem}~1.{extension}"),
    }
}
