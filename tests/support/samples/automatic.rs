//! Healthy automatic lists: every format, pins, ranks, property stores, and what a path can be.

use super::Sample;
use super::build::{Link, LinkBuilder, ListBuilder, NewEntry, Property, StoreBuilder, host, time};

const SUMMARY: &str = "f29f85e0-4ff9-1068-ab91-08002b27b3d9";
const APPLICATION: &str = "9f4c2855-9f79-4b39-a8d0-e1d42de1d5f3";

const DESKTOP: &str = "754ac886-df64-4cba-86b5-f7fbf4fbcef5";
const DOWNLOADS: &str = "374de290-123f-4565-9164-39c4925e467b";
const DOCUMENTS: &str = "fdd39ad0-238f-46af-adb4-6c85480369c7";
const PICTURES: &str = "33e28130-4e1e-4676-835a-98395c3bc3bb";

/// All of them.
pub fn all() -> Vec<Sample> {
    vec![
        Sample {
            path: "AutomaticDestinations/5f7b5f1e01b83767.automaticDestinations-ms",
            shows: "Quick Access' recent files, empty: 1,536 bytes with a `DestList` of 0 bytes, as Windows leaves it",
            bytes: ListBuilder::empty().build(),
            finding: None,
        },
        Sample {
            path: "AutomaticDestinations/83dd64e7fa560bd5.automaticDestinations-ms",
            shows: "LibreOffice Calc, format 4: a share on a server, a memory stick, names outside ASCII, a file in the \
                    cloud, an unpaired surrogate",
            bytes: places().build(),
            finding: None,
        },
        Sample {
            path: "AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms",
            shows: "Notepad, format 4: 24 files, two pinned (one of them the oldest), no ranks",
            bytes: notes().build(),
            finding: None,
        },
        Sample {
            path: "windows-10/AutomaticDestinations/9d1f905ce5044aee.automaticDestinations-ms",
            shows: "Edge, format 3: web pages, so links without a path",
            bytes: pages().build(),
            finding: None,
        },
        Sample {
            path: "windows-10/AutomaticDestinations/f01b4d95cf55d32a.automaticDestinations-ms",
            shows: "Explorer, format 4: 4 of its own folders and 9 others, 6 pinned, ranks",
            bytes: explorer(4, "desk-02").build(),
            finding: None,
        },
        Sample {
            path: "windows-10/AutomaticDestinations/faef7def55a1d4b.automaticDestinations-ms",
            shows: "VLC, format 2, and an AppID of 15 digits",
            bytes: videos().build(),
            finding: None,
        },
        Sample {
            path: "windows-11/AutomaticDestinations/a52b0784bd667468.automaticDestinations-ms",
            shows: "Photos, format 5: one pinned, no ranks",
            bytes: photos().build(),
            finding: None,
        },
        Sample {
            path: "windows-11/AutomaticDestinations/d38a3ea7ec79fbed.automaticDestinations-ms",
            shows: "LibreOffice Writer, format 6: property stores on three of its entries",
            bytes: letters().build(),
            finding: None,
        },
        Sample {
            path: "windows-11/AutomaticDestinations/f01b4d95cf55d32a.automaticDestinations-ms",
            shows: "Explorer, format 6, with the stream `DestListPropertyStore`: 13 folders, 6 pinned, ranks",
            bytes: explorer(6, "note-03").build(),
            finding: None,
        },
        Sample {
            path: "windows-7/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms",
            shows: "Notepad, format 1: 6 files, two pinned; two more were removed, so the last id given is 8",
            bytes: old_notes().build(),
            finding: None,
        },
        Sample {
            path: "windows-7/AutomaticDestinations/12dc1ea8e34b5a6.automaticDestinations-ms",
            shows: "Paint: no `DestList` at all, so an empty list",
            bytes: ListBuilder::without_dest_list().build(),
            finding: None,
        },
    ]
}

/// Notepad's list; the damaged samples start from it, too. Long enough for its DestList to have sectors of its own.
pub fn notes() -> ListBuilder {
    const TOPICS: [&str; 8] =
        ["shopping", "meeting", "ideas", "packing list", "recipe", "phone numbers", "reading list", "garden"];
    let entries = (0..24).map(|number: usize| {
        let (topic, round) = (TOPICS[number % 8], number / 8);
        let folder = ["Documents", r"Documents\Notes", "Desktop"][number % 3];
        NewEntry::file(&format!(r"C:\Users\sam\{folder}\{topic} {}.txt", 2023 - round))
            .link(|link| link.size = 640 + 97 * number as u32)
            .with(|entry| entry.interactions = 1 + (number as u32 * 5) % 4)
            .with(|entry| entry.score = entry.interactions as f32)
    });
    ListBuilder::new(4).entries(entries).removed(7).pin(5).pin(23)
}

fn old_notes() -> ListBuilder {
    let file = |name: &str, points: f32, last_access: &str| {
        NewEntry::file(&format!(r"C:\Users\kim\Documents\{name}.txt")).used(1, last_access).with(|entry| {
            entry.score = points;
            entry.host = host("desk-07");
        })
    };
    let mut list = ListBuilder::new(1)
        .entry(file("addresses", 9.0, "2013-06-28T18:20:45.1230000Z"))
        .entry(file("install notes", 2.0, "2013-06-25T07:58:03.5550000Z"))
        .entry(file("to do", 14.0, "2013-06-21T12:00:59.9999999Z"))
        .entry(file("backup log", 1.0, "2013-05-30T20:41:17.0000001Z"))
        .entry(file("serial numbers", 3.0, "2013-04-02T09:33:00.0000000Z"))
        .entry(file("welcome", 1.0, "2012-12-24T15:10:26.7500000Z"))
        .removed(2)
        .pin(2)
        .pin(5);
    for (entry, id) in list.entries.iter_mut().zip([8, 7, 3, 6, 4, 1]) {
        entry.id = Some(id);
    }
    list.root.modified = time("2013-06-28T18:20:45.1400000Z");
    list
}

fn explorer(version: u32, machine: &str) -> ListBuilder {
    let own = |id: &str, name: &str, points: f32| {
        NewEntry::known_folder(id, &format!(r"C:\Users\kim\{name}")).used(3, "2024-01-08T09:00:00Z").with(|entry| {
            entry.score = points;
            entry.last_access = None;
        })
    };
    let folder = |path: &str, times: u32| {
        NewEntry::folder(path).with(|entry| {
            entry.interactions = times;
            entry.score = 0.5 + times as f32 * 0.875;
        })
    };
    let mut list = ListBuilder::new(version)
        .entry(own(DESKTOP, "Desktop", 21.0))
        .entry(folder(r"C:\Users\kim\Documents\Choir\Programmes", 4))
        .entry(folder(r"C:\Users\kim\Downloads\fonts", 1))
        .entry(folder(r"D:\Photos\2023\Lake", 7))
        .entry(folder(r"\\files-01\projects\Harbour\plans", 2))
        .entry(own(DOWNLOADS, "Downloads", 19.98))
        .entry(folder(r"C:\Users\kim\Documents\Taxes 2022", 3))
        .entry(folder(r"E:\", 1).link(|link| (link.drive_type, link.label) = (2, "KEYRING".to_owned())))
        .entry(folder(r"C:\Users\kim\Documents\Choir", 11))
        .entry(folder(r"C:\Users\kim\Pictures\Scans", 1))
        .entry(folder(r"C:\Users\kim\Music\Übungen", 2))
        .entry(own(DOCUMENTS, "Documents", 4.0))
        .entry(own(PICTURES, "Pictures", 3.9))
        .ranked();
    for pinned in [0, 5, 11, 12, 8, 3] {
        list = list.pin(pinned);
    }
    for entry in &mut list.entries {
        entry.host = host(machine);
    }
    // Explorer counts three opens for each of its own folders that nobody made.
    list.header(|header| header.actions -= 12)
}

fn places() -> ListBuilder {
    let surrogate = || {
        let mut entry = NewEntry::file(r"C:\Users\sam\Documents\half.ods");
        // The first half of an emoji, cut off by an application that counts in units.
        let before_ending = entry.path.len() - 2 * ".ods".len();
        entry.path.splice(before_ending..before_ending, [0x3D, 0xD8]);
        entry
    };
    ListBuilder::new(4)
        .entry(NewEntry::file(r"\\files-01\projects\Harbour\budget.ods").link(|link| link.tracker = false))
        .entry(NewEntry::file(r"C:\Users\sam\OneDrive\Plans\rota.ods").link(|link| link.attributes = 0x0050_1620))
        .entry(NewEntry::file(r"C:\Users\sam\Documents\Müller & Söhne – Übersicht.ods"))
        .entry(NewEntry::file(r"C:\Users\sam\Documents\旅行の予定\東京.xlsx"))
        .entry(surrogate())
        .entry(NewEntry::file(r"F:\accounts.ods").link(|link| {
            (link.drive_type, link.serial, link.label) = (2, 0x1A2B_3C4D, "STICK 16".to_owned());
        }))
        .entry(NewEntry::file(r"D:\Archive\2019\inventory.csv").link(|link| link.label = "Daten – älter".to_owned()))
        .removed(1)
        .pin(2)
}

fn pages() -> ListBuilder {
    const PAGES: [&str; 6] = [
        "https://www.example.org/",
        "https://www.example.org/weather?place=harbour&days=5",
        "https://docs.example.net/handbook/chapter-2.html#tides",
        "https://shop.example.com/basket",
        "http://router.example/",
        "https://example.org/%C3%BCber-uns",
    ];
    ListBuilder::new(3).entries(PAGES.map(NewEntry::url)).pin(0)
}

fn videos() -> ListBuilder {
    let video = |name: &str| {
        let path = format!(r"D:\Videos\{name}.mp4");
        NewEntry::file(&path).link(|link| link.size = 734_003_200)
    };
    ListBuilder::new(2).entries(["ferry crossing", "first steps", "school play", "snow", "harvest"].map(video)).pin(4)
}

fn photos() -> ListBuilder {
    ListBuilder::new(5)
        .entries((0..9).map(|number| {
            NewEntry::file(&format!(r"C:\Users\kim\Pictures\Lake\IMG_{:04}.JPG", 2041 + 3 * number))
                .link(|link| link.size = 2_800_000 + 13_577 * number)
                .with(|entry| entry.host = host("note-03"))
        }))
        .pin(6)
}

fn letters() -> ListBuilder {
    let letter = |name: &str| {
        NewEntry::file(&format!(r"C:\Users\kim\Documents\Letters\{name}.odt"))
            .with(|entry| entry.host = host("note-03"))
    };
    let application = |store: StoreBuilder| {
        store.property(APPLICATION, 5, Property::Text("TheDocumentFoundation.LibreOffice.Writer".to_owned()))
    };
    let titled = application(StoreBuilder::new())
        .property(SUMMARY, 2, Property::Text("Letter to the harbour master".to_owned()))
        .property(SUMMARY, 13, Property::Time(time("2024-02-27T10:31:00Z")))
        .property(SUMMARY, 14, Property::U32(3));
    let named = StoreBuilder::new()
        .named("Reviewed", Property::Bool(true))
        .named("Reviewer", Property::Text("kim".to_owned()))
        .named("Words", Property::U64(1_284));
    ListBuilder::new(6)
        .entry(letter("harbour master").with(|entry| entry.property_store = titled.build()))
        .entry(letter("neighbours"))
        .entry(letter("landlord").with(|entry| entry.property_store = named.build()))
        .entry(NewEntry::new(
            r"C:\Users\kim\Documents\Letters\draft.odt",
            // What a program may write, too: a link with nothing in it but the path.
            Link::Made(Box::new(LinkBuilder::file(r"C:\Users\kim\Documents\Letters\draft.odt").with(|link| {
                (link.id_list, link.tracker, link.properties) = (false, false, None);
            }))),
        ))
        .entry(letter("insurance").with(|entry| entry.property_store = application(StoreBuilder::new()).build()))
        .pin(2)
        .pin(4)
}
