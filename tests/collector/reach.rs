//! What sources report of their leases says which hosts reach each other no more: of pairs with many packets, that were
//! measured before.

use std::net::SocketAddr;

use hostint::collector::ReportHub;
use hostint::model::coverage::{CoverageReport, MissedPackets, MissedReason, PairEnd};
use hostint::model::*;
use hostint::wire::{report_coverage, report_identity};
use hostint_testing::nobody::Nobody;

const SECOND: u64 = 1_000_000_000;
const NO_LEASE: MissedReason = MissedReason::Source(21);
const BEGAN_S: u64 = 1_767_571_200;

/// Sends a node's identity, and its packets to the other node since it began: with a lease, and without.
fn tell(hub: &mut ReportHub<Nobody>, node: u32, packets: [u64; 2], at_s: u64) {
    let identity = NodeIdentity {
        node: NodeId(node),
        period_s: 10,
        name: format!("h{node}"),
        ..NodeIdentity::default()
    };
    let by_reason = [MissedReason::TAGGED, NO_LEASE].into_iter();
    let report = CoverageReport {
        node: NodeId(node),
        period_s: 10,
        epoch_ns: BEGAN_S * SECOND,
        missed: vec![MissedPackets {
            other: PairEnd::ToSink(Some(NodeId(3 - node))),
            class: None,
            by_reason: by_reason
                .zip(packets.map(|packets| Volume::of(packets, 400 * packets)))
                .collect(),
        }],
    };
    let mut datagrams = vec![Vec::new()];
    report_identity::emit(&identity, at_s as u32, &mut datagrams[0]);
    for part in report_coverage::parts(&report) {
        let mut out = Vec::new();
        report_coverage::emit(&part, at_s as u32, &mut out);
        datagrams.push(out);
    }
    let arrival = Arrival {
        exporter: SocketAddr::from(([192, 0, 2, node as u8], 5000)),
        received_ns: at_s * SECOND,
    };
    for datagram in datagrams {
        hub.datagram(&datagram, arrival).unwrap();
    }
}

#[test]
fn pairs_without_a_lease_are_those_that_were_measured() {
    let cut = |both_ways| {
        Some(PairReach {
            reached: false,
            both_ways,
        })
    };
    // Packets with a lease and without: first those of both nodes, ten seconds later what is added.
    let cases = [
        (
            "both directions end",
            [[500, 0], [500, 0]],
            [[0, 300], [0, 300]],
            cut(true),
        ),
        (
            "one direction was measured",
            [[500, 0], [0, 0]],
            [[0, 300], [0, 0]],
            cut(false),
        ),
        (
            "one direction goes on",
            [[500, 0], [500, 0]],
            [[0, 300], [40, 0]],
            Some(PairReach {
                reached: true,
                both_ways: true,
            }),
        ),
        (
            "few packets of an idle pair",
            [[500, 0], [500, 0]],
            [[0, 20], [0, 20]],
            None,
        ),
        (
            "never measured",
            [[0, 300], [0, 300]],
            [[0, 300], [0, 300]],
            None,
        ),
        ("silent now", [[500, 0], [500, 0]], [[0, 0], [0, 0]], None),
    ];
    for (sentence, first, added, expected) in cases {
        let mut hub = ReportHub::new(Nobody, None, Classes::default());
        let mut reach = None;
        let mut sums = [[0; 2]; 2];
        for (turn, packets) in [first, added].into_iter().enumerate() {
            let now_s = BEGAN_S + 10 * (turn as u64 + 1);
            for (node, more) in packets.into_iter().enumerate() {
                let sum: &mut [u64; 2] = &mut sums[node];
                sum.iter_mut()
                    .zip(more)
                    .for_each(|(sum, more)| *sum += more);
                tell(&mut hub, node as u32 + 1, *sum, now_s - 3);
            }
            let now_ns = now_s * SECOND;
            let exporters = hub.ledgers.exporters.health(usize::MAX, now_ns);
            let (slot, _) = hub.ledgers.take_slot(now_ns, &exporters);
            let pair = NodePair::of(NodeId(1), NodeId(2));
            reach = slot.reach.get(&pair).copied();
        }
        assert_eq!(reach, expected, "{sentence}");
    }
}
