//! From an executable's path to the names that Windows may know the application by.
//!
//! An application that does not name itself is known by its path. What lies in a folder that is the same
//! for all users has that folder's GUID instead (measured on published lists of AppIDs); what lies in a user's own folder
//! keeps its path, as far as is seen. Which of several GUIDs stands for Program Files or System32 depends
//! on the width of Windows and of the program, so all are tried.

use super::AppId;
use super::mozilla::mozilla_name;
use crate::format::known_folder::{KNOWN_FOLDERS, KnownFolder};

/// What a table's row may start with to stand for several folders, and the GUIDs that Windows puts for
/// them: which it is depends on the width of Windows and of the program. These are the folders that are
/// seen replaced; what lies in others keeps its path (measured on published lists of AppIDs).
pub(super) const FOLDERS: [(&str, &[&str]); 3] = [
    (
        "%ProgramFiles%",
        &[
            "{6D809377-6AF0-444B-8957-A3773F02200E}",
            "{7C5A40EF-A0FB-4BFC-874A-C0F2E0B9FA8E}",
            "{905E63B6-C1BF-494E-B29C-65B732D3D21A}",
        ],
    ),
    ("%System32%", &["{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}", "{D65231B0-B2F1-4857-A4CE-A8E7C6EA7D27}"]),
    ("%Windows%", &["{F38BF404-1D43-42F2-9305-67DE0B28FC23}"]),
];

/// `Common Files` has GUIDs as well, which are not seen in place of it.
const COMMON_FILES: &[&str] = &[
    "{6365D5A7-0F0D-45E5-87F6-0DA56B6A4F7D}",
    "{DE974D24-D9C6-4D3E-BF91-F4455120B917}",
    "{F7F1ED05-9F6D-47A2-AAAE-29D317C6F066}",
];

/// What links write in place of a folder, in lower case, and where that usually is.
const VARIABLES: [(&str, &str); 8] = [
    ("%systemroot%", r"C:\Windows"),
    ("%windir%", r"C:\Windows"),
    ("%programfiles%", r"C:\Program Files"),
    ("%programw6432%", r"C:\Program Files"),
    ("%programfiles(x86)%", r"C:\Program Files (x86)"),
    ("%commonprogramfiles%", r"C:\Program Files\Common Files"),
    ("%programdata%", r"C:\ProgramData"),
    ("%systemdrive%", "C:"),
];

/// The names that Windows may know an executable by, the likeliest first, each once: the path with the
/// folder replaced by its GUID where that is what Windows is seen to do, or by that of a folder that is
/// for it elsewhere; the path itself; what a program of Mozilla's kin in its place would call itself; the
/// path with any other known folder replaced. `path` may have quotes around it, slashes, a `\\?\` before it,
/// a variable such as `%ProgramFiles%` or a GUID at its start. What is no path, such as an AppUserModelID,
/// is its own only name.
pub fn candidates_for_path(path: &str) -> Vec<String> {
    let path = plain(path);
    if let Some((folder, rest)) = folder_of_guid(&path) {
        return once(with_guids(folder, rest));
    }
    let holding: Vec<_> = KNOWN_FOLDERS.iter().filter_map(|folder| Some((folder, folder.rest(&path)?))).collect();
    let is_replaced = |folder: &KnownFolder| FOLDERS.iter().any(|(_, guids)| guids.contains(&&*in_braces(folder)));
    let replaced = holding.iter().find(|(folder, _)| is_replaced(folder)).into_iter();
    let kin = path.rsplit_once('\\').filter(|(_, file)| file.to_ascii_lowercase().ends_with(".exe"));
    let kin = kin.and_then(|(folder, _)| mozilla_name(folder));
    let guids = |(folder, rest): &(&'static KnownFolder, &str)| with_guids(folder, rest).collect::<Vec<_>>();
    once(replaced.flat_map(guids).chain([path.clone()]).chain(kin).chain(holding.iter().flat_map(guids)))
}

/// The name that gives `id`, out of all the names that Windows may know the `candidates` by: each is an
/// executable's path or an AppUserModelID.
pub fn guess<'a>(id: AppId, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let as_it_is = |line: &str| Some(line.to_owned()).filter(|line| AppId::of(line) == id);
    candidates.map(str::trim).filter(|line| !line.is_empty()).find_map(|line| {
        as_it_is(line).or_else(|| candidates_for_path(line).into_iter().find(|name| AppId::of(name) == id))
    })
}

/// The path without what is only there to write it down.
fn plain(path: &str) -> String {
    let path = path.trim();
    let path = path.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(path).trim();
    let path = path.replace('/', "\\");
    let path = path.strip_prefix(r"\\?\").unwrap_or(&path);
    let expanded = VARIABLES.iter().find_map(|(variable, value)| {
        let (start, rest) = path.split_at_checked(variable.len())?;
        (start.eq_ignore_ascii_case(variable) && rest.starts_with('\\')).then(|| format!("{value}{rest}"))
    });
    expanded.unwrap_or_else(|| path.to_owned())
}

/// The folder whose GUID in braces `name` starts with, and what follows, with its backslash.
fn folder_of_guid(name: &str) -> Option<(&'static KnownFolder, &str)> {
    let (guid, rest) = name.strip_prefix('{')?.split_once('}')?;
    let folder = KNOWN_FOLDERS.iter().find(|folder| folder.guid.eq_ignore_ascii_case(guid))?;
    rest.starts_with('\\').then_some((folder, rest))
}

/// `rest` in `folder`, then in those that stand for it elsewhere.
fn with_guids(folder: &KnownFolder, rest: &str) -> impl Iterator<Item = String> {
    let guid = in_braces(folder);
    let families = FOLDERS.into_iter().map(|(_, guids)| guids).chain([COMMON_FILES]);
    let family = families.filter(|guids| guids.contains(&&*guid)).flatten().map(|guid| format!("{guid}{rest}"));
    let others: Vec<_> = family.collect();
    [format!("{guid}{rest}")].into_iter().chain(others)
}

fn in_braces(folder: &KnownFolder) -> String {
    format!("{{{}}}", folder.guid)
}

fn once(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut once = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measured_ids_follow_from_names_and_from_paths() {
        for (name, path, id) in [
            ("Microsoft.Windows.Explorer", "", "f01b4d95cf55d32a"),
            (
                r"{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\notepad.exe",
                r"C:\Windows\system32\NOTEPAD.EXE",
                "9b9cdc69c1c24e2b",
            ),
            ("Microsoft.Windows.Photos_8wekyb3d8bbwe!App", "", "a52b0784bd667468"),
            ("Microsoft.InternetExplorer.Default", "", "28c8b86deab549a1"),
            ("Chrome", "", "5d696d521de238c3"),
            (r"{F38BF404-1D43-42F2-9305-67DE0B28FC23}\explorer.exe", r"%SystemRoot%\explorer.exe", "1b4dd67f29cb1962"),
            ("Microsoft.Windows.ControlPanel", "", "7e4dca80246863e3"),
            ("Microsoft.Windows.Explorer_RecentFiles", "", "5f7b5f1e01b83767"),
            ("MSEdge", "", "ccba5a5986c77e43"),
            ("Microsoft.MicrosoftEdge_8wekyb3d8bbwe!MicrosoftEdge", "", "9d1f905ce5044aee"),
            (
                r"{6D809377-6AF0-444B-8957-A3773F02200E}\VideoLAN\VLC\vlc.exe",
                "\"E:/program files/VideoLAN/VLC/vlc.exe\"",
                "faef7def55a1d4b",
            ),
            ("TheDocumentFoundation.LibreOffice.Calc", "", "83dd64e7fa560bd5"),
            ("TheDocumentFoundation.LibreOffice.Writer", "", "d38a3ea7ec79fbed"),
            ("TheDocumentFoundation.LibreOffice.Impress", "", "ecd1a5e2c3af9c46"),
            ("Microsoft.WindowsNotepad_8wekyb3d8bbwe!App", "", "a61657a5e5dfbdc"),
            (
                "windows.immersivecontrolpanel_cw5n1h2txyewy!microsoft.windows.immersivecontrolpanel",
                "",
                "f18460fded109990",
            ),
            (
                r"{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe",
                r"\\?\C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe",
                "590aee7bdd69b59b",
            ),
            ("Microsoft.VisualStudioCode", "", "1ced32d74a95c7bc"),
            ("Microsoft.ZuneVideo_8wekyb3d8bbwe!Microsoft.ZuneVideo", "", "4cb9c5750d51c07f"),
            ("Microsoft.ZuneMusic_8wekyb3d8bbwe!Microsoft.ZuneMusic", "", "ae6df75df512bd06"),
        ] {
            let id = AppId::parse(id).unwrap();
            assert_eq!(AppId::of(name), id, "{name}");
            assert_eq!(guess(id, ["", "nothing", name].into_iter()).as_deref(), Some(name));
            if !path.is_empty() {
                let found = guess(id, [path].into_iter()).expect(path);
                assert!(found.eq_ignore_ascii_case(name), "{found}");
            }
        }
    }

    #[test]
    fn the_likeliest_name_comes_first_and_none_twice() {
        let names = candidates_for_path(r"C:\Program Files (x86)\Common Files\A\a.exe");
        assert_eq!(names[0], r"{7C5A40EF-A0FB-4BFC-874A-C0F2E0B9FA8E}\Common Files\A\a.exe");
        assert!(names.contains(&r"{DE974D24-D9C6-4D3E-BF91-F4455120B917}\A\a.exe".into()));
        assert!(names.contains(&r"C:\Program Files (x86)\Common Files\A\a.exe".into()));
        let mut once = names.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), names.len());
        let own = candidates_for_path(r"C:\Users\jo\AppData\Local\A\a.exe");
        assert_eq!(own[0], r"C:\Users\jo\AppData\Local\A\a.exe", "a user's own folder stays as it is");
        assert!(own.contains(&r"{F1B32785-6FBA-4FCF-9D55-7B8E7F157091}\A\a.exe".into()));
        assert_eq!(candidates_for_path("Chrome"), ["Chrome"]);
    }

    #[test]
    fn firefox_is_found_by_where_it_is() {
        let id = AppId::of("308046B0AF4A39CB");
        let path = r"C:\Program Files\Mozilla Firefox\firefox.exe";
        assert_eq!(guess(id, [path].into_iter()).as_deref(), Some("308046B0AF4A39CB"));
        assert_eq!(guess(id, [r"C:\Program Files\Mozilla Firefox\readme.txt"].into_iter()), None);
    }

    #[test]
    fn a_program_is_found_whatever_the_width_of_the_windows_that_named_it() {
        let rest = r"\Foo\foo.exe";
        for guid in [
            "6D809377-6AF0-444B-8957-A3773F02200E",
            "7C5A40EF-A0FB-4BFC-874A-C0F2E0B9FA8E",
            "905E63B6-C1BF-494E-B29C-65B732D3D21A",
        ] {
            let name = format!("{{{guid}}}{rest}");
            for path in [
                format!(r"C:\Program Files{rest}"),
                format!("%programfiles%{rest}"),
                format!("{{905e63b6-c1bf-494e-b29c-65b732d3d21a}}{rest}"),
            ] {
                let found = guess(AppId::of(&name), [path.as_str()].into_iter()).expect(&path);
                assert!(found.eq_ignore_ascii_case(&name), "{found}");
            }
        }
    }
}
