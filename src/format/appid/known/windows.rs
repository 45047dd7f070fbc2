//! What comes with Windows and is no package of the Store.

use super::Row;

#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    (r"%System32%\calc.exe", "Calculator"),
    (r"%System32%\cleanmgr.exe", "Disk Cleanup"),
    (r"%System32%\cmd.exe", "Command Prompt"),
    (r"%System32%\dfrgui.exe", "Defragment and Optimize Drives"),
    (r"%System32%\eventvwr.exe", "Event Viewer"),
    (r"%System32%\fontview.exe", "Font Viewer"),
    (r"%System32%\msdt.exe", "Diagnostics Troubleshooting Wizard"),
    (r"%System32%\msinfo32.exe", "System Information"),
    (r"%System32%\mspaint.exe", "Paint"),
    (r"%System32%\notepad.exe", "Notepad"),
    (r"%System32%\rstrui.exe", "System Restore"),
    (r"%System32%\SnippingTool.exe", "Snipping Tool"),
    (r"%System32%\WindowsPowerShell\v1.0\powershell.exe", "Windows PowerShell"),
    (r"%System32%\WindowsPowerShell\v1.0\powershell_ise.exe", "Windows PowerShell ISE"),
    (r"%System32%\wscript.exe", "Windows Script Host"),
    (r"%System32%\wusa.exe", "Windows Update Standalone Installer"),
    (r"%System32%\xpsrchvw.exe", "XPS Viewer"),
    (r"%Windows%\explorer.exe", "Windows Explorer"),
    (r"%Windows%\notepad.exe", "Notepad"),
    (r"Microsoft.Windows.ControlPanel", "Control Panel"),
    (r"Microsoft.Windows.Explorer", "File Explorer"),
    (r"Microsoft.Windows.Explorer_RecentFiles", "Quick Access recent files"),
    (r"Microsoft.Windows.MediaCenter", "Windows Media Center"),
    (r"Microsoft.Windows.MediaPlayer32", "Windows Media Player"),
    (r"Microsoft.Windows.RemoteDesktop", "Remote Desktop Connection"),
    (r"Microsoft.Windows.Shell.RunDialog", "Run"),
];
