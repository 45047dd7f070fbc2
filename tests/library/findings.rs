//! What the fuzzer found, each as a small file that stays: `tests/findings/<target>/<what>.bin`, run through the same
//! oracle that the target uses.
//!
//! `JLFIX_FINDINGS=DIR` runs the files of another folder of that shape, such as `fuzz/artifacts`.

use crate::support::oracle;

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

#[test]
fn everything_that_the_fuzzer_found_holds_now() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("findings");
    let folder = std::env::var_os("JLFIX_FINDINGS").map_or(own, PathBuf::from);
    let mut failed = Vec::new();
    let mut count = 0;
    for target in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap()) {
        let name = target.file_name().into_string().unwrap();
        let Some((_, oracle)) = oracle::TARGETS.iter().find(|(known, _)| *known == name) else {
            panic!("{}: no such target", target.path().display());
        };
        for file in fs::read_dir(target.path()).unwrap().map(|entry| entry.unwrap().path()) {
            let data = fs::read(&file).unwrap();
            count += 1;
            if catch_unwind(|| oracle(&data)).is_err() {
                failed.push(file);
            }
        }
    }
    println!("{count} findings");
    assert!(failed.is_empty(), "{failed:#?}");
}
