//! The history adds drops up by flow, where networks with the same addresses are told apart.

use hostint::model::*;
use hostint_testing::report_samples;

use crate::disk::*;

/// A drop of the samples at this place on the way, in this VXLAN network if in any.
fn dropped(position: DropPosition, network: Option<u32>) -> HostDrop {
    let [most, _] = report_samples::host_drops();
    let Body::HostDrop(report) = most.observation.body else {
        unreachable!()
    };
    let mut drop = report.drop;
    drop.position = position;
    drop.flow_before_nat = None;
    drop.tunnel = drop.tunnel.zip(network).map(|(tunnel, id)| Tunnel {
        which: TunnelId {
            kind: TunnelKind::Vxlan,
            id,
        },
        ..tunnel
    });
    drop
}

#[test]
fn the_same_flow_in_two_tunnels_is_two() {
    let count = |packets| DropCount {
        packets,
        segments: packets,
        bytes: packets * 100,
    };
    let networks = [(Some(7), 30), (Some(8), 20), (None, 10)];
    for is_ipv6 in [false, true] {
        let disk = Disk::new();
        let store = disk.open();
        let keeper = store.keeper();
        let of = |position, network| {
            let mut drop = dropped(position, network);
            if is_ipv6 {
                drop.flow.src = "2001:db8::1".parse().unwrap();
                drop.flow.dst = "2001:db8::2".parse().unwrap();
            }
            drop
        };
        for time in [SECOND, 2 * SECOND] {
            for (network, packets) in networks {
                let drop = of(DropPosition::Apart, network);
                keeper.drop_flow(NodeId(1), &drop, count(packets), time);
            }
            // INT measures the tunnel itself.
            let drop = of(DropPosition::BehindTag, Some(7));
            keeper.drop_flow(NodeId(1), &drop, count(1), time);
        }
        drop((keeper, store));
        let query = DropQuery {
            by: DropGrouping::Flow,
            limit: 100,
            ..DropQuery::default()
        };
        let all = disk.reader().drops(&query, ALWAYS).unwrap();
        let found: Vec<_> = all
            .iter()
            .map(|one| (one.flow.unwrap(), one.tunnel, one.count.packets))
            .collect();
        let flow = of(DropPosition::Apart, None).flow;
        let outer = dropped(DropPosition::Apart, Some(7)).tunnel.unwrap().outer;
        let within = |id: u32| {
            let kind = TunnelKind::Vxlan;
            Some(TunnelId { kind, id })
        };
        let expected = [
            (flow, within(7), 60),
            (flow, within(8), 40),
            (flow, None, 20),
            (outer, None, 2),
        ];
        assert_eq!(found, expected, "{is_ipv6}");
    }
}
