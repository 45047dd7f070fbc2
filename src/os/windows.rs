//! Windows: the one place with `unsafe`, because some of what keeps a file whole has no safe call.
//!
//! A folder is a handle that keeps it from being renamed or deleted, and its final path in the `\\?\`
//! form: no link is left in it, and no length limit. A held file is a handle that shares no writing.
//!
//! A file is replaced by one rename, as on Unix, after access list, attributes, creation time and
//! alternate streams were given to the new one. `ReplaceFileW` would see to those itself, but it takes two
//! renames (its documented error 1177 is the state between them): for a moment there would be no file,
//! for a kill to leave so and for Explorer to find so and write an empty list in its place.

#![allow(unsafe_code)]

use std::{
    ffi::{OsStr, OsString, c_void},
    fs::{self, File, FileTimes, Metadata, OpenOptions},
    io,
    mem::size_of,
    os::windows::{
        ffi::{OsStrExt, OsStringExt},
        fs::{FileTimesExt, OpenOptionsExt},
        io::{AsRawHandle, FromRawHandle, OwnedHandle},
    },
    path::{Path, PathBuf},
    ptr::{null, null_mut},
};

use windows_sys::Win32::{
    Foundation::{
        ERROR_ACCESS_DENIED, ERROR_ALREADY_EXISTS, ERROR_CALL_NOT_IMPLEMENTED, ERROR_HANDLE_EOF,
        ERROR_INVALID_FUNCTION, ERROR_INVALID_PARAMETER, ERROR_LOCK_VIOLATION, ERROR_NOT_SUPPORTED,
        ERROR_SHARING_VIOLATION, ERROR_USER_MAPPED_FILE, HANDLE, HLOCAL, INVALID_HANDLE_VALUE, LocalFree,
    },
    Storage::FileSystem::{
        BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_ARCHIVE, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_HIDDEN,
        FILE_ATTRIBUTE_NORMAL, FILE_ATTRIBUTE_NOT_CONTENT_INDEXED, FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_SYSTEM,
        FILE_BASIC_INFO, FILE_FLAG_OPEN_REPARSE_POINT, FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE, FILE_SHARE_READ,
        FILE_SHARE_WRITE, FILE_WRITE_ATTRIBUTES, FileBasicInfo, FindClose, FindFirstStreamW, FindNextStreamW,
        FindStreamInfoStandard, GetDiskFreeSpaceExW, GetFileInformationByHandle, GetFinalPathNameByHandleW,
        MOVEFILE_WRITE_THROUGH, MoveFileExW, SYNCHRONIZE, SetFileInformationByHandle, WIN32_FIND_STREAM_DATA,
    },
    System::{Com::CoTaskMemFree, Threading::CreateMutexW},
    UI::Shell::{FOLDERID_Recent, KF_FLAG_DONT_VERIFY, SHGetKnownFolderPath},
};

pub use super::windows_path::{is_absolute, is_same_path, path_from_raw, path_to_raw};
use super::{
    Identity, Look, Profile, Traits,
    folder::Lock,
    windows_path::{expand, is_same_name, verbatim},
    windows_security::create_private,
};
pub(super) use super::{
    windows_dir::Dir,
    windows_path::check_name,
    windows_security::{extended, set_extended, untrusted},
};
use crate::error::Refusal;

/// Explorer's own writes are among those kept out, so a file is held no longer than it must be.
pub(super) const HOLDING_KEEPS_WRITERS_OUT: bool = true;

pub(super) const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
/// The attributes that are a file's own, and do not follow from where and how it is stored.
const OWN_ATTRIBUTES: u32 = FILE_ATTRIBUTE_READONLY
    | FILE_ATTRIBUTE_HIDDEN
    | FILE_ATTRIBUTE_SYSTEM
    | FILE_ATTRIBUTE_ARCHIVE
    | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED;
const PROFILE_LIST: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion\ProfileList";

/// Opens a plain file for looking at it, links followed; whoever else has it open is not disturbed.
///
/// # Errors
/// What the system says; `InvalidInput` for anything that is not a plain file.
pub fn open_read(path: &Path) -> io::Result<(File, Metadata)> {
    let file = OpenOptions::new().read(true).share_mode(SHARE_ALL).open(path)?;
    let facts = file.metadata()?;
    if !facts.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
    }
    Ok((file, facts))
}

/// Makes a folder, and those above it that are missing. The folder itself lets in only its owner, administrators and the
/// system, and so does what is made in it; those above it are as their parents say. One that is there
/// already stays as it is.
///
/// # Errors
/// What the system says.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match create_private(&verbatim(path)?) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        done => done,
    }
}

/// Where the shell keeps the current user's jump lists: the Recent folder, wherever it was moved to. A new account, SYSTEM
/// and a machine without a desktop may have none there.
///
/// # Errors
/// What the system says.
pub fn recent_folder() -> io::Result<Option<PathBuf>> {
    let mut text: *mut u16 = null_mut();
    // SAFETY: the id is a constant, no token is given, and `text` is where the call puts a pointer.
    let result = unsafe { SHGetKnownFolderPath(&FOLDERID_Recent, KF_FLAG_DONT_VERIFY as u32, null_mut(), &mut text) };
    // SAFETY: on success it is a string that ends in NUL; nothing else has the pointer.
    let path = (result >= 0 && !text.is_null()).then(|| unsafe { wide_to_os(text) });
    // SAFETY: the caller frees it, whatever the call gave back; null is allowed.
    unsafe { CoTaskMemFree(text.cast::<c_void>()) };
    match path {
        Some(path) => Ok(Some(PathBuf::from(path))),
        None => Err(io::Error::other(format!("the Recent folder is not known (0x{result:08x})"))),
    }
}

/// The profiles of all users that the registry knows, in its order. Their folders may be missing or
/// closed to this process.
///
/// # Errors
/// What the system says.
pub fn profiles() -> io::Result<Vec<Profile>> {
    let list = windows_registry::LOCAL_MACHINE.open(PROFILE_LIST)?;
    let mut profiles = Vec::new();
    for sid in list.keys()? {
        let Ok(path) = list.open(&sid).and_then(|profile| profile.get_hstring("ProfileImagePath")) else { continue };
        profiles.push(Profile { sid, folder: PathBuf::from(expand(&path.to_os_string())) });
    }
    Ok(profiles)
}

/// Checks that this user may make and replace files in `folder`. Nothing is written.
///
/// # Errors
/// What the system says.
pub fn check_writable(folder: &Path) -> io::Result<()> {
    use std::os::windows::fs::OpenOptionsExt as _;
    use windows_sys::Win32::Storage::FileSystem::{FILE_ADD_FILE, FILE_FLAG_BACKUP_SEMANTICS};
    let mut options = std::fs::OpenOptions::new();
    options.access_mode(FILE_ADD_FILE).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(folder).map(drop)
}

/// How many bytes this user may still write to the disk that the folder `path`, which is there, lies on.
///
/// # Errors
/// What the system says.
pub fn free_space(path: &Path) -> io::Result<u64> {
    let path = wide(path)?;
    let mut free = 0;
    // SAFETY: the path ends in NUL and lives to the end of the call, and so does the place for the number; the others
    // may be null.
    check(unsafe { GetDiskFreeSpaceExW(path.as_ptr(), &mut free, null_mut(), null_mut()) })?;
    Ok(free)
}

pub(super) fn is_code(error: &io::Error, code: u32) -> bool {
    error.raw_os_error().is_some_and(|raw| u32::try_from(raw) == Ok(code))
}

pub(super) fn is_in_use(error: &io::Error) -> bool {
    [ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION, ERROR_USER_MAPPED_FILE].iter().any(|code| is_code(error, *code))
}

/// Why something is not a file that may be changed. `is_link` says that it is a reparse point that stands for another name
/// (IsReparseTagNameSurrogate: symbolic links, junctions); those of deduplicated, cloud and archived files are files.
pub(super) fn refusal(attributes: u32, is_link: bool) -> Option<Refusal> {
    let is_folder = attributes & FILE_ATTRIBUTE_DIRECTORY != 0;
    if is_link {
        Some(if is_folder { Refusal::ReparsePoint } else { Refusal::Symlink })
    } else if is_folder {
        Some(Refusal::NotAFile("folder"))
    } else {
        None
    }
}

pub(super) fn look(file: &File) -> io::Result<Look> {
    let found = file.metadata()?;
    let mut by_handle = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open as long as `file` is borrowed, and the structure is the call's own.
    check(unsafe { GetFileInformationByHandle(file.as_raw_handle(), &mut by_handle) })?;
    let attributes = by_handle.dwFileAttributes;
    let links = u64::from(by_handle.nNumberOfLinks);
    let several = (links > 1).then_some(Refusal::HardLinks(links));
    let modified = found.modified().ok();
    Ok(Look {
        identity: Identity {
            volume: u64::from(by_handle.dwVolumeSerialNumber),
            file: u64::from(by_handle.nFileIndexHigh) << 32 | u64::from(by_handle.nFileIndexLow),
            size: found.len(),
            modified,
        },
        traits: Traits {
            modified,
            created: found.created().ok(),
            mode: None,
            owner: None,
            attributes: Some(attributes & OWN_ATTRIBUTES),
        },
        links,
        refusal: refusal(attributes, found.is_symlink()).or(several),
    })
}

/// A file is closed before its name is changed or goes.
pub(super) fn release(file: File) -> Option<File> {
    drop(file);
    None
}

/// The name in the folder. A short name (`F01B4D~1.AUT`) is another: replacing the file under it
/// would lose the long one.
pub(super) fn own_name(file: &File, name: &OsStr) -> Result<OsString, Refusal> {
    let Ok(path) = final_path(file) else { return Ok(name.to_owned()) };
    match path.file_name() {
        Some(own) if is_same_name(own, name) => Ok(own.to_owned()),
        _ => Err(Refusal::AlternateName("the folder has it under another")),
    }
}

/// An object of the system's whose being there is the lock. It goes with its last handle, so with a
/// process that is killed.
#[derive(Debug)]
pub(super) struct Guard {
    _object: OwnedHandle,
}

/// The lock that keeps other runs of this program off a file, in all sessions of the machine.
pub(super) fn lock(file: &File) -> io::Result<Lock> {
    let Identity { volume, file, .. } = look(file)?.identity;
    lock_name(format!("{volume:08x}-{file:016x}").as_ref())
}

/// A temporary file's name is unique; its number on the volume may be a dead file's.
pub(super) fn lock_temp(_file: &File, name: &OsStr) -> io::Result<Lock> {
    lock_name(name)
}

pub(super) fn lock_name(name: &OsStr) -> io::Result<Lock> {
    let mut object = OsString::from(r"Global\jlfix-");
    object.push(name);
    let name = wide(Path::new(&object))?;
    // SAFETY: no attributes are given, and the name ends in NUL and lives to the end of the call.
    let object = unsafe { CreateMutexW(null(), 0, name.as_ptr()) };
    let error = io::Error::last_os_error();
    if object.is_null() {
        // One that another user's process made may not be opened.
        return Ok(if is_code(&error, ERROR_ACCESS_DENIED) { Lock::Busy } else { Lock::Unsupported });
    }
    // SAFETY: the handle was opened here, and nothing else has it.
    let object = unsafe { OwnedHandle::from_raw_handle(object) };
    Ok(if is_code(&error, ERROR_ALREADY_EXISTS) { Lock::Busy } else { Lock::Got(Guard { _object: object }) })
}

/// Copies the streams beside the content, such as the mark of where a file came from.
pub(super) fn copy_streams(source: &Path, temp: &Path) -> io::Result<()> {
    let path = wide(source)?;
    let mut found = WIN32_FIND_STREAM_DATA::default();
    // SAFETY: the path ends in NUL, and the level says that `found` is what it is.
    let search =
        unsafe { FindFirstStreamW(path.as_ptr(), FindStreamInfoStandard, (&raw mut found).cast::<c_void>(), 0) };
    if search == INVALID_HANDLE_VALUE {
        let e = io::Error::last_os_error();
        return if is_code(&e, ERROR_HANDLE_EOF) || is_unsupported(&e) { Ok(()) } else { Err(e) };
    }
    let search = Search(search);
    loop {
        let name: Vec<u16> = found.cStreamName.iter().copied().take_while(|unit| *unit != 0).collect();
        let name = OsString::from_wide(&name);
        if name != "::$DATA" {
            let stream = |path: &Path| {
                let mut path = path.as_os_str().to_owned();
                path.push(&name);
                PathBuf::from(path)
            };
            io::copy(&mut File::open(stream(source))?, &mut File::create(stream(temp))?)?;
        }
        // SAFETY: the search is open, and `found` is what its level asks for.
        if unsafe { FindNextStreamW(search.0, (&raw mut found).cast::<c_void>()) } == 0 {
            let e = io::Error::last_os_error();
            return if is_code(&e, ERROR_HANDLE_EOF) { Ok(()) } else { Err(e) };
        }
    }
}

/// A search that is closed when it is dropped.
struct Search(HANDLE);

impl Drop for Search {
    fn drop(&mut self) {
        // SAFETY: the handle is a search's, and is closed once.
        unsafe { FindClose(self.0) };
    }
}

/// What file systems without access lists or streams say.
pub(super) fn is_unsupported(error: &io::Error) -> bool {
    [ERROR_NOT_SUPPORTED, ERROR_INVALID_FUNCTION, ERROR_INVALID_PARAMETER, ERROR_CALL_NOT_IMPLEMENTED]
        .iter()
        .any(|code| is_code(error, *code))
}

pub(super) fn set_traits(file: &File, traits: &Traits) -> io::Result<()> {
    let mut times = FileTimes::new();
    if let Some(modified) = traits.modified {
        times = times.set_modified(modified);
    }
    if let Some(created) = traits.created {
        times = times.set_created(created);
    }
    if traits.modified.is_some() || traits.created.is_some() {
        file.set_times(times)?;
    }
    match traits.attributes {
        Some(attributes) => set_attributes_of(file, attributes),
        None => Ok(()),
    }
}

pub(super) fn set_attributes(path: &Path, attributes: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.access_mode(FILE_WRITE_ATTRIBUTES | FILE_READ_ATTRIBUTES | SYNCHRONIZE).share_mode(SHARE_ALL);
    set_attributes_of(&options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)?, attributes)
}

pub(super) fn set_attributes_of(file: &File, attributes: u32) -> io::Result<()> {
    let own = attributes & OWN_ATTRIBUTES;
    // Zero, here as in the times, means: leave it.
    let own = if own == 0 { FILE_ATTRIBUTE_NORMAL } else { own };
    let info = FILE_BASIC_INFO { FileAttributes: own, ..FILE_BASIC_INFO::default() };
    let size = u32::try_from(size_of::<FILE_BASIC_INFO>()).map_err(io::Error::other)?;
    // SAFETY: the handle is open as long as `file` is borrowed; the class says that the pointer is to a
    // FILE_BASIC_INFO, which it is, and the size is that of one.
    check(unsafe {
        SetFileInformationByHandle(file.as_raw_handle(), FileBasicInfo, (&raw const info).cast::<c_void>(), size)
    })
}

/// Renames a file if nothing has the new name.
pub(super) fn move_file(source: &Path, target: &Path) -> io::Result<()> {
    let (source, target) = (wide(source)?, wide(target)?);
    // SAFETY: both strings end in NUL and live to the end of the call.
    check(unsafe { MoveFileExW(source.as_ptr(), target.as_ptr(), MOVEFILE_WRITE_THROUGH) })
}

pub(super) fn final_path(file: &File) -> io::Result<PathBuf> {
    let mut text = vec![0_u16; 512];
    loop {
        let room = u32::try_from(text.len()).map_err(io::Error::other)?;
        // SAFETY: the handle is open as long as `file` is borrowed, and `text` has room for `room` units.
        let length = unsafe { GetFinalPathNameByHandleW(file.as_raw_handle(), text.as_mut_ptr(), room, 0) };
        match usize::try_from(length).map_err(io::Error::other)? {
            0 => return Err(io::Error::last_os_error()),
            // Without the NUL if it fits, with it if it does not.
            length if length < text.len() => {
                text.truncate(length);
                return Ok(PathBuf::from(OsString::from_wide(&text)));
            }
            length => text.resize(length, 0),
        }
    }
}

/// What the system allocated and we free.
pub(super) struct Local(pub(super) HLOCAL);

impl Drop for Local {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a call that says to free it so, and is freed once.
        unsafe { LocalFree(self.0) };
    }
}

/// Copies a string out.
///
/// # Safety
/// `text` points to units of which one is 0.
pub(super) unsafe fn wide_to_os(text: *const u16) -> OsString {
    let mut length = 0_usize;
    // SAFETY: every unit before and at the first 0 can be read.
    while unsafe { *text.add(length) } != 0 {
        length = length.saturating_add(1);
    }
    // SAFETY: these are the units before the 0.
    OsString::from_wide(unsafe { std::slice::from_raw_parts(text, length) })
}

pub(super) fn wide(path: &Path) -> io::Result<Vec<u16>> {
    let mut text: Vec<u16> = path.as_os_str().encode_wide().collect();
    if text.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a path with a NUL in it"));
    }
    text.push(0);
    Ok(text)
}

pub(super) fn check(done: i32) -> io::Result<()> {
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

pub(crate) fn drop_cached_pages(_file: &File, path: &Path) -> io::Result<()> {
    const FILE_FLAG_NO_BUFFERING: u32 = 0x2000_0000;
    use std::os::windows::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new().read(true).custom_flags(FILE_FLAG_NO_BUFFERING).open(path).map(drop)
}

pub(crate) fn is_cold(_file: &File) -> Option<bool> {
    None
}
