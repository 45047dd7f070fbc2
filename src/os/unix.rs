//! Unix: everything relative to the descriptor of a folder, nothing followed, advisory locks.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, DirBuilder, File, FileTimes, Metadata, OpenOptions, Permissions, TryLockError},
    io,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown},
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, CWD, Dir as Listing, FileType, Mode, OFlags},
    io::Errno,
};
use xattr::FileExt;

use super::{
    Extended, Identity, Look, Profile, Traits,
    folder::{Lock, Replaced},
};
use crate::error::Refusal;

/// Locks are kept by the open file itself.
pub(super) type Guard = ();
pub(super) const HOLDING_KEEPS_WRITERS_OUT: bool = false;

/// A POSIX access control list, as Linux shows it among the extended attributes.
const ACCESS_LIST: &str = "system.posix_acl_access";

/// `O_NONBLOCK`: opening a pipe must not wait for its other end.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Opens a plain file for looking at it, links followed.
///
/// # Errors
/// What the system says; `InvalidInput` for anything that is not a plain file.
pub fn open_read(path: &Path) -> io::Result<(File, Metadata)> {
    let flags = (READ - OFlags::CLOEXEC).bits();
    let flags = i32::try_from(flags).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let facts = file.metadata()?;
    if !facts.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
    }
    Ok((file, facts))
}

/// Makes a folder, and those above it that are missing, which only the owner may look into. One that is
/// there already stays as it is.
///
/// # Errors
/// What the system says.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// There is none on this system.
///
/// # Errors
/// None.
pub fn recent_folder() -> io::Result<Option<PathBuf>> {
    Ok(None)
}

/// There are none on this system.
///
/// # Errors
/// None.
pub fn profiles() -> io::Result<Vec<Profile>> {
    Ok(Vec::new())
}

/// How many bytes this user may still write to the disk that `path`, which is there, lies on.
///
/// # Errors
/// What the system says.
pub fn free_space(path: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Checks that this user may make and replace files in `folder`. Nothing is written.
///
/// # Errors
/// What the system says.
pub fn check_writable(folder: &Path) -> io::Result<()> {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)?;
    Ok(())
}

/// True for a path that starts at the root and never goes up.
pub fn is_absolute(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

/// True if both say the same.
pub fn is_same_path(one: &Path, other: &Path) -> bool {
    one == other
}

/// The bytes of a path, which need not be UTF-8.
pub fn path_to_raw(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// The path of these bytes.
pub fn path_from_raw(raw: &[u8]) -> Option<PathBuf> {
    Some(PathBuf::from(OsStr::from_bytes(raw)))
}

/// A folder's descriptor, and where it was.
#[derive(Debug)]
pub(super) struct Dir {
    fd: OwnedFd,
    path: PathBuf,
}

impl Dir {
    pub(super) fn open(path: &Path, follow: bool) -> io::Result<Self> {
        let nofollow = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | nofollow;
        let fd = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
        let canonical = fs::canonicalize(path)?;
        let (opened, named) = (File::from(fd.try_clone()?).metadata()?, fs::metadata(&canonical)?);
        if (opened.dev(), opened.ino()) != (named.dev(), named.ino()) {
            return Err(io::Error::other("it was moved while it was opened"));
        }
        Ok(Self { fd, path: canonical })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn open_folder(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::empty())?;
        Ok(Self { fd, path: self.path.join(name) })
    }

    pub(super) fn make_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.fd, name, Mode::RWXU)?)
    }

    pub(super) fn is_folder(&self, name: &OsStr) -> io::Result<bool> {
        self.kind(name).map(|kind| kind == FileType::Directory)
    }

    fn kind(&self, name: &OsStr) -> io::Result<FileType> {
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(stat.st_mode))
    }

    /// Asked before the file is opened: opening a device or a pipe may do something.
    pub(super) fn refusal(&self, name: &OsStr) -> io::Result<Option<Refusal>> {
        Ok(match self.kind(name)? {
            FileType::RegularFile => None,
            FileType::Symlink => Some(Refusal::Symlink),
            FileType::Directory => Some(Refusal::NotAFile("folder")),
            FileType::Fifo => Some(Refusal::NotAFile("pipe")),
            FileType::Socket => Some(Refusal::NotAFile("socket")),
            _ => Some(Refusal::NotAFile("device")),
        })
    }

    pub(super) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        Ok(File::from(rustix::fs::openat(&self.fd, name, READ | OFlags::NOFOLLOW, Mode::empty())?))
    }

    pub(super) fn open_to_replace(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name)
    }

    pub(super) fn open_shared(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name)
    }

    pub(super) fn create_new(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    pub(super) fn open_or_create(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    /// The temporary file stays open, and so locked, until it has its name. `is_as_before` looks at the old file under
    /// its new name.
    pub(super) fn replace(
        &self,
        temp: File,
        from: &OsStr,
        held: Option<File>,
        to: &OsStr,
        is_as_before: &dyn Fn(&OsStr) -> io::Result<bool>,
    ) -> io::Result<Replaced> {
        if held.as_ref().and_then(has_writer) == Some(true) {
            return Ok(Replaced::Changed);
        }
        // From the exchange on, whoever opens the file by its name has the new one.
        let is_as_before = |name: &OsStr| match held.as_ref().and_then(has_writer) {
            Some(true) => Ok(false),
            _ => is_as_before(name),
        };
        let done = match self.exchange(from, to) {
            Ok(true) => match is_as_before(from) {
                Ok(true) => {
                    // It has its name; an old file that does not go now goes with the next run.
                    let _ = self.remove(from).or_else(|_| self.remove(from));
                    Replaced::Done
                }
                // One that cannot be read counts as changed.
                _ => match self.exchange(from, to) {
                    Ok(_) => Replaced::Changed,
                    Err(e) => Replaced::Stuck(from.to_owned(), e),
                },
            },
            Ok(false) => {
                rustix::fs::renameat(&self.fd, from, &self.fd, to)?;
                Replaced::Done
            }
            // It was deleted or renamed.
            Err(e) if e.kind() == io::ErrorKind::NotFound => Replaced::Changed,
            Err(e) => return Err(e),
        };
        drop((temp, held));
        Ok(done)
    }

    /// Lets two files change names in one step; false where the system or the file system cannot.
    fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<bool> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        match rustix::fs::renameat_with(&self.fd, one, &self.fd, other, rustix::fs::RenameFlags::EXCHANGE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            done => return done.map(|()| true).map_err(io::Error::from),
        }
        let _ = (one, other);
        Ok(false)
    }

    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.fd, from, &self.fd, to)?)
    }

    pub(super) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        match rustix::fs::renameat_with(&self.fd, from, &self.fd, to, rustix::fs::RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            done => return Ok(done?),
        }
        rustix::fs::linkat(&self.fd, from, &self.fd, to, AtFlags::empty())?;
        // It has its name; the other one goes with the next run if it does not go now.
        let _ = self.remove(from);
        Ok(())
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)?)
    }

    pub(super) fn remove_held(&self, held: Option<File>, name: &OsStr) -> io::Result<()> {
        self.remove(name)?;
        drop(held);
        Ok(())
    }

    pub(super) fn take_over(&self, (source, _): (&File, &OsStr), (temp, _): (&File, &OsStr)) -> io::Result<()> {
        take_over(source, temp)
    }

    /// Some file systems cannot flush a folder; that is no reason to fail.
    pub(super) fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&self.fd) {
            Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
            done => Ok(done?),
        }
    }

    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Listing::read_from(&self.fd)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }
}

/// True if a program has the file, which is open for reading here, open for writing. `None` where the system does not say:
/// it is Linux that does, of the user's own files and to root.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[allow(unsafe_code, reason = "the libraries have no call for leases")]
fn has_writer(file: &File) -> Option<bool> {
    use std::os::fd::AsRawFd as _;
    // A lease for reading is granted as long as nobody has the file open for writing (fcntl(2)). It is given back at
    // once: only the answer counts.
    // SAFETY: the descriptor is open as long as `file` is borrowed; both calls take a number.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) } {
        0 => {
            // SAFETY: as above.
            unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK) };
            Some(false)
        }
        _ => (io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock).then_some(true),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn has_writer(_file: &File) -> Option<bool> {
    None
}

pub(super) fn look(file: &File) -> io::Result<Look> {
    let found = file.metadata()?;
    let links = found.nlink();
    let refusal = if !found.is_file() {
        Some(Refusal::NotAFile("folder, pipe, socket or device"))
    } else if links > 1 {
        Some(Refusal::HardLinks(links))
    } else {
        None
    };
    let modified = found.modified().ok();
    Ok(Look {
        identity: Identity { volume: found.dev(), file: found.ino(), size: found.len(), modified },
        traits: Traits {
            modified,
            created: found.created().ok(),
            mode: Some(found.mode() & 0o777),
            owner: Some((found.uid(), found.gid())),
            attributes: None,
        },
        links,
        refusal,
    })
}

/// The lock that keeps other runs of this program off a file. Where the file system has none, it goes without.
pub(super) fn lock(file: &File) -> io::Result<Lock> {
    match file.try_lock() {
        Ok(()) => Ok(Lock::Got(())),
        Err(TryLockError::WouldBlock) => Ok(Lock::Busy),
        Err(TryLockError::Error(e)) => match Errno::from_io_error(&e) {
            // NFS without a lock service, or with one that wants the file open for writing.
            Some(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK | Errno::BADF | Errno::INVAL) => Ok(Lock::Unsupported),
            _ => Err(e),
        },
    }
}

pub(super) fn lock_temp(file: &File, _name: &OsStr) -> io::Result<Lock> {
    lock(file)
}

pub(super) fn is_in_use(_error: &io::Error) -> bool {
    false
}

/// The lock is kept until the file has its name, or is gone.
pub(super) fn release(file: File) -> Option<File> {
    Some(file)
}

pub(super) fn check_name(_name: &OsStr) -> Result<(), Refusal> {
    Ok(())
}

pub(super) fn own_name(_file: &File, name: &OsStr) -> Result<OsString, Refusal> {
    Ok(name.to_owned())
}

/// Gives `temp` the owner, extended attributes (access lists are among them) and mode of `source`. What
/// the system does not allow stays out; nobody gains access by that.
fn take_over(source: &File, temp: &File) -> io::Result<()> {
    let (theirs, ours) = (source.metadata()?, temp.metadata()?);
    let owner = theirs.uid() == ours.uid() || allowed(fchown(temp, Some(theirs.uid()), None))?.is_some();
    let group = theirs.gid() == ours.gid() || allowed(fchown(temp, None, Some(theirs.gid())))?.is_some();
    copy_extended_attributes(source, temp, group)?;
    let mut mode = theirs.mode() & 0o7777;
    if !owner {
        mode &= !0o4000;
    }
    if !group {
        // A group other than the recorded one gets the permissions of others.
        mode = (mode & !0o2070) | (mode & 0o070 & ((mode & 0o007) << 3));
    }
    allowed(temp.set_permissions(Permissions::from_mode(mode)))?;
    Ok(())
}

/// `None` if the system does not let us, or cannot.
fn allowed<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(value) => Ok(Some(value)),
        Err(e) => match Errno::from_io_error(&e) {
            Some(Errno::PERM | Errno::ACCESS | Errno::NOTSUP | Errno::NOSYS | Errno::INVAL) => Ok(None),
            _ => Err(e),
        },
    }
}

fn copy_extended_attributes(source: &File, temp: &File, group: bool) -> io::Result<()> {
    let Some(names) = allowed(source.list_xattr())? else { return Ok(()) };
    let mut has_access_list = false;
    for name in names {
        if name == ACCESS_LIST {
            if !group {
                continue;
            }
            has_access_list = true;
        }
        if let Some(Some(value)) = allowed(source.get_xattr(&name))? {
            allowed(temp.set_xattr(&name, &value))?;
        }
    }
    // The folder's default may have given the new file a list that the old one does not have.
    if !has_access_list && let Some(Some(_)) = allowed(temp.get_xattr(ACCESS_LIST))? {
        allowed(temp.remove_xattr(ACCESS_LIST))?;
    }
    Ok(())
}

pub(super) fn set_traits(file: &File, traits: &Traits) -> io::Result<()> {
    if let Some((user, group)) = traits.owner {
        let now = file.metadata()?;
        if now.uid() != user || now.gid() != group {
            allowed(fchown(file, Some(user), Some(group)))?;
        }
    }
    if let Some(mode) = traits.mode {
        allowed(file.set_permissions(Permissions::from_mode(mode & 0o777)))?;
    }
    match traits.modified {
        Some(modified) => file.set_times(FileTimes::new().set_modified(modified)),
        None => Ok(()),
    }
}

pub(crate) fn drop_cached_pages(file: &File, _path: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    {
        // Only pages that are on disk are dropped.
        file.sync_all()?;
        rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?;
    }
    let _ = file;
    Ok(())
}

#[cfg(target_os = "linux")]
pub(crate) fn is_cold(file: &File) -> Option<bool> {
    let mut byte = [0_u8; 1];
    let mut buffers = [io::IoSliceMut::new(&mut byte)];
    match rustix::io::preadv2(file, &mut buffers, 0, rustix::io::ReadWriteFlags::NOWAIT) {
        Ok(_) => Some(false),
        Err(rustix::io::Errno::AGAIN) => Some(true),
        Err(_) => None,
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_cold(_file: &File) -> Option<bool> {
    None
}

/// The largest extended attribute that is recorded, in bytes, and how many are.
const LARGEST_ATTRIBUTE: usize = 64 << 10;
const MOST_ATTRIBUTES: usize = 64;

/// Attributes that belong to the user, and access lists; others are the system's own.
fn is_recorded(name: &str) -> bool {
    name.starts_with("user.") || name == ACCESS_LIST || name.starts_with("com.apple.")
}

pub(super) fn extended(file: &File) -> Extended {
    let names = file.list_xattr().into_iter().flatten();
    let attributes = names.filter_map(|name| {
        let name = name.into_string().ok().filter(|name| is_recorded(name))?;
        let value = file.get_xattr(&name).ok()?.filter(|value| value.len() <= LARGEST_ATTRIBUTE)?;
        Some((name, value))
    });
    Extended { attributes: attributes.take(MOST_ATTRIBUTES).collect(), security: None }
}

pub(super) fn set_extended(file: &File, extended: &Extended) -> io::Result<()> {
    for (name, value) in extended.attributes.iter().filter(|(name, _)| is_recorded(name)) {
        allowed(file.set_xattr(name, value))?;
    }
    Ok(())
}

pub(super) fn untrusted(path: &Path, _also: Option<&str>) -> Option<String> {
    let found = fs::symlink_metadata(path).ok()?;
    let own = rustix::process::geteuid().as_raw();
    if found.uid() != own && found.uid() != 0 {
        return Some(format!("it belongs to user {}; correct it with: chown {own} {}", found.uid(), path.display()));
    }
    let mode = found.mode() & 0o7777;
    (mode & 0o022 != 0 && !found.is_symlink())
        .then(|| format!("others can write to it (mode {mode:o}); correct it with: chmod go-w {}", path.display()))
}
