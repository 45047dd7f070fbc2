//! Custom destinations: a flat file of categories and links that an application writes (measured, docs/format.md).
//!
//! A link here has no length: only the link reader knows where it ends. So where one is damaged, the next is
//! looked for by the class identifier before each, and the bytes in between are reported.
//!
//! ```
//! use jlfix::format::custom::Custom;
//!
//! let data = std::fs::read("samples/CustomDestinations/1ced32d74a95c7bc.customDestinations-ms")?;
//! let custom = Custom::parse(&data, Default::default());
//! for category in &custom.categories {
//!     println!("{}: {} links", category.kind, category.links.len());
//! }
//! # assert_eq!(custom.categories.len(), 3);
//! # Ok::<(), std::io::Error>(())
//! ```

use super::guid::Guid;
use super::link::{self, Link, NotALink, Walk};
use super::text::{CodePage, Utf16};
use crate::bytes::{Bytes, Short};

/// The class identifier before each link: that of a shell link.
pub const LINK_CLASS: Guid = Guid::new(0x0002_1401, 0, 0, [0xC0, 0, 0, 0, 0, 0, 0, 0x46]);
/// What is after each category.
pub const FOOTER: u32 = 0xBABF_FBAB;
/// The version in every file known.
pub const VERSION: u32 = 2;
/// Bytes of the header.
pub const HEADER_SIZE: usize = 12;

/// How many times its own size the search for the links of a damaged file may go over.
const MOST_PASSES: usize = 16;

/// What a category is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CategoryKind<'a> {
    /// Type 0: a name that the application chose; may be a resource reference (`@{…}` or `@file,-id`).
    Named(Utf16<'a>),
    /// Type 1: one that Windows fills: 1 frequent, 2 recent, -1 none.
    Known(i32),
    /// Type 2: the tasks.
    Tasks,
}

impl CategoryKind<'_> {
    /// Name of the category's type.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Named(_) => "named",
            Self::Known(_) => "known",
            Self::Tasks => "tasks",
        }
    }

    /// True if the name is a reference to a resource, which only the machine it is from can look up.
    pub fn is_resource(&self) -> bool {
        matches!(self, Self::Named(name) if name.units().next() == Some(u16::from(b'@')))
    }
}

impl std::fmt::Display for CategoryKind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(name) => name.fmt(f),
            Self::Known(1) => f.write_str("Frequent"),
            Self::Known(2) => f.write_str("Recent"),
            Self::Known(id) => write!(f, "known category {id}"),
            Self::Tasks => f.write_str("Tasks"),
        }
    }
}

/// A link of a category and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomLink<'a> {
    /// Where the link itself starts in the file, after its class identifier.
    pub offset: usize,
    /// Its bytes.
    pub raw: &'a [u8],
    /// The link.
    pub link: Link<'a>,
}

/// A category and its links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category<'a> {
    /// Where it starts in the file.
    pub offset: usize,
    /// What it is.
    pub kind: CategoryKind<'a>,
    /// How many links it claims.
    pub declared: u32,
    /// The links that could be read.
    pub links: Vec<CustomLink<'a>>,
}

/// What is wrong in a custom destinations file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The header is truncated.
    Header(Short),
    /// The version is another.
    Version(u32),
    /// A category is truncated.
    Category(Short),
    /// A category's type is unknown: where, its type.
    UnknownType(u64, u32),
    /// A link cannot be read: where, why, and how many bytes were passed over to what follows.
    Link(u64, NotALink, u64),
    /// A wrong identifier before a link: offset, identifier, bytes skipped.
    Class(u64, Guid, u64),
    /// The footer is missing after a category: offset, value found.
    Footer(u64, Option<u32>),
    /// Fewer categories than the header counts: need, have.
    Count(u32, u32),
    /// A link outside the readable categories: its offset.
    Stray(u64),
}

/// A custom destinations file, read as far as possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Custom<'a> {
    /// The file as it was given.
    pub data: &'a [u8],
    /// Version that the header claims.
    pub version: u32,
    /// Number of categories that the header claims.
    pub declared: u32,
    /// The third number of the header; 0 in every real file.
    pub reserved: u32,
    /// The categories.
    pub categories: Vec<Category<'a>>,
    /// Links found outside the categories that could be read; none in a file that is complete.
    pub stray: Vec<CustomLink<'a>>,
    /// What follows the last footer; a real Chrome list carries 3,250 bytes of it.
    pub slack: &'a [u8],
    /// Where the slack starts.
    pub slack_offset: usize,
    /// What is wrong.
    pub faults: Vec<Fault>,
}

/// True if `data` starts as a custom destinations file does.
pub fn looks_like_custom(data: &[u8]) -> bool {
    let mut bytes = Bytes::new(data);
    bytes.u32("version") == Ok(VERSION)
        && bytes.u32("categories").is_ok_and(|count| count < 0x1_0000)
        && bytes.u32("reserved") == Ok(0)
        && bytes.u32("category type").map_or(bytes.left() == 0, |kind| kind <= 2)
}

/// Where the next sound thing is: a link with its class identifier, or a footer.
enum Next {
    Link,
    Footer,
}

/// Looks from the start of `rest` for what can be read again, and how far away that is.
fn resume(rest: &[u8]) -> Option<(usize, Next)> {
    let class_at = rest.windows(16).position(|bytes| bytes == LINK_CLASS.0);
    let class_at = class_at.filter(|at| rest.get(at.saturating_add(16)..).is_some_and(link::looks_like_link));
    let before = class_at.and_then(|at| rest.get(..at)).unwrap_or(rest);
    let footer_at = before.windows(4).position(|bytes| bytes == FOOTER.to_le_bytes());
    footer_at.map(|at| (at, Next::Footer)).or(class_at.map(|at| (at, Next::Link)))
}

impl<'a> Custom<'a> {
    /// Reads as much as is there.
    pub fn parse(data: &'a [u8], code_page: CodePage) -> Self {
        let mut custom = Self {
            data,
            version: 0,
            declared: 0,
            reserved: 0,
            categories: Vec::new(),
            stray: Vec::new(),
            slack: &[],
            slack_offset: data.len(),
            faults: Vec::new(),
        };
        let mut bytes = Bytes::new(data);
        if let Err(short) = custom.read_header(&mut bytes) {
            custom.faults.push(Fault::Header(short));
            return custom;
        }
        let mut seen: u32 = 0;
        while seen < custom.declared && bytes.left() > 0 {
            if !custom.read_category(&mut bytes, code_page) {
                break;
            }
            seen = seen.saturating_add(1);
        }
        if seen < custom.declared {
            custom.faults.push(Fault::Count(custom.declared, seen));
        }
        custom.slack = bytes.rest();
        custom.slack_offset = bytes.position();
        if !custom.faults.is_empty() {
            custom.find_strays(data, code_page);
        }
        custom
    }

    /// Finds the links of a damaged file that reading category by category did not reach: those after a
    /// link's class identifier and add up to their end.
    fn find_strays(&mut self, data: &'a [u8], code_page: CodePage) {
        let mut known: Vec<usize> = self.links().map(|(_, link)| link.offset).collect();
        known.sort_unstable();
        // Links that overlap can be made to cost much; those of a real file do not overlap.
        let mut work = data.len().saturating_mul(MOST_PASSES);
        let mut at = 0;
        while let Some(found) = data.get(at..).and_then(|rest| rest.windows(16).position(|bytes| bytes == LINK_CLASS.0))
        {
            let offset = at.saturating_add(found).saturating_add(16);
            let rest = data.get(offset..).unwrap_or_default();
            at = offset;
            let walked = link::walk(rest);
            let cost = match walked {
                Ok(Walk { size, .. }) | Err(size) => size,
            };
            let Some(left) = work.checked_sub(cost) else { break };
            work = left;
            let whole = walked.ok().filter(|walk| walk.flaws == 0);
            let Some(raw) = whole.and_then(|walk| rest.get(..walk.size)) else { continue };
            at = offset.saturating_add(raw.len());
            if known.binary_search(&offset).is_ok() {
                continue;
            }
            if let Ok(link) = link::parse(raw, code_page) {
                self.faults.push(Fault::Stray(offset as u64));
                self.stray.push(CustomLink { offset, raw, link });
            }
        }
    }

    fn read_header(&mut self, bytes: &mut Bytes<'a>) -> Result<(), Short> {
        self.version = bytes.u32("custom destinations version")?;
        self.declared = bytes.u32("category count")?;
        self.reserved = bytes.u32("reserved field")?;
        if self.version != VERSION {
            self.faults.push(Fault::Version(self.version));
        }
        Ok(())
    }

    /// Reads a category with its footer. False if reading cannot go on behind it.
    fn read_category(&mut self, bytes: &mut Bytes<'a>, code_page: CodePage) -> bool {
        let offset = bytes.position();
        let kind = bytes.u32("category type").and_then(|kind| {
            Ok(match kind {
                0 => {
                    let units = usize::from(bytes.u16("category name length")?);
                    Some(CategoryKind::Named(Utf16(bytes.take("category name", units.saturating_mul(2))?)))
                }
                1 => Some(CategoryKind::Known(bytes.i32("known category id")?)),
                2 => Some(CategoryKind::Tasks),
                other => {
                    self.faults.push(Fault::UnknownType(offset as u64, other));
                    None
                }
            })
        });
        let kind = match kind {
            Ok(Some(kind)) => kind,
            Ok(None) => return false,
            Err(short) => {
                self.faults.push(Fault::Category(short));
                return false;
            }
        };
        let declared = if matches!(kind, CategoryKind::Known(_)) { Ok(0) } else { bytes.u32("number of links") };
        let Ok(declared) = declared.map_err(|short| self.faults.push(Fault::Category(short))) else { return false };
        let mut category = Category { offset, kind, declared, links: Vec::new() };
        let whole = self.read_links(&mut category, bytes, code_page);
        self.categories.push(category);
        whole && self.read_footer(bytes)
    }

    /// Reads the links of a category. False if the file ends in them.
    fn read_links(&mut self, category: &mut Category<'a>, bytes: &mut Bytes<'a>, code_page: CodePage) -> bool {
        let mut read: u32 = 0;
        while read < category.declared {
            read = read.saturating_add(1);
            let at = bytes.position() as u64;
            let mut ahead = *bytes;
            let class = match ahead.array("link class identifier").map(Guid) {
                Ok(class) => class,
                Err(short) => {
                    self.faults.push(Fault::Category(short));
                    return false;
                }
            };
            let offset = ahead.position();
            let parsed = (class == LINK_CLASS).then(|| link::parse(ahead.rest(), code_page));
            let failed = match parsed {
                Some(Ok(link)) => {
                    let complete = link.complete;
                    let raw = ahead.take("link", link.size).unwrap_or_default();
                    category.links.push(CustomLink { offset, raw, link });
                    *bytes = ahead;
                    if complete {
                        continue;
                    }
                    None
                }
                Some(Err(why)) => Some(Ok(why)),
                None => Some(Err(class)),
            };
            // The link's end is not known: go on where the next link or the footer is.
            let found = resume(bytes.rest().get(1..).unwrap_or_default());
            let skip = found.as_ref().map_or(bytes.left(), |(at, _)| at.saturating_add(1));
            self.faults.extend(failed.map(|failed| match failed {
                Ok(why) => Fault::Link(at, why, skip as u64),
                Err(class) => Fault::Class(at, class, skip as u64),
            }));
            let _ = bytes.take("damaged link", skip);
            match found {
                Some((_, Next::Link)) => {}
                Some((_, Next::Footer)) => return true,
                None => return false,
            }
        }
        true
    }

    fn read_footer(&mut self, bytes: &mut Bytes<'a>) -> bool {
        let at = bytes.position() as u64;
        let mut ahead = *bytes;
        let footer = ahead.u32("footer").ok();
        if footer == Some(FOOTER) {
            *bytes = ahead;
            return true;
        }
        self.faults.push(Fault::Footer(at, footer));
        let next = bytes.rest().windows(4).position(|bytes| bytes == FOOTER.to_le_bytes());
        match next {
            Some(skip) => {
                let _ = bytes.take("bytes before the footer", skip.saturating_add(4));
                true
            }
            None => false,
        }
    }

    /// All links, with the number of their category; strays come last, with a number that no category has.
    pub fn links(&self) -> impl Iterator<Item = (usize, &CustomLink<'a>)> {
        let none = self.categories.len();
        let in_category = self
            .categories
            .iter()
            .enumerate()
            .flat_map(|(at, category)| category.links.iter().map(move |link| (at, link)));
        in_category.chain(self.stray.iter().map(move |link| (none, link)))
    }
}
