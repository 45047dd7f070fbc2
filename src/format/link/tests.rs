use proptest::prelude::*;

use super::*;
use crate::format::problem::Fault;

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn u32s(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Places a part in a LinkInfo and gives its offset.
fn put(data: &mut Vec<u8>, part: &[u8]) -> u32 {
    let at = data.len() as u32;
    data.extend(part);
    at
}

fn header(flags: u32, attributes: u32) -> Vec<u8> {
    let mut data = u32s(&[76]);
    data.extend(CLASS_ID.0);
    data.extend(u32s(&[flags, attributes]));
    for time in [1_u64, 2, 3] {
        data.extend(time.to_le_bytes());
    }
    data.extend(u32s(&[4096, 0xFFFF_FFFE, 7]));
    data.extend([b'T', 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    data
}

/// A LinkInfo with everything in it. `patch` may damage its fixed fields (u32 by u32) before they are written.
fn link_info(patch: impl Fn(&mut [u32; 9])) -> Vec<u8> {
    let mut rest = vec![0; 36];
    let mut volume = u32s(&[0, 3, 0xABCD_0012, 0x14, 0x14]);
    volume.extend(utf16("Daten\0"));
    volume[0] = volume.len() as u8;
    let volume_at = put(&mut rest, &volume);
    let base_at = put(&mut rest, b"C:\\Gr\xFC\xDFe\0");
    let mut network = u32s(&[0, 3, 28, 0, 0x0002_0000, 0, 0]);
    let net_name = put(&mut network, b"\\\\srv\\d\0");
    let device = put(&mut network, b"Z:\0");
    let unicode = put(&mut network, &utf16("\\\\srv\\döner\0"));
    network[8] = net_name as u8;
    network[12] = device as u8;
    network[20] = unicode as u8;
    network[0] = network.len() as u8;
    let network_at = put(&mut rest, &network);
    let suffix_at = put(&mut rest, b"a?b\0");
    let base_unicode_at = put(&mut rest, &utf16("C:\\Grüße\0"));
    let suffix_unicode_at = put(&mut rest, &utf16("aЖb\0"));
    let size = rest.len() as u32;
    let mut fixed = [size, 36, 3, volume_at, base_at, network_at, suffix_at, base_unicode_at, suffix_unicode_at];
    patch(&mut fixed);
    let mut info = u32s(&fixed);
    info.extend(&rest[36..]);
    info
}

fn block(signature: u32, payload: &[u8]) -> Vec<u8> {
    let mut data = u32s(&[payload.len() as u32 + 8, signature]);
    data.extend(payload);
    data
}

const ALL_PARTS: u32 = 0xFF;

/// A link with every part, and `info` as its LinkInfo.
fn link_with(info: &[u8], attributes: u32) -> Vec<u8> {
    let mut data = header(ALL_PARTS, attributes);
    data.extend([22, 0, 20, 0, 0x1F, 0x50]);
    data.extend([7; 16]);
    data.extend([0, 0]);
    data.extend(info);
    for text in ["name", "..\\rel", "C:\\work", "-a \"b c\"", "icon.dll"] {
        data.extend((text.len() as u16).to_le_bytes());
        data.extend(utf16(text));
    }
    let mut tracker = u32s(&[88, 0]);
    tracker.extend(*b"desktop-1\0\0\0\0\0\0\0");
    for id in 1..=4 {
        tracker.extend([id; 16]);
    }
    data.extend(block(signature::TRACKER, &tracker));
    data.extend(block(0xA000_00FE, &[1, 2, 3]));
    data.extend([0; 4]);
    data
}

fn whole_link() -> Vec<u8> {
    link_with(&link_info(|_| ()), 0x20)
}

fn read(data: &[u8]) -> Link<'_> {
    parse(data, CodePage::default()).unwrap()
}

fn problems(link: &Link<'_>) -> Vec<String> {
    link.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn every_part_of_a_whole_link_is_read_and_what_follows_it_is_left_alone() {
    let mut data = whole_link();
    let size = data.len();
    data.extend([0xAB; 40]);
    let link = read(&data);
    assert_eq!((link.size, link.complete, problems(&link)), (size, true, vec![]));
    assert_eq!(link.header.hotkey.to_string(), "Ctrl+Alt+T");
    assert_eq!((link.header.icon_index, link.header.show_command.word()), (-2, "minimized"));
    assert_eq!(link.id_list.unwrap().data.len(), 22);
    let info = link.info.unwrap();
    let volume = info.volume.unwrap();
    assert_eq!(volume.drive_type.word(), "fixed");
    assert_eq!(volume.serial.to_string(), "abcd0012");
    assert_eq!(volume.label.unwrap().to_string(), "Daten");
    assert_eq!(link.local_path().unwrap(), "C:\\Grüße\\aЖb");
    assert_eq!(link.network_path().unwrap(), "\\\\srv\\döner\\aЖb");
    let network = info.network.unwrap();
    assert_eq!(network.device_name.unwrap().to_string(), "Z:");
    assert_eq!(network.provider.and_then(provider_name), Some("SMB"));
    let texts = [link.name, link.relative_path, link.working_dir, link.arguments, link.icon];
    assert_eq!(texts.map(|text| text.unwrap().to_string()), ["name", "..\\rel", "C:\\work", "-a \"b c\"", "icon.dll"]);
    let tracker = link.tracker().unwrap();
    assert_eq!(tracker.machine_id.unwrap().to_string(), "desktop-1");
    assert_eq!((tracker.file, tracker.birth_file), (Guid([2; 16]), Guid([4; 16])));
    let unknown = link.extra.last().unwrap();
    assert_eq!((unknown.signature, unknown.data, unknown.offset), (0xA000_00FE, &[1, 2, 3][..], size - 15));
}

#[test]
fn a_link_cut_at_any_byte_keeps_what_stands_before_the_cut() {
    let data = whole_link();
    let whole = read(&data);
    for length in 0..data.len() {
        let cut = &data[..length];
        let Ok(link) = parse(cut, CodePage::default()) else {
            assert!(length < HEADER_SIZE);
            continue;
        };
        assert!(!link.complete && link.size <= length && !link.problems.is_empty(), "{length}");
        assert_eq!(link.header, whole.header);
        if let Some(name) = link.name {
            assert_eq!((Some(name), link.info), (whole.name, whole.info));
        }
    }
    assert_eq!(
        parse(&data[..50], CodePage::default()).unwrap_err().to_string(),
        "link header at offset 0: need 76 bytes, have 50"
    );
}

#[test]
fn other_bytes_are_told_from_a_link_by_their_header() {
    let mut data = whole_link();
    assert!(looks_like_link(&data) && !looks_like_link(&data[..19]));
    data[0] = 77;
    assert_eq!(parse(&data, CodePage::default()), Err(NotALink::Size(77)));
    data[0] = 76;
    data[4] = 2;
    assert!(!looks_like_link(&data));
    assert!(matches!(parse(&data, CodePage::default()), Err(NotALink::ClassId(_))));
}

#[test]
fn a_cloud_file_has_attributes_that_older_readers_do_not_know() {
    let data = link_with(&link_info(|_| ()), 0x0050_1620);
    let names = attribute_names(read(&data).header.attributes);
    let expected = ["archive", "sparse_file", "reparse_point", "offline", "unpinned", "recall_on_data_access"];
    assert_eq!(names, expected);
    assert!(read(&link_with(&link_info(|_| ()), u32::MAX)).complete);
}

#[test]
fn an_offset_outside_its_link_info_loses_its_own_field_alone() {
    for (field, lost) in [(3, "volume ID"), (5, "common network relative link"), (8, "Unicode common path suffix")] {
        for at in [5, 5000, u32::MAX] {
            let info = link_info(|fixed| fixed[field] = at);
            let data = link_with(&info, 0x20);
            let link = read(&data);
            assert!(link.complete);
            let [problem] = link.problems[..] else { panic!("{:?}", link.problems) };
            assert_eq!((problem.what, problem.offset), (lost, 100));
            assert_eq!(problem.fault, Fault::Outside { at: at.into(), size: info.len() as u64 });
            assert!(link.local_path().unwrap().starts_with("C:\\Grüße\\a"));
            assert_eq!(link.name.unwrap().to_string(), "name");
        }
    }
}

#[test]
fn a_size_that_nothing_can_have_stops_the_link_where_it_stands() {
    let info = link_info(|fixed| fixed[0] = u32::MAX);
    let data = link_with(&info, 0x20);
    let link = read(&data);
    let have = data.len() - 100;
    assert_eq!(problems(&link), [format!("LinkInfo at offset 100: need 4294967295 bytes, have {have}")]);
    assert_eq!((link.complete, link.size), (false, 100));
    assert!(link.id_list.is_some() && link.info.is_none());

    let mut data = whole_link();
    let tracker_at = read(&data).block(signature::TRACKER).unwrap().offset;
    data[tracker_at..tracker_at + 4].fill(0xFF);
    let link = read(&data);
    assert_eq!((link.complete, link.size, link.extra.len()), (false, tracker_at, 0));
    assert_eq!(link.icon.unwrap().to_string(), "icon.dll");
}

#[test]
fn an_id_list_with_a_wrong_size_still_leads_to_the_local_path() {
    let mut data = whole_link();
    data[76..78].fill(0xFF);
    let link = read(&data);
    assert_eq!(link.local_path().unwrap(), "C:\\Grüße\\aЖb");
    assert_eq!(link.problems.len(), 1);
    assert!(link.complete);
}

#[test]
fn strings_in_a_code_page_and_with_unpaired_surrogates_are_read() {
    let mut data = header(LinkFlags::HAS_NAME | LinkFlags::HAS_ARGUMENTS, 0);
    data.extend([2, 0, 0xE0, 0xE9, 1, 0, b'x']);
    let page = CodePage::find("1251").unwrap();
    let link = parse(&data, page).unwrap();
    assert_eq!((link.name.unwrap().to_string(), link.target().unwrap()), ("ай".to_owned(), "ай".to_owned()));
    assert_eq!(problems(&link), ["terminal block at offset 83: need 4 bytes, have 0"]);
    assert_eq!((link.size, link.complete), (83, false));

    let mut data = header(LinkFlags::HAS_NAME | LinkFlags::IS_UNICODE, 0);
    data.extend([2, 0, b'a', 0, 0x00, 0xDC, 0, 0, 0, 0]);
    assert_eq!(read(&data).name.unwrap().to_string(), "a\u{FFFD}");
}

#[test]
fn a_count_over_260_hides_nothing_that_windows_reads() {
    let mut data = header(LinkFlags::HAS_NAME | LinkFlags::HAS_ARGUMENTS | LinkFlags::IS_UNICODE, 0);
    data.extend([0xFF, 0xFF]);
    data.extend(utf16(&" ".repeat(260)));
    data.extend([2, 0, b'/', 0, b'c', 0, 0, 0, 0, 0]);
    let link = read(&data);
    assert_eq!(link.arguments.unwrap().to_string(), "/c");
    assert!(link.complete && link.problems.len() == 1);
}

/// The payloads of all blocks that MS-SHLLINK names, in the order of their signatures.
fn payloads() -> Vec<(u32, Vec<u8>)> {
    let two_texts = |text: &str| {
        let mut data = text.as_bytes().to_vec();
        data.resize(260, 0);
        data.extend(utf16(text));
        data.resize(780, 0);
        data
    };
    let mut console = vec![0; 196];
    console[0] = 0x56;
    console[36..44].copy_from_slice(&utf16("Font"));
    let tracker = [vec![0; 8], b"machine\0\0\0\0\0\0\0\0\0".to_vec(), vec![1; 32], vec![2; 32]].concat();
    let mut store = u32s(&[45, 0x5350_5331]);
    store.extend(Guid::parse("9f4c2855-9f79-4b39-a8d0-e1d42de1d5f3").unwrap().0);
    store.extend([17, 0, 0, 0, 7, 0, 0, 0, 0, 0x0B, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let special = [&[9; 16][..], &[0x14, 0, 0, 0]].concat();
    vec![
        (signature::ENVIRONMENT, two_texts("%windir%\\a.exe")),
        (signature::CONSOLE, console),
        (signature::TRACKER, tracker),
        (signature::CONSOLE_FE, vec![0xA4, 3, 0, 0]),
        (signature::SPECIAL_FOLDER, vec![37, 0, 0, 0, 221, 0, 0, 0]),
        (signature::DARWIN, two_texts("w_1^VX!!!!!!!!!MKKSk")),
        (signature::ICON_ENVIRONMENT, two_texts("%windir%\\a.ico")),
        (signature::SHIM, utf16("WIN95\0")),
        (signature::PROPERTY_STORE, store),
        (signature::KNOWN_FOLDER, special),
        (signature::VISTA_ID_LIST, [&[20, 0, 0x1F, 0x50][..], &[7; 16], &[0, 0]].concat()),
    ]
}

#[test]
fn every_block_is_decoded_and_one_that_is_cut_short_fails_alone() {
    let with_blocks = |cut: usize| {
        let mut data = header(0, 0);
        for (at, (signature, payload)) in payloads().into_iter().enumerate() {
            let keep = if at == cut { payload.len() / 2 - 1 } else { payload.len() };
            data.extend(block(signature, &payload[..keep]));
        }
        data.extend([0; 4]);
        data
    };
    let data = with_blocks(usize::MAX);
    let details = read(&data).details();
    assert_eq!(details.problems, []);
    let types: Vec<_> = details.blocks.iter().map(|block| block_name(block.block.signature).unwrap()).collect();
    let expected = "environment console tracker console_fe special_folder darwin icon_environment shim property_store \
                    known_folder vista_id_list";
    assert_eq!(types.join(" "), expected);
    assert!(details.blocks.iter().all(|block| block.extra != Extra::Unknown));
    assert_eq!(details.properties[0].name(), Some("System.AppUserModel.IsDestListLink"));
    let json = serde_json::to_value(&details.blocks).unwrap();
    assert_eq!(json[0]["unicode"], "%windir%\\a.exe");
    assert_eq!(json[1]["console"]["face_name"], "Font");
    assert_eq!(json[2]["moved"], true);
    assert_eq!(json[3]["code_page"], 932);
    assert_eq!(json[4]["folder_offset"], 221);
    assert_eq!(json[7]["layer"], "WIN95");
    for cut in (0..payloads().len()).filter(|cut| *cut != 7) {
        let data = with_blocks(cut);
        let link = read(&data);
        let details = link.details();
        assert!(link.complete);
        assert_eq!((details.problems.len(), details.blocks.len()), (1, types.len()), "{cut}");
        for (at, block) in details.blocks.iter().enumerate().filter(|(at, _)| *at != cut) {
            assert_ne!(block.extra, Extra::Unknown, "{cut} {at}");
        }
    }
}

#[test]
fn a_target_without_a_path_is_told_by_what_else_names_it() {
    let mut data = header(LinkFlags::HAS_RELATIVE_PATH | LinkFlags::IS_UNICODE, 0);
    data.extend([3, 0, b'.', 0, b'\\', 0, b'x', 0]);
    let end = data.len();
    data.extend([0; 4]);
    assert_eq!(read(&data).target().unwrap(), ".\\x");
    data.truncate(end);
    data.extend(block(signature::ENVIRONMENT, &payloads()[0].1));
    data.extend([0; 4]);
    assert_eq!(read(&data).target().unwrap(), "%windir%\\a.exe");
    assert_eq!(read(&header(0, 0)).target(), None);
}

#[test]
fn a_target_moved_if_its_ids_are_not_those_it_was_born_with() {
    let moved = |volume: u8, file: u8| {
        let mut payload = vec![0; 24];
        for first in [volume, file, 0x10, 0x20] {
            payload.extend([first, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5]);
        }
        let data = [header(0, 0), block(signature::TRACKER, &payload), vec![0; 4]].concat();
        read(&data).tracker().unwrap().moved()
    };
    assert!(!moved(0x10, 0x20));
    assert!(!moved(0x11, 0x20), "the lowest bit of a volume is no part of it");
    assert!(moved(0x12, 0x20) && moved(0x10, 0x21));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_damage_to_a_link_makes_it_panic_or_reach_past_its_end(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        length in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut data = whole_link();
        for (at, value) in &changes {
            let at = at.index(data.len());
            data[at] = *value;
        }
        if cut {
            data.truncate(length.index(data.len()));
        }
        if let Ok(link) = parse(&data, CodePage::default()) {
            prop_assert!(link.size <= data.len());
            prop_assert!(link.complete || !link.problems.is_empty());
            let details = link.details();
            let _ = (link.target(), link.tracker(), format!("{link:?}"), serde_json::to_string(&details.blocks).unwrap());
        }
    }
}
