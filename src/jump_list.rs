//! One file as a value that owns its bytes: what most callers need of this crate.
//!
//! [`JumpList`] reads a file once and hands out entries, links, findings and plans that borrow from it. Callers that keep
//! the bytes themselves, or need every detail, use [`Source`] below it.
//!
//! ```
//! use jlfix::JumpList;
//!
//! let list = JumpList::open("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
//! for entry in list.entries().filter(|entry| entry.dest.is_pinned()) {
//!     println!("{} {}", entry.dest.last_access, entry.dest.path);
//! }
//! assert_eq!(list.entries().len(), 24);
//! # Ok::<(), jlfix::Error>(())
//! ```

use std::fmt;
use std::path::{Path, PathBuf};

use self_cell::self_cell;

use crate::appid::AppId;
use crate::cost::Cost;
use crate::error::{Error, NotAJumpList, Result};
use crate::format::compound::Stream;
use crate::format::custom::Category;
use crate::format::link::{self, Link, NotALink};
use crate::format::text::CodePage;
use crate::model::{self, Deleted, DeletedItem, Entry, Finding, Kind, Leftover, ReadOptions, Source};
use crate::os;
use crate::plan::{self, Plan, PlanError, PruneRules, Repair, RepairOptions};

self_cell!(
    /// The bytes of a file, parsed.
    struct Container {
        owner: Vec<u8>,
        #[covariant]
        dependent: Source,
    }
);

type Automatic<'c> = Option<model::AutomaticList<'c>>;

self_cell!(
    /// A container and the list in it.
    struct Parsed {
        owner: Container,
        #[covariant]
        dependent: Automatic,
    }
);

/// A jump list or a shell link: an automatic list (`*.automaticDestinations-ms`), a custom list
/// (`*.customDestinations-ms`) or a `.lnk` file. Owns the bytes.
///
/// A damaged file is read as far as possible; [`findings`](Self::findings) reports what is wrong with it.
pub struct JumpList {
    path: Option<PathBuf>,
    options: ReadOptions,
    parsed: Parsed,
}

impl JumpList {
    /// Reads the file at `path`, with the default options. Links in the path are followed.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::InUse`] and [`Error::Limit`] if it cannot be read; [`Error::NotAJumpList`] if neither its
    /// content nor its name is that of a jump list.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &ReadOptions::default())
    }

    /// As [`open`](Self::open), with limits and a code page.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self> {
        let path = path.as_ref();
        let data = os::read_whole(path, &options.limits)?;
        let hint = Kind::of_path(path);
        let mut list = Self::from_bytes_with(data, hint, options)
            .map_err(|source| Error::NotAJumpList { path: path.to_owned(), source })?;
        list.path = Some(path.to_owned());
        Ok(list)
    }

    /// Parses the bytes of a file, with the default options.
    ///
    /// ```
    /// let data = std::fs::read("samples/CustomDestinations/1ced32d74a95c7bc.customDestinations-ms")?;
    /// let list = jlfix::JumpList::from_bytes(data)?;
    /// assert_eq!((list.kind(), list.links().count()), (jlfix::Kind::Custom, 6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NotAJumpList`] if they do not start as any kind of jump list does.
    pub fn from_bytes(data: impl Into<Vec<u8>>) -> Result<Self, NotAJumpList> {
        Self::from_bytes_with(data, None, &ReadOptions::default())
    }

    /// As [`from_bytes`](Self::from_bytes), with limits and a code page. `hint` is the kind to assume where the content does
    /// not show one; the name of the file may show it ([`Kind::of_name`]).
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), if there is no `hint` either.
    pub fn from_bytes_with(
        data: impl Into<Vec<u8>>,
        hint: Option<Kind>,
        options: &ReadOptions,
    ) -> Result<Self, NotAJumpList> {
        let container = Container::try_new(data.into(), |data| {
            let start = || data.iter().take(8).copied().collect();
            Source::read(data, hint, options).ok_or_else(|| NotAJumpList { start: start() })
        })?;
        let parsed = Parsed::new(container, |container| match container.borrow_dependent() {
            Source::Automatic(Ok(compound)) => Some(model::AutomaticList::read(compound)),
            _ => None,
        });
        Ok(Self { path: None, options: *options, parsed })
    }

    /// The path that it was opened at; `None` if it was parsed from bytes.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        self.parsed.borrow_owner().borrow_owner()
    }

    /// What kind of file it is.
    pub fn kind(&self) -> Kind {
        self.source().kind()
    }

    /// The application's AppID, from the name of the file.
    pub fn app_id(&self) -> Option<AppId> {
        AppId::from_copy_name(self.path()?.file_name()?)
    }

    /// The entries of an automatic list in the order of its DestList, the most recent access first in a healthy list.
    /// Custom lists and links have none; their links are in [`links`](Self::links).
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry<'_>> {
        self.automatic().map_or(&[][..], |list| list.entries.as_slice()).iter()
    }

    /// The links, each parsed when the iterator reaches it. Automatic lists: those of the entries in their order, then
    /// those that no entry owns. Custom lists: by category.
    pub fn links(&self) -> impl Iterator<Item = ListLink<'_>> {
        let code_page = self.options.code_page;
        let list = self.automatic();
        let entries = list.into_iter().flat_map(|list| &list.entries);
        let entries =
            entries.filter_map(move |entry| Some(ListLink::of_stream(LinkOwner::Entry(entry), entry.link?, code_page)));
        let orphans = list.into_iter().flat_map(|list| list.orphans.iter().chain(&list.carved_links));
        let orphans = orphans.map(move |stream| ListLink::of_stream(LinkOwner::None, stream, code_page));
        let custom = if let Source::Custom(custom) = self.source() { Some(custom) } else { None };
        let custom = custom.into_iter().flat_map(|custom| {
            custom.links().map(|(category, link)| {
                let owner = custom.categories.get(category).map_or(LinkOwner::None, LinkOwner::Category);
                ListLink { owner, bytes: link.raw, offset: link.offset as u64, link: Ok(link.link.clone()) }
            })
        });
        let single = if let Source::Link(bytes, link) = self.source() { Some((bytes, link)) } else { None };
        let single =
            single.map(|(bytes, link)| ListLink { owner: LinkOwner::File, bytes, offset: 0, link: link.clone() });
        entries.chain(orphans).chain(custom).chain(single)
    }

    /// Everything that is wrong with the file. Reads every link.
    pub fn findings(&self) -> Vec<Finding> {
        match self.automatic() {
            Some(list) => list.findings(self.options.code_page),
            None => self.source().findings(),
        }
    }

    /// The cost of a right-click on the application that the list belongs to; `None` for files that are not automatic
    /// lists.
    pub fn cost(&self) -> Option<Cost> {
        self.automatic().map(Cost::of)
    }

    /// Entries, links and streams that are no longer in the list and still in the file.
    ///
    /// ```
    /// let list = jlfix::JumpList::open("samples/CustomDestinations/5d696d521de238c3.customDestinations-ms")?;
    /// for item in list.deleted().items() {
    ///     println!("offset {}: {} bytes", item.offset, item.size);
    /// }
    /// # assert!(list.deleted().items().len() > 0);
    /// # Ok::<(), jlfix::Error>(())
    /// ```
    pub fn deleted(&self) -> DeletedItems<'_> {
        let leftover = Leftover::of(self.source(), self.automatic());
        let (limits, code_page) = (&self.options.limits, self.options.code_page);
        let (source, list) = (self.source(), self.automatic());
        DeletedItems(Search::new(leftover, |leftover| Deleted::find(leftover, source, list, limits, code_page)))
    }

    /// Plans a prune. Nothing is written; [`Store::apply`](crate::Store::apply) does that.
    ///
    /// ```
    /// use jlfix::{JumpList, PruneRules};
    ///
    /// let list = JumpList::open("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
    /// let plan = list.prune(&PruneRules::new().keep(5))?;
    /// assert_eq!((plan.before.entries, plan.after.entries, plan.after.pinned), (24, 7, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlanError::NotAnAutomaticList`] for custom lists and links; else as [`plan::prune`].
    pub fn prune(&self, rules: &PruneRules<'_>) -> Result<Plan<'_>, PlanError> {
        plan::prune(self.automatic().ok_or(PlanError::NotAnAutomaticList)?, rules, &self.options.limits)
    }

    /// Plans a repair; `None` if there is nothing that a repair would change.
    ///
    /// # Errors
    /// [`PlanError::NotAnAutomaticList`] for custom lists and links; else as [`plan::repair`].
    pub fn repair(&self, options: &RepairOptions) -> Result<Option<Repair>, PlanError> {
        plan::repair(self.automatic().ok_or(PlanError::NotAnAutomaticList)?, options, &self.options.limits)
    }

    /// The automatic list with all that is known of it; `None` for other kinds, and if the container has no header.
    pub fn automatic(&self) -> Option<&model::AutomaticList<'_>> {
        self.parsed.borrow_dependent().as_ref()
    }

    /// The parsed container.
    pub fn source(&self) -> &Source<'_> {
        self.parsed.borrow_owner().borrow_dependent()
    }
}

impl fmt::Debug for JumpList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JumpList")
            .field("path", &self.path)
            .field("kind", &self.kind())
            .field("bytes", &self.bytes().len())
            .field("entries", &self.entries().len())
            .finish_non_exhaustive()
    }
}

/// A link of a list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListLink<'l> {
    /// What it belongs to.
    pub owner: LinkOwner<'l>,
    /// Its bytes, as in a `.lnk` file.
    pub bytes: &'l [u8],
    /// Where it starts in the file, in bytes.
    pub offset: u64,
    /// The link, or why the bytes are not one.
    pub link: Result<Link<'l>, NotALink>,
}

impl<'l> ListLink<'l> {
    fn of_stream(owner: LinkOwner<'l>, stream: &'l Stream<'_>, code_page: CodePage) -> Self {
        Self { owner, bytes: &stream.data, offset: stream.offset, link: link::parse(&stream.data, code_page) }
    }

    /// The best name of the target: its path, its URL, or its name in the shell. `None` if the link cannot be parsed or does
    /// not name one.
    pub fn target(&self) -> Option<String> {
        self.link.as_ref().ok()?.target()
    }
}

/// What a link of a list belongs to.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum LinkOwner<'l> {
    /// An entry of an automatic list.
    Entry(&'l Entry<'l>),
    /// A category of a custom list.
    Category(&'l Category<'l>),
    /// Nothing: an orphan of an automatic list, or a link outside the categories that could be read.
    None,
    /// The file is this link.
    File,
}

self_cell!(
    /// The bytes that nothing in use takes, and what was found in them.
    struct Search<'l> {
        owner: Leftover<'l>,
        #[covariant]
        dependent: Deleted,
    }
);

/// What is deleted in a list, in the order of the file.
pub struct DeletedItems<'l>(Search<'l>);

impl DeletedItems<'_> {
    /// Entries, links and streams.
    pub fn items(&self) -> &[DeletedItem<'_>] {
        &self.0.borrow_dependent().items
    }

    /// How many more were left out because they are copies of what the list has.
    pub fn copies(&self) -> usize {
        self.0.borrow_dependent().copies
    }

    /// False if the search stopped at a limit, so that there may be more.
    pub fn is_complete(&self) -> bool {
        self.0.borrow_dependent().complete
    }
}

impl fmt::Debug for DeletedItems<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeletedItems").field("items", &self.items()).field("copies", &self.copies()).finish()
    }
}
