//! Owners and access lists on Windows: who can write to a file, and how that is recorded with a backup.

#![allow(unsafe_code)]

use std::{
    ffi::c_void,
    fs::{File, OpenOptions},
    io,
    mem::size_of,
    os::windows::{
        fs::OpenOptionsExt,
        io::{AsRawHandle, FromRawHandle, OwnedHandle},
    },
    path::Path,
    ptr::null_mut,
};

use windows_sys::Win32::{
    Foundation::{ERROR_ACCESS_DENIED, ERROR_ALREADY_EXISTS, ERROR_INSUFFICIENT_BUFFER, INVALID_HANDLE_VALUE},
    Security::{
        Authorization::{
            ConvertSecurityDescriptorToStringSecurityDescriptorW, ConvertSidToStringSidW,
            ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
        },
        DACL_SECURITY_INFORMATION, GetKernelObjectSecurity, GetTokenInformation, OWNER_SECURITY_INFORMATION,
        PSECURITY_DESCRIPTOR, SECURITY_ATTRIBUTES, SetKernelObjectSecurity, TOKEN_QUERY, TOKEN_USER, TokenUser,
    },
    Storage::FileSystem::{
        CreateDirectoryW, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, READ_CONTROL, ReOpenFile,
        WRITE_DAC, WRITE_OWNER,
    },
    System::Threading::{GetCurrentProcess, OpenProcessToken},
};

use super::{
    Extended, sddl,
    windows::{Local, SHARE_ALL, check, is_code, is_unsupported, wide, wide_to_os},
};

/// The part of a file's security descriptor that says who may do what, as the system lays it out; none
/// where the file system keeps none.
fn access_list(file: &File) -> io::Result<Option<Vec<u64>>> {
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

/// Gives `temp` the access list of `source` where the two differ. Where that is not allowed, as with the share permission
/// "Change", the list that `temp` inherited stays if it lets in nobody else.
pub(super) fn take_over_access_list(source: &File, temp: &File) -> io::Result<()> {
    let (Some(wanted), Some(now)) = (access_list(source)?, access_list(temp)?) else { return Ok(()) };
    if wanted == now {
        return Ok(());
    }
    match set_part(temp, DACL_SECURITY_INFORMATION, wanted.as_ptr().cast_mut().cast::<c_void>()) {
        Err(e) if is_code(&e, ERROR_ACCESS_DENIED) => match (security(source)?, security(temp)?) {
            (Some(wanted), Some(now)) if sddl::grants_no_more(&now, &wanted) => Ok(()),
            _ => Err(e),
        },
        done => done,
    }
}

/// Sets a part of a file's security descriptor, through a handle that may do that and no more.
fn set_part(file: &File, part: u32, descriptor: *mut c_void) -> io::Result<()> {
    let access = if part == OWNER_SECURITY_INFORMATION { WRITE_OWNER } else { WRITE_DAC };
    // SAFETY: the handle is open as long as `file` is borrowed; the rest are numbers.
    let handle = unsafe { ReOpenFile(file.as_raw_handle(), access, SHARE_ALL, 0) };
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle was opened here, and nothing else has it.
    let handle = unsafe { OwnedHandle::from_raw_handle(handle) };
    // SAFETY: the handle is open; the descriptor is one that the system made, in memory aligned for it, and is only read.
    check(unsafe { SetKernelObjectSecurity(handle.as_raw_handle(), part, descriptor) })
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
        match set_part(file, part, descriptor.0) {
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
    use crate::os::windows::make_private_folder;

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
        options.write(true).create_new(true).access_mode(access);
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
