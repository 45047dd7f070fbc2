//! The library as a program uses it that has nothing to do with the command line: bytes in, bytes out.

use crate::support;

use jlfix::cost::Cost;
use jlfix::format::text::CodePage;
use jlfix::format::time::FileTime;
use jlfix::limits::Limits;
use jlfix::model::{AutomaticList, Code, Kind, ReadOptions, Severity, Source};
use jlfix::plan::{self, KeepBy, PlanError, PruneRules, TargetStatus};
use support::build::{CustomBuilder, LinkBuilder, ListBuilder, NewEntry};
use support::read::List;

/// The list of an automatic source.
fn with_list<T>(bytes: &[u8], look: impl FnOnce(&AutomaticList<'_>) -> T) -> T {
    let source = Source::read(bytes, None, &ReadOptions::default()).expect("a jump list");
    let Source::Automatic(Ok(compound)) = &source else { panic!("{source:?}") };
    look(&AutomaticList::read(compound))
}

#[test]
fn bytes_become_a_list_a_plan_and_bytes_again() {
    let bytes = ListBuilder::folders(4, 40).ranked().pin(7).pin(39).build();
    let rules = PruneRules::new().keep(10);
    let (after, costs) = with_list(&bytes, |list| {
        assert_eq!((list.version(), list.entries.len(), list.pinned(), list.links()), (Some(4), 40, 2, 40));
        assert!(list.findings(CodePage::default()).is_empty());
        let link = list.entries[0].read_link(CodePage::default()).unwrap().unwrap();
        assert_eq!(link.target().unwrap(), r"C:\Users\sam\Documents\Projects\job 00000");
        let plan = plan::prune(list, &rules, &Limits::default()).unwrap();
        assert_eq!((plan.before.entries, plan.after.entries, plan.dropped.len()), (40, 12, 28));
        assert!(plan.dropped.iter().all(|dropped| dropped.reason.rule() == "keep" && !dropped.pinned));
        assert_eq!(plan.before.cost, Cost::of(list));
        (plan.bytes.unwrap(), (plan.before.cost.reads, plan.after.cost.reads))
    });
    assert!(costs.1 * 2 < costs.0, "{costs:?}");
    with_list(&after, |list| {
        assert_eq!((list.entries.len(), list.pinned(), Cost::of(list).reads), (12, 2, costs.1));
        assert!(list.findings(CodePage::default()).is_empty());
        // A second time nothing is dropped.
        assert!(plan::prune(list, &rules, &Limits::default()).unwrap().bytes.is_none());
    });
}

#[test]
fn the_rules_are_values_and_functions_of_the_caller() {
    let path = |n: u64| format!(r"C:\Users\sam\{n}.txt");
    let bytes = ListBuilder::new(6).entries((1..=6).rev().map(|n| NewEntry::file(&path(n)))).build();
    let left = |rules: &PruneRules<'_>| {
        with_list(&bytes, |list| {
            plan::prune(list, rules, &Limits::default()).unwrap().bytes.map(|bytes| List::of(&bytes).ids())
        })
    };
    let times =
        with_list(&bytes, |list| list.entries.iter().map(|entry| entry.dest.last_access).collect::<Vec<FileTime>>());
    let is_even = |path: &str| path.ends_with("2.txt") || path.ends_with("4.txt");
    let status = |path: &str| if path.ends_with("6.txt") { TargetStatus::Missing } else { TargetStatus::Unknown };
    let rules = PruneRules::new;
    assert!(rules().is_empty());
    assert_eq!(left(&rules().ids([5, 99])), Some(vec![6, 4, 3, 2, 1]));
    assert_eq!(left(&rules().matching(&is_even as &dyn Fn(&str) -> bool)), Some(vec![6, 5, 3, 1]));
    assert_eq!(left(&rules().missing(&status as &dyn Fn(&str) -> TargetStatus)), Some(vec![5, 4, 3, 2, 1]));
    assert_eq!(left(&rules().older_than(times[2])), Some(vec![6, 5, 4]));
    assert_eq!(left(&rules().keep(2).keep_by(KeepBy::Score)), Some(vec![6, 5]));
    assert_eq!(left(&rules().keep(6)), None);
}

#[test]
fn what_damage_would_make_final_is_refused() {
    let whole = ListBuilder::files(4, 40).build();
    let rules = PruneRules::new().keep(1);
    for bytes in
        [&whole[..whole.len() - 1024], &ListBuilder::files(4, 9).edit(0, |entry| entry.checksum = Some(1)).build()]
    {
        let refused = with_list(bytes, |list| plan::prune(list, &rules, &Limits::default()).map(|_| ()));
        assert!(matches!(refused, Err(PlanError::Damaged(_) | PlanError::Unseen(_))), "{refused:?}");
    }
}

#[test]
fn the_content_says_what_a_file_is_and_the_name_only_where_the_content_does_not() {
    let kind = |bytes: &[u8], hint| Source::read(bytes, hint, &ReadOptions::default()).map(|source| source.kind());
    let list = ListBuilder::files(1, 1).build();
    assert_eq!(kind(&list, Some(Kind::Custom)), Some(Kind::Automatic));
    assert_eq!(kind(&CustomBuilder::new().known(1).build(), None), Some(Kind::Custom));
    assert_eq!(kind(&LinkBuilder::url("https://example.org/").build(), None), Some(Kind::Link));
    assert_eq!(kind(b"Dear Kim", None), None);
    assert_eq!(kind(b"Dear Kim", Kind::of_name("x.CUSTOMdestinations-ms")), Some(Kind::Custom));
}

#[test]
fn every_code_has_its_own_name_in_order_and_a_severity_by_which_states_are_told() {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
    assert!(Severity::Info < Severity::Warning && Severity::Warning < Severity::Error);
}
