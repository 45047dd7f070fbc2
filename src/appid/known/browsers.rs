//! Browsers. Those built on Chromium put the profile behind their name; those of Mozilla's kin are known by the
//! folder they are in.

use super::Row;

#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    (r"%ProgramFiles%\Google\Chrome\Application\chrome.exe", "Google Chrome"),
    (r"%ProgramFiles%\Internet Explorer\iexplore.exe", "Internet Explorer"),
    (r"%ProgramFiles%\Microsoft\Edge\Application\msedge.exe", "Microsoft Edge"),
    (r"%ProgramFiles%\Mozilla Firefox\firefox.exe", "Mozilla Firefox"),
    (r"%ProgramFiles%\mozilla.org\Mozilla\mozilla.exe", "Mozilla Suite"),
    (r"%ProgramFiles%\Opera\opera.exe", "Opera"),
    (r"%ProgramFiles%\Pale Moon\palemoon.exe", "Pale Moon"),
    (r"%ProgramFiles%\Safari\Safari.exe", "Safari"),
    (r"%ProgramFiles%\SeaMonkey\seamonkey.exe", "SeaMonkey"),
    (r"Apple.Safari", "Safari"),
    (r"Brave", "Brave"),
    (r"BraveBeta", "Brave Beta"),
    (r"BraveNightly", "Brave Nightly"),
    (r"Chrome", "Google Chrome"),
    (r"Chrome.UserData.Default", "Google Chrome"),
    (r"Chrome.UserData.Profile1", "Google Chrome"),
    (r"Chrome.UserData.Profile2", "Google Chrome"),
    (r"ChromeBeta", "Google Chrome Beta"),
    (r"ChromeCanary", "Google Chrome Canary"),
    (r"ChromeDev", "Google Chrome Dev"),
    (r"Chromium", "Chromium"),
    (r"Microsoft.InternetExplorer.64Bit", "Internet Explorer (64-bit)"),
    (r"Microsoft.InternetExplorer.Default", "Internet Explorer"),
    (r"Microsoft.MicrosoftEdge.Stable_8wekyb3d8bbwe!App", "Microsoft Edge"),
    (r"Microsoft.MicrosoftEdge_8wekyb3d8bbwe!MicrosoftEdge", "Microsoft Edge Legacy"),
    (r"Microsoft.MicrosoftEdge_8wekyb3d8bbwe!PdfReader", "Microsoft Edge Legacy (PDF)"),
    (r"Microsoft.Windows.Spartan_cw5n1h2txyewy!Microsoft.Spartan.Spartan", "Microsoft Edge Legacy"),
    (r"Mozilla.Firefox.4.0", "Mozilla Firefox"),
    (r"Mozilla.Firefox.4.0.1", "Mozilla Firefox"),
    (r"Mozilla.Firefox.5.0", "Mozilla Firefox"),
    (r"Mozilla.Firefox.6.0", "Mozilla Firefox"),
    (r"Mozilla.Firefox.7.0", "Mozilla Firefox"),
    (r"Mozilla.SeaMonkey.2.3.3", "SeaMonkey"),
    (r"MSEdge", "Microsoft Edge"),
    (r"MSEdge.UserData.Default", "Microsoft Edge"),
    (r"MSEdge.UserData.Profile1", "Microsoft Edge"),
    (r"MSEdgeWebView.EBWebView.Default", "Microsoft Edge WebView2"),
    (r"Vivaldi", "Vivaldi"),
];

/// Programs of Mozilla's kin: the folder in Program Files that they are installed in, and their names.
#[rustfmt::skip]
pub(super) static MOZILLA_FOLDERS: &[Row] = &[
    ("Basilisk", "Basilisk"),
    ("Firefox Developer Edition", "Firefox Developer Edition"),
    ("Firefox Nightly", "Firefox Nightly"),
    ("LibreWolf", "LibreWolf"),
    ("Mozilla Firefox", "Mozilla Firefox"),
    ("Mozilla Thunderbird", "Mozilla Thunderbird"),
    ("Pale Moon", "Pale Moon"),
    ("SeaMonkey", "SeaMonkey"),
    ("Waterfox", "Waterfox"),
    ("Zen Browser", "Zen Browser"),
];
