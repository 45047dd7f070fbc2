//! Programs that are installed on their own.

use super::Row;

#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    (r"%ProgramFiles%\7-Zip\7zFM.exe", "7-Zip"),
    (r"%ProgramFiles%\Notepad++\notepad++.exe", "Notepad++"),
    (r"%ProgramFiles%\VideoLAN\VLC\vlc.exe", "VLC media player"),
    (r"%ProgramFiles%\WinRAR\WinRAR.exe", "WinRAR"),
    (r"com.squirrel.slack.slack", "Slack"),
    (r"com.squirrel.Teams.Teams", "Microsoft Teams (classic)"),
    (r"Microsoft.VisualStudioCode", "Visual Studio Code"),
];
