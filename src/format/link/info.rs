//! LinkInfo (MS-SHLLINK 2.3): where the target was, as a path on a volume, on the network, or both.
//!
//! Everything in it is found by offsets from its own start. Each is held against its size, and one that
//! points outside loses its own field and nothing else.

use std::borrow::Cow;
use std::fmt;

#[cfg(feature = "serde")]
use serde::{Serialize, Serializer};

use crate::bytes::Bytes;
use crate::format::problem::{Fault, Problem};
use crate::format::text::{Ascii, CodePage, Text, Utf16, until_nul};

/// Where the target was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkInfo<'a> {
    /// Where it starts, in bytes from the start of the link.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
    /// The volume that the target was on.
    pub volume: Option<Volume<'a>>,
    /// The local base path in the code page.
    pub base_path: Option<Text<'a>>,
    /// The local base path in UTF-16 (written where the code page cannot hold it).
    pub base_path_unicode: Option<Text<'a>>,
    /// The share that the target was on.
    pub network: Option<Network<'a>>,
    /// What follows the base path or the share's name, in the code page.
    pub suffix: Option<Text<'a>>,
    /// The same in UTF-16.
    pub suffix_unicode: Option<Text<'a>>,
}

/// The volume that a target was on (MS-SHLLINK 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Volume<'a> {
    /// What kind of drive it was in.
    pub drive_type: DriveType,
    /// Its serial number.
    pub serial: VolumeSerial,
    /// Its label; absent if empty.
    pub label: Option<Text<'a>>,
}

/// The share that a target was on (MS-SHLLINK 2.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network<'a> {
    /// The share's name, such as `\\server\share`.
    pub net_name: Option<Text<'a>>,
    /// The drive letter that it was mapped to, such as `Z:`.
    pub device_name: Option<Text<'a>>,
    /// What carried it, a `WNNC_NET_…` value; absent where the link says that it isn't valid.
    pub provider: Option<u32>,
}

/// A `DRIVE_…` value of GetDriveType.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriveType(pub u32);

impl DriveType {
    /// `unknown`, `no_root`, `removable`, `fixed`, `remote`, `cdrom` or `ramdisk`; a value without a name is `unknown`.
    pub fn word(self) -> &'static str {
        match self.0 {
            1 => "no_root",
            2 => "removable",
            3 => "fixed",
            4 => "remote",
            5 => "cdrom",
            6 => "ramdisk",
            _ => "unknown",
        }
    }
}

#[cfg(feature = "serde")]
impl Serialize for DriveType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A volume's serial number, shown as 8 lower-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VolumeSerial(pub u32);

impl fmt::Display for VolumeSerial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

#[cfg(feature = "serde")]
impl Serialize for VolumeSerial {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = Ascii([b'0'; 8]);
        text.hex(0, self.0.to_be_bytes());
        text.serialize(serializer)
    }
}

/// The name of a `WNNC_NET_…` network provider, for those that can be met.
pub fn provider_name(provider: u32) -> Option<&'static str> {
    Some(match provider {
        0x0001_0000 => "MSNET",
        0x0002_0000 => "SMB",
        0x0003_0000 => "NETWARE",
        0x001A_0000 => "AVID",
        0x001B_0000 => "DOCUSPACE",
        0x001C_0000 => "MANGOSOFT",
        0x001D_0000 => "SERNET",
        0x001E_0000 => "RIVERFRONT1",
        0x001F_0000 => "RIVERFRONT2",
        0x0020_0000 => "DECORB",
        0x0021_0000 => "PROTSTOR",
        0x0022_0000 => "FJ_REDIR",
        0x0023_0000 => "DISTINCT",
        0x0024_0000 => "TWINS",
        0x0025_0000 => "RDR2SAMPLE",
        0x0026_0000 => "CSC",
        0x0027_0000 => "3IN1",
        0x0029_0000 => "EXTENDNET",
        0x002A_0000 => "STAC",
        0x002B_0000 => "FOXBAT",
        0x002C_0000 => "YAHOO",
        0x002D_0000 => "EXIFS",
        0x002E_0000 => "DAV",
        0x002F_0000 => "KNOWARE",
        0x0030_0000 => "OBJECT_DIRE",
        0x0031_0000 => "MASFAX",
        0x0032_0000 => "HOB_NFS",
        0x0033_0000 => "SHIVA",
        0x0034_0000 => "IBMAL",
        0x0035_0000 => "LOCK",
        0x0036_0000 => "TERMSRV",
        0x0037_0000 => "SRT",
        0x0038_0000 => "QUINCY",
        0x0039_0000 => "OPENAFS",
        0x003A_0000 => "AVID1",
        0x003B_0000 => "DFS",
        0x003C_0000 => "KWNP",
        0x003D_0000 => "ZENWORKS",
        0x003E_0000 => "DRIVEONWEB",
        0x003F_0000 => "VMWARE",
        0x0040_0000 => "RSFX",
        0x0041_0000 => "MFILES",
        0x0042_0000 => "MS_NFS",
        0x0043_0000 => "GOOGLE",
        0x0044_0000 => "NDFS",
        0x0045_0000 => "DOCUSHARE",
        0x0046_0000 => "AURISTOR_FS",
        0x0047_0000 => "SECUREAGENT",
        0x0048_0000 => "9P",
        _ => return None,
    })
}

/// The name of a network provider, or its number in hex.
pub fn provider_text(provider: u32) -> String {
    provider_name(provider).map_or_else(|| format!("{provider:#010x}"), ToOwned::to_owned)
}

const MINIMUM_HEADER: u32 = 0x1C;
const HEADER_WITH_UNICODE: u32 = 0x24;
const HAS_VOLUME_AND_BASE_PATH: u32 = 1;
const HAS_NETWORK: u32 = 2;

impl<'a> LinkInfo<'a> {
    /// Reads the LinkInfo that `data` is, from its size field to its end; it starts at `offset` of the link.
    pub(super) fn read(
        data: &'a [u8],
        offset: usize,
        code_page: CodePage,
        problems: &mut Vec<Problem>,
    ) -> Result<Self, Problem> {
        let mut bytes = Bytes::at_base(data, offset as u64);
        bytes.u32("LinkInfo size")?;
        let header_size = bytes.u32("LinkInfo header size")?;
        if header_size < MINIMUM_HEADER {
            let at = (offset as u64).saturating_add(4);
            problems.push(Problem::value("LinkInfo header size", at, header_size.into(), "28 or more"));
        }
        let flags = bytes.u32("LinkInfo flags")?;
        let volume_at = bytes.u32("volume ID offset")?;
        let base_path_at = bytes.u32("local base path offset")?;
        let network_at = bytes.u32("common network relative link offset")?;
        let suffix_at = bytes.u32("common path suffix offset")?;
        let (mut base_path_unicode_at, mut suffix_unicode_at) = (0, 0);
        if header_size >= HEADER_WITH_UNICODE {
            base_path_unicode_at = bytes.u32("Unicode local base path offset")?;
            suffix_unicode_at = bytes.u32("Unicode common path suffix offset")?;
        }

        let mut area = Area { data, base: offset as u64, first: MINIMUM_HEADER, code_page, problems };
        let mut info = Self {
            offset,
            size: data.len(),
            volume: None,
            base_path: None,
            base_path_unicode: None,
            network: None,
            suffix: area.ansi("common path suffix", suffix_at),
            suffix_unicode: area.wide("Unicode common path suffix", suffix_unicode_at),
        };
        if flags & HAS_VOLUME_AND_BASE_PATH != 0 {
            info.volume = area.part("volume ID", volume_at, 16).and_then(Volume::read);
            info.base_path = area.ansi("local base path", base_path_at);
            info.base_path_unicode = area.wide("Unicode local base path", base_path_unicode_at);
        }
        if flags & HAS_NETWORK != 0 {
            info.network = area.part("common network relative link", network_at, 20).and_then(Network::read);
        }
        Ok(info)
    }

    /// The suffix that follows the base path or the share's name: the Unicode one if there is one.
    pub fn path_suffix(&self) -> Option<Text<'a>> {
        first_filled(self.suffix_unicode, self.suffix)
    }

    /// The path on the volume: base path and suffix, each in UTF-16 if it is there in UTF-16.
    pub fn local_path(&self) -> Option<String> {
        let base = first_filled(self.base_path_unicode, self.base_path)?;
        Some(join(base.decode(), self.path_suffix()))
    }

    /// The path on the network: the share's name and the suffix.
    pub fn network_path(&self) -> Option<String> {
        Some(join(self.network?.net_name?.decode(), self.path_suffix()))
    }
}

fn first_filled<'a>(unicode: Option<Text<'a>>, ansi: Option<Text<'a>>) -> Option<Text<'a>> {
    unicode.and_then(Text::non_empty).or_else(|| ansi.and_then(Text::non_empty))
}

/// One backslash between the two, whichever of them brings it.
fn join(base: Cow<'_, str>, suffix: Option<Text<'_>>) -> String {
    let mut path = base.into_owned();
    if let Some(suffix) = suffix {
        let suffix = suffix.decode();
        if !path.ends_with('\\') && !suffix.starts_with('\\') {
            path.push('\\');
        }
        path.push_str(&suffix);
    }
    path
}

impl<'a> Volume<'a> {
    fn read(mut area: Area<'a, '_>) -> Option<Self> {
        let mut bytes = Bytes::at_base(area.data, area.base);
        let read = |bytes: &mut Bytes<'a>| {
            bytes.u32("volume ID size")?;
            let (kind, serial) = (bytes.u32("drive type")?, bytes.u32("volume serial number")?);
            let label_at = bytes.u32("volume label offset")?;
            // 0x14 says that the label is in UTF-16, at an offset of its own (MS-SHLLINK 2.3.1).
            let unicode_at = if label_at == 0x14 { Some(bytes.u32("Unicode volume label offset")?) } else { None };
            Ok((kind, serial, label_at, unicode_at))
        };
        let (kind, serial, label_at, unicode_at) = area.or_problem(read(&mut bytes))?;
        area.first = bytes.position() as u32;
        let label = match unicode_at {
            Some(at) => area.wide("Unicode volume label", at),
            None => area.ansi("volume label", label_at),
        };
        let label = label.and_then(Text::non_empty);
        Some(Self { drive_type: DriveType(kind), serial: VolumeSerial(serial), label })
    }
}

impl<'a> Network<'a> {
    fn read(mut area: Area<'a, '_>) -> Option<Self> {
        const VALID_DEVICE: u32 = 1;
        const VALID_NET_TYPE: u32 = 2;
        let mut bytes = Bytes::at_base(area.data, area.base);
        let read = |bytes: &mut Bytes<'a>| {
            bytes.u32("common network relative link size")?;
            let flags = bytes.u32("common network relative link flags")?;
            let (net_name_at, device_at) = (bytes.u32("net name offset")?, bytes.u32("device name offset")?);
            let provider = bytes.u32("network provider type")?;
            // A net name behind the fixed part means that two more offsets are before it (MS-SHLLINK 2.3.2).
            let unicode = if net_name_at > 0x14 {
                (bytes.u32("Unicode net name offset")?, bytes.u32("Unicode device name offset")?)
            } else {
                (0, 0)
            };
            Ok((flags, net_name_at, device_at, provider, unicode))
        };
        let (flags, net_name_at, device_at, provider, unicode) = area.or_problem(read(&mut bytes))?;
        area.first = bytes.position() as u32;
        let net_name = area.wide("Unicode net name", unicode.0);
        let net_name = first_filled(net_name, area.ansi("net name", net_name_at));
        let mut device_name = None;
        if flags & VALID_DEVICE != 0 {
            device_name = area.wide("Unicode device name", unicode.1);
            device_name = first_filled(device_name, area.ansi("device name", device_at));
        }
        Some(Self { net_name, device_name, provider: (flags & VALID_NET_TYPE != 0).then_some(provider) })
    }
}

/// A structure whose parts are found by offsets from its start.
struct Area<'a, 'p> {
    data: &'a [u8],
    /// Where it starts in the link.
    base: u64,
    /// The first place that a part can be at, behind the fixed fields.
    first: u32,
    code_page: CodePage,
    problems: &'p mut Vec<Problem>,
}

impl<'a> Area<'a, '_> {
    fn or_problem<T>(&mut self, result: Result<T, crate::bytes::Short>) -> Option<T> {
        result.map_err(|short| self.problems.push(short.into())).ok()
    }

    /// What is at `at`, to the end of the structure. 0 means that there is nothing.
    fn at(&mut self, what: &'static str, at: u32) -> Option<&'a [u8]> {
        if at == 0 {
            return None;
        }
        let found = if at < self.first { None } else { self.data.get(at as usize..) };
        if found.is_none() {
            let fault = Fault::Outside { at: at.into(), size: self.data.len() as u64 };
            self.problems.push(Problem { what, offset: self.base, fault });
        }
        found
    }

    fn ansi(&mut self, what: &'static str, at: u32) -> Option<Text<'a>> {
        self.at(what, at).map(|bytes| Text::Ansi(until_nul(bytes), self.code_page))
    }

    fn wide(&mut self, what: &'static str, at: u32) -> Option<Text<'a>> {
        self.at(what, at).map(|bytes| Text::Wide(Utf16(bytes).until_nul()))
    }

    /// The structure that starts at `at` with its own size, which is cut to what there is.
    fn part(&mut self, what: &'static str, at: u32, minimum: usize) -> Option<Area<'a, '_>> {
        if at == 0 {
            self.problems.push(Problem::note(what, self.base, "is said to be there, but not where"));
        }
        let data = self.at(what, at)?;
        let base = self.base.saturating_add(at.into());
        let size = crate::bytes::u32_at(data, 0).unwrap_or(0) as usize;
        let own = match data.get(..size) {
            Some(own) if size >= minimum => own,
            _ => {
                self.problems.push(Problem::value(what, base, size as u64, "a size that its LinkInfo can hold"));
                data
            }
        };
        Some(Area { data: own, base, first: minimum as u32, code_page: self.code_page, problems: self.problems })
    }
}
