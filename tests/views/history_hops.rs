//! The time of packets through hosts as a history tells it: of all packets between interfaces, and of flows.

use hostint::model::*;
use hostint::views::history::View;
use hostint::views::hosts::KnownHosts;
use hostint_testing::report_samples::{forwarded_flows, passages};

const SPAN: Span = Span {
    since_ns: 1_700_000_000_000_000_000,
    until_ns: 1_700_000_600_000_000_000,
};

fn told(flows: Vec<ForwardedFlow>, passages: Vec<PassageFigures>) -> String {
    View(&Answer::Hops {
        hops: flows,
        passages,
    })
    .text(SPAN, 120, &KnownHosts::default())
}

const BETWEEN: &str = "\
all packets at  in                           out                packets      p50      p99      max  to queue p50  to queue p99  mean in queue
2               eth0 (podman/4f2a91c07be3)*  eth1 (netns/blue)      100  45.1 us  49.9 us  49.9 us        6.0 us       10.9 us        39.0 us
2               interface 2                  interface 3            100        -        -        -        6.0 us       10.9 us              -
";

#[test]
fn all_packets_stand_above_flows() {
    let text = told(forwarded_flows(1), passages());
    let (head, rest) = text.split_once('\n').unwrap();
    assert!(head.starts_with("flows through hosts from "), "{head}");
    let flows = rest.strip_prefix(BETWEEN);
    let flows = flows.unwrap_or_else(|| panic!("{rest}"));
    assert!(flows.starts_with("\nflow "), "{flows}");
    assert_eq!(flows.matches("tcp 192.0.2.1:49152").count(), 2, "{flows}");
    assert!(flows.ends_with("others since the interface\n"), "{flows}");
}

#[test]
fn pods_go_by_their_names() {
    let name = |pod: &str| {
        Some(PodName {
            namespace: "shop".into(),
            pod: pod.into(),
            ..PodName::default()
        })
    };
    let (mut flows, mut passages) = (forwarded_flows(1), passages());
    passages[0].behind.in_pod_name = name("web-0");
    flows[0].behind.out_pod_name = name("db-0");
    flows[0].ends.dst_pod = name("db-0");
    let text = told(flows, passages);
    // What the host calls them stands where the API server names none.
    for part in [
        "  eth0 (shop/web-0)*  eth1 (netns/blue) ",
        "  eth0 (podman/4f2a91c07be3)*        eth1 (shop/db-0) ",
        "  - -> shop/db-0 ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn either_may_be_unknown() {
    let [_, least] = passages().try_into().unwrap();
    let from_interface = |mut flows: Vec<ForwardedFlow>| {
        flows.retain(|one| one.hop.start == PassageStart::Interface);
        flows
    };
    // A sentence, flows, all packets, how many tables there are, and whether times begin at senders.
    let cases = [
        ("all packets alone", vec![], passages(), 1, true),
        ("flows alone", forwarded_flows(1), vec![], 1, true),
        (
            "none since the sender",
            from_interface(forwarded_flows(1)),
            vec![least],
            2,
            false,
        ),
    ];
    for (sentence, flows, passages, tables, from_sender) in cases {
        let text = told(flows, passages);
        let heads = text
            .lines()
            .filter(|line| line.starts_with("all packets at ") || line.starts_with("flow "));
        assert_eq!(heads.count(), tables, "{sentence}: {text}");
        let legend = text.contains("*: since the sender");
        assert_eq!(legend, from_sender, "{sentence}: {text}");
    }
    let nothing = told(Vec::new(), Vec::new());
    assert!(nothing.contains("no host reported hops"), "{nothing}");
}
