//! Custom lists: every kind of category, and what applications leave behind.

use super::Sample;
use super::build::{CustomBuilder, LinkBuilder};

/// All of them.
pub fn all() -> Vec<Sample> {
    vec![
        Sample {
            path: "CustomDestinations/1ced32d74a95c7bc.customDestinations-ms",
            shows: "Visual Studio Code: two named categories and a task",
            bytes: editor().build(),
            finding: None,
        },
        Sample {
            path: "CustomDestinations/28c8b86deab549a1.customDestinations-ms",
            shows: "Internet Explorer: no category, 12 bytes",
            bytes: CustomBuilder::new().build(),
            finding: None,
        },
        Sample {
            path: "CustomDestinations/590aee7bdd69b59b.customDestinations-ms",
            shows: "PowerShell: tasks only",
            bytes: shell().build(),
            finding: None,
        },
        Sample {
            path: "CustomDestinations/5d696d521de238c3.customDestinations-ms",
            shows: "Chrome: a named category, the recent files, tasks; and slack after the last footer, the rest of a \
                    longer list",
            bytes: browser(),
            finding: None,
        },
        Sample {
            path: "CustomDestinations/f01b4d95cf55d32a.customDestinations-ms",
            shows: "Explorer: the frequent folders and nothing else, 24 bytes",
            bytes: CustomBuilder::new().known(1).build(),
            finding: None,
        },
        Sample {
            path: "CustomDestinations/f18460fded109990.customDestinations-ms",
            shows: "Settings: a category whose name is a resource reference (`@{…}`)",
            bytes: settings().build(),
            finding: None,
        },
    ]
}

fn editor() -> CustomBuilder {
    const PROGRAM: &str = r"C:\Users\sam\AppData\Local\Programs\Microsoft VS Code\Code.exe";
    let folder = |name: &str| {
        let arguments = format!("--folder-uri \"file:///c%3A/Users/sam/Work/{name}\"");
        LinkBuilder::task(PROGRAM, &arguments, name)
            .with(|link| link.name = Some(format!(r"{name} - C:\Users\sam\Work")))
            .with(|link| link.icon = Some(("explorer.exe".to_owned(), 0)))
    };
    let file = |name: &str| LinkBuilder::file(&format!(r"C:\Users\sam\Work\{name}")).with(|link| link.size = 4_211);
    CustomBuilder::new()
        .named("Recent Folders", &[folder("tide-tables"), folder("website"), folder("house-plans")])
        .named("Recent Files", &[file("notes.md"), file(r"website\index.html")])
        .tasks(&[LinkBuilder::task(PROGRAM, "-n", "New Window")
            .with(|link| link.name = Some("Opens a new window".to_owned()))])
}

fn shell() -> CustomBuilder {
    const PROGRAM: &str = r"C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe";
    let task = |program: &str, arguments: &str, title: &str| {
        LinkBuilder::task(program, arguments, title)
            .with(|link| link.working_dir = Some("%HOMEDRIVE%%HOMEPATH%".to_owned()))
    };
    CustomBuilder::new().tasks(&[
        task(PROGRAM, "-Command Start-Process PowerShell -Verb RunAs", "Run as Administrator"),
        task(r"C:\Windows\System32\WindowsPowerShell\v1.0\powershell_ise.exe", "", "Windows PowerShell ISE"),
        task(PROGRAM, "-NoExit -File \"%USERPROFILE%\\Work\\profile.ps1\"", "Work"),
    ])
}

/// The short list of today, written over the longer one of yesterday without cutting the file.
fn browser() -> Vec<u8> {
    const PROGRAM: &str = r"C:\Program Files\Google\Chrome\Application\chrome.exe";
    let page = |title: &str, url: &str| LinkBuilder::task(PROGRAM, url, title);
    let pages = [
        page("Harbour weather", "https://www.example.org/weather?place=harbour"),
        page("Handbook", "https://docs.example.net/handbook/"),
        page("Basket", "https://shop.example.com/basket"),
        page("Router", "http://router.example/"),
        page("Tides", "https://www.example.org/tides"),
    ];
    let list = |pages: &[LinkBuilder]| {
        CustomBuilder::new()
            .named("Most visited", pages)
            .known(2)
            .tasks(&[page("New window", ""), page("New Incognito window", "--incognito")])
    };
    let (today, yesterday) = (list(&pages[..2]), list(&pages).build());
    let rest = &yesterday[today.build().len()..];
    today.slack(rest).build()
}

fn settings() -> CustomBuilder {
    const PROGRAM: &str = r"C:\Windows\ImmersiveControlPanel\SystemSettings.exe";
    const NAME: &str = "@{windows.immersivecontrolpanel_10.0.2.1000_neutral_neutral_cw5n1h2txyewy?\
                        ms-resource://Windows.UI.SettingsAppThreshold/SystemSettings/Resources/JumpListGroup}";
    let page = |name: &str, title: &str| LinkBuilder::task(PROGRAM, &format!("page={name}"), title);
    CustomBuilder::new().named(NAME, &[page("SettingsPageDisplay", "Display"), page("SettingsPageSound", "Sound")])
}
