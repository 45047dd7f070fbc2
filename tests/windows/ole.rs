//! Windows' own reader of compound files, ole32, as an independent judge of a file.
//!
//! Used as `#[cfg(windows)] #[path = "windows/ole.rs"] mod ole;`.

#![allow(unsafe_code, dead_code)] // COM is called through raw pointers; not every test needs all of it.

use std::ffi::{OsStr, c_void};
use std::os::windows::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{NonNull, null, null_mut};

use jlfix::limits::Limits;
use windows_sys::Win32::System::Com::StructuredStorage::StgOpenStorage;
use windows_sys::Win32::System::Com::{
    CoTaskMemFree, STATSTG, STGM_READ, STGM_SHARE_DENY_WRITE, STGM_SHARE_EXCLUSIVE, STGTY_STORAGE, STGTY_STREAM,
};
use windows_sys::core::HRESULT;

/// A stream's name, storages before it with `/` between, and its bytes.
pub type Stream = (String, Vec<u8>);

/// All streams of the file as ole32 reads them, sorted by name, or what ole32 does not like.
pub fn streams(path: &Path) -> Result<Vec<Stream>, String> {
    let wide = wide(path.as_os_str());
    let mut storage = null_mut();
    // SAFETY: the path ends in a zero and outlives the call, the result goes to a place of its own.
    let result = unsafe {
        StgOpenStorage(wide.as_ptr(), null_mut(), STGM_READ | STGM_SHARE_DENY_WRITE, null(), 0, &mut storage)
    };
    // SAFETY: ole32 has given an IStorage, and the reference is ours.
    let storage = unsafe { Storage::given(result, storage) }.map_err(|e| format!("StgOpenStorage: {e}"))?;
    let mut found = Vec::new();
    storage.collect("", &mut found)?;
    found.sort();
    Ok(found)
}

/// All streams of the file as jlfix reads them, sorted by name.
pub fn own_streams(path: &Path) -> Vec<Stream> {
    let data = std::fs::read(path).unwrap();
    let compound = jlfix::salvage::read(&data, &Limits::default()).unwrap();
    let mut found: Vec<_> = compound
        .streams
        .iter()
        .map(|stream| (join(&stream.storage, &stream.name.to_string()), stream.data.to_vec()))
        .collect();
    found.sort();
    found
}

/// Holds the file against both readers, and says how many streams it has.
pub fn assert_both_read_the_same(path: &Path) -> usize {
    let theirs = streams(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let ours = own_streams(path);
    let names = |streams: &[Stream]| streams.iter().map(|(name, data)| (name.clone(), data.len())).collect::<Vec<_>>();
    assert_eq!(names(&theirs), names(&ours), "{}: names and sizes, ole32's and ours", path.display());
    for ((name, theirs), (_, ours)) in theirs.iter().zip(&ours) {
        assert!(theirs == ours, "{}: stream {name} has other bytes", path.display());
    }
    theirs.len()
}

fn join(storage: &str, name: &str) -> String {
    if storage.is_empty() { name.to_owned() } else { format!("{storage}/{name}") }
}

fn wide(text: &OsStr) -> Vec<u16> {
    text.encode_wide().chain([0]).collect()
}

// The vtables in the order of objidl.h; methods that are not called here are only places.

#[repr(C)]
struct UnknownTable {
    query_interface: *const c_void,
    add_ref: *const c_void,
    release: unsafe extern "system" fn(*mut c_void) -> u32,
}

#[repr(C)]
struct StorageTable {
    unknown: UnknownTable,
    create_stream: *const c_void,
    open_stream: unsafe extern "system" fn(*mut c_void, *const u16, *mut c_void, u32, u32, *mut *mut c_void) -> HRESULT,
    create_storage: *const c_void,
    open_storage: unsafe extern "system" fn(
        *mut c_void,
        *const u16,
        *mut c_void,
        u32,
        *const *const u16,
        u32,
        *mut *mut c_void,
    ) -> HRESULT,
    copy_to: *const c_void,
    move_element_to: *const c_void,
    commit: *const c_void,
    revert: *const c_void,
    enum_elements: unsafe extern "system" fn(*mut c_void, u32, *mut c_void, u32, *mut *mut c_void) -> HRESULT,
}

#[repr(C)]
struct ElementsTable {
    unknown: UnknownTable,
    next: unsafe extern "system" fn(*mut c_void, u32, *mut STATSTG, *mut u32) -> HRESULT,
}

#[repr(C)]
struct StreamTable {
    unknown: UnknownTable,
    read: unsafe extern "system" fn(*mut c_void, *mut c_void, u32, *mut u32) -> HRESULT,
}

/// A COM object whose interface has the table `T`; released when dropped.
struct Object<T>(NonNull<*const T>);

type Storage = Object<StorageTable>;

impl<T> Object<T> {
    /// Takes over what a call gave back.
    ///
    /// # Safety
    /// If `result` is a success, `object` must be null or a counted reference to an interface with table `T`.
    unsafe fn given(result: HRESULT, object: *mut c_void) -> Result<Self, String> {
        if result < 0 {
            return Err(format!("0x{result:08x}"));
        }
        NonNull::new(object.cast()).map(Self).ok_or_else(|| "no object".to_owned())
    }

    fn this(&self) -> *mut c_void {
        self.0.as_ptr().cast()
    }

    fn table(&self) -> &T {
        // SAFETY: `given` was promised a live interface, which begins with a pointer to its table.
        unsafe { &**self.0.as_ptr() }
    }
}

impl<T> Drop for Object<T> {
    fn drop(&mut self) {
        let table = self.0.as_ptr().cast::<*const UnknownTable>();
        // SAFETY: every table begins with IUnknown's, and this is the one reference that is ours.
        unsafe { ((**table).release)(self.this()) };
    }
}

impl Storage {
    fn collect(&self, own_path: &str, found: &mut Vec<Stream>) -> Result<(), String> {
        let mut list = null_mut();
        // SAFETY: a live storage; a success gives an IEnumSTATSTG that is ours.
        let list = unsafe {
            let result = (self.table().enum_elements)(self.this(), 0, null_mut(), 0, &mut list);
            Object::<ElementsTable>::given(result, list)
        };
        let list = list.map_err(|e| format!("EnumElements of {own_path:?}: {e}"))?;
        loop {
            let mut element = STATSTG::default();
            // SAFETY: room for the one element asked for.
            let result = unsafe { (list.table().next)(list.this(), 1, &mut element, null_mut()) };
            match result {
                0 => {}
                1 => return Ok(()),
                _ => return Err(format!("Next in {own_path:?}: 0x{result:08x}")),
            }
            let name = Name(element.pwcsName);
            let path = join(own_path, &name.text());
            let failed = |e| format!("{path} does not open: {e}");
            let mut object = null_mut();
            match i32::try_from(element.r#type) {
                Ok(STGTY_STREAM) => {
                    // SAFETY: the name is the element's own, ended by a zero; a success gives an IStream that is ours.
                    let stream = unsafe {
                        let mode = STGM_READ | STGM_SHARE_EXCLUSIVE;
                        let result = (self.table().open_stream)(self.this(), name.0, null_mut(), mode, 0, &mut object);
                        Object::<StreamTable>::given(result, object)
                    };
                    let data = stream.map_err(failed)?.read(&path)?;
                    if data.len() as u64 != element.cbSize {
                        return Err(format!("{path} says {} bytes and gives {}", element.cbSize, data.len()));
                    }
                    found.push((path, data));
                }
                Ok(STGTY_STORAGE) => {
                    // SAFETY: as for a stream; a success gives an IStorage that is ours.
                    let storage = unsafe {
                        let mode = STGM_READ | STGM_SHARE_EXCLUSIVE;
                        let result =
                            (self.table().open_storage)(self.this(), name.0, null_mut(), mode, null(), 0, &mut object);
                        Self::given(result, object)
                    };
                    storage.map_err(failed)?.collect(&path, found)?;
                }
                _ => return Err(format!("{path} is of type {}", element.r#type)),
            }
        }
    }
}

impl Object<StreamTable> {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let mut data = Vec::new();
        let mut buffer = [0_u8; 0x10000];
        loop {
            let mut got = 0;
            // SAFETY: the buffer has the room that is told.
            let result =
                unsafe { (self.table().read)(self.this(), buffer.as_mut_ptr().cast(), buffer.len() as u32, &mut got) };
            if result < 0 {
                return Err(format!("{path} does not read on after {} bytes: 0x{result:08x}", data.len()));
            }
            if got == 0 {
                return Ok(data);
            }
            data.extend_from_slice(&buffer[..got as usize]);
        }
    }
}

/// A name that COM has allocated for us.
struct Name(*mut u16);

impl Name {
    fn text(&self) -> String {
        let mut units = Vec::new();
        // SAFETY: EnumElements gives every element a name that ends in a zero.
        unsafe {
            let mut at = self.0;
            while *at != 0 {
                units.push(*at);
                at = at.add(1);
            }
        }
        String::from_utf16_lossy(&units)
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        // SAFETY: the caller of Next owns the name.
        unsafe { CoTaskMemFree(self.0.cast()) };
    }
}
