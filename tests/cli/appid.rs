//! The names of applications, held against real jump lists and against a public list of AppIDs.

use crate::support::skip::corpus;

use jlfix::appid::{AppId, AppNames, known_sources, recover};
use walkdir::WalkDir;

#[test]
fn every_jump_list_of_the_corpus_is_told_by_name() {
    let Some(corpus) = corpus() else { return };
    let files = WalkDir::new(corpus.join("jumplists")).into_iter().map(Result::unwrap);
    let ids: Vec<_> = files.filter_map(|file| AppId::from_file_name(file.file_name())).collect();
    assert!(ids.len() >= 46, "{}", ids.len());
    for id in ids {
        assert!(!known_sources(id).is_empty(), "{id} is nobody's");
    }
}

#[test]
fn most_of_a_public_list_of_ids_follows_from_names() {
    let Some(corpus) = corpus() else { return };
    let mut list = AppNames::default();
    list.add_list(&std::fs::read(corpus.join("appids.txt")).unwrap());
    let ids: Vec<AppId> = list.added().map(|(id, _)| id).collect();
    let (known, unknown): (Vec<AppId>, Vec<AppId>) = ids.iter().partition(|id| !known_sources(**id).is_empty());
    let recovered = unknown.iter().filter(|id| recover(**id).is_some()).count();
    assert!(known.len() >= 500 && recovered >= 20, "{}, {recovered} of {}", known.len(), ids.len());
}
