//! Shell links (MS-SHLLINK): what a jump list's entry, and a `.lnk` file, points at.
//!
//! A link is a header and up to nine optional parts, one behind the other, each with its own size. Every
//! part fails alone: what cannot be read is a [`Problem`], and the rest of the link is still read. Only a header
//! that is none is an error. Nothing is copied: texts and blocks borrow from the slice and are decoded
//! when they are shown, so that a list of many thousand links parses in no time.
//!
//! In a custom destinations file links follow one another without a length, so where one ends is part of
//! what is read here: [`Link::size`].
//!
//! ```
//! # let list = jlfix::JumpList::open("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
//! # let data = list.links().next().expect("a link").bytes;
//! let link = jlfix::format::link::parse(data, Default::default())?;
//! println!("{:?}, {} bytes, {:?}", link.target(), link.header.file_size, link.problems);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod console;
mod extra;
mod header;
mod info;
mod mismatch;
mod walk;

use crate::bytes::{Bytes, Short};
use crate::format::guid::Guid;
use crate::format::problem::Problem;
use crate::format::property_store::{self, Property};
use crate::format::shell_item::{self, Item, ItemList};
use crate::format::text::{CodePage, Text, Utf16};

pub use console::Console;
pub use extra::{DecodedBlock, Extra, ExtraBlock, Tracker, TwoTexts, block_name, signature};
pub use header::{CLASS_ID, HEADER_SIZE, Header, Hotkey, LinkFlags, ShowCommand, attribute_names, looks_like_link};
pub use info::{DriveType, LinkInfo, Network, Volume, VolumeSerial, provider_name, provider_text};
pub use mismatch::Mismatch;
pub(crate) use walk::{Walk, lacks_only_terminal, sound_size, walk};

/// Why bytes are no link at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotALink {
    /// There are fewer bytes than a header takes.
    #[error(transparent)]
    Short(#[from] Short),
    /// The header does not start with its size.
    #[error("link header size at offset 0: is {0}, expected 76")]
    Size(u32),
    /// The class identifier is another one.
    #[error("link class identifier at offset 4: is {0}, expected {CLASS_ID}")]
    ClassId(Guid),
}

/// A link, as far as it could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link<'a> {
    /// The header.
    pub header: Header,
    /// The item ID list: where the target is in the shell's namespace.
    pub id_list: Option<IdList<'a>>,
    /// Where the target is as a path.
    pub info: Option<LinkInfo<'a>>,
    /// The description that is shown for the link.
    pub name: Option<Text<'a>>,
    /// The path of the target from the place of the link.
    pub relative_path: Option<Text<'a>>,
    /// The folder that the target is started in.
    pub working_dir: Option<Text<'a>>,
    /// What the target is started with.
    pub arguments: Option<Text<'a>>,
    /// The file that holds the icon.
    pub icon: Option<Text<'a>>,
    /// The extra blocks, known and unknown, in their order.
    pub extra: Vec<ExtraBlock<'a>>,
    /// What could not be read, in the order of the file.
    pub problems: Vec<Problem>,
    /// How many bytes the link takes: from its header to its terminal block, or to the start of the part that
    /// could not be passed.
    pub size: usize,
    /// True if the link was followed to its terminal block, so that `size` is where the next thing starts.
    /// Fields may still be missing, see `problems`.
    pub complete: bool,
    code_page: CodePage,
}

/// The item ID list of a link as it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdList<'a> {
    /// Where the first item starts, in bytes from the start of the link.
    pub offset: usize,
    /// The items, with the terminal one (a size of 0).
    pub data: &'a [u8],
}

/// Reads the link at the start of `data`; what follows it is left alone. ANSI strings are read in `code_page`.
pub fn parse(data: &[u8], code_page: CodePage) -> Result<Link<'_>, NotALink> {
    let mut link = Link {
        header: Header::read(data)?,
        id_list: None,
        info: None,
        name: None,
        relative_path: None,
        working_dir: None,
        arguments: None,
        icon: None,
        extra: Vec::new(),
        problems: Vec::new(),
        size: 0,
        complete: true,
        code_page,
    };
    let mut bytes = Bytes::new(data);
    bytes.take("link header", HEADER_SIZE)?;
    if let Err(problem) = link.read_parts(&mut bytes) {
        link.problems.push(problem);
        link.complete = false;
    }
    link.size = bytes.position();
    Ok(link)
}

/// Windows reads no more than this many characters of a link's name, relative path and working directory,
/// and takes what is right behind them for the next part, whatever the count says (measured: hostile links hide
/// their arguments behind a larger count).
const LONGEST_LIMITED: usize = 260;

impl<'a> Link<'a> {
    /// Reads part after part. An error is a part behind which the next one cannot be found; `bytes` then
    /// is at its start.
    fn read_parts(&mut self, bytes: &mut Bytes<'a>) -> Result<(), Problem> {
        let flags = self.header.flags;
        if flags.has(LinkFlags::HAS_ID_LIST) {
            match IdList::read(bytes, &mut self.problems) {
                Ok(list) => self.id_list = Some(list),
                Err((problem, items)) => {
                    self.id_list = items;
                    return Err(problem);
                }
            }
        }
        if flags.has(LinkFlags::HAS_LINK_INFO) {
            self.read_info(bytes)?;
        }
        self.name = self.read_string(bytes, "name", LinkFlags::HAS_NAME, LONGEST_LIMITED)?;
        self.relative_path = self.read_string(bytes, "relative path", LinkFlags::HAS_RELATIVE_PATH, LONGEST_LIMITED)?;
        self.working_dir = self.read_string(bytes, "working directory", LinkFlags::HAS_WORKING_DIR, LONGEST_LIMITED)?;
        self.arguments = self.read_string(bytes, "command line arguments", LinkFlags::HAS_ARGUMENTS, usize::MAX)?;
        self.icon = self.read_string(bytes, "icon location", LinkFlags::HAS_ICON_LOCATION, usize::MAX)?;
        self.read_extra(bytes)
    }

    fn read_info(&mut self, bytes: &mut Bytes<'a>) -> Result<(), Problem> {
        let offset = bytes.position();
        let mut ahead = *bytes;
        let size = ahead.u32("LinkInfo size")?;
        if size < 4 {
            self.problems.push(Problem::value("LinkInfo size", offset as u64, size.into(), "28 or more"));
            *bytes = ahead;
            return Ok(());
        }
        let data = bytes.take("LinkInfo", size as usize)?;
        match LinkInfo::read(data, offset, self.code_page, &mut self.problems) {
            Ok(info) => self.info = Some(info),
            Err(problem) => self.problems.push(problem),
        }
        Ok(())
    }

    fn read_string(
        &mut self,
        bytes: &mut Bytes<'a>,
        what: &'static str,
        flag: u32,
        longest: usize,
    ) -> Result<Option<Text<'a>>, Problem> {
        let flags = self.header.flags;
        if !flags.has(flag) {
            return Ok(None);
        }
        let mut ahead = *bytes;
        let count = usize::from(ahead.u16(what)?);
        if count > longest {
            let expected = "260 characters or fewer, which is all that Windows reads of it";
            self.problems.push(Problem::value(what, bytes.position() as u64, count as u64, expected));
        }
        let count = count.min(longest);
        let text = if flags.has(LinkFlags::IS_UNICODE) {
            Text::Wide(Utf16(ahead.take(what, count.saturating_mul(2))?))
        } else {
            Text::Ansi(ahead.take(what, count)?, self.code_page)
        };
        *bytes = ahead;
        Ok(text.non_empty())
    }

    fn read_extra(&mut self, bytes: &mut Bytes<'a>) -> Result<(), Problem> {
        loop {
            let offset = bytes.position();
            let mut ahead = *bytes;
            let size = ahead.u32("terminal block")?;
            if size < 4 {
                *bytes = ahead;
                return Ok(());
            }
            let mut block = Bytes::at_base(bytes.take("extra block", size as usize)?, offset as u64);
            block.u32("extra block size")?;
            match block.u32("extra block signature") {
                Ok(signature) => self.extra.push(ExtraBlock { signature, offset, data: block.rest() }),
                Err(short) => self.problems.push(short.into()),
            }
        }
    }

    /// The code page that the link's ANSI strings are read in.
    pub fn code_page(&self) -> CodePage {
        self.code_page
    }

    /// The first extra block with this signature.
    pub fn block(&self, signature: u32) -> Option<&ExtraBlock<'a>> {
        self.extra.iter().find(|block| block.signature == signature)
    }

    /// What link tracking knew of the target.
    pub fn tracker(&self) -> Option<Tracker<'a>> {
        Tracker::read(self.block(signature::TRACKER)?, self.code_page).ok()
    }

    /// The path of the target on a volume.
    pub fn local_path(&self) -> Option<String> {
        self.info.as_ref()?.local_path()
    }

    /// The path of the target on the network.
    pub fn network_path(&self) -> Option<String> {
        self.info.as_ref()?.network_path()
    }

    /// The items of the ID list.
    pub fn items(&self) -> Option<ItemList<'a>> {
        let list = self.id_list?;
        Some(shell_item::parse(list.data, list.offset as u64, self.code_page))
    }

    /// What the first extra block with this signature says, if it can be read.
    fn extra(&self, signature: u32) -> Option<Extra<'a>> {
        self.block(signature)?.decode(self.code_page, &mut Vec::new()).ok()
    }

    /// The path of the target with environment variables, such as `%windir%\system32\cmd.exe`.
    pub fn environment_target(&self) -> Option<Text<'a>> {
        match self.extra(signature::ENVIRONMENT)? {
            Extra::Environment(texts) => texts.text(),
            _ => None,
        }
    }

    /// The AppUserModelID among the link's properties: the application that it belongs to, or starts.
    pub fn app_user_model_id(&self) -> Option<Text<'a>> {
        match self.extra(signature::PROPERTY_STORE)? {
            Extra::Properties(store) => store.text(property_store::APP_USER_MODEL_ID),
            _ => None,
        }
    }

    /// What the ID list spells, or else the one for Windows Vista and later. A single item says little where the link
    /// names a packaged application: tiles of Windows 8 and 10 have just This PC in their list.
    fn spelled_target(&self) -> Option<String> {
        let vista = || match self.extra(signature::VISTA_ID_LIST) {
            Some(Extra::VistaIdList(list)) => Some(list),
            _ => None,
        };
        let list = self.items().filter(|list| !list.items.is_empty()).or_else(vista)?;
        let application = if list.items.len() == 1 { self.app_user_model_id() } else { None };
        application.map(|id| id.to_string()).filter(|id| id.contains('!')).or_else(|| list.target())
    }

    /// The best name, in a line, of what the link points at: the local path, else the network path, else what the ID list
    /// spells (a URL as such), else the path with environment variables, the application, the relative path, the link's own
    /// name.
    pub fn target(&self) -> Option<String> {
        let shown = |text: Option<Text<'_>>| text.map(|text| text.to_string());
        let ignored = self.header.flags.has(LinkFlags::FORCE_NO_LINK_INFO);
        let first = if ignored { self.spelled_target() } else { None };
        first
            .or_else(|| self.local_path())
            .or_else(|| self.network_path())
            .or_else(|| self.spelled_target())
            .or_else(|| shown(self.environment_target()))
            .or_else(|| shown(self.app_user_model_id()))
            .or_else(|| shown(self.relative_path))
            .or_else(|| shown(self.name))
    }

    /// The longest run of white space in the arguments: a long one hides what follows it in a properties dialog.
    pub fn arguments_padding(&self) -> usize {
        let Some(arguments) = self.arguments else { return 0 };
        let mut longest = 0_usize;
        let mut run = 0_usize;
        for character in arguments.decode().chars() {
            run = if character.is_whitespace() { run.saturating_add(1) } else { 0 };
            longest = longest.max(run);
        }
        longest
    }

    /// The times of the target that are out of range, past the year 9999: name, offset in the link (MS-SHLLINK 2.1), value.
    pub fn times_out_of_range(&self) -> impl Iterator<Item = (&'static str, u64, crate::format::time::FileTime)> {
        let Header { created, accessed, modified, .. } = self.header;
        let times = [("creation time", 28, created), ("access time", 36, accessed), ("write time", 44, modified)];
        times.into_iter().filter(|(.., time)| !time.is_plausible())
    }

    /// What could not be read in the link, its ID list and its extra blocks.
    pub fn all_problems(&self) -> Vec<Problem> {
        let mut problems = self.problems.clone();
        if let Some(list) = self.id_list {
            shell_item::check(list.data, list.offset as u64, self.code_page, &mut problems);
        }
        for block in &self.extra {
            block.check(self.code_page, &mut problems);
        }
        problems
    }

    /// Everything that is decoded only when it is asked for, with all problems there are.
    pub fn details(&self) -> Details<'a> {
        let mut details = Details { problems: self.problems.clone(), ..Details::default() };
        if let Some(mut list) = self.items() {
            details.problems.append(&mut list.problems);
            details.id_list = list.items;
        }
        for block in &self.extra {
            let extra = block.decode(self.code_page, &mut details.problems).unwrap_or_else(|short| {
                details.problems.push(short.into());
                Extra::Unknown
            });
            if let Extra::Properties(store) = &extra {
                details.properties.extend(store.properties.iter().cloned());
            }
            details.blocks.push(DecodedBlock { block: *block, extra });
        }
        details
    }
}

/// What [`Link::details`] gives.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Details<'a> {
    /// The items of the ID list.
    pub id_list: Vec<Item<'a>>,
    /// The extra blocks.
    pub blocks: Vec<DecodedBlock<'a>>,
    /// The properties in the extra blocks.
    pub properties: Vec<Property<'a>>,
    /// What could not be read, of the link first, then of its ID list and its extra blocks.
    pub problems: Vec<Problem>,
}

impl<'a> IdList<'a> {
    /// Reads the list, whose size is before it. Where that is larger than what is left, the items themselves may still
    /// lead to their end; else the error comes with the items that are there.
    fn read(bytes: &mut Bytes<'a>, problems: &mut Vec<Problem>) -> Result<Self, (Problem, Option<Self>)> {
        let mut ahead = *bytes;
        let size = usize::from(ahead.u16("item ID list size").map_err(|short| (short.into(), None))?);
        let offset = ahead.position();
        let data = match ahead.take("item ID list", size) {
            Ok(data) => data,
            Err(short) => {
                let rest = ahead.rest();
                let Some(data) = items_end(rest).and_then(|size| rest.get(..size)) else {
                    return Err((short.into(), Some(Self { offset, data: rest })));
                };
                problems.push(short.into());
                let _ = ahead.take("item ID list", data.len());
                data
            }
        };
        *bytes = ahead;
        Ok(Self { offset, data })
    }
}

/// How many bytes the items at the start of `data` take with their terminal one, if they end in `data`.
fn items_end(data: &[u8]) -> Option<usize> {
    let mut bytes = Bytes::new(data);
    loop {
        let size = bytes.u16("item size").ok()?;
        if size == 0 {
            return Some(bytes.position());
        }
        bytes.take("item", usize::from(size).checked_sub(2)?).ok()?;
    }
}

#[cfg(test)]
mod tests;
