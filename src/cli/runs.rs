//! Runs of the backup store, as users name them.

use jlfix::store::{RunId, Store};

use super::Stop;

/// The run that the user named: by its id, the start of one, or `latest`.
pub(crate) fn find_run(store: &Store, text: &str) -> Result<RunId, Stop> {
    let runs = store.list().map_err(|error| Stop::Nothing(error.to_string()))?;
    let root = store.root().display().to_string();
    if text == "latest" {
        let latest = runs.into_iter().next().map(|run| run.id);
        return latest.ok_or_else(|| Stop::Nothing(format!("no backups in {root}")));
    }
    let starts = |id: &RunId| !text.is_empty() && id.as_str().starts_with(text);
    let found: Vec<RunId> = runs.into_iter().map(|run| run.id).filter(starts).collect();
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] if text.starts_with(|c: char| c.is_ascii_digit()) => {
            Err(Stop::Nothing(format!("no run {text} in {root}; `jlfix backup list` lists them")))
        }
        [] => Err(Stop::Usage(format!("need the id of a run, its start, or latest; have {text:?}"))),
        several => Err(Stop::Usage(format!(
            "{text} is the start of {} runs, such as {} and {}",
            several.len(),
            several.first().map(ToString::to_string).unwrap_or_default(),
            several.last().map(ToString::to_string).unwrap_or_default()
        ))),
    }
}
