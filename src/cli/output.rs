//! Where the answer goes: tables, JSON, JSON lines and CSV from one shape, each through one locked, buffered writer.

use std::io::{self, BufWriter, StdoutLock, Write};

use jlfix::report::{FileRow, Totals};
use serde::Serialize;

use super::options::Format;
use super::style::{BAD, WARN, paint};
use super::words::harmless;

/// Standard output for data: buffered, never coloured.
pub(crate) type Data = BufWriter<StdoutLock<'static>>;

/// Opens standard output for data.
pub(crate) fn data() -> Data {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// Writes a text for people to standard output; colour goes where the terminal has none.
pub(crate) fn people(text: &str) -> io::Result<()> {
    anstream::stdout().lock().write_all(text.as_bytes())
}

/// Writes a text for people to standard error, for what goes with data on standard output.
pub(crate) fn report(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Tells an error on stderr.
pub(crate) fn error(message: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{} {}", paint(BAD, "jlfix:"), harmless(message));
}

/// Tells a note on stderr.
pub(crate) fn note(message: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{} {}", paint(WARN, "jlfix:"), harmless(message));
}

/// A file rendered as a JSON object, without a line end.
pub(crate) fn json(row: &FileRow<'_>) -> Vec<u8> {
    // Every field of an entry takes about three times the bytes that it has in the file.
    let room = if row.entries.is_some() { row.size.saturating_mul(3).min(64 << 20) } else { 0 };
    let mut out = Memory(Vec::with_capacity(usize::try_from(room).unwrap_or(0) + 1024));
    // Writing to memory cannot fail, and no map here has keys other than strings.
    let _ = serde_json::to_writer(&mut out, row);
    out.0
}

/// A vector to write to. Most of what JSON writes is single bytes, which need not go through a copy of memory.
struct Memory(Vec<u8>);

impl Write for Memory {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    #[inline(always)]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match bytes {
            [byte] => self.0.push(*byte),
            bytes => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Anything rendered as JSON.
pub(crate) fn to_json(value: &impl Serialize) -> Vec<u8> {
    // Writing to memory cannot fail, and no map here has keys other than strings.
    serde_json::to_vec(value).unwrap_or_default()
}

/// Writes the document of `--format json` around files that are rendered already.
pub(crate) struct Document<'w, W: Write> {
    out: &'w mut W,
    format: Format,
    files: usize,
}

impl<'w, W: Write> Document<'w, W> {
    /// Starts a document of JSON or JSON lines.
    pub(crate) fn start(out: &'w mut W, format: Format) -> io::Result<Self> {
        if format == Format::Json {
            write!(out, "{{\"jlfix\":\"{}\",\"files\":[", env!("CARGO_PKG_VERSION"))?;
        }
        Ok(Self { out, format, files: 0 })
    }

    /// Adds a file.
    pub(crate) fn file(&mut self, rendered: &[u8]) -> io::Result<()> {
        if self.format == Format::Json && self.files > 0 {
            self.out.write_all(b",")?;
        }
        if self.format == Format::Json {
            self.out.write_all(b"\n")?;
        }
        self.files += 1;
        self.out.write_all(rendered)?;
        if self.format == Format::Jsonl { self.out.write_all(b"\n") } else { Ok(()) }
    }

    /// Ends the document.
    pub(crate) fn finish(self, totals: &Totals) -> io::Result<()> {
        if self.format == Format::Json {
            self.out.write_all(b"\n],\"totals\":")?;
            self.out.write_all(&to_json(totals))?;
            self.out.write_all(b"}\n")?;
        }
        self.out.flush()
    }
}

/// A line of CSV.
pub(crate) fn csv_line<S: AsRef<[u8]>>(cells: impl IntoIterator<Item = S>) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    // Writing to memory cannot fail.
    for cell in cells {
        let _ = writer.write_field(jlfix::export::visible_nul(cell.as_ref()));
    }
    let _ = writer.write_record(None::<&[u8]>);
    writer.into_inner().unwrap_or_default()
}
