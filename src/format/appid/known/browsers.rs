//! Browsers. Those of Mozilla's kin call themselves by a hash of the folder they are in.

use super::Row;

#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    ("308046B0AF4A39CB", "Mozilla Firefox"),
    ("8216C80C92C4E828", "Mozilla Thunderbird"),
    ("Chrome", "Google Chrome"),
    ("E7CF176E110C211B", "Mozilla Firefox"),
    ("Microsoft.InternetExplorer.Default", "Internet Explorer"),
    ("Microsoft.MicrosoftEdge_8wekyb3d8bbwe!MicrosoftEdge", "Microsoft Edge Legacy"),
    ("MSEdge", "Microsoft Edge"),
];
