//! A path on which a host comes twice in a row has a guest there, and no loop.

use hostint::model::{NodeId, NodePort, Path, PathHop, SegmentKind};

/// A path over these hops, each with the ports by which packets come and go.
fn over(hops: &[(u32, u16, u16)]) -> Path {
    let end = |node| NodePort {
        node: NodeId(node),
        port: 1,
    };
    let hops = hops
        .iter()
        .map(|(node, ingress_port, egress_port)| PathHop {
            node: NodeId(*node),
            ingress_port: *ingress_port,
            egress_port: *egress_port,
        });
    Path {
        source: end(1),
        hops: hops.collect(),
        sink: end(2),
    }
}

#[test]
fn a_wire_within_a_host_is_a_guest() {
    use SegmentKind::{Guest, Hop, Wire};
    for (sentence, path, kinds, repeated) in [
        (
            "two hosts",
            over(&[(9, 2, 3), (10, 2, 3)]),
            vec![Wire, Hop, Wire, Hop, Wire],
            vec![],
        ),
        (
            "a host with a guest",
            over(&[(9, 2, 4), (9, 5, 3)]),
            vec![Wire, Hop, Guest, Hop, Wire],
            vec![],
        ),
        (
            "two guests of a host, one after the other",
            over(&[(9, 2, 4), (9, 5, 6), (9, 7, 3)]),
            vec![Wire, Hop, Guest, Hop, Guest, Hop, Wire],
            vec![],
        ),
        (
            "a loop",
            over(&[(9, 2, 3), (10, 2, 3), (9, 2, 3)]),
            vec![Wire, Hop, Wire, Hop, Wire, Hop, Wire],
            vec![NodeId(9)],
        ),
        (
            "a loop over a router without INT",
            over(&[(9, 2, 3), (9, 3, 3)]),
            vec![Wire, Hop, Guest, Hop, Wire],
            vec![NodeId(9)],
        ),
    ] {
        let found: Vec<_> = path.segments().iter().map(|one| one.kind).collect();
        assert_eq!(found, kinds, "{sentence}");
        let again: Vec<_> = path.repeated_nodes().into_iter().collect();
        assert_eq!(again, repeated, "{sentence}");
    }
}
