//! A source's daemon adds up what was not tagged since it began, by sink and class.

use std::collections::BTreeMap;

use hostint::datapath::host::counters;
use hostint::model::coverage::{MissedPackets, MissedReason, PairEnd};
use hostint::model::missed_tally::{ALL_TOLD_TURNS, MissedTally};
use hostint::model::{NodeId, Volume};

const STORAGE: &str = "storage";

fn of_storage(reasons: &[(u8, u64)]) -> MissedPackets {
    MissedPackets {
        other: PairEnd::ToSink(Some(NodeId(2))),
        class: Some(STORAGE.to_owned()),
        by_reason: reasons
            .iter()
            .map(|(reason, packets)| (MissedReason::Source(*reason), volume(*packets)))
            .collect(),
    }
}

/// Packets of 100 bytes.
fn volume(packets: u64) -> Volume {
    Volume::of(packets, 100 * packets)
}

/// A turn in which these entries are read.
fn turn(tally: &mut MissedTally<u32>, entries: &[(u32, [u64; 3])]) -> Vec<MissedPackets> {
    for (key, packets) in entries {
        let counts = packets.map(volume);
        tally.add(
            *key,
            &counts,
            || 1,
            MissedReason::Source,
            || (PairEnd::ToSink(Some(NodeId(2))), Some(STORAGE.to_owned())),
        );
    }
    tally.end_turn()
}

#[test]
fn entries_of_a_subject_are_added_up_from_the_first_turn_on() {
    let mut tally = MissedTally::default();
    assert_eq!(turn(&mut tally, &[(1, [5, 5, 5])]), [], "counted before");
    assert_eq!(
        turn(&mut tally, &[(1, [6, 5, 5]), (2, [0, 3, 0])]),
        [of_storage(&[(0, 1), (1, 3)])],
        "what grew, and an entry that is new"
    );
    assert_eq!(
        turn(&mut tally, &[(1, [6, 5, 5])]),
        [of_storage(&[(0, 1), (1, 3)])],
        "an entry that is gone keeps its packets, which are told again"
    );
    assert_eq!(
        turn(&mut tally, &[(1, [6, 5, 5]), (2, [0, 1, 0])]),
        [of_storage(&[(0, 1), (1, 4)])],
        "the same entry begins anew"
    );
    tally.change_table();
    assert_eq!(
        turn(&mut tally, &[(1, [2, 0, 0])]),
        [of_storage(&[(0, 3), (1, 4)])],
        "so does another table"
    );
}

#[test]
fn what_does_not_change_is_told_three_times_and_then_rarely() {
    let mut tally = MissedTally::default();
    turn(&mut tally, &[]);
    let entries = [(1, [1, 0, 0])];
    let told = (1..=3 * ALL_TOLD_TURNS).map(|_| turn(&mut tally, &entries).len());
    let told: Vec<usize> = told.collect();
    assert_eq!(told[..6], [1, 1, 1, 0, 1, 0]);
    let rest: BTreeMap<usize, usize> = told[6..].iter().map(|n| (*n, 1)).collect();
    assert_eq!(rest.len(), 2);
    assert_eq!(told[6..].iter().sum::<usize>(), 2, "once in a minute");
}

#[test]
fn each_reason_has_the_name_of_its_counter() {
    type Reason = fn(u8) -> MissedReason;
    let roles: [(Reason, _, usize); 2] = [
        (MissedReason::Source, counters::SOURCE, 21),
        (MissedReason::Sink, counters::SINK, 4),
    ];
    for (reason, counters, expected) in roles {
        let mut named = 0;
        for (number, meaning) in (0..).zip(counters) {
            let name = reason(number).name();
            assert!(
                name == "other" || name == meaning.name,
                "{number} is {name}, and counts {}",
                meaning.name
            );
            named += usize::from(name != "other");
        }
        assert_eq!(named, expected, "{:?}", reason(0));
        assert_eq!(reason(200).name(), "other");
    }
}

#[test]
fn what_finds_no_room_counts_without_class() {
    let sink = |key: u32| (PairEnd::ToSink(Some(NodeId(key))), Some(STORAGE.to_owned()));
    let source = |key: u32| (PairEnd::FromSource(NodeId(7)), Some(key.to_string()));
    type Subject = fn(u32) -> (PairEnd, Option<String>);
    let cases: [(&str, Subject, PairEnd); 2] = [
        ("of sinks", sink, PairEnd::ToSink(None)),
        ("of a source", source, PairEnd::FromSource(NodeId(7))),
    ];
    for (name, subject, others) in cases {
        let mut tally = MissedTally::default();
        tally.end_turn();
        for key in 0..5_000 {
            tally.add(
                key,
                &[volume(2)],
                || 1,
                MissedReason::Source,
                || subject(key),
            );
        }
        let told = tally.end_turn();
        let mut total = Volume::default();
        let all = told.iter().flat_map(|one| one.by_reason.values());
        all.for_each(|one| total.add(*one));
        assert_eq!((told.len(), total), (4_097, volume(10_000)), "{name}");
        let rest = told.iter().find(|one| one.class.is_none()).unwrap();
        assert_eq!(rest.other, others, "{name}");
    }
}

#[test]
fn tagged_packets_are_told_beside_those_that_were_not() {
    let mut tally = MissedTally::default();
    turn(&mut tally, &[(1, [5, 0, 0])]);
    let told = turn(&mut tally, &[(1, [9, 0, 2])]);
    assert_eq!(told, [of_storage(&[(0, 4), (2, 2)])]);
    assert_eq!(told[0].tagged(), volume(4));
    assert_eq!(told[0].named(), BTreeMap::from([("other", volume(2))]));
}

#[test]
fn flows_that_the_budget_leaves_out_are_estimated_by_those_that_are_measured() {
    let mut tally = MissedTally::default();
    let subject = || (PairEnd::ToSink(Some(NodeId(7))), None);
    let add = |tally: &mut MissedTally<u32>, counts: [u64; 3], flows| {
        tally.add(
            1,
            &counts.map(volume),
            || flows,
            MissedReason::Source,
            subject,
        );
        tally.end_turn()
    };
    add(&mut tally, [5, 0, 0], 8);
    // Of what was counted since: four tagged and two that were not, of one flow in eight.
    let told = add(&mut tally, [9, 0, 2], 8);
    assert_eq!(told[0].tagged(), volume(4));
    let named = BTreeMap::from([("other", volume(2)), ("budget", volume(42))]);
    assert_eq!(told[0].named(), named);
    // All flows are measured again.
    let told = add(&mut tally, [19, 0, 2], 1);
    assert_eq!(told[0].named(), named);
    assert_eq!(told[0].tagged(), volume(14));
}
