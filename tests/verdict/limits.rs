//! Limits: beyond one is degraded even where that is usual, and within one what is unusual is only said.

use std::collections::BTreeMap;

use hostint::model::*;
use hostint::verdict::{VerdictEngine, in_force};
use hostint::views::verdict::put_words;

const SLOT_NS: u64 = 10_000_000_000;
const NODES: u32 = 5;
const MS: i64 = 1_000_000;

/// The latency to a sink, and packets that are lost of 1,000.
pub type Packets = fn(sink: u32) -> (i64, u64);

pub fn well(_: u32) -> (i64, u64) {
    (MS, 0)
}

pub fn slot(number: u64, packets: Packets, limits: &[TrafficLimit]) -> VerdictSlot {
    let mut slot = VerdictSlot {
        end_ns: (1_000_000 + number) * SLOT_NS,
        ..VerdictSlot::default()
    };
    for node in 1..=NODES {
        let rack = format!("r{}", node.min(2));
        let host = HostInSlot {
            labels: BTreeMap::from([("rack".to_owned(), rack)]),
            reports: true,
            ..HostInSlot::default()
        };
        slot.hosts.insert(NodeId(node), host);
        for source in (1..=NODES).filter(|source| *source != node) {
            let (mean_ns, lost) = packets(node);
            let mut growth = CellGrowth {
                counts: CellCounts { sent: 1_000, lost },
                clocks_ns: Some((0, 1_000)),
                flows: 5,
                ..CellGrowth::default()
            };
            for apart in -10..=10 {
                growth.latency.add(mean_ns + apart * mean_ns / 100);
            }
            let id = CellId {
                source: NodeId(source),
                sink: NodeId(node),
                class: Some("db".into()),
            };
            slot.cells.insert(id, growth);
        }
    }
    let names = NodeNames::from_iter([(NodeId(1), "db-1".to_owned())]);
    slot.limits = in_force(limits, &slot.hosts, &names);
    slot
}

/// The last verdict after ten minutes of `before`, and two of `then`.
/// A sentence, packets, limits; the state, and whether a limit is exceeded.
type Case = (
    &'static str,
    Packets,
    Vec<TrafficLimit>,
    VerdictState,
    Option<bool>,
);

fn judge(before: Packets, then: Packets, limits: &[TrafficLimit]) -> NetworkVerdict {
    let mut engine = VerdictEngine::default();
    let mut last = NetworkVerdict::default();
    for number in 0..72 {
        let packets = if number < 60 { before } else { then };
        last = engine.slot(&slot(number, packets, limits));
    }
    put_words(&mut last, &|node| format!("h{}", node.0));
    last
}

fn limit(class: Option<&str>, to: Option<LimitEnd>) -> TrafficLimit {
    TrafficLimit {
        class: class.map(Box::from),
        to,
        ..TrafficLimit::default()
    }
}

fn rack(value: &str) -> Option<LimitEnd> {
    Some(LimitEnd::Label {
        label: "rack".to_owned(),
        value: value.to_owned(),
    })
}

pub fn lossy(sink: u32) -> (i64, u64) {
    (MS, if sink == 1 { 20 } else { 0 })
}

pub fn slow(sink: u32) -> (i64, u64) {
    (if sink == 1 { 3 * MS } else { MS }, 0)
}

#[test]
fn what_is_unusual_is_degraded_beyond_limits_alone() {
    use VerdictState::{Degraded, Healthy};
    let db_1 = Some(LimitEnd::Node("db-1".to_owned()));
    let loss = |ppb, one: TrafficLimit| TrafficLimit {
        loss_ppb: Some(ppb),
        ..one
    };
    let latency = |ms, one: TrafficLimit| TrafficLimit {
        latency_ns: Some(ms * MS as u64),
        ..one
    };
    // 20 of 1,000 packets are lost, or packets take 3 ms.
    let cases: [Case; 9] = [
        ("no limits", lossy, vec![], Degraded, None),
        (
            "beyond a limit of the class",
            lossy,
            vec![loss(10_000_000, limit(Some("db"), None))],
            Degraded,
            Some(true),
        ),
        (
            "within it",
            lossy,
            vec![loss(50_000_000, limit(Some("db"), None))],
            Healthy,
            Some(false),
        ),
        (
            "the strictest counts",
            lossy,
            vec![
                loss(50_000_000, limit(None, None)),
                loss(10_000_000, limit(None, rack("r1"))),
            ],
            Degraded,
            Some(true),
        ),
        (
            "limits of another class",
            lossy,
            vec![loss(50_000_000, limit(Some("web"), None))],
            Degraded,
            None,
        ),
        (
            "limits of another rack",
            lossy,
            vec![loss(50_000_000, limit(None, rack("r2")))],
            Degraded,
            None,
        ),
        (
            "a node by its name",
            slow,
            vec![latency(5, limit(None, db_1.clone()))],
            Healthy,
            Some(false),
        ),
        (
            "beyond that",
            slow,
            vec![latency(2, limit(None, db_1))],
            Degraded,
            Some(true),
        ),
        (
            "a node by its id",
            slow,
            vec![latency(
                5,
                limit(None, Some(LimitEnd::Node("1".to_owned()))),
            )],
            Healthy,
            Some(false),
        ),
    ];
    for (sentence, then, limits, state, exceeded) in cases {
        let verdict = judge(well, then, &limits);
        assert_eq!(verdict.state, state, "{sentence}: {}", verdict.text);
        let first = verdict.causes.first().or(verdict.notes.first());
        let first = first.unwrap_or_else(|| panic!("{sentence}: nothing is said"));
        assert_eq!(first.kind, CauseKind::HostIn, "{sentence}");
        assert_eq!(
            first.limit.map(|limit| limit.exceeded),
            exceeded,
            "{sentence}"
        );
        assert_eq!(verdict.limits.len(), limits.len(), "{sentence}");
        let is_said = verdict.text.contains("within limits");
        assert_eq!(is_said, exceeded == Some(false), "{}", verdict.text);
    }
}

#[test]
fn what_is_beyond_limits_as_usual_is_degraded() {
    let strict = TrafficLimit {
        latency_ns: Some(2 * MS as u64),
        ..limit(Some("db"), None)
    };
    let usual = judge(slow, slow, std::slice::from_ref(&strict));
    assert_eq!(usual.state, VerdictState::Degraded, "{}", usual.text);
    let cause = &usual.causes[0];
    assert_eq!(cause.kind, CauseKind::BeyondLimit);
    assert_eq!((cause.shared.bad_cells, cause.shared.cells), (4, 20));
    assert!(usual.text.contains("limit 2.0 ms"), "{}", usual.text);
    assert!(usual.text.contains("3 other pairs"), "{}", usual.text);
    let generous = TrafficLimit {
        latency_ns: Some(4 * MS as u64),
        ..strict.clone()
    };
    let within = judge(slow, slow, &[generous]);
    assert_eq!(within.state, VerdictState::Healthy, "{}", within.text);
    let none = judge(slow, slow, &[]);
    assert_eq!(none.state, VerdictState::Healthy, "usual, and no limit");
    // It is over five minutes after the last packet beyond.
    let mut engine = VerdictEngine::default();
    let mut said = Vec::new();
    for number in 0..100 {
        let packets = if number < 60 { slow } else { well };
        let one = slot(number, packets, std::slice::from_ref(&strict));
        said.push(engine.slot(&one).state);
    }
    assert_eq!(said[60], VerdictState::Degraded);
    assert_eq!(said[99], VerdictState::Healthy);
}

#[test]
fn stamps_of_clocks_that_are_not_known_have_no_limit() {
    let mut engine = VerdictEngine::default();
    let strict = TrafficLimit {
        latency_ns: Some(2 * MS as u64),
        ..TrafficLimit::default()
    };
    for number in 0..40 {
        let mut one = slot(number, slow, std::slice::from_ref(&strict));
        one.cells
            .values_mut()
            .for_each(|cell| cell.clocks_ns = None);
        assert_eq!(engine.slot(&one).state, VerdictState::Healthy);
    }
}
