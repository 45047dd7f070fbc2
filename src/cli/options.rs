//! Options that are the same for every command.

use std::path::PathBuf;

use clap::ValueEnum;

/// Options of every command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// When to use colour; NO_COLOR is honoured
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(crate) color: Color,
    /// Print errors only, and the data that --format json, jsonl or csv asks for
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Read files of at most this many MiB
    #[arg(long, global = true, default_value_t = 256, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=65536), hide_short_help = true)]
    pub(crate) max_size: u64,
    /// The code page of ANSI strings in links: a Windows number or a name
    #[arg(long, global = true, default_value = "1252", value_name = "PAGE", hide_short_help = true, value_parser = code_page)]
    pub(crate) code_page: jlfix::format::text::CodePage,
    /// Where backups are kept [default: JLFIX_BACKUP_DIR, else the user's data folder]
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true)]
    pub(crate) backup_dir: Option<PathBuf>,
    /// Accept a backup store, once, that somebody else owns or can write to, and the file names in it
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) trust_store: bool,
    /// More names for AppIDs: a file of lines "ID"|"description"
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) app_ids: Option<PathBuf>,
}

/// `-v`, for the commands that have more to show.
#[derive(Debug, clap::Args)]
pub(crate) struct Verbose {
    /// Show every file, every entry and every finding
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

fn code_page(text: &str) -> Result<jlfix::format::text::CodePage, String> {
    jlfix::format::text::CodePage::find(text)
        .ok_or_else(|| "need a Windows code page such as 1252 or 932, or a name such as shift_jis".to_owned())
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Makes this the choice of every stream.
    pub(crate) fn write_global(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// How data is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// One JSON document
    Json,
    /// A JSON object a line
    Jsonl,
    /// Comma-separated values with a header line
    Csv,
}
