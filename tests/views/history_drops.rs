//! What hosts dropped as a history tells it: each row says what it adds up.

use hostint::model::*;
use hostint::views::history::View;
use hostint::views::hosts::KnownHosts;

const SPAN: Span = Span {
    since_ns: 1_700_000_000_000_000_000,
    until_ns: 1_700_000_600_000_000_000,
};

fn told(by: DropGrouping, drops: Vec<DropFigures>) -> String {
    let series = DropSeries::default();
    let view = Answer::Drops {
        by,
        drops,
        drop_series: series,
    };
    View(&view).text(SPAN, 120, &KnownHosts::default())
}

fn sum(packets: u64) -> DropFigures {
    DropFigures {
        node: Some(NodeId(2)),
        count: DropCount {
            packets,
            segments: packets,
            bytes: 100 * packets,
        },
        ..DropFigures::default()
    }
}

#[test]
fn the_sums_of_a_host_are_told_apart() {
    let ignored = DropFigures {
        ignored: true,
        ..sum(7)
    };
    let counted = DropFigures {
        without_packet: true,
        ..sum(3)
    };
    let text = told(DropGrouping::Node, vec![sum(50), counted, ignored]);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|row| {
            row.split("  ")
                .map(str::trim)
                .filter(|it| !it.is_empty())
                .collect()
        })
        .collect();
    let expected = [
        ["node", "what", "packets", "segments", "bytes"],
        ["2", "dropped", "50", "50", "5,000"],
        ["2", "without a packet", "3", "3", "300"],
        ["2", "no loss", "7", "7", "700"],
    ];
    assert_eq!(rows, expected, "{text}");
}

#[test]
fn a_flow_inside_is_told_with_its_tunnel() {
    let flow = FlowKey {
        src: "10.0.0.1".parse().unwrap(),
        dst: "10.0.0.2".parse().unwrap(),
        sport: 5000,
        dport: 7000,
        protocol: 17,
        vlans: Vlans::NONE,
    };
    let inside = |network: Option<u32>| DropFigures {
        flow: Some(flow),
        tunnel: network.map(|id| TunnelId {
            kind: TunnelKind::Vxlan,
            id,
        }),
        ..sum(1)
    };
    let text = told(DropGrouping::Flow, vec![inside(Some(42)), inside(None)]);
    let begins = |line: &str| text.lines().any(|row| row.starts_with(line));
    assert!(
        begins("udp 10.0.0.1:5000 > 10.0.0.2:7000 in vxlan 42  "),
        "{text}"
    );
    assert!(begins("udp 10.0.0.1:5000 > 10.0.0.2:7000   "), "{text}");
}
