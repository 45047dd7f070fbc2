//! Where the answer goes: tables, JSON, JSON lines and CSV from one shape, each through one locked, buffered writer.
//!
//! An error while standard output is written never stops the work: it is kept, the rest of the output is discarded, and
//! [`settle`] reports it at the end.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use jlfix::report::{FileRow, Totals};
use serde::Serialize;

use super::exit::Exit;
use super::options::Format;
use super::style::{BAD, WARN, paint};
use super::words::harmless;

/// The first error while standard output was written.
static FAILURE: OnceLock<io::Error> = OnceLock::new();
/// What is reported with it: what was changed, and the command that undoes it.
static UNREPORTED: OnceLock<String> = OnceLock::new();
/// True if only errors and data are written.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on, texts for people are not written.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Keeps the error, and the output goes on as if it had been written.
fn keep(result: io::Result<()>) {
    if let Err(error) = result {
        let _ = FAILURE.set(error);
    }
}

/// What has to be reported if the output could not be written.
pub(crate) fn if_unwritten(message: String) {
    let _ = UNREPORTED.set(message);
}

/// The exit code after the output: that of the work. If the output could not be written, a run that was clean or had
/// findings ends as partly done, with a line on stderr; a reader that closed the pipe has seen enough.
pub(crate) fn settle(exit: Exit) -> Exit {
    let Some(failure) = FAILURE.get().filter(|failure| failure.kind() != io::ErrorKind::BrokenPipe) else {
        return exit;
    };
    let done = UNREPORTED.get().map(|message| format!("; {message}")).unwrap_or_default();
    error(&format!("cannot write the output: {failure}{done}"));
    match exit {
        Exit::Clean | Exit::Findings => Exit::Partly,
        exit => exit,
    }
}

/// Standard output, buffered. Writing to it never fails; see [`settle`].
pub(crate) struct Output<W: Write> {
    out: BufWriter<W>,
    /// Nothing is written.
    is_quiet: bool,
}

impl<W: Write> Output<W> {
    fn new(out: W, is_quiet: bool) -> Self {
        Self { out: BufWriter::with_capacity(1 << 16, out), is_quiet }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_quiet && FAILURE.get().is_none() {
            keep(self.out.write_all(bytes));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if FAILURE.get().is_none() {
            keep(self.out.flush());
        }
        Ok(())
    }
}

/// Standard output for data.
pub(crate) type Data = Output<StdoutLock<'static>>;

/// Opens standard output for data: never coloured.
pub(crate) fn data() -> Data {
    Output::new(io::stdout().lock(), false)
}

/// Opens standard output for a text for people: colour is removed where the terminal has none.
pub(crate) fn people_writer() -> Output<anstream::AutoStream<StdoutLock<'static>>> {
    Output::new(anstream::stdout().lock(), QUIET.load(Ordering::Relaxed))
}

/// Writes a text for people to standard output.
pub(crate) fn people(text: &str) -> io::Result<()> {
    let mut out = people_writer();
    out.write_all(text.as_bytes())?;
    out.flush()
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
