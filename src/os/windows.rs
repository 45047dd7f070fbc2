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
        ERROR_INSUFFICIENT_BUFFER, ERROR_INVALID_FUNCTION, ERROR_INVALID_PARAMETER, ERROR_LOCK_VIOLATION,
        ERROR_NOT_SUPPORTED, ERROR_SHARING_VIOLATION, ERROR_USER_MAPPED_FILE, HANDLE, HLOCAL, INVALID_HANDLE_VALUE,
        LocalFree,
    },
    Security::{
        Authorization::{
            ConvertSecurityDescriptorToStringSecurityDescriptorW, ConvertSidToStringSidW,
            ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
        },
        DACL_SECURITY_INFORMATION, GetKernelObjectSecurity, GetTokenInformation, OWNER_SECURITY_INFORMATION,
        PSECURITY_DESCRIPTOR, SECURITY_ATTRIBUTES, SetKernelObjectSecurity, TOKEN_QUERY, TOKEN_USER, TokenUser,
    },
    Storage::FileSystem::{
        BY_HANDLE_FILE_INFORMATION, CreateDirectoryW, FILE_ATTRIBUTE_ARCHIVE, FILE_ATTRIBUTE_DIRECTORY,
        FILE_ATTRIBUTE_HIDDEN, FILE_ATTRIBUTE_NORMAL, FILE_ATTRIBUTE_NOT_CONTENT_INDEXED, FILE_ATTRIBUTE_READONLY,
        FILE_ATTRIBUTE_REPARSE_POINT, FILE_ATTRIBUTE_SYSTEM, FILE_BASIC_INFO, FILE_FLAG_BACKUP_SEMANTICS,
        FILE_FLAG_OPEN_REPARSE_POINT, FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE,
        FILE_WRITE_ATTRIBUTES, FileBasicInfo, FindClose, FindFirstStreamW, FindNextStreamW, FindStreamInfoStandard,
        GetDiskFreeSpaceExW, GetFileInformationByHandle, GetFinalPathNameByHandleW, MOVEFILE_WRITE_THROUGH,
        MoveFileExW, READ_CONTROL, SYNCHRONIZE, SetFileInformationByHandle, WIN32_FIND_STREAM_DATA,
    },
    System::{
        Com::CoTaskMemFree,
        Threading::{CreateMutexW, GetCurrentProcess, OpenProcessToken},
    },
    UI::Shell::{FOLDERID_Recent, KF_FLAG_DEFAULT, SHGetKnownFolderPath},
};

pub use super::windows_path::{is_absolute, is_same_path, path_from_raw, path_to_raw};
use super::{
    Extended, Identity, Look, Profile, Traits,
    folder::Lock,
    sddl,
    windows_path::{expand, is_same_name, verbatim},
};
pub(super) use super::{windows_dir::Dir, windows_path::check_name};
use crate::error::Refusal;

/// Explorer's own writes are among those kept out, so a file is held no longer than it must be.
pub(super) const HOLDING_KEEPS_WRITERS_OUT: bool = true;

pub(super) const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
/// The attributes that are a file's own, and not told by where and how it is kept.
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

/// Where the shell keeps the current user's jump lists: the Recent folder, wherever it was moved to.
///
/// # Errors
/// What the system says.
pub fn recent_folder() -> io::Result<Option<PathBuf>> {
    let mut text: *mut u16 = null_mut();
    // SAFETY: the id is a constant, no token is given, and `text` is where the call puts a pointer.
    let result = unsafe { SHGetKnownFolderPath(&FOLDERID_Recent, KF_FLAG_DEFAULT as u32, null_mut(), &mut text) };
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

pub(super) fn refusal(attributes: u32, is_symlink: bool) -> Option<Refusal> {
    let is_folder = attributes & FILE_ATTRIBUTE_DIRECTORY != 0;
    if attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
        Some(if is_symlink && !is_folder { Refusal::Symlink } else { Refusal::ReparsePoint })
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

/// The name as the folder has it. A short name (`F01B4D~1.AUT`) is another: replacing the file under it
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

/// A temporary file's name is its own for ever; its number on the volume may be a dead file's.
pub(super) fn lock_temp(_file: &File, name: &OsStr) -> io::Result<Lock> {
    lock_name(name)
}

fn lock_name(name: &OsStr) -> io::Result<Lock> {
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

/// The part of a file's security descriptor that says who may do what, as the system lays it out; none
/// where the file system keeps none.
pub(super) fn access_list(file: &File) -> io::Result<Option<Vec<u64>>> {
    descriptor_parts(file, DACL_SECURITY_INFORMATION)
}

/// These parts of a file's security descriptor; `None` where the file system keeps none.
fn descriptor_parts(file: &File, parts: u32) -> io::Result<Option<Vec<u64>>> {
    let mut descriptor: Vec<u64> = vec![0; 64];
    loop {
        let size = u32::try_from(size_of_val(descriptor.as_slice())).map_err(io::Error::other)?;
        let mut needed = 0;
        // SAFETY: the handle is open as long as `file` is borrowed, and `descriptor` has room for `size` bytes.
        let done = check(unsafe {
            GetKernelObjectSecurity(
                file.as_raw_handle(),
                parts,
                descriptor.as_mut_ptr().cast::<c_void>(),
                size,
                &mut needed,
            )
        });
        match done {
            Ok(()) => return Ok(Some(descriptor)),
            Err(e) if is_code(&e, ERROR_INSUFFICIENT_BUFFER) && needed > size => {
                descriptor = vec![0; usize::try_from(needed).map_err(io::Error::other)?.div_ceil(8)];
            }
            Err(e) if is_unsupported(&e) => return Ok(None),
            Err(e) => return Err(e),
        }
    }
}

/// Sets what [`access_list`] gave.
pub(super) fn set_access_list(file: &File, list: &[u64]) -> io::Result<()> {
    let list = list.as_ptr().cast_mut().cast::<c_void>();
    // SAFETY: the handle is open as long as `file` is borrowed; the descriptor is one that the system
    // made, in memory aligned for it, and is only read.
    check(unsafe { SetKernelObjectSecurity(file.as_raw_handle(), DACL_SECURITY_INFORMATION, list) })
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
fn is_unsupported(error: &io::Error) -> bool {
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

/// Makes a folder that lets in its owner, administrators and the system, as does everything that is made in it.
pub(super) fn create_private(path: &Path) -> io::Result<()> {
    let path = wide(path)?;
    // Administrators too: the user of a profile that was moved has another security id, and must not lose the undo.
    let descriptor = descriptor_of(&format!("D:P(A;OICI;FA;;;{})(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", current_user()?))?;
    let length = u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).map_err(io::Error::other)?;
    let attributes = SECURITY_ATTRIBUTES { nLength: length, lpSecurityDescriptor: descriptor.0, bInheritHandle: 0 };
    // SAFETY: the path ends in NUL; the attributes and the descriptor in them live to the end of the call.
    let done = check(unsafe { CreateDirectoryW(path.as_ptr(), &attributes) });
    match done {
        Err(e) if is_code(&e, ERROR_ALREADY_EXISTS) => Err(io::ErrorKind::AlreadyExists.into()),
        done => done,
    }
}

/// The security id of the user that this process runs as, as text.
fn current_user() -> io::Result<String> {
    let mut token = null_mut();
    // SAFETY: the pseudo handle of the current process is always valid; `token` is where the call puts a handle.
    check(unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &mut token) })?;
    // SAFETY: the handle was opened here, and nothing else has it.
    let token = unsafe { OwnedHandle::from_raw_handle(token) };
    // A TOKEN_USER with its security id behind it: at most 84 bytes. In words, so that it is aligned.
    let mut user = [0_u64; 32];
    let size = u32::try_from(size_of_val(&user)).map_err(io::Error::other)?;
    let mut used = 0;
    // SAFETY: the handle is open, and `user` has room for `size` bytes.
    check(unsafe {
        GetTokenInformation(token.as_raw_handle(), TokenUser, user.as_mut_ptr().cast::<c_void>(), size, &mut used)
    })?;
    // SAFETY: the call succeeded, so a TOKEN_USER is at the start of `user`, which is aligned for one.
    let id = unsafe { (*user.as_ptr().cast::<TOKEN_USER>()).User.Sid };
    let mut text: *mut u16 = null_mut();
    // SAFETY: the id points into `user`, which lives; `text` is where the call puts a pointer.
    check(unsafe { ConvertSidToStringSidW(id, &mut text) })?;
    let text = Local(text.cast::<c_void>());
    // SAFETY: on success it is a string that ends in NUL.
    let id = unsafe { wide_to_os(text.0.cast::<u16>()) };
    id.into_string().map_err(|_| io::Error::other("a security id that is no text"))
}

/// What the system allocated and we free.
struct Local(HLOCAL);

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
unsafe fn wide_to_os(text: *const u16) -> OsString {
    let mut length = 0_usize;
    // SAFETY: every unit before and at the first 0 can be read.
    while unsafe { *text.add(length) } != 0 {
        length = length.saturating_add(1);
    }
    // SAFETY: these are the units before the 0.
    OsString::from_wide(unsafe { std::slice::from_raw_parts(text, length) })
}

fn wide(path: &Path) -> io::Result<Vec<u16>> {
    let mut text: Vec<u16> = path.as_os_str().encode_wide().collect();
    if text.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a path with a NUL in it"));
    }
    text.push(0);
    Ok(text)
}

fn check(done: i32) -> io::Result<()> {
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

pub(super) fn extended(file: &File) -> Extended {
    Extended { attributes: Vec::new(), security: security(file).ok().flatten() }
}

/// Sets the access list that was recorded; the owner only where the system lets us.
pub(super) fn set_extended(file: &File, extended: &Extended) -> io::Result<()> {
    let Some(wanted) = &extended.security else { return Ok(()) };
    if security(file)?.as_ref() == Some(wanted) {
        return Ok(());
    }
    let descriptor = descriptor_of(wanted)?;
    for (part, must) in [(OWNER_SECURITY_INFORMATION, false), (DACL_SECURITY_INFORMATION, true)] {
        // SAFETY: the handle is open as long as `file` is borrowed; the descriptor lives to the end of the call.
        let done = check(unsafe { SetKernelObjectSecurity(file.as_raw_handle(), part, descriptor.0) });
        match done {
            Err(e) if must && !is_unsupported(&e) && !is_code(&e, ERROR_ACCESS_DENIED) => return Err(e),
            _ => {}
        }
    }
    Ok(())
}

/// Owner and access list of a file as SDDL; `None` where the file system keeps none.
fn security(file: &File) -> io::Result<Option<String>> {
    let parts = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
    let Some(mut descriptor) = descriptor_parts(file, parts)? else { return Ok(None) };
    let mut text: *mut u16 = null_mut();
    // SAFETY: the descriptor is the system's own, in aligned memory; `text` is where the call puts a pointer.
    check(unsafe {
        ConvertSecurityDescriptorToStringSecurityDescriptorW(
            descriptor.as_mut_ptr().cast::<c_void>(),
            SDDL_REVISION_1,
            parts,
            &mut text,
            null_mut(),
        )
    })?;
    let text = Local(text.cast::<c_void>());
    // SAFETY: on success it is a string that ends in NUL.
    Ok(unsafe { wide_to_os(text.0.cast::<u16>()) }.into_string().ok())
}

/// The security descriptor that SDDL describes.
fn descriptor_of(sddl: &str) -> io::Result<Local> {
    let text = wide(Path::new(sddl))?;
    let mut descriptor: PSECURITY_DESCRIPTOR = null_mut();
    // SAFETY: the string ends in NUL; `descriptor` is where the call puts a pointer, its size is not asked for.
    check(unsafe {
        ConvertStringSecurityDescriptorToSecurityDescriptorW(
            text.as_ptr(),
            SDDL_REVISION_1,
            &mut descriptor,
            null_mut(),
        )
    })?;
    Ok(Local(descriptor))
}

pub(super) fn untrusted(path: &Path, also: Option<&str>) -> Option<String> {
    let mut options = OpenOptions::new();
    options.access_mode(READ_CONTROL).share_mode(SHARE_ALL);
    options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return None,
        Err(e) => return Some(format!("who can write to it cannot be read: {e}")),
    };
    let own = match current_user() {
        Ok(own) => own,
        Err(e) => return Some(format!("the user of this process is not known: {e}")),
    };
    let sddl = match security(&file) {
        Ok(sddl) => sddl?,
        Err(e) => return Some(format!("who can write to it cannot be read: {e}")),
    };
    sddl::untrusted(&sddl, &own, also).map(|why| why.describe(path, &own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_folder_lets_in_its_owner_administrators_and_the_system_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep").join("private");
        make_private_folder(&path).unwrap();
        make_private_folder(&path).unwrap();
        let mut options = OpenOptions::new();
        options.access_mode(READ_CONTROL).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
        let list = security(&options.open(&path).unwrap()).unwrap().unwrap();
        let owner = current_user().unwrap();
        let entries: Vec<_> = list.split('(').skip(1).collect();
        // Wine keeps what it can map to the owner's bits.
        assert!((2..=3).contains(&entries.len()), "{list}");
        let trusted = [";SY)".to_owned(), ";BA)".to_owned(), format!(";{owner})")];
        assert!(entries.iter().all(|entry| trusted.iter().any(|end| entry.ends_with(end))), "{list}");
        assert_eq!(untrusted(&path, None), None);
    }

    #[test]
    fn a_file_that_everybody_can_write_to_is_not_trusted_and_its_access_list_is_recorded_and_set() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("copy");
        let mut options = OpenOptions::new();
        let access = windows_sys::Win32::Foundation::GENERIC_READ | windows_sys::Win32::Foundation::GENERIC_WRITE;
        options.write(true).create_new(true).access_mode(access | windows_sys::Win32::Storage::FileSystem::WRITE_DAC);
        let file = options.open(&path).unwrap();
        let own = current_user().unwrap();
        let set = |list: &str| {
            let security = Some(format!("O:{own}{list}"));
            set_extended(&file, &Extended { security, ..Extended::default() }).unwrap();
        };
        set(&format!("D:P(A;;FA;;;{own})"));
        assert_eq!(untrusted(&path, None), None);
        let recorded = extended(&file);
        set(&format!("D:P(A;;FA;;;{own})(A;;FA;;;WD)"));
        let why = untrusted(&path, None).unwrap();
        assert!(why.starts_with("Everyone can write to it; correct it with: icacls "), "{why}");
        set_extended(&file, &recorded).unwrap();
        assert_eq!(untrusted(&path, None), None);
    }
}
