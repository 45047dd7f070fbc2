//! What Windows is set to, as far as it has to do with jump lists, and what else makes a menu slow.

use std::io;

use jlfix::os::settings::{self, Hive};

use super::{Check, State, words};

pub(crate) const ADVANCED: &str = r"Software\Microsoft\Windows\CurrentVersion\Explorer\Advanced";
pub(crate) const TRACK_DOCS: &str = "Start_TrackDocs";
const POLICIES: &str = r"Software\Microsoft\Windows\CurrentVersion\Policies\Explorer";
const VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";

/// From this build on a right-click makes no storm of reads, says Microsoft.
const FIXED_FROM: u32 = 19_041;

/// Which Windows this is.
pub(super) struct Build {
    number: u32,
    shown: String,
}

impl Build {
    /// True where a right-click makes no storm of reads.
    pub(super) fn is_fixed(&self) -> bool {
        self.number >= FIXED_FROM
    }
}

/// Which Windows this is; none on other systems.
pub(super) fn build() -> Option<Build> {
    let text = |name| settings::text(Hive::Machine, VERSION, name).ok().flatten();
    let number: u32 = text("CurrentBuildNumber").or_else(|| text("CurrentBuild"))?.trim().parse().ok()?;
    let name = match number {
        ..=7_601 => "Windows 7 or older",
        7_602..=9_299 => "Windows 8",
        9_300..=10_239 => "Windows 8.1",
        10_240..=21_999 => "Windows 10",
        22_000.. => "Windows 11",
    };
    let update = settings::number(Hive::Machine, VERSION, "UBR").ok().flatten();
    let update = update.map(|update| format!(".{update}")).unwrap_or_default();
    let release = text("DisplayVersion").or_else(|| text("ReleaseId")).filter(|release| !release.is_empty());
    let release = release.map(|release| format!(" {release}")).unwrap_or_default();
    Some(Build { number, shown: format!("{name}{release}, build {number}{update}") })
}

const NOT_WINDOWS: &str = "this system is not Windows";

/// The settings that lists depend on.
pub(super) fn before_lists(entries: usize, build: Option<&Build>) -> Vec<Check> {
    let ids = [
        "windows_build",
        "tracking",
        "policy_no_recent_docs_history",
        "policy_clear_recent_docs_on_exit",
        "policy_no_recent_docs_menu",
        "jump_list_items",
    ];
    if cfg!(not(windows)) {
        return ids.map(|id| Check::new(id, State::Skipped, NOT_WINDOWS)).into();
    }
    vec![
        windows_build(build),
        tracking(),
        no_recent_docs_history(entries),
        policy("policy_clear_recent_docs_on_exit", "ClearRecentDocsOnExit", |set_in| {
            Check::new(
                "policy_clear_recent_docs_on_exit",
                State::Notice,
                format!("The policy ClearRecentDocsOnExit is set ({set_in}): Windows clears recent items, those of jump lists too, each time the user signs out"),
            )
            .fix(format!("remove the value ClearRecentDocsOnExit below {set_in}\\{POLICIES}"), "lists grow again; who set the policy may set it again")
        }),
        policy("policy_no_recent_docs_menu", "NoRecentDocsMenu", |set_in| {
            Check::new(
                "policy_no_recent_docs_menu",
                State::Fine,
                format!(
                    "The policy NoRecentDocsMenu is set ({set_in}): it hides Recent Items in the Start menu, and leaves jump lists alone"
                ),
            )
        }),
        items(),
    ]
}

fn windows_build(build: Option<&Build>) -> Check {
    let id = "windows_build";
    match build {
        None => Check::new(id, State::Skipped, "the registry does not state the build"),
        Some(build) if build.is_fixed() => Check::new(
            id,
            State::Fine,
            format!("{}: a right-click makes no storm of reads from build {FIXED_FROM} on, says Microsoft", build.shown),
        ),
        Some(build) => Check::new(
            id,
            State::Notice,
            format!("{}: a right-click reads a large list in many thousand pieces; builds from {FIXED_FROM} on do not, says Microsoft", build.shown),
        )
        .fix("an update to Windows 10 version 2004 or later; until then `jlfix prune --keep 50`", "the update: what updates cost; the prune: see below"),
    }
}

/// What cannot be read says so.
fn unreadable(id: &'static str, name: &str, error: &io::Error) -> Check {
    Check::new(id, State::Skipped, format!("the setting {name} cannot be read: {error}"))
}

fn tracking() -> Check {
    let id = "tracking";
    match settings::number(Hive::User, ADVANCED, TRACK_DOCS) {
        Err(error) => unreadable(id, TRACK_DOCS, &error),
        Ok(Some(0)) => Check::new(
            id,
            State::Notice,
            "Recent items are turned off in Settings (Start_TrackDocs is 0): jump lists show none and do not grow",
        )
        .fix("jlfix tracking on", "nothing; lists start to grow again"),
        Ok(value) => Check::new(
            id,
            State::Fine,
            format!(
                "Recent items are turned on{}: jump lists grow",
                if value.is_none() { ", as they are unless somebody turned them off" } else { " (Start_TrackDocs is 1)" }
            ),
        )
        .fix("jlfix tracking off", "all recent items: Windows clears the lists, once. Off and on again in Settings does that, too, and leaves it on. jlfix saves them first"),
    }
}

/// Where a policy is set to something else than 0: for the user, or for the machine.
fn set_in(name: &str) -> io::Result<Option<&'static str>> {
    for (hive, shown) in [(Hive::Machine, "HKEY_LOCAL_MACHINE"), (Hive::User, "HKEY_CURRENT_USER")] {
        if settings::number(hive, POLICIES, name)?.is_some_and(|value| value != 0) {
            return Ok(Some(shown));
        }
    }
    Ok(None)
}

fn policy(id: &'static str, name: &str, set: impl Fn(&str) -> Check) -> Check {
    match set_in(name) {
        Err(error) => unreadable(id, name, &error),
        Ok(None) => Check::new(id, State::Fine, format!("The policy {name} is not set")),
        Ok(Some(place)) => set(place),
    }
}

fn no_recent_docs_history(entries: usize) -> Check {
    let id = "policy_no_recent_docs_history";
    policy(id, "NoRecentDocsHistory", |set_in| {
        if entries == 0 {
            return Check::new(
                id,
                State::Notice,
                format!("The policy NoRecentDocsHistory is set ({set_in}): Windows keeps no recent items"),
            )
            .fix(
                format!("remove the value NoRecentDocsHistory below {set_in}\\{POLICIES}"),
                "lists grow again; who set the policy may set it again",
            );
        }
        Check::new(
            id,
            State::Notice,
            format!("The policy NoRecentDocsHistory is set ({set_in}): Windows adds no recent items. What the lists held before is still there: {}", words::count(entries, "entry")),
        )
        .fix("jlfix prune --keep 0", "every entry that is not pinned; jlfix saves the lists first, and jlfix restore brings them back")
    })
}

fn items() -> Check {
    let (id, name) = ("jump_list_items", "JumpListItems_Maximum");
    match settings::number(Hive::User, ADVANCED, name) {
        Err(error) => unreadable(id, name, &error),
        Ok(None) => Check::new(
            id,
            State::Fine,
            format!("{name} is not set: a jump list shows 10 items or so. That bounds what is shown, not what a list's file holds"),
        ),
        Ok(Some(value)) => Check::new(
            id,
            State::Fine,
            format!("{name} is {value}: a jump list shows up to {value} items. That bounds what is shown, not what a list's file holds"),
        )
        .fix(format!("the value {name} in HKEY_CURRENT_USER\\{ADVANCED}"), "with a higher one, longer menus; what a click reads stays"),
    }
}

/// What makes a menu slow when the lists do not.
pub(super) fn elsewhere() -> Vec<Check> {
    let ids = ["shell_extensions", "animations", "plain_menu"];
    if cfg!(not(windows)) {
        return ids.map(|id| Check::new(id, State::Skipped, NOT_WINDOWS)).into();
    }
    vec![shell_extensions(), animations(), plain_menu()]
}

fn shell_extensions() -> Check {
    let places = ["*", "AllFilesystemObjects", "Directory", r"Directory\Background", "Folder"];
    let count = |place: &&str| {
        settings::count_keys(Hive::Classes, &format!(r"{place}\shellex\ContextMenuHandlers")).ok().flatten()
    };
    let handlers: usize = places.iter().filter_map(count).sum();
    Check::new(
        "shell_extensions",
        State::Fine,
        format!(
            "{} of menus for files and folders, Windows' own among them: each runs at a right-click on a file, and none for a jump list",
            words::count(handlers, "extension")
        ),
    )
    .fix("turn them off one by one, with Autoruns from Microsoft or the programs' own settings", "the programs' lines in the menus of files")
}

fn animations() -> Check {
    let taskbar = settings::number(Hive::User, ADVANCED, "TaskbarAnimations").ok().flatten() != Some(0);
    let delay = settings::text(Hive::User, r"Control Panel\Desktop", "MenuShowDelay").ok().flatten();
    let delay = delay.and_then(|delay| delay.trim().parse::<u32>().ok());
    let found = format!(
        "Animations of the taskbar are {}; a menu inside a menu opens after {} (MenuShowDelay)",
        if taskbar { "on, and take their time whatever a list holds" } else { "off" },
        delay.map_or("Windows' own delay, 400 ms".to_owned(), |delay| format!("{delay} ms")),
    );
    Check::new("animations", State::Fine, found)
        .fix("Settings > Accessibility > Visual effects > Animation effects", "menus and windows no longer move")
}

fn plain_menu() -> Check {
    Check::new(
        "plain_menu",
        State::Fine,
        "Shift+right-click on a taskbar button shows the plain menu, without a jump list: if that is slow as well, it is not the list",
    )
}
