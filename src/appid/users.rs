//! Programs that people have in their own folder. Windows knows such a program by its whole path, user's
//! name and all (measured on published lists of AppIDs), so these names are only known once the user is.

use super::{AppId, mozilla::mozilla_name};

/// Where in the user's folder the program usually is, and what people call it.
#[rustfmt::skip]
pub(super) static PROGRAMS: &[(&str, &str)] = &[
    (r"AppData\Local\Amazon\Kindle\application\Kindle.exe", "Kindle for PC"),
    (r"AppData\Local\FluxSoftware\Flux\flux.exe", "f.lux"),
    (r"AppData\Local\LINE\bin\current\LINE.exe", "LINE"),
    (r"AppData\Local\Programs\Anki\anki.exe", "Anki"),
    (r"AppData\Local\Programs\Evernote\Evernote.exe", "Evernote"),
    (r"AppData\Local\Programs\GIMP 2\bin\gimp-2.10.exe", "GIMP"),
    (r"AppData\Local\Programs\GIMP 3\bin\gimp-3.0.exe", "GIMP"),
    (r"AppData\Local\Programs\Git\git-bash.exe", "Git Bash"),
    (r"AppData\Local\Programs\Python\Python310\python.exe", "Python"),
    (r"AppData\Local\Programs\Python\Python310\pythonw.exe", "Python"),
    (r"AppData\Local\Programs\Python\Python311\python.exe", "Python"),
    (r"AppData\Local\Programs\Python\Python311\pythonw.exe", "Python"),
    (r"AppData\Local\Programs\Python\Python312\python.exe", "Python"),
    (r"AppData\Local\Programs\Python\Python312\pythonw.exe", "Python"),
    (r"AppData\Local\Programs\Python\Python313\python.exe", "Python"),
    (r"AppData\Local\Programs\Python\Python313\pythonw.exe", "Python"),
    (r"AppData\Local\Programs\Python\Python37\python.exe", "Python"),
    (r"AppData\Local\Programs\Python\Python37\pythonw.exe", "Python"),
    (r"AppData\Local\Programs\Python\Python38\python.exe", "Python"),
    (r"AppData\Local\Programs\Python\Python38\pythonw.exe", "Python"),
    (r"AppData\Local\Programs\Python\Python39\python.exe", "Python"),
    (r"AppData\Local\Programs\Python\Python39\pythonw.exe", "Python"),
    (r"AppData\Local\Programs\WinSCP\WinSCP.exe", "WinSCP"),
    (r"AppData\Local\TeamSpeak 3 Client\ts3client_win64.exe", "TeamSpeak 3"),
    (r"AppData\Local\Viber\Viber.exe", "Viber"),
    (r"AppData\Roaming\.minecraft\TLauncher.exe", "TLauncher"),
    (r"AppData\Roaming\BitTorrent\BitTorrent.exe", "BitTorrent"),
    (r"AppData\Roaming\Dropbox\bin\Dropbox.exe", "Dropbox"),
    (r"AppData\Roaming\IMVUClient\IMVUClient.exe", "IMVU"),
    (r"AppData\Roaming\Spotify\Spotify.exe", "Spotify"),
    (r"AppData\Roaming\Telegram Desktop\Telegram.exe", "Telegram Desktop"),
    (r"AppData\Roaming\uTorrent\uTorrent.exe", "uTorrent"),
    (r"AppData\Roaming\Zoom\bin\Zoom.exe", "Zoom"),
    (r"Desktop\putty.exe", "PuTTY"),
    (r"Desktop\Tor Browser\Browser\firefox.exe", "Tor Browser"),
    (r"Downloads\putty.exe", "PuTTY"),
    (r"Downloads\Tor Browser\Browser\firefox.exe", "Tor Browser"),
    (r"OneDrive\Desktop\Tor Browser\Browser\firefox.exe", "Tor Browser"),
];

/// Programs of Mozilla's kin, likewise: the folder.
static MOZILLA_FOLDERS: &[(&str, &str)] = &[
    (r"AppData\Local\Mozilla Firefox", "Mozilla Firefox"),
    (r"AppData\Local\Mozilla Thunderbird", "Mozilla Thunderbird"),
];

/// The program in the folder of the user called `user` that gives `id`: what people call it, and what
/// Windows does. [`super::recover`] finds these without the user's name where that is short; this finds
/// them for any.
pub fn known_for_user(id: AppId, user: &str) -> Option<(&'static str, String)> {
    let at_home = |rest: &str| format!(r"C:\Users\{user}\{rest}");
    let programs = PROGRAMS.iter().map(|(rest, name)| (*name, Some(at_home(rest))));
    let kin = MOZILLA_FOLDERS.iter().map(|(rest, name)| (*name, mozilla_name(&at_home(rest))));
    programs.chain(kin).find_map(|(name, source)| Some((name, source.filter(|source| AppId::of(source) == id)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_in_a_users_own_folder_is_found_with_the_users_name() {
        let path = r"C:\Users\Bartholomäus\AppData\Roaming\uTorrent\uTorrent.exe";
        assert_eq!(known_for_user(AppId::of(path), "Bartholomäus"), Some(("uTorrent", path.to_owned())));
        assert_eq!(known_for_user(AppId::of(path), "Bartholomaeus"), None);
        let firefox = mozilla_name(r"C:\Users\Jo\AppData\Local\Mozilla Firefox").unwrap();
        assert_eq!(known_for_user(AppId::of(&firefox), "Jo"), Some(("Mozilla Firefox", firefox)));
    }

    #[test]
    fn the_programs_are_in_order() {
        for pair in PROGRAMS.windows(2) {
            assert!(pair[0].0.to_lowercase() < pair[1].0.to_lowercase(), "{pair:?}");
        }
    }
}
