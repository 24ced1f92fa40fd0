//! What must not matter: the numbers of nodes, hosts without traffic, and how many packets there are.

use std::collections::BTreeMap;

use hostint::model::{
    CauseSubject, CellCounts, CellGrowth, CellId, Confidence, HostInSlot, LatencyHistogram,
    NetworkVerdict, NodeId, VerdictSlot, VerdictState,
};
use hostint::verdict::VerdictEngine;
use hostint_testing::invented::InventedWorld;

use super::figures::{Line, table};
use super::incident::{BEGIN, Incident};

/// Incidents of several kinds, plain enough that the chance in their packets decides nothing.
const SENTENCES: [&str; 4] = [
    "3 % of packets out of one host are lost",
    "one host drops 1 % of what it sends, behind the tag",
    "one of four ways into a rack loses 3 %",
    "a queue in front of one host that overflows at times",
];

fn lines() -> Vec<Line> {
    let is_chosen = |line: &Line| SENTENCES.contains(&line.sentence);
    let lines: Vec<Line> = table().into_iter().filter(is_chosen).collect();
    assert_eq!(lines.len(), SENTENCES.len(), "sentences of the table");
    lines
}

fn slots(line: &Line) -> Vec<VerdictSlot> {
    let (network, incident) = Incident::new(line.clone(), 500);
    let mut world = InventedWorld::new(network, 501, 10);
    let slots = (0..BEGIN + 30).map(|number| {
        let harm = incident.harm(&world.network, number);
        world.slot(&harm)
    });
    slots.collect()
}

fn judge<'a>(slots: impl IntoIterator<Item = &'a VerdictSlot>) -> Vec<NetworkVerdict> {
    let mut engine = VerdictEngine::default();
    slots.into_iter().map(|slot| engine.slot(slot)).collect()
}

/// What a reader takes from a verdict. `number` has each node's number.
fn gist(verdict: &NetworkVerdict, number: impl Fn(NodeId) -> NodeId) -> String {
    let subject = |subject: &CauseSubject| match subject {
        CauseSubject::Node(node) => CauseSubject::Node(number(*node)),
        other => other.clone(),
    };
    let causes = verdict.causes.iter().map(|cause| {
        let subjects: Vec<_> = cause.subjects.iter().map(subject).collect();
        let (some, sure) = (cause.some_flows, cause.confidence);
        format!(
            "{:?} {subjects:?} {some} {} {sure:?}",
            cause.kind, cause.since_ns
        )
    });
    let causes: Vec<String> = causes.collect();
    format!(
        "{:?} {} {causes:?} {:?}",
        verdict.state, verdict.since_ns, verdict.cannot_tell
    )
}

fn assert_same(
    line: &Line,
    usual: &[NetworkVerdict],
    other: &[NetworkVerdict],
    number: impl Fn(NodeId) -> NodeId,
) {
    for (at, (usual, other)) in usual.iter().zip(other).enumerate() {
        let sentence = line.sentence;
        assert_eq!(
            gist(usual, &number),
            gist(other, |node| node),
            "{sentence}, slot {at}"
        );
    }
}

fn renumbered(slot: &VerdictSlot, number: impl Fn(NodeId) -> NodeId) -> VerdictSlot {
    let cell = |(id, growth): (&CellId, &CellGrowth)| {
        let id = CellId {
            source: number(id.source),
            sink: number(id.sink),
            class: id.class.clone(),
        };
        (id, growth.clone())
    };
    VerdictSlot {
        cells: slot.cells.iter().map(cell).collect(),
        hosts: slot
            .hosts
            .iter()
            .map(|(node, host)| (number(*node), host.clone()))
            .collect(),
        ..slot.clone()
    }
}

#[test]
fn the_numbers_and_the_order_of_nodes_do_not_matter() {
    for line in lines() {
        let slots = slots(&line);
        // 401 is a prime: no two nodes get the same number.
        let number = |node: NodeId| NodeId(node.0 * 211 % 401 + 1_000);
        let other: Vec<VerdictSlot> = slots.iter().map(|slot| renumbered(slot, number)).collect();
        assert_same(&line, &judge(&slots), &judge(&other), number);
    }
}

#[test]
fn hosts_without_traffic_do_not_matter() {
    for line in lines() {
        let slots = slots(&line);
        let with_idle = |slot: &VerdictSlot| {
            let mut slot = slot.clone();
            for number in 0..5 {
                let idle = HostInSlot {
                    labels: BTreeMap::from([("rack".to_string(), format!("r{}", number % 3 + 1))]),
                    reports: true,
                    dropped: Some([0, 0]),
                    ..HostInSlot::default()
                };
                slot.hosts.insert(NodeId(900 + number), idle);
            }
            slot
        };
        let other: Vec<VerdictSlot> = slots.iter().map(with_idle).collect();
        assert_same(&line, &judge(&slots), &judge(&other), |node| node);
    }
}

/// Here and there a slot has no estimate of the clocks, and its latencies have their whole difference.
#[test]
fn a_slot_without_clocks_is_no_fault_and_what_was_learned_stays() {
    for line in lines() {
        let slots = slots(&line);
        let without_clocks = |(number, slot): (usize, &VerdictSlot)| {
            let mut slot = slot.clone();
            if number % 10 == 5 {
                slot.cells
                    .values_mut()
                    .for_each(|growth| growth.clocks_ns = None);
            }
            slot
        };
        let other: Vec<VerdictSlot> = slots.iter().enumerate().map(without_clocks).collect();
        let [with, without] = [&slots, &other].map(judge);
        let before = BEGIN as usize - 1;
        assert!(with[before].judged.latency_pairs > 0, "{}", line.sentence);
        assert_eq!(with[before].judged, without[before].judged);
        for (number, verdict) in without[..BEGIN as usize].iter().enumerate() {
            let said = (number, &verdict.text, line.sentence);
            assert!(verdict.causes.is_empty(), "{said:?}");
        }
        let last = |said: &[NetworkVerdict]| {
            let cause = &said.last().unwrap().causes[0];
            (cause.kind, cause.subjects.clone(), cause.metric.clone())
        };
        assert_eq!(last(&with), last(&without), "{}", line.sentence);
    }
}

fn ten_times(slot: &VerdictSlot) -> VerdictSlot {
    let times = |counts: &mut CellCounts| {
        counts.sent *= 10;
        counts.lost *= 10;
    };
    let mut slot = slot.clone();
    for growth in slot.cells.values_mut() {
        times(&mut growth.counts);
        growth.parts.iter_mut().for_each(times);
        if let Some(ends) = growth.latency.ends() {
            let counts = growth
                .latency
                .counts()
                .map(|(bound, count)| (bound, count * 10));
            let (resolution, sum) = (
                growth.latency.resolution(),
                growth.latency.whole_sum_ns() * 10,
            );
            growth.latency =
                LatencyHistogram::of_counts(resolution, ends, sum, counts.collect::<Vec<_>>());
        }
    }
    for host in slot.hosts.values_mut() {
        host.dropped = host.dropped.map(|dropped| dropped.map(|count| count * 10));
    }
    slot
}

fn rank(confidence: Confidence) -> u32 {
    match confidence {
        Confidence::OneOf => 0,
        Confidence::Likely => 1,
        Confidence::Sure => 2,
    }
}

/// The first slot with the cause that is named longest, and how sure it is at most.
fn named(line: &Line, verdicts: &[NetworkVerdict]) -> Option<(usize, u32)> {
    let (_, incident) = Incident::new(line.clone(), 500);
    let is_right = |verdict: &NetworkVerdict| {
        let words = incident.expected.words(verdict);
        words.is_some_and(|words| incident.expected.is_right(&words))
    };
    let first = verdicts.iter().position(is_right)?;
    let right = verdicts.iter().filter(|verdict| is_right(verdict));
    let sure = right.filter_map(|verdict| verdict.causes.first());
    Some((
        first,
        sure.map(|cause| rank(cause.confidence)).max().unwrap_or(0),
    ))
}

#[test]
fn ten_times_the_packets_never_make_it_less_sure() {
    for line in lines() {
        let slots = slots(&line);
        let more: Vec<VerdictSlot> = slots.iter().map(ten_times).collect();
        let (usual, more) = (judge(&slots), judge(&more));
        assert!(
            more.iter()
                .any(|verdict| verdict.state != VerdictState::CannotTell),
            "{}: nothing can be said",
            line.sentence
        );
        let Some((first, sure)) = named(&line, &usual) else {
            continue;
        };
        let found = named(&line, &more);
        assert!(
            found.is_some_and(|(other, as_sure)| other <= first && as_sure >= sure),
            "{}: named in slot {first}, {sure}; with ten times the packets {found:?}",
            line.sentence
        );
    }
}
