use proptest::prelude::*;

use super::*;
use crate::format::guid::Guid;
use crate::format::text::hex;

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}

fn guid(text: &str) -> [u8; 16] {
    Guid::parse(text).unwrap().0
}

/// An item of this content, and the extension blocks behind it; each block ends in the place of the first.
fn item_with(content: &[u8], blocks: &[Vec<u8>]) -> Vec<u8> {
    let first = content.len() as u16 + 2;
    let mut item = vec![0, 0];
    item.extend(content);
    for block in blocks {
        item.extend((block.len() as u16 + 4).to_le_bytes());
        item.extend(block);
        item.extend(first.to_le_bytes());
    }
    let size = item.len() as u16;
    item[..2].copy_from_slice(&size.to_le_bytes());
    item
}

fn item(content: &[u8]) -> Vec<u8> {
    item_with(content, &[])
}

fn list(items: &[Vec<u8>]) -> Vec<u8> {
    [items.concat(), vec![0, 0]].concat()
}

fn root(class: &str) -> Vec<u8> {
    item(&[&[0x1F, 0x50][..], &guid(class)].concat())
}

const THIS_PC: &str = "20d04fe0-3aea-1069-a2d8-08002b30309d";

fn drive() -> Vec<u8> {
    item(&[&b"\x2FC:\\"[..], &[0; 19]].concat())
}

fn file_content(class: u8, size: u32, name: &[u8]) -> Vec<u8> {
    let mut content = vec![class, 0];
    content.extend(size.to_le_bytes());
    content.extend([0xEC, 0x54, 0x79, 0xA1, 0x21, 0]);
    content.extend(name);
    content
}

/// A block 0xBEEF0004 of this version, without its size and its last two bytes.
fn file_block(version: u16, long_name: &str, localized: Option<&[u8]>) -> Vec<u8> {
    let mut block = version.to_le_bytes().to_vec();
    block.extend([4, 0, 0xEF, 0xBE]);
    block.extend([0xEB, 0x54, 0x01, 0x00, 0xEA, 0x54, 0x02, 0x00]);
    let fixed: u16 = match version {
        9 => 46,
        8 => 42,
        7 => 38,
        _ => 20,
    };
    block.extend(fixed.to_le_bytes());
    if version >= 7 {
        block.extend([0, 0]);
        block.extend(0x0005_0000_0001_2345_u64.to_le_bytes());
        block.extend([0; 8]);
    }
    let name = utf16(long_name);
    let localized_at = localized.map_or(0, |_| fixed + name.len() as u16);
    block.extend(localized_at.to_le_bytes());
    // The size is before what is here.
    block.resize(usize::from(fixed) - 2, 0);
    block.extend(name);
    block.extend(localized.unwrap_or_default());
    block
}

fn read(data: &[u8]) -> ItemList<'_> {
    parse(data, 0, CodePage::default())
}

fn path(items: &[Vec<u8>]) -> String {
    let data = list(items);
    let list = read(&data);
    assert_eq!(list.problems, []);
    list.path().unwrap()
}

#[test]
fn a_file_entry_of_every_version_gives_its_names_times_and_reference() {
    let resource = utf16("@shell32.dll,-21769");
    for (version, localized) in [(3, &b"@shell32.dll,-21769\0"[..]), (7, &resource), (8, &resource), (9, &resource)] {
        let block = file_block(version, "Döner 日本", Some(localized));
        let data = list(&[root(THIS_PC), drive(), item_with(&file_content(0x31, 0, b"DNER~1\0\0"), &[block])]);
        let list = read(&data);
        assert_eq!(list.problems, [], "{version}");
        assert_eq!(list.path().unwrap(), "This PC\\C:\\Döner 日本");
        assert_eq!(list.target().unwrap(), "C:\\Döner 日本");
        let item = &list.items[2];
        let (entry, file) = (item.file_entry().unwrap(), item.file_extension().unwrap());
        assert_eq!(item.short_name().unwrap().to_string(), "DNER~1");
        assert_eq!(file.localized_name.unwrap().to_string(), "@shell32.dll,-21769");
        assert_eq!((entry.is_folder, entry.attributes), (true, 0x21));
        let times = [entry.modified, file.created, file.accessed].map(|time| time.to_string());
        assert_eq!(times, ["2022-07-12T20:11:50", "2022-07-11T00:00:02", "2022-07-10T00:00:04"]);
        let reference = file.reference.map(|reference| (reference.entry(), reference.sequence()));
        assert_eq!(reference, (version >= 7).then_some((0x12345, 5)));
    }
}

#[test]
fn a_file_entry_of_old_or_of_unicode_has_its_names_in_itself() {
    let old = item(&file_content(0x32, 7, b"long name.txt\0LONGNA~1.TXT\0"));
    let unicode = item(&[file_content(0x36, 7, &utf16("Ж.txt")), vec![0, 0]].concat());
    let data = list(&[old, unicode]);
    let list = read(&data);
    let names: Vec<_> = list.items.iter().map(|item| item.name().unwrap()).collect();
    assert_eq!(names, ["long name.txt", "Ж.txt"]);
    assert_eq!(list.items[0].short_name().unwrap().to_string(), "LONGNA~1.TXT");
    assert_eq!(list.items[0].file_entry().unwrap().file_size, 7);
}

#[test]
fn places_without_a_path_are_spelled_by_name() {
    let category = item(&[1, 0, 0x84, 0x21, 0xDE, 0x39, 5, 0, 0, 0]);
    let system = item(&[&[0x71, 0x80][..], &[0; 10], &guid("bb06c0e4-d293-4f75-8a90-cb05b6477eee")].concat());
    let control_panel = root("26ee0668-a00a-44d7-9371-beb064c98683");
    assert_eq!(path(&[control_panel.clone(), category, system]), "Control Panel\\System and Security\\System");

    let mut cpl = vec![0, 0, 0x38, 0xFF, 0xFF, 0xFF];
    cpl.extend([0; 12]);
    cpl.extend([6, 0, 11, 0]);
    cpl.extend([utf16("a.cpl"), utf16("Mice"), utf16("Buttons")].concat());
    assert_eq!(path(&[control_panel, item(&cpl)]), "Control Panel\\Mice");

    let uri = item(&[&[0x61, 0x80, 0, 0, 0, 0][..], &utf16("ms-photos:viewer")].concat());
    let items = [root("871c5380-42a0-1069-a2ea-08002b30309d"), uri];
    assert_eq!(path(&items), "Internet Folder\\ms-photos:viewer");
    assert_eq!(read(&list(&items)).target().unwrap(), "ms-photos:viewer");

    let server = item(b"\x42\x00\x00\\\\srv\0");
    let share = item(b"\xC3\x01\xC0\\\\srv\\d\xF6ner\0Microsoft Windows Network\0for all\0\x02\0");
    let items = [root("f02c1a0d-be21-4350-88b0-7367fc96ef3c"), server, share, item(&file_content(0x31, 0, b"sub\0\0"))];
    assert_eq!(path(&items), "\\\\srv\\döner\\sub");
    let data = list(&items);
    let Kind::Network(network) = &read(&data).items[2].kind else { panic!() };
    assert_eq!(network.comments.unwrap().to_string(), "for all");

    assert_eq!(path(&[root("01020304-0506-0708-090a-0b0c0d0e0f10")]), "{01020304-0506-0708-090A-0B0C0D0E0F10}");
    assert_eq!(read(&list(&[root(THIS_PC), drive()])).target().unwrap(), "C:\\");
    assert_eq!(read(&list(&[])).path(), None);
}

#[test]
fn an_item_of_properties_is_named_by_them_and_one_of_a_known_folder_by_its_identifier() {
    let known = [
        &[0, 0, 26, 0, 0xEE, 0xBB, 0xFE, 0x23, 0, 0, 16, 0][..],
        &guid("374de290-123f-4565-9164-39c4925e467b"),
        &[0, 0],
    ];
    let name = utf16("Saved search");
    let value_size = 17 + name.len() as u32;
    let storage_size = 24 + value_size + 4;
    let mut store = storage_size.to_le_bytes().to_vec();
    store.extend(b"1SPS");
    store.extend(guid("b725f130-47ef-101a-a5f1-02608c9eebac"));
    store.extend(value_size.to_le_bytes());
    store.extend([10, 0, 0, 0, 0, 0x1F, 0, 0, 0]);
    store.extend((name.len() as u32 / 2).to_le_bytes());
    store.extend(name);
    store.extend([0; 8]);
    let mut content = vec![0, 0];
    content.extend((store.len() as u16 + 12).to_le_bytes());
    content.extend([0x78, 0x56, 0x34, 0x12]);
    content.extend((store.len() as u16).to_le_bytes());
    content.extend([4, 0, 9, 9, 9, 9]);
    content.extend(store);
    content.extend([0, 0]);
    let items = [root("031e4825-7b94-4dc3-b131-e946b44c8dd5"), item(&known.concat()), item(&content)];
    assert_eq!(path(&items), "Libraries\\Downloads\\Saved search");
}

#[test]
fn an_item_that_a_delegate_keeps_is_read_through_it() {
    let inner = item(&[file_content(0x31, 0, b"AppData\0"), vec![0, 0]].concat());
    let mut data = b"CFSF".to_vec();
    data.extend(&inner);
    data.extend([0, 0]);
    let mut content = vec![0x74, 0];
    content.extend((data.len() as u16).to_le_bytes());
    content.extend(data);
    content.extend(guid("5e591a74-df96-48d3-8d67-1733bcee28ba"));
    content.extend(guid("dffacdc5-679f-4156-8947-c5c76bc0b67f"));
    let items =
        [root("59031a47-3f72-44a7-89c5-5595fe6b30ee"), item_with(&content, &[file_block(9, "AppData der Ä", None)])];
    assert_eq!(path(&items), "Users Files\\AppData der Ä");
}

#[test]
fn what_is_in_an_archive_is_named_with_its_folder() {
    let mut content = vec![b'1'; 34];
    content.extend(utf16("31/12/2013  10:11"));
    content.resize(82, 0);
    content.extend([5, 0, 0, 0, 3, 0, 0, 0]);
    content.extend([utf16("a.txt"), utf16("dir")].concat());
    let data = list(&[item(&content)]);
    let Kind::Archived(archived) = read(&data).items[0].kind.clone() else { panic!() };
    assert_eq!(archived.name.to_string(), "a.txt");
    assert_eq!(archived.folder.unwrap().to_string(), "dir");
    assert_eq!(archived.modified.unwrap().to_string(), "31/12/2013  10:11");
}

#[test]
fn an_unknown_item_or_block_is_kept_and_loses_no_other() {
    let unknown = item(&[0x99, 1, 2, 3]);
    let block = [&[7, 0, 0x77, 0x77, 0xEF, 0xBE][..], &[0xAB; 5]].concat();
    let entry = item_with(&file_content(0x32, 1, b"a\0"), &[block, file_block(9, "long", None)]);
    let data = list(&[root(THIS_PC), unknown, item(&[0x1F]), entry]);
    let list = read(&data);
    assert_eq!(list.path().unwrap(), "This PC\\?\\?\\long");
    let json = serde_json::to_value(&list.items).unwrap();
    assert_eq!(
        (&json[1]["type"], &json[1]["class"], &json[1]["data"]),
        (&"unknown".into(), &"0x99".into(), &"060099010203".into())
    );
    assert_eq!(json[3]["extensions"][0]["signature"], "0xbeef7777");
    assert_eq!(json[3]["extensions"][0]["data"], hex(list.items[3].extensions[0].data));
    assert_eq!(json[3]["mft_entry"], 0x12345);
    let problems: Vec<_> = list.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["sort index at offset 29: need 1 bytes, have 0"]);
}

/// A list with an item of every kind that has offsets and counts in it.
fn rich_list() -> Vec<u8> {
    let mut merged = b"\0\0AugM\x02\0\0\0\x01\0\0\0".to_vec();
    merged.extend(item_with(&file_content(0x32, 1, b"b\0"), &[file_block(8, "merged", None)]));
    merged.extend([0, 0]);
    let mut volume = vec![0, 0, 0, 0, 0x05, 0x20, 0x31, 0x10];
    volume.extend([0; 28]);
    volume.extend([3, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    volume.extend([utf16("mm"), utf16("ii"), utf16("ff")].concat());
    let find = [&[0, 0, 5, 0, 0xEF, 0xBE][..], &[0; 16], &list(&[root(THIS_PC)])].concat();
    let uri = [
        &[0, 0, 0x14, 0, 0xEF, 0xBE][..],
        &guid("df2fce13-25ec-45bb-9d4c-cecd47c2430c"),
        &[0; 28],
        &[1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0],
        &utf16("u"),
    ];
    list(&[
        root(THIS_PC),
        drive(),
        item_with(&file_content(0x31, 0, b"AB\0\0"), &[file_block(9, "long name", Some(&utf16("@x,-1"))), find]),
        item(&merged),
        item(&volume),
        item_with(&[0x61, 0x80, 0, 0, 0, 0, 0, 0], &[uri.concat()]),
        item(b"\xC3\x01\xD0\\\\s\0d\0c\0\\\0\\\0s\0\0\0d\0\0\0c\0\0\0"),
    ])
}

#[test]
fn a_list_cut_anywhere_gives_the_items_before_the_cut() {
    let data = rich_list();
    let whole = read(&data);
    assert_eq!(whole.problems, []);
    assert_eq!(whole.path().unwrap(), "\\\\s");
    let names: Vec<_> = whole.items.iter().map(|item| item.name().unwrap()).collect();
    assert_eq!(names, ["This PC", "C:", "long name", "merged", "mm", "u", "\\\\s"]);
    for length in 0..data.len() {
        let cut = read(&data[..length]);
        // The last one can be there in part.
        let complete = cut.items.len() - usize::from(!cut.problems.is_empty() && !cut.items.is_empty());
        let complete = complete.max(cut.items.len().saturating_sub(1));
        assert_eq!(cut.items[..complete], whole.items[..complete], "{length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn no_damage_to_a_list_makes_it_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..16),
    ) {
        let mut data = rich_list();
        for (at, value) in &changes {
            let at = at.index(data.len());
            data[at] = *value;
        }
        let list = read(&data);
        let _ = (list.path(), list.target(), serde_json::to_string(&list.items).unwrap());
        prop_assert!(list.items.iter().map(|item| item.data.len()).sum::<usize>() <= data.len());
    }
}
