//! Office suites.

use super::Row;

#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    (r"%ProgramFiles%\Microsoft Office\Office11\WINWORD.EXE", "Microsoft Word"),
    (r"%ProgramFiles%\Microsoft Office\Office12\WINWORD.EXE", "Microsoft Word"),
    (r"%ProgramFiles%\Microsoft Office\Office14\WINWORD.EXE", "Microsoft Word"),
    (r"%ProgramFiles%\Windows NT\Accessories\wordpad.exe", "WordPad"),
    (r"Microsoft.MicrosoftOfficeHub_8wekyb3d8bbwe!Microsoft.MicrosoftOfficeHub", "Microsoft 365"),
    (r"Microsoft.Office.EXCEL.EXE.15", "Microsoft Excel"),
    (r"Microsoft.Office.lync.exe.15", "Skype for Business"),
    (r"Microsoft.Office.MSACCESS.EXE.15", "Microsoft Access"),
    (r"Microsoft.Office.MSPUB.EXE.15", "Microsoft Publisher"),
    (r"Microsoft.Office.ONENOTE.EXE.15", "Microsoft OneNote"),
    (r"Microsoft.Office.OUTLOOK.EXE.15", "Microsoft Outlook"),
    (r"Microsoft.Office.POWERPNT.EXE.15", "Microsoft PowerPoint"),
    (r"Microsoft.Office.WINWORD.EXE.15", "Microsoft Word"),
    (r"TheDocumentFoundation.LibreOffice.Base", "LibreOffice Base"),
    (r"TheDocumentFoundation.LibreOffice.Calc", "LibreOffice Calc"),
    (r"TheDocumentFoundation.LibreOffice.Draw", "LibreOffice Draw"),
    (r"TheDocumentFoundation.LibreOffice.Impress", "LibreOffice Impress"),
    (r"TheDocumentFoundation.LibreOffice.Math", "LibreOffice Math"),
    (r"TheDocumentFoundation.LibreOffice.Startcenter", "LibreOffice"),
    (r"TheDocumentFoundation.LibreOffice.Writer", "LibreOffice Writer"),
];
