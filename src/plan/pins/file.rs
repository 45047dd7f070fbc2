//! The pins file: the pins of applications as readable JSON (docs/schema/pins-1.json).
//!
//! A pins file is not trusted: its size, its counts and every value are bounded, and an AppID is a number, so that no
//! name of a file comes from it.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::appid::AppId;
use crate::format::destlist::total;
use crate::format::guid::Guid;
use crate::format::link;
use crate::format::text::{CodePage, Utf16, hex};
use crate::format::time::FileTime;
use crate::plan::identity;

/// The version of the pins file that is read and written.
pub const PINS_VERSION: u64 = 1;
/// The largest pins file that is read, in bytes: 16 MiB.
pub const LARGEST_PINS_FILE: u64 = 16 << 20;
/// The most applications of a pins file, and the most pins of one of them.
const MOST_APPLICATIONS: usize = 4096;
const MOST_PINS: usize = 4096;
/// The largest link and property store of a pin, in bytes.
const LARGEST_PART: usize = 1 << 20;
/// The longest path, in UTF-16 units (the limit of Windows for paths).
const LONGEST_PATH: usize = 32_767;

/// Why a pins file is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PinsFileError {
    /// It is larger than [`LARGEST_PINS_FILE`].
    #[error("need a pins file of at most {LARGEST_PINS_FILE} bytes, have {0}")]
    Size(u64),
    /// It is not JSON, or not of the schema.
    #[error("not a pins file: {0}")]
    Json(String),
    /// Its version is another one.
    #[error("jlfix_pins: need version {PINS_VERSION}, have {0}")]
    Version(String),
    /// A value is invalid.
    #[error("{place}: need {need}, have {have}")]
    Value {
        /// Where in the file, such as `applications[0].pins[2].path`.
        place: String,
        /// What is valid there.
        need: &'static str,
        /// What is there.
        have: String,
    },
}

/// The pins of applications.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PinsFile {
    /// The applications, each once.
    pub applications: Vec<ApplicationPins>,
}

/// The pins of one application.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplicationPins {
    /// The application.
    pub app_id: AppId,
    /// Its name, if it is known; for people only.
    pub app_name: Option<String>,
    /// The pins in their order.
    pub pins: Vec<StoredPin>,
}

/// A pin as its list had it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredPin {
    /// Path of the entry in UTF-16, little-endian.
    pub path: Vec<u8>,
    /// The link; `None` if the list had none that could be read.
    pub link: Option<Vec<u8>>,
    /// Last access; 0 if it is not known.
    pub last_access: FileTime,
    /// Score, from 0.
    pub score: f32,
    /// Number of opens.
    pub interactions: u32,
    /// Host name, zero-padded, as in the entry.
    pub host: [u8; 16],
    /// Volume id, object id, birth volume id and birth object id of the target; zero if they are not known.
    pub droids: [Guid; 4],
    /// Serialized property store of the entry; empty in most.
    pub property_store: Vec<u8>,
}

impl StoredPin {
    /// The path; an unpaired surrogate becomes U+FFFD.
    pub fn shown_path(&self) -> String {
        Utf16(&self.path).decode()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    jlfix_pins: u64,
    generator: Option<String>,
    applications: Vec<Application>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Application {
    app_id: String,
    app_name: Option<String>,
    pins: Vec<Pin>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    order: usize,
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_utf16: Option<String>,
    last_access: Option<String>,
    score: f32,
    interactions: u32,
    tracking: Option<Tracking>,
    property_store: Option<String>,
    link: Option<String>,
}

/// The fields of an entry by which Windows finds a target that was moved.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tracking {
    /// 16 bytes in hex.
    host: String,
    volume_id: String,
    object_id: String,
    birth_volume_id: String,
    birth_object_id: String,
}

/// Only the version, so that a file of another version is refused as such.
#[derive(Deserialize)]
struct VersionOnly {
    jlfix_pins: Option<serde_json::Value>,
}

impl PinsFile {
    /// The file: JSON with a line end behind it.
    pub fn to_json(&self) -> Vec<u8> {
        let document = Document {
            jlfix_pins: PINS_VERSION,
            generator: Some(concat!("jlfix ", env!("CARGO_PKG_VERSION")).to_owned()),
            applications: self.applications.iter().map(Application::of).collect(),
        };
        // Writing to memory cannot fail, and no map here has keys other than strings.
        let mut out = serde_json::to_vec_pretty(&document).unwrap_or_default();
        out.push(b'\n');
        out
    }

    /// Reads a pins file. Links are parsed, in `code_page`, and bounded.
    ///
    /// # Errors
    /// [`PinsFileError`] if anything in it is invalid.
    pub fn parse(data: &[u8], code_page: CodePage) -> Result<Self, PinsFileError> {
        if data.len() as u64 > LARGEST_PINS_FILE {
            return Err(PinsFileError::Size(data.len() as u64));
        }
        let json = |error: serde_json::Error| PinsFileError::Json(error.to_string());
        // A byte order mark is what some editors put in front.
        let data = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data);
        let version: VersionOnly = serde_json::from_slice(data).map_err(json)?;
        match version.jlfix_pins {
            Some(version) if version == PINS_VERSION => {}
            Some(version) => return Err(PinsFileError::Version(shortened(&version.to_string()))),
            None => return Err(PinsFileError::Version("none".to_owned())),
        }
        let document: Document = serde_json::from_slice(data).map_err(json)?;
        bounded("applications", document.applications.len(), MOST_APPLICATIONS, "at most 4096 applications")?;
        let mut ids = HashSet::new();
        let mut applications = Vec::with_capacity(document.applications.len());
        for (number, application) in document.applications.into_iter().enumerate() {
            let place = format!("applications[{number}]");
            let application = application.read(&place, code_page)?;
            if !ids.insert(application.app_id) {
                return Err(value(&place, "app_id", "each application once", &application.app_id.to_string()));
            }
            applications.push(application);
        }
        Ok(Self { applications })
    }
}

/// As much of a value as a message needs.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn value(place: &str, field: &str, need: &'static str, have: &str) -> PinsFileError {
    PinsFileError::Value { place: format!("{place}.{field}"), need, have: shortened(have) }
}

fn bounded(place: &str, have: usize, most: usize, need: &'static str) -> Result<(), PinsFileError> {
    if have <= most {
        return Ok(());
    }
    Err(PinsFileError::Value { place: place.to_owned(), need, have: have.to_string() })
}

impl Application {
    fn of(application: &ApplicationPins) -> Self {
        Self {
            app_id: application.app_id.to_string(),
            app_name: application.app_name.clone(),
            pins: application.pins.iter().enumerate().map(|(order, pin)| Pin::of(order, pin)).collect(),
        }
    }

    fn read(mut self, place: &str, code_page: CodePage) -> Result<ApplicationPins, PinsFileError> {
        let app_id = AppId::parse(&self.app_id).filter(|id| id.to_string() == self.app_id);
        let need = "an AppID as files are named: 1 to 16 lower-case hex digits without leading zeros";
        let app_id = app_id.ok_or_else(|| value(place, "app_id", need, &self.app_id))?;
        bounded(&format!("{place}.pins"), self.pins.len(), MOST_PINS, "at most 4096 pins")?;
        // Places in messages are those in the file; a stable sort keeps them for what is twice.
        let mut numbered: Vec<(usize, Pin)> = std::mem::take(&mut self.pins).into_iter().enumerate().collect();
        numbered.sort_by_key(|(_, pin)| pin.order);
        let mut pins = Vec::with_capacity(numbered.len());
        let mut paths = HashSet::new();
        for (order, (number, pin)) in numbered.into_iter().enumerate() {
            let place = format!("{place}.pins[{number}]");
            if pin.order != order {
                let have = pin.order.to_string();
                return Err(value(&place, "order", "the numbers 0 to n-1, each once", &have));
            }
            let pin = pin.read(&place, code_page)?;
            if !paths.insert(identity::key(Utf16(&pin.path))) {
                return Err(value(&place, "path", "each path once", &pin.shown_path()));
            }
            pins.push(pin);
        }
        Ok(ApplicationPins { app_id, app_name: self.app_name, pins })
    }
}

impl Pin {
    fn of(order: usize, pin: &StoredPin) -> Self {
        let path = Utf16(&pin.path);
        let [volume, object, birth_volume, birth_object] = pin.droids;
        let is_known = pin.host != [0; 16] || pin.droids.iter().any(|id| !id.is_zero());
        Self {
            order,
            path: path.decode(),
            path_utf16: path.has_unpaired().then(|| path.to_hex()),
            last_access: pin.last_access.non_zero().and_then(|time| time.rfc3339()),
            score: pin.score,
            interactions: pin.interactions,
            tracking: is_known.then(|| Tracking {
                host: hex(&pin.host),
                volume_id: volume.to_string(),
                object_id: object.to_string(),
                birth_volume_id: birth_volume.to_string(),
                birth_object_id: birth_object.to_string(),
            }),
            property_store: (!pin.property_store.is_empty()).then(|| STANDARD.encode(&pin.property_store)),
            link: pin.link.as_ref().map(|link| STANDARD.encode(link)),
        }
    }

    fn read(self, place: &str, code_page: CodePage) -> Result<StoredPin, PinsFileError> {
        let path = self.read_path(place)?;
        let last_access = match &self.last_access {
            None => FileTime(0),
            Some(text) => FileTime::parse_rfc3339(text)
                .ok_or_else(|| value(place, "last_access", "a time such as 2026-01-31T08:00:00.0000000Z", text))?,
        };
        if !total::is_in_range(self.score) {
            return Err(value(place, "score", "a number from 0 to 1e12", &self.score.to_string()));
        }
        let decode = |field, text: Option<String>| match text {
            None => Ok(None),
            Some(text) => match STANDARD.decode(&text) {
                Ok(bytes) if bytes.len() <= LARGEST_PART => Ok(Some(bytes)),
                Ok(bytes) => Err(value(place, field, "at most 1 MiB", &format!("{} bytes", bytes.len()))),
                Err(error) => Err(value(place, field, "base64", &error.to_string())),
            },
        };
        let link = decode("link", self.link)?;
        if let Some(error) = link.as_ref().and_then(|link| link::parse(link, code_page).err()) {
            return Err(value(place, "link", "a shell link", &error.to_string()));
        }
        let property_store = decode("property_store", self.property_store)?.unwrap_or_default();
        let (host, droids) = match &self.tracking {
            None => ([0; 16], [Guid([0; 16]); 4]),
            Some(tracking) => tracking.read(place)?,
        };
        let (score, interactions) = (self.score, self.interactions);
        Ok(StoredPin { path, link, last_access, score, interactions, host, droids, property_store })
    }

    fn read_path(&self, place: &str) -> Result<Vec<u8>, PinsFileError> {
        let path: Vec<u8> = match &self.path_utf16 {
            None => self.path.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Some(text) => {
                let bytes = from_hex(text).filter(|bytes| Utf16(bytes).decode() == self.path);
                bytes.ok_or_else(|| value(place, "path_utf16", "the units of `path` in hex", text))?
            }
        };
        check_path(Utf16(&path)).map_err(|need| value(place, "path", need, &self.path))?;
        Ok(path)
    }
}

/// Refuses a path that Windows does not write into a list.
///
/// # Errors
/// What is needed instead.
pub(super) fn check_path(path: Utf16<'_>) -> Result<(), &'static str> {
    let text = path.decode();
    let separators: &[char] = if identity::is_plain(&text) { &['\\', '/'] } else { &['\\'] };
    if path.is_empty() || path.0.len() / 2 > LONGEST_PATH || !path.0.len().is_multiple_of(2) {
        Err("a path of 1 to 32767 characters")
    } else if text.chars().any(char::is_control) {
        Err("a path without control characters")
    } else if text.split(separators).any(|name| matches!(name, "." | "..")) {
        Err("a full path without . and .. in it")
    } else {
        Ok(())
    }
}

impl Tracking {
    fn read(&self, place: &str) -> Result<([u8; 16], [Guid; 4]), PinsFileError> {
        let host = from_hex(&self.host).and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
        let host = host.ok_or_else(|| value(place, "tracking.host", "16 bytes in hex", &self.host))?;
        let mut droids = [Guid([0; 16]); 4];
        let fields = [
            ("tracking.volume_id", &self.volume_id),
            ("tracking.object_id", &self.object_id),
            ("tracking.birth_volume_id", &self.birth_volume_id),
            ("tracking.birth_object_id", &self.birth_object_id),
        ];
        for (slot, (field, text)) in droids.iter_mut().zip(fields) {
            *slot = Guid::parse(text).ok_or_else(|| value(place, field, "a GUID", text))?;
        }
        Ok((host, droids))
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8; 2]| Some(digit(pair[0])? << 4 | digit(pair[1])?);
    rest.is_empty().then(|| pairs.iter().map(byte).collect()).flatten()
}
