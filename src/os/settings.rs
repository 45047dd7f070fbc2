//! Windows' registry, as far as settings of jump lists are kept in it. Other systems have none: every call there says
//! that it is unsupported.

use std::io;

/// A part of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hive {
    /// The current user's settings.
    User,
    /// The machine's.
    Machine,
    /// Kinds of files and what belongs to them, of both.
    Classes,
}

/// The number that `name` of `key` is set to; `None` if it is not set. Four bytes of any type count.
///
/// # Errors
/// What the system says; `InvalidData` for what is no number, `Unsupported` where there is no registry.
pub fn number(hive: Hive, key: &str, name: &str) -> io::Result<Option<u32>> {
    sys::number(hive, key, name)
}

/// The text that `name` of `key` is set to; `None` if it is not set.
///
/// # Errors
/// What the system says; `Unsupported` where there is no registry.
pub fn text(hive: Hive, key: &str, name: &str) -> io::Result<Option<String>> {
    sys::text(hive, key, name)
}

/// How many keys there are below `key`; `None` if it is not there.
///
/// # Errors
/// What the system says; `Unsupported` where there is no registry.
pub fn count_keys(hive: Hive, key: &str) -> io::Result<Option<usize>> {
    sys::count_keys(hive, key)
}

/// Sets `name` of `key` in the current user's settings to a number.
///
/// # Errors
/// What the system says; `Unsupported` where there is no registry.
pub fn set_number(key: &str, name: &str, value: u32) -> io::Result<()> {
    sys::set_number(key, name, value)
}

#[cfg(windows)]
mod sys {
    use super::{Hive, io};
    use windows_registry::{CLASSES_ROOT, CURRENT_USER, Key, LOCAL_MACHINE};

    const NOT_FOUND: u32 = 0x8007_0002;

    fn root(hive: Hive) -> &'static Key {
        match hive {
            Hive::User => CURRENT_USER,
            Hive::Machine => LOCAL_MACHINE,
            Hive::Classes => CLASSES_ROOT,
        }
    }

    /// What is not there is no error.
    fn found<T>(result: windows_registry::Result<T>) -> io::Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.code().0.cast_unsigned() == NOT_FOUND => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn number(hive: Hive, key: &str, name: &str) -> io::Result<Option<u32>> {
        let Some(key) = found(root(hive).open(key))? else { return Ok(None) };
        let Some(value) = found(key.get_value(name))? else { return Ok(None) };
        let bytes: [u8; 4] = (&*value).try_into().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        Ok(Some(u32::from_le_bytes(bytes)))
    }

    pub(super) fn text(hive: Hive, key: &str, name: &str) -> io::Result<Option<String>> {
        let Some(key) = found(root(hive).open(key))? else { return Ok(None) };
        found(key.get_string(name))
    }

    pub(super) fn count_keys(hive: Hive, key: &str) -> io::Result<Option<usize>> {
        let Some(key) = found(root(hive).open(key))? else { return Ok(None) };
        Ok(Some(key.keys().map_err(io::Error::from)?.count()))
    }

    pub(super) fn set_number(key: &str, name: &str, value: u32) -> io::Result<()> {
        Ok(CURRENT_USER.create(key)?.set_u32(name, value)?)
    }
}

#[cfg(not(windows))]
mod sys {
    use super::{Hive, io};

    fn unsupported<T>() -> io::Result<T> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no registry"))
    }

    pub(super) fn number(_hive: Hive, _key: &str, _name: &str) -> io::Result<Option<u32>> {
        unsupported()
    }

    pub(super) fn text(_hive: Hive, _key: &str, _name: &str) -> io::Result<Option<String>> {
        unsupported()
    }

    pub(super) fn count_keys(_hive: Hive, _key: &str) -> io::Result<Option<usize>> {
        unsupported()
    }

    pub(super) fn set_number(_key: &str, _name: &str, _value: u32) -> io::Result<()> {
        unsupported()
    }
}
