use super::*;
use crate::format::text::Text;
use crate::format::time::FileTime;

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn sized_part(parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let mut part = (content.len() as u32 + 4).to_le_bytes().to_vec();
    part.extend(content);
    part
}

fn typed(value_type: u16, value: &[u8]) -> Vec<u8> {
    [&value_type.to_le_bytes()[..], &[0, 0], value].concat()
}

fn property(id: u32, value_type: u16, value: &[u8]) -> Vec<u8> {
    sized_part(&[&id.to_le_bytes(), &[0], &typed(value_type, value)])
}

fn named(name: &str, value_type: u16, value: &[u8]) -> Vec<u8> {
    let name = utf16(&format!("{name}\0"));
    sized_part(&[&(name.len() as u32).to_le_bytes(), &[0], &name, &typed(value_type, value)])
}

fn storage(format_id: Guid, properties: &[Vec<u8>]) -> Vec<u8> {
    sized_part(&[b"1SPS", &format_id.0, &properties.concat(), &[0; 4]])
}

fn string(text: &str) -> Vec<u8> {
    let text = utf16(&format!("{text}\0"));
    [&(text.len() as u32 / 2).to_le_bytes()[..], &text].concat()
}

fn read(data: &[u8]) -> PropertyStore<'_> {
    parse(data, 0, CodePage::default())
}

const SET: Guid = Guid([9; 16]);

#[test]
fn every_type_that_stores_hold_is_read() {
    let names = [string("ab"), vec![0; 2], string("döner")].concat();
    let cases: Vec<(u16, Vec<u8>, &str, &str)> = vec![
        (0x1F, string("Ж"), "\"Ж\"", "lpwstr"),
        (0x08, [&8_u32.to_le_bytes()[..], &utf16("abc\0")].concat(), "\"abc\"", "bstr"),
        (0x1E, [&2_u32.to_le_bytes()[..], b"\xE9\0"].concat(), "\"é\"", "lpstr"),
        (0x11, vec![200], "200", "ui1"),
        (0x12, vec![0, 1], "256", "ui2"),
        (0x13, vec![255; 4], "4294967295", "ui4"),
        (0x15, vec![255; 8], "18446744073709551615", "ui8"),
        (0x02, vec![254, 255], "-2", "i2"),
        (0x03, vec![253, 255, 255, 255], "-3", "i4"),
        (0x14, vec![255; 8], "-1", "i8"),
        (0x05, 1.5_f64.to_le_bytes().to_vec(), "1.5", "r8"),
        (0x0B, vec![255, 255, 0, 0], "true", "bool"),
        (0x40, 133_919_536_269_767_640_u64.to_le_bytes().to_vec(), "\"2025-05-17T11:07:06.9767640Z\"", "filetime"),
        (0x48, vec![1; 16], "\"01010101-0101-0101-0101-010101010101\"", "clsid"),
        (0x41, vec![2, 0, 0, 0, 0xAB, 0xCD], "\"abcd\"", "blob"),
        (0x1011, vec![3, 0, 0, 0, 1, 2, 3], "\"010203\"", "vector of ui1"),
        (0x101F, [&2_u32.to_le_bytes()[..], &names].concat(), "[\"ab\",\"döner\"]", "vector of lpwstr"),
        (
            0x100C,
            [&2_u32.to_le_bytes()[..], &typed(0x13, &[7, 0, 0, 0]), &typed(0x0B, &[0; 4])].concat(),
            "[7,false]",
            "vector of variant",
        ),
        (0x2003, vec![1, 2, 3], "\"010203\"", "array of i4"),
        (0x00, vec![], "null", "empty"),
    ];
    for (value_type, value, json, name) in cases {
        let data = [storage(SET, &[property(2, value_type, &value)]), vec![0; 4]].concat();
        let store = read(&data);
        assert_eq!(store.problems, [], "{name}");
        assert_eq!(serde_json::to_string(&store.properties[0].value).unwrap(), json, "{name}");
        assert_eq!(type_name(value_type), name);
    }
}

#[test]
fn properties_go_by_name_where_their_set_says_so_and_by_canonical_name_where_that_is_known() {
    let data = [
        vec![0xFF, 0, 0, 0],
        storage(ITEM_NAME_DISPLAY.0, &[property(10, 0x1F, &string("Documents"))]),
        storage(NAMED_PROPERTIES, &[named("AutoList", 0x0B, &[0; 4]), named("b", 0x13, &[1, 0, 0, 0])]),
        storage(SET, &[property(77, 0x40, &5_u64.to_le_bytes())]),
        vec![0; 4],
        vec![0xEE; 9],
    ]
    .concat();
    let store = read(&data);
    assert_eq!((store.size, store.problems.len()), (data.len() - 9, 0));
    let names: Vec<_> = store.properties.iter().map(|p| (p.name(), p.id)).collect();
    let (auto, b) = (utf16("AutoList"), utf16("b"));
    assert_eq!(
        names,
        [
            (Some("System.ItemNameDisplay"), PropertyId::Number(10)),
            (None, PropertyId::Name(Utf16(&auto))),
            (None, PropertyId::Name(Utf16(&b))),
            (None, PropertyId::Number(77)),
        ]
    );
    assert_eq!(
        store.get(ITEM_NAME_DISPLAY).and_then(Value::text).map(|text| text.to_string()).as_deref(),
        Some("Documents")
    );
    assert_eq!(store.get((SET, 77)), Some(&Value::Time(FileTime(5))));
}

#[test]
fn what_is_wrong_with_one_property_or_storage_loses_no_other() {
    let bad_text = [&u32::MAX.to_le_bytes()[..], b"x"].concat();
    let huge_vector = [&u32::MAX.to_le_bytes()[..], &[1, 0, 0, 0]].concat();
    let data = [
        storage(
            SET,
            &[property(1, 0x1F, &bad_text), property(2, 0x1013, &huge_vector), property(3, 0x13, &[9, 0, 0, 0])],
        ),
        sized_part(&[b"2SPS", &[0; 20]]),
        storage(SET, &[property(4, 0x1E, &[2, 0, 0, 0, b'z', 0])]),
        vec![0xFF; 4],
    ]
    .concat();
    let store = read(&data);
    assert_eq!(store.get((SET, 3)), Some(&Value::Unsigned(9)));
    assert_eq!(store.get((SET, 4)), Some(&Value::Text(Text::Ansi(b"z", CodePage::default()))));
    assert!(matches!(store.get((SET, 1)), Some(Value::Unknown(_))));
    let problems: Vec<_> = store.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "VT_LPWSTR at offset 41: need 8589934590 bytes, have 1",
            "VT_UI4 at offset 63: need 4 bytes, have 0",
            "property storage version at offset 84: is not 1SPS",
            "property storage at offset 159: need 4294967295 bytes, have 4",
        ]
    );
}

#[test]
fn a_store_cut_anywhere_gives_what_stands_before_the_cut() {
    let variant =
        [&9_u32.to_le_bytes()[..], &typed(0x100C, &[1, 0, 0, 0, 0x0C, 0, 0, 0, 0x0C, 0, 0, 0, 0x0C, 0, 0, 0])].concat();
    let whole =
        [storage(SET, &[property(1, 0x1F, &string("one")), property(2, 0x100C, &variant)]), vec![0; 4]].concat();
    for length in 0..whole.len() {
        let store = read(&whole[..length]);
        assert!(store.size <= length);
        assert!(store.properties.is_empty() || length >= whole.len() - 4);
    }
    assert_eq!(read(&whole).properties.len(), 2);
}
