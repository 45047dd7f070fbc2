//! The payloads of kernel events: FileIo, DiskIo, Process and Thread, in the versions of Windows Vista to 11. Pointers
//! have 4 or 8 bytes.
//!
//! Source: the classes `FileIo_Name`, `FileIo_Create`, `FileIo_ReadWrite`, `FileIo_SimpleOp`, `FileIo_OpEnd`,
//! `DiskIo_TypeGroup1`, `Process_TypeGroup1` and `Thread_TypeGroup1` in Microsoft's documentation. Version 3 (Windows 8
//! and later) has the thread after the file.

use super::event::{Event, known};
use crate::bytes::{Bytes, Short};
use crate::trace::utf16::utf16;

/// An operation on a file or a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// `FileIo_Create`: a file is opened.
    Create {
        /// The path that was given.
        path: String,
        /// CreateOptions: the low 24 bits are flags, the others the disposition.
        options: u32,
    },
    /// `FileIo_ReadWrite`.
    Transfer {
        /// True for a write.
        write: bool,
        /// Offset in the file.
        offset: u64,
        /// Bytes that were asked for.
        size: u32,
    },
    /// `FileIo_SimpleOp`, Cleanup: the last handle of a file object is closed.
    Cleanup,
    /// `FileIo_SimpleOp`, Close: the file object is gone.
    Close,
    /// `FileIo_OpEnd`: an operation with the same IRP is complete.
    End {
        /// For a read or write, the number of bytes.
        information: u64,
        /// NTSTATUS.
        status: u32,
    },
    /// `DiskIo_TypeGroup1`, Read, at its end.
    DiskRead {
        /// Bytes.
        size: u32,
        /// Ticks that it took.
        ticks: u64,
    },
}

/// An [`Operation`] and what it was done to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOperation {
    /// Joins an operation with its end.
    pub irp: u64,
    /// The open file.
    pub file_object: u64,
    /// The file itself. For a disk read the same as `file_object`; 0 for a create and an end.
    pub file_key: u64,
    /// Thread that asked for it.
    pub tid: Option<u32>,
    /// What was done.
    pub operation: Operation,
}

/// Types of FileIo events that name a file: Name, FileCreate, FileDelete, FileRundown.
pub const NAMES: [u8; 4] = [0, 32, 35, 36];
/// Type of a FileIo event: Create.
pub const CREATE: u8 = 64;
/// Type of a FileIo event: Read.
pub const READ: u8 = 67;
/// Type of a FileIo event: OperationEnd.
pub const OPERATION_END: u8 = 76;
/// Type of a DiskIo event: Read.
pub const DISK_READ: u8 = 10;

/// Reads the fields of a payload.
struct Fields<'a> {
    bytes: Bytes<'a>,
    wide: bool,
}

impl Fields<'_> {
    fn new<'a>(event: &Event<'a>) -> Fields<'a> {
        Fields { bytes: Bytes::new(event.payload), wide: event.wide }
    }

    fn pointer(&mut self, what: &'static str) -> Result<u64, Short> {
        if self.wide { self.bytes.u64(what) } else { self.bytes.u32(what).map(u64::from) }
    }

    /// UTF-16 up to a zero or the end.
    fn text(&self) -> String {
        utf16(self.bytes.rest())
    }
}

/// The file key and name of a `FileIo_Name`.
pub fn name(event: &Event<'_>) -> Result<(u64, String), Short> {
    let mut fields = Fields::new(event);
    let key = fields.pointer("FileIo_Name.FileObject")?;
    Ok((key, fields.text()))
}

/// An operation of a FileIo event. `None` for a type that is not read.
pub fn operation(event: &Event<'_>) -> Result<Option<FileOperation>, Short> {
    let mut fields = Fields::new(event);
    match event.kind {
        CREATE => create(&mut fields, event.version).map(Some),
        READ | 68 => transfer(&mut fields, event.version, event.kind != READ).map(Some),
        65 | 66 => {
            let irp = fields.pointer("FileIo_SimpleOp.IrpPtr")?;
            let (file_object, file_key, tid) = file(&mut fields, event.version)?;
            let operation = if event.kind == 65 { Operation::Cleanup } else { Operation::Close };
            Ok(Some(FileOperation { irp, file_object, file_key, tid, operation }))
        }
        OPERATION_END => {
            let irp = fields.pointer("FileIo_OpEnd.IrpPtr")?;
            let information = fields.pointer("FileIo_OpEnd.ExtraInfo")?;
            let status = fields.bytes.u32("FileIo_OpEnd.NtStatus")?;
            let operation = Operation::End { information, status };
            Ok(Some(FileOperation { irp, file_object: 0, file_key: 0, tid: None, operation }))
        }
        _ => Ok(None),
    }
}

/// FileObject, FileKey and TTID, in the order of the version.
fn file(fields: &mut Fields<'_>, version: u16) -> Result<(u64, u64, Option<u32>), Short> {
    if version >= 3 {
        let object = fields.pointer("FileIo.FileObject")?;
        let key = fields.pointer("FileIo.FileKey")?;
        return Ok((object, key, known(fields.bytes.u32("FileIo.TTID")?)));
    }
    let tid = thread(fields.pointer("FileIo.TTID")?);
    Ok((fields.pointer("FileIo.FileObject")?, fields.pointer("FileIo.FileKey")?, tid))
}

/// A thread that is stored like a pointer; only the low half is meant.
fn thread(pointer: u64) -> Option<u32> {
    known(pointer as u32)
}

fn create(fields: &mut Fields<'_>, version: u16) -> Result<FileOperation, Short> {
    let irp = fields.pointer("FileIo_Create.IrpPtr")?;
    let (file_object, tid) = if version >= 3 {
        let object = fields.pointer("FileIo_Create.FileObject")?;
        (object, known(fields.bytes.u32("FileIo_Create.TTID")?))
    } else {
        let tid = thread(fields.pointer("FileIo_Create.TTID")?);
        (fields.pointer("FileIo_Create.FileObject")?, tid)
    };
    let options = fields.bytes.u32("FileIo_Create.CreateOptions")?;
    fields.bytes.take("FileIo_Create.FileAttributes and ShareAccess", 8)?;
    let operation = Operation::Create { path: fields.text(), options };
    Ok(FileOperation { irp, file_object, file_key: 0, tid, operation })
}

fn transfer(fields: &mut Fields<'_>, version: u16, write: bool) -> Result<FileOperation, Short> {
    let offset = fields.bytes.u64("FileIo_ReadWrite.Offset")?;
    let irp = fields.pointer("FileIo_ReadWrite.IrpPtr")?;
    let (file_object, file_key, tid) = file(fields, version)?;
    let size = fields.bytes.u32("FileIo_ReadWrite.IoSize")?;
    Ok(FileOperation { irp, file_object, file_key, tid, operation: Operation::Transfer { write, offset, size } })
}

/// A disk read.
pub fn disk_read(event: &Event<'_>) -> Result<FileOperation, Short> {
    let mut fields = Fields::new(event);
    fields.bytes.take("DiskIo.DiskNumber and IrpFlags", 8)?;
    let size = fields.bytes.u32("DiskIo.TransferSize")?;
    fields.bytes.take("DiskIo.Reserved and ByteOffset", 12)?;
    let file_object = fields.pointer("DiskIo.FileObject")?;
    let irp = fields.pointer("DiskIo.Irp")?;
    let ticks = fields.bytes.u64("DiskIo.HighResResponseTime")?;
    // Since version 3.
    let tid = fields.bytes.u32("DiskIo.IssuingThreadId").ok().and_then(known).or(event.tid);
    let operation = Operation::DiskRead { size, ticks };
    Ok(FileOperation { irp, file_object, file_key: file_object, tid, operation })
}

/// Process and thread of a Thread event.
pub fn thread_of(event: &Event<'_>) -> Result<(u32, u32), Short> {
    let mut fields = Fields::new(event);
    let first = fields.bytes.u32("Thread.ProcessId")?;
    let second = fields.bytes.u32("Thread.TThreadId")?;
    Ok(if event.version == 0 { (second, first) } else { (first, second) })
}

/// ID and name of the image of a Process event. `None` before Windows Vista.
pub fn process(event: &Event<'_>) -> Result<Option<(u32, String)>, Short> {
    if event.version < 1 {
        return Ok(None);
    }
    let mut fields = Fields::new(event);
    fields.pointer("Process.UniqueProcessKey")?;
    let pid = fields.bytes.u32("Process.ProcessId")?;
    fields.bytes.take("Process.ParentId, SessionId and ExitStatus", 12)?;
    if event.version >= 3 {
        fields.pointer("Process.DirectoryTableBase")?;
    }
    if event.version >= 4 {
        fields.bytes.u32("Process.Flags")?;
    }
    skip_user(&mut fields)?;
    let name = fields.bytes.rest();
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(Some((pid, String::from_utf8_lossy(name).into_owned())))
}

/// Passes over a `TOKEN_USER` (two pointers) and the SID after it; four zero bytes stand for neither.
fn skip_user(fields: &mut Fields<'_>) -> Result<(), Short> {
    if crate::bytes::u32_at(fields.bytes.rest(), 0) == Some(0) {
        return fields.bytes.take("Process.UserSID", 4).map(drop);
    }
    fields.pointer("Process.UserSID")?;
    fields.pointer("Process.UserSID")?;
    fields.bytes.u8("SID.Revision")?;
    let count = fields.bytes.u8("SID.SubAuthorityCount")?;
    fields.bytes.take("SID", usize::from(count).saturating_mul(4).saturating_add(6)).map(drop)
}

/// Prefix of paths on a volume and what it is replaced with (`\Device\HarddiskVolume2\`, `C:\`).
pub fn volume(event: &Event<'_>) -> Option<(String, String)> {
    let kernel = utf16(event.payload);
    let rest = event.payload.get(kernel.encode_utf16().count().saturating_add(1).saturating_mul(2)..)?;
    let drive = utf16(rest);
    (kernel.len() > 1 && !drive.is_empty()).then_some((kernel, drive))
}
