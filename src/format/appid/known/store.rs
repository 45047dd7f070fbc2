//! Packages of the Microsoft Store, and those that come with Windows: family name, `!`, application.

use super::Row;

#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    ("Microsoft.DesktopAppInstaller_8wekyb3d8bbwe!App", "App Installer"),
    ("Microsoft.MicrosoftStickyNotes_8wekyb3d8bbwe!App", "Sticky Notes"),
    ("Microsoft.ScreenSketch_8wekyb3d8bbwe!App", "Snipping Tool"),
    ("Microsoft.SecHealthUI_8wekyb3d8bbwe!SecHealthUI", "Windows Security"),
    ("Microsoft.Windows.Photos_8wekyb3d8bbwe!App", "Photos"),
    ("Microsoft.Windows.SecHealthUI_cw5n1h2txyewy!SecHealthUI", "Windows Security"),
    ("Microsoft.Windows.ShellExperienceHost_cw5n1h2txyewy!App", "Windows Shell Experience Host"),
    ("Microsoft.WindowsCalculator_8wekyb3d8bbwe!App", "Calculator"),
    ("Microsoft.WindowsNotepad_8wekyb3d8bbwe!App", "Notepad"),
    ("Microsoft.WindowsStore_8wekyb3d8bbwe!App", "Microsoft Store"),
    ("Microsoft.WindowsTerminal_8wekyb3d8bbwe!App", "Windows Terminal"),
    ("Microsoft.XboxGamingOverlay_8wekyb3d8bbwe!App", "Xbox Game Bar"),
    ("Microsoft.YourPhone_8wekyb3d8bbwe!App", "Phone Link"),
    ("Microsoft.ZuneMusic_8wekyb3d8bbwe!Microsoft.ZuneMusic", "Windows Media Player"),
    ("Microsoft.ZuneVideo_8wekyb3d8bbwe!Microsoft.ZuneVideo", "Movies & TV"),
    ("windows.immersivecontrolpanel_cw5n1h2txyewy!microsoft.windows.immersivecontrolpanel", "Settings"),
];
