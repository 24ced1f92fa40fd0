//! The matrix of pairs has names beside its rows' IDs and above its columns', as far as the terminal is wide.

use hostint::model::*;
use hostint::views::history::View;
use hostint::views::hosts::{KnownHosts, short_name};

const SPAN: Span = Span {
    since_ns: 1_700_000_000_000_000_000,
    until_ns: 1_700_000_600_000_000_000,
};

/// A pair without latencies.
fn pair(source: u32, sink: u32, lost: u64) -> PairFigures {
    PairFigures {
        source: NodeId(source),
        sink: NodeId(sink),
        flows: 1,
        last_ns: None,
        loss_split: None,
        loss_of_all: None,
        figures: Figures {
            reports: 1,
            packets: 1_000,
            lost,
            reordered: None,
            latency: None,
            measured: None,
        },
    }
}

fn named(node: u32, name: &str) -> HostSeen {
    HostSeen {
        node: Some(NodeId(node)),
        address: [192, 0, 2, 1].into(),
        name: Some(name.to_owned()),
        name_contested: false,
        interfaces: [].into(),
        last_ns: SPAN.since_ns,
        silent_after_ns: 1,
    }
}

/// The matrix, without what stands above and below it.
fn matrix(pairs: Vec<PairFigures>, hosts: &[HostSeen], width: usize) -> String {
    let view = Answer::Pairs {
        pairs,
        shown: MatrixFigure::Loss,
        limit: 0,
    };
    let text = View(&view).text(SPAN, width, &KnownHosts::new(hosts, None));
    let lines = text.lines().skip(2);
    let lines = lines.take_while(|line| !line.starts_with("and "));
    let lines: Vec<&str> = lines.collect();
    lines.join("\n").trim_end().to_owned()
}

#[test]
fn names_stand_beside_ids() {
    let few = || vec![pair(1, 2, 10), pair(2, 1, 0), pair(2, 4294967294, 1)];
    let cases = [
        (
            "no name",
            vec![],
            80,
            "from \\ to          1          2 4294967294\n\
             1                  .       1.00          .\n\
             2                  0          .       0.10",
        ),
        (
            "some names",
            vec![named(1, "web-1"), named(2, "storage-2.example")],
            80,
            "                                 web-1        storage-2\n\
             from \\ to                            1                2       4294967294\n\
             web-1 (1)                            .             1.00                .\n\
             storage-2.example (2)                0                .             0.10",
        ),
    ];
    for (name, hosts, width, wanted) in cases {
        assert_eq!(matrix(few(), &hosts, width), wanted, "{name}");
    }
}

#[test]
fn long_names_are_cut_and_ids_are_whole() {
    let nodes = 1..=12_u32;
    let pairs = || {
        let pairs = nodes
            .clone()
            .flat_map(|source| nodes.clone().map(move |sink| (source, sink)));
        pairs.map(|(source, sink)| pair(source, sink, 1)).collect()
    };
    let name = |node| format!("application-server-{node}.rack-{node}.example.net");
    let hosts: Vec<HostSeen> = nodes.clone().map(|node| named(node, &name(node))).collect();
    for width in [40, 80, 120, 200] {
        let text = matrix(pairs(), &hosts, width);
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}:\n{text}");
        }
        let heads = text
            .lines()
            .filter_map(|line| line.strip_prefix("from \\ to"));
        let heads: Vec<&str> = heads.flat_map(str::split_whitespace).collect();
        let ids: Vec<String> = nodes.clone().map(|node| node.to_string()).collect();
        assert_eq!(heads, ids, "{width}:\n{text}");
        for node in nodes.clone() {
            let row = format!("-{node} ({node}) ");
            assert!(text.contains(&row), "{width}, {row}:\n{text}");
        }
    }
}

#[test]
fn a_name_loses_its_domain_first_and_then_its_middle() {
    for (name, width, wanted) in [
        ("web-3", 5, "web-3"),
        ("web-3.example.net", 17, "web-3.example.net"),
        ("web-3.example.net", 16, "web-3"),
        ("web-3.example.net?", 17, "web-3?"),
        ("application-server-12.example.net", 16, "applicat…rver-12"),
        ("192.0.2.17", 8, "192.….17"),
    ] {
        assert_eq!(short_name(name, width), wanted, "{name} in {width}");
    }
}
