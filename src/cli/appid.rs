//! `jlfix appid`: from the name of an application to the id that its jump lists are called by, and back.

use std::io::Write as _;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use jlfix::appid::{AppId, AppNames, candidates_for_path, guess, known_sources, recover};

use super::context::Context;
use super::exit::Exit;
use super::table::{Align, Grid};
use super::{Stop, output, words};

/// Compute the AppID of an application, or show which application has one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jlfix appid Microsoft.Windows.Explorer
  jlfix appid 'C:\\Program Files\\VideoLAN\\VLC\\vlc.exe'
  jlfix appid f01b4d95cf55d32a
  jlfix appid --guess executables.txt 1bc392b8e104a00e

How a name was come by: asked (computed from what was given), table (a known application),
list (--app-ids), guess (a line of --guess), recovered (computed back from the id), called (an
application of that name).
Exit code 1 if an id could not be explained.")]
pub(crate) struct AppidArgs {
    /// AppUserModelIDs, paths of executables, names of applications, AppIDs of 8 or more digits, or jump lists
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Try to explain ids by the paths and AppUserModelIDs in this file, one a line
    #[arg(long, value_name = "FILE")]
    guess: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: AppidFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AppidFormat {
    /// For people
    Table,
    /// One JSON document
    Json,
}

/// Fewer digits than these are taken for a name: `add` and `face` are words, too.
const SHORTEST_ID: usize = 8;

#[derive(Serialize)]
struct Document<'a> {
    jlfix: &'static str,
    answers: &'a [Answer<'a>],
}

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    /// The id, if it was one that was asked about.
    id: Option<AppId>,
    names: Vec<Named>,
}

#[derive(Serialize)]
struct Named {
    id: AppId,
    name: Option<String>,
    source: Option<String>,
    how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum How {
    Asked,
    Table,
    List,
    Guess,
    Recovered,
    Called,
}

impl How {
    fn word(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Table => "table",
            Self::List => "list",
            Self::Guess => "guess",
            Self::Recovered => "recovered",
            Self::Called => "called",
        }
    }
}

pub(crate) fn run(args: &AppidArgs, context: &Context) -> Result<Exit, Stop> {
    let list = match &args.guess {
        Some(path) => {
            let bytes = std::fs::read(path);
            let bytes = bytes.map_err(|error| Stop::Nothing(format!("{}: cannot read it: {error}", path.display())))?;
            decode(&bytes)
        }
        None => String::new(),
    };
    let answers: Vec<Answer<'_>> = args.names.iter().map(|query| answer(query, &list, &context.names)).collect();
    match args.format {
        AppidFormat::Table => output::people(&table(&answers))?,
        AppidFormat::Json => {
            let document = Document { jlfix: env!("CARGO_PKG_VERSION"), answers: &answers };
            let mut out = output::data();
            out.write_all(&output::to_json(&document))?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
    }
    let unexplained = answers.iter().any(|answer| answer.id.is_some() && answer.names.is_empty());
    Ok(if unexplained { Exit::Findings } else { Exit::Clean })
}

/// A list as programs write it: UTF-8, or UTF-16 with its mark, which is what PowerShell's `>` makes.
fn decode(bytes: &[u8]) -> String {
    encoding_rs::UTF_8.decode(bytes).0.into_owned()
}

fn answer<'a>(query: &'a str, list: &str, names: &AppNames) -> Answer<'a> {
    let query = query.trim();
    let digits = Some(query).filter(|query| query.len() >= SHORTEST_ID).and_then(AppId::parse);
    let file = query.rsplit(['/', '\\']).next().unwrap_or(query);
    let id = digits.or_else(|| AppId::from_copy_name(file));
    let named = match id {
        Some(id) => of_id(id, query, list, names),
        None => of_name(query, names),
    };
    Answer { query, id, names: named }
}

/// Who has this id.
fn of_id(id: AppId, query: &str, list: &str, names: &AppNames) -> Vec<Named> {
    let own = |name: &str| Some(name.to_owned());
    let added = names.added().find(|(added, _)| *added == id).map(|(_, name)| name);
    let added = added.map(|name| Named { id, name: own(name), source: None, how: How::List });
    let known = known_sources(id).iter().map(|known| Named {
        id,
        name: own(known.name),
        source: own(&known.source),
        how: How::Table,
    });
    let mut named: Vec<Named> = added.into_iter().chain(known).collect();
    // The table spells a name better than a list does.
    let spelled = |source: &str| {
        named.iter().any(|named| named.source.as_deref().is_some_and(|s| s.eq_ignore_ascii_case(source)))
    };
    let guessed = guess(id, list.lines()).filter(|source| !spelled(source));
    named.extend(guessed.map(|source| Named { id, name: None, source: Some(source), how: How::Guess }));
    if named.is_empty()
        && let Some(found) = recover(id)
    {
        named.push(Named { id, name: found.name.and_then(own), source: Some(found.source), how: How::Recovered });
    }
    // Some applications are called by what looks like an id, such as Firefox.
    let of_query = AppId::of(query);
    if let Some(known) = known_sources(of_query).first() {
        named.push(Named { id: of_query, name: own(known.name), source: own(query), how: How::Asked });
    }
    named
}

/// The ids that an application of this name or at this place has.
fn of_name(query: &str, names: &AppNames) -> Vec<Named> {
    let mut named: Vec<Named> = candidates_for_path(query)
        .into_iter()
        .map(|source| {
            let id = AppId::of(&source);
            let name = names.name(id).map(ToOwned::to_owned);
            Named { id, name, source: Some(source), how: How::Asked }
        })
        .collect();
    if named.iter().all(|named| named.name.is_none()) {
        let found = names.find(query).into_iter().map(|(id, name)| Named {
            id,
            name: Some(name.to_owned()),
            source: known_sources(id).first().map(|known| known.source.to_string()),
            how: How::Called,
        });
        named.extend(found);
    }
    named
}

fn table(answers: &[Answer<'_>]) -> String {
    let mut grid = Grid::new(&[
        ("AppID", Align::Left),
        ("Application", Align::Left),
        ("How", Align::Left),
        ("Windows calls it", Align::Left),
    ])
    .shortens(&["Application", "Windows calls it"]);
    let text =
        |text: &Option<String>| text.as_deref().map_or("-".to_owned(), |text| words::harmless(text).into_owned());
    for answer in answers {
        for named in &answer.names {
            grid.row(vec![named.id.to_string(), text(&named.name), named.how.word().to_owned(), text(&named.source)]);
        }
        if let (Some(id), []) = (answer.id, &answer.names[..]) {
            grid.row(vec![id.to_string(), "-".to_owned(), "unknown".to_owned(), "-".to_owned()]);
        }
    }
    grid.render()
}
