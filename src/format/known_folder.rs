//! Known folders: the GUIDs that Windows puts in place of a folder's path, in AppIDs' names and in the
//! `knownfolder:{GUID}` paths of a DestList (KNOWNFOLDERID, Microsoft's reference; the usual path is that
//! of a current 64-bit Windows on drive C).
//!
//! ```
//! use jlfix::format::known_folder::KnownFolder;
//!
//! let id = jlfix::Guid::parse("1ac14e77-02e7-4e5d-b744-2eb1ae5198b7").expect("a GUID");
//! assert_eq!(KnownFolder::find(&id).expect("System32").path, Some(r"C:\Windows\System32"));
//! ```

use super::guid::Guid;

/// One known folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownFolder {
    /// Its GUID, in upper case, without braces.
    pub guid: &'static str,
    /// Its name in Microsoft's reference, without `FOLDERID_`.
    pub name: &'static str,
    /// Where it usually is, `*` standing for the user's name; `None` if it is on no disk.
    pub path: Option<&'static str>,
}

const fn at(guid: &'static str, name: &'static str, path: &'static str) -> KnownFolder {
    KnownFolder { guid, name, path: Some(path) }
}

const fn nowhere(guid: &'static str, name: &'static str) -> KnownFolder {
    KnownFolder { guid, name, path: None }
}

/// All that are known, a folder before those that hold it.
#[rustfmt::skip]
pub static KNOWN_FOLDERS: &[KnownFolder] = &[
    at("1AC14E77-02E7-4E5D-B744-2EB1AE5198B7", "System", r"C:\Windows\System32"),
    at("D65231B0-B2F1-4857-A4CE-A8E7C6EA7D27", "SystemX86", r"C:\Windows\SysWOW64"),
    at("FD228CB7-AE11-4AE3-864C-16F3910AB8FE", "Fonts", r"C:\Windows\Fonts"),
    at("8AD10C31-2ADB-4296-A8F7-E4701232C972", "ResourceDir", r"C:\Windows\Resources"),
    at("F38BF404-1D43-42F2-9305-67DE0B28FC23", "Windows", r"C:\Windows"),
    at("F7F1ED05-9F6D-47A2-AAAE-29D317C6F066", "ProgramFilesCommon", r"C:\Program Files\Common Files"),
    at("6365D5A7-0F0D-45E5-87F6-0DA56B6A4F7D", "ProgramFilesCommonX64", r"C:\Program Files\Common Files"),
    at("DE974D24-D9C6-4D3E-BF91-F4455120B917", "ProgramFilesCommonX86", r"C:\Program Files (x86)\Common Files"),
    at("6D809377-6AF0-444B-8957-A3773F02200E", "ProgramFilesX64", r"C:\Program Files"),
    at("905E63B6-C1BF-494E-B29C-65B732D3D21A", "ProgramFiles", r"C:\Program Files"),
    at("7C5A40EF-A0FB-4BFC-874A-C0F2E0B9FA8E", "ProgramFilesX86", r"C:\Program Files (x86)"),
    at("D0384E7D-BAC3-4797-8F14-CBA229B392B5", "CommonAdminTools", r"C:\ProgramData\Microsoft\Windows\Start Menu\Programs\Administrative Tools"),
    at("82A5EA35-D9CD-47C5-9629-E15D2F714E6E", "CommonStartup", r"C:\ProgramData\Microsoft\Windows\Start Menu\Programs\StartUp"),
    at("0139D44E-6AFE-49F2-8690-3DAFCAE6FFB8", "CommonPrograms", r"C:\ProgramData\Microsoft\Windows\Start Menu\Programs"),
    at("A4115719-D62E-491D-AA7C-E74B8BE3B067", "CommonStartMenu", r"C:\ProgramData\Microsoft\Windows\Start Menu"),
    at("B94237E7-57AC-4347-9151-B08C6C32D1F7", "CommonTemplates", r"C:\ProgramData\Microsoft\Windows\Templates"),
    at("62AB5D82-FDC1-4DC3-A9DD-070D1D495D97", "ProgramData", r"C:\ProgramData"),
    at("C4AA340D-F20F-4863-AFEF-F87EF2E6BA25", "PublicDesktop", r"C:\Users\Public\Desktop"),
    at("ED4824AF-DCE4-45A8-81E2-FC7965083634", "PublicDocuments", r"C:\Users\Public\Documents"),
    at("3D644C9B-1FB8-4F30-9B45-F670235F79C0", "PublicDownloads", r"C:\Users\Public\Downloads"),
    at("3214FAB5-9757-4298-BB61-92A9DEAA44FF", "PublicMusic", r"C:\Users\Public\Music"),
    at("B6EBFB86-6907-413C-9AF7-4FC2ABF07CC5", "PublicPictures", r"C:\Users\Public\Pictures"),
    at("2400183A-6185-49FB-A2D8-4A392A602BA3", "PublicVideos", r"C:\Users\Public\Videos"),
    at("48DAF80B-E6CF-4F4E-B800-0E69D84EE384", "PublicLibraries", r"C:\Users\Public\Libraries"),
    at("DFDF76A2-C82A-4D63-906A-5644AC457385", "Public", r"C:\Users\Public"),
    at("5CD7AEE2-2219-4A67-B85D-6C9CE15660CB", "UserProgramFiles", r"C:\Users\*\AppData\Local\Programs"),
    at("352481E8-33BE-4251-BA85-6007CAEDCF9D", "InternetCache", r"C:\Users\*\AppData\Local\Microsoft\Windows\INetCache"),
    at("D9DC8A3B-B784-432E-A781-5A1130A75963", "History", r"C:\Users\*\AppData\Local\Microsoft\Windows\History"),
    at("F1B32785-6FBA-4FCF-9D55-7B8E7F157091", "LocalAppData", r"C:\Users\*\AppData\Local"),
    at("A520A1A4-1780-4FF6-BD18-167343C5AF16", "LocalAppDataLow", r"C:\Users\*\AppData\LocalLow"),
    at("9E3995AB-1F9C-4F13-B827-48B24B6C7174", "UserPinned", r"C:\Users\*\AppData\Roaming\Microsoft\Internet Explorer\Quick Launch\User Pinned"),
    at("52A4F021-7B75-48A9-9F6B-4B87A210BC8F", "QuickLaunch", r"C:\Users\*\AppData\Roaming\Microsoft\Internet Explorer\Quick Launch"),
    at("724EF170-A42D-4FEF-9F26-B60E846FBA4F", "AdminTools", r"C:\Users\*\AppData\Roaming\Microsoft\Windows\Start Menu\Programs\Administrative Tools"),
    at("B97D20BB-F46A-4C97-BA10-5E3608430854", "Startup", r"C:\Users\*\AppData\Roaming\Microsoft\Windows\Start Menu\Programs\Startup"),
    at("A77F5D77-2E2B-44C3-A6A2-ABA601054A51", "Programs", r"C:\Users\*\AppData\Roaming\Microsoft\Windows\Start Menu\Programs"),
    at("625B53C3-AB48-4EC1-BA1F-A1EF4146FC19", "StartMenu", r"C:\Users\*\AppData\Roaming\Microsoft\Windows\Start Menu"),
    at("AE50C081-EBD2-438A-8655-8A092E34987A", "Recent", r"C:\Users\*\AppData\Roaming\Microsoft\Windows\Recent"),
    at("8983036C-27C0-404B-8F08-102D10DCFD74", "SendTo", r"C:\Users\*\AppData\Roaming\Microsoft\Windows\SendTo"),
    at("A63293E8-664E-48DB-A079-DF759E0509F7", "Templates", r"C:\Users\*\AppData\Roaming\Microsoft\Windows\Templates"),
    at("C5ABBF53-E17F-4121-8900-86626FC2C973", "NetHood", r"C:\Users\*\AppData\Roaming\Microsoft\Windows\Network Shortcuts"),
    at("7B0DB17D-9CD2-4A93-9733-46CC89022E7C", "DocumentsLibrary", r"C:\Users\*\AppData\Roaming\Microsoft\Windows\Libraries\Documents.library-ms"),
    at("2112AB0A-C86A-4FFE-A368-0DE96E47012E", "MusicLibrary", r"C:\Users\*\AppData\Roaming\Microsoft\Windows\Libraries\Music.library-ms"),
    at("A990AE9F-A03B-4E80-94BC-9912D7504104", "PicturesLibrary", r"C:\Users\*\AppData\Roaming\Microsoft\Windows\Libraries\Pictures.library-ms"),
    at("491E922F-5643-4AF4-A7EB-4E7A138D8174", "VideosLibrary", r"C:\Users\*\AppData\Roaming\Microsoft\Windows\Libraries\Videos.library-ms"),
    at("1B3EA5DC-B587-4786-B4EF-BD1DC332AEAE", "Libraries", r"C:\Users\*\AppData\Roaming\Microsoft\Windows\Libraries"),
    at("3EB685DB-65F9-4CF6-A03A-E3EF65729F3D", "RoamingAppData", r"C:\Users\*\AppData\Roaming"),
    at("B4BFCC3A-DB2C-424C-B029-7FE99A87C641", "Desktop", r"C:\Users\*\Desktop"),
    at("FDD39AD0-238F-46AF-ADB4-6C85480369C7", "Documents", r"C:\Users\*\Documents"),
    at("374DE290-123F-4565-9164-39C4925E467B", "Downloads", r"C:\Users\*\Downloads"),
    at("1777F761-68AD-4D8A-87BD-30B759FA33DD", "Favorites", r"C:\Users\*\Favorites"),
    at("BFB9D5E0-C6A9-404C-B2B2-AE6DB6AF4968", "Links", r"C:\Users\*\Links"),
    at("4BD8D571-6D19-48D3-BE97-422220080E43", "Music", r"C:\Users\*\Music"),
    at("A52BBA46-E9E1-435F-B3D9-28DAA648C0F6", "OneDrive", r"C:\Users\*\OneDrive"),
    at("AB5FB87B-7CE2-4F83-915D-550846C9537B", "CameraRoll", r"C:\Users\*\Pictures\Camera Roll"),
    at("3B193882-D3AD-4EAB-965A-69829D1FB59F", "SavedPictures", r"C:\Users\*\Pictures\Saved Pictures"),
    at("B7BEDE81-DF94-4682-A7D8-57A52620B86F", "Screenshots", r"C:\Users\*\Pictures\Screenshots"),
    at("33E28130-4E1E-4676-835A-98395C3BC3BB", "Pictures", r"C:\Users\*\Pictures"),
    at("4C5C32FF-BB9D-43B0-B5B4-2D72E54EAAA4", "SavedGames", r"C:\Users\*\Saved Games"),
    at("7D1D3A04-DEBB-4115-95CF-2F29DA2920DA", "SavedSearches", r"C:\Users\*\Searches"),
    at("EDC0FE71-98D8-4F4A-B920-C8DC133CB165", "AppCaptures", r"C:\Users\*\Videos\Captures"),
    at("18989B1D-99B5-455B-841C-AB7C74E4DDFC", "Videos", r"C:\Users\*\Videos"),
    at("56784854-C6CB-462B-8169-88E350ACB882", "Contacts", r"C:\Users\*\Contacts"),
    at("31C0DD25-9439-4F12-BF41-7FF4EDA38722", "Objects3D", r"C:\Users\*\3D Objects"),
    at("5E6C858F-0E22-4760-9AFE-EA3317B67173", "Profile", r"C:\Users\*"),
    at("0762D272-C50A-4BB0-A382-697DCD729B80", "UserProfiles", r"C:\Users"),
    nowhere("1E87508D-89C2-42F0-8A7E-645A0F50CA58", "AppsFolder"),
    nowhere("0AC0837C-BBF8-452A-850D-79D08E667CA7", "ComputerFolder"),
    nowhere("6F0CD92B-2E97-45D1-88FF-B0D186B8DEDD", "ConnectionsFolder"),
    nowhere("82A74AEB-AEB4-465C-A014-D097EE346D63", "ControlPanelFolder"),
    nowhere("CAC52C1A-B53D-4EDC-92D7-6B2E8AC19434", "Games"),
    nowhere("52528A6B-B9E3-4ADD-B60D-588C2DBA842D", "HomeGroup"),
    nowhere("4D9F7874-4E0C-4904-967B-40B0D20C3E4B", "InternetFolder"),
    nowhere("D20BEEC4-5CA8-4905-AE3B-BF251EA09B53", "NetworkFolder"),
    nowhere("76FC4E2D-D6AD-4519-A663-37BD56068185", "PrintersFolder"),
    nowhere("DF7266AC-9274-4867-8D55-3BD661DE872D", "ChangeRemovePrograms"),
    nowhere("B7534046-3ECB-4C18-BE4E-64CD4CB7D6AC", "RecycleBinFolder"),
    nowhere("190337D1-B8CA-4121-A639-6D472D16972A", "SearchHome"),
    nowhere("98EC0E18-2098-4D44-8644-66979315A281", "SEARCH_MAPI"),
    nowhere("F3CE0F7C-4901-4ACC-8648-D5D44B04EF8F", "UsersFiles"),
    nowhere("A302545D-DEFF-464B-ABE8-61C8648D939B", "UsersLibraries"),
];

impl KnownFolder {
    /// The folder that a DestList path `knownfolder:{GUID}` names.
    pub fn of_path(path: &str) -> Option<&'static Self> {
        let (scheme, guid) = path.split_at_checked("knownfolder:".len())?;
        let guid = scheme.eq_ignore_ascii_case("knownfolder:").then_some(guid)?;
        Self::find(&Guid::parse(guid.trim_start_matches('{').trim_end_matches('}'))?)
    }

    /// The folder of this GUID.
    pub fn find(guid: &Guid) -> Option<&'static Self> {
        let text = guid.to_string();
        KNOWN_FOLDERS.iter().find(|folder| folder.guid.eq_ignore_ascii_case(&text))
    }

    /// What follows the folder in `path`, with its backslash: `None` if `path` is not in the folder, or
    /// is the folder itself. Any drive will do, and any case.
    pub fn rest<'p>(&self, path: &'p str) -> Option<&'p str> {
        let mut rest = path;
        for (at, part) in self.path?.split('\\').enumerate() {
            // From the second part on, a backslash leads to it.
            let from = if at == 0 { rest } else { rest.strip_prefix('\\')? };
            let (name, after) = from.split_at_checked(from.find('\\')?)?;
            let fits = match part {
                "*" => !name.is_empty(),
                _ if at == 0 => matches!(name.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic()),
                _ => name.eq_ignore_ascii_case(part),
            };
            rest = fits.then_some(after)?;
        }
        (rest.len() > 1).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> &'static KnownFolder {
        KNOWN_FOLDERS.iter().find(|folder| folder.name == name).unwrap()
    }

    #[test]
    fn every_folder_is_found_by_its_guid() {
        for folder in KNOWN_FOLDERS {
            let guid = Guid::parse(folder.guid).unwrap();
            assert_eq!(KnownFolder::find(&guid), Some(folder));
            assert_eq!(folder.guid, folder.guid.to_ascii_uppercase());
        }
        assert_eq!(KnownFolder::find(&Guid::ZERO), None);
    }

    #[test]
    fn no_folder_stands_behind_one_that_holds_it() {
        for (at, folder) in KNOWN_FOLDERS.iter().enumerate() {
            let Some(path) = folder.path else { continue };
            let before = &KNOWN_FOLDERS[..at];
            let inside = format!("{path}\\x");
            for outer in before.iter().filter(|outer| outer.path != folder.path) {
                assert_eq!(outer.rest(&inside), None, "{} before {}", outer.name, folder.name);
            }
        }
    }

    #[test]
    fn a_path_is_in_a_folder_on_any_drive_and_for_any_user() {
        let local = named("LocalAppData");
        assert_eq!(local.rest(r"D:\USERS\Jo Doe\appdata\local\A\b.exe"), Some(r"\A\b.exe"));
        assert_eq!(named("System").rest(r"c:\windows\system32\cmd.exe"), Some(r"\cmd.exe"));
        for outside in [
            r"C:\Users\jo\AppData\LocalLow\a",
            r"C:\Users\\AppData\Local\a",
            r"C:\Users\jo\AppData\Local",
            r"C:\Users\jo\AppData\Local\",
            "",
            r"\\pc\Users\jo\AppData\Local\a",
        ] {
            assert_eq!(local.rest(outside), None, "{outside}");
        }
    }
}
