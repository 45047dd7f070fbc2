//! Commands of this program, as they are printed to be run.

use super::context::Context;
use super::words::quoted;

/// A command line of this program as it can be pasted: the name that reaches it, the words, and the store if another
/// than the usual one is used.
pub(crate) fn command(context: &Context, words: &str) -> String {
    let dir = context.backup_dir.as_ref().map(|dir| {
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
        format!(" --backup-dir {}", quoted(&dir.to_string_lossy()))
    });
    format!("{} {words}{}", program(), dir.unwrap_or_default())
}

/// How this program is reached from a shell here: by its name if that leads to it, else as it was called.
fn program() -> String {
    let itself = std::env::current_exe().and_then(std::fs::canonicalize).ok();
    let name = format!("jlfix{}", std::env::consts::EXE_SUFFIX);
    let on_path = std::env::var_os("PATH")
        .and_then(|path| std::env::split_paths(&path).map(|dir| dir.join(&name)).find(|file| file.is_file()));
    if on_path.is_some() && on_path.and_then(|file| std::fs::canonicalize(file).ok()) == itself {
        return "jlfix".to_owned();
    }
    std::env::args_os().next().map_or("jlfix".to_owned(), |called| quoted(&called.to_string_lossy()))
}
