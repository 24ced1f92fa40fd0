//! Reports of a node's identity are read and written back, and their text is bounded and shows as itself.

use std::collections::BTreeMap;

use hostint::collector::{NodeNotice, decode};
use hostint::model::{KernelPart, KernelParts, NodeId, NodeIdentity};
use hostint::wire::report_identity::emit;

fn identity(name: &str, labels: &[(&str, &str)]) -> NodeIdentity {
    let labels = labels.iter();
    NodeIdentity {
        node: NodeId(0xfffe_0007),
        period_s: 10,
        name: name.to_owned(),
        version: "0.2.0".to_owned(),
        labels: labels
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        interfaces: interfaces(2),
        lacks: KernelParts::default(),
    }
}

fn interfaces(count: u16) -> BTreeMap<u16, String> {
    let names = (0..count).map(|n| (0xfff0_u16.wrapping_add(n), format!("enp{n}s0f1v12")));
    names.collect()
}

fn written(identity: &NodeIdentity) -> Vec<u8> {
    let mut datagram = Vec::new();
    emit(identity, 1_700_000_000, &mut datagram);
    datagram
}

#[test]
fn what_is_told_is_what_is_read() {
    let long: String = "é".repeat(100);
    let many: Vec<String> = (0..12).map(|n| format!("key-{n:02}")).collect();
    let labels: Vec<_> = many.iter().map(|key| (key.as_str(), "v")).collect();
    struct Case {
        name: &'static str,
        told: NodeIdentity,
        read: NodeIdentity,
    }
    let same = |name, told: NodeIdentity| Case {
        name,
        read: told.clone(),
        told,
    };
    let cases = [
        same(
            "all of it",
            identity("web-3.example", &[("rack", "r7"), ("zone", "a")]),
        ),
        same("nothing but the id", identity("", &[])),
        Case {
            name: "a long name is cut between characters",
            told: identity(&long, &[]),
            read: identity(&long[..128], &[]),
        },
        Case {
            name: "the first eight labels",
            told: identity("a", &labels),
            read: identity("a", &labels[..8]),
        },
        Case {
            name: "the 32 interfaces with the lowest numbers",
            told: NodeIdentity {
                interfaces: interfaces(40),
                ..identity("a", &[])
            },
            read: NodeIdentity {
                interfaces: interfaces(40).into_iter().take(32).collect(),
                ..identity("a", &[])
            },
        },
        Case {
            name: "what its kernel refuses",
            told: NodeIdentity {
                lacks: KernelParts::from_iter([KernelPart::Drops, KernelPart::TestRun]),
                ..identity("a", &[])
            },
            read: NodeIdentity {
                lacks: KernelParts::from_iter([KernelPart::Drops, KernelPart::TestRun]),
                ..identity("a", &[])
            },
        },
        Case {
            name: "what would not show is not told",
            told: identity("web\u{1b}[2J\n\u{202e}-3", &[]),
            read: identity("web[2J-3", &[]),
        },
    ];
    for Case { name, told, read } in cases {
        let group = decode(&written(&told)).unwrap();
        assert_eq!(group.notice, Some(NodeNotice::Identity(read)), "{name}");
        assert_eq!(
            (group.node, group.reports.len()),
            (Some(told.node), 0),
            "{name}"
        );
    }
}

#[test]
fn every_cut_and_every_changed_byte_is_read_or_refused() {
    let whole = written(&identity("web-3", &[("rack", "r7")]));
    for length in 0..whole.len() {
        assert!(decode(&whole[..length]).is_err(), "{length} bytes");
    }
    for at in 0..whole.len() {
        for value in 0..=255 {
            let mut changed = whole.clone();
            changed[at] = value;
            if let Ok(group) = decode(&changed)
                && let Some(NodeNotice::Identity(read)) = group.notice
            {
                let labels = read.labels.iter().flat_map(|(key, value)| [key, value]);
                let texts = labels.chain(read.interfaces.values());
                for text in texts.chain([&read.name, &read.version]) {
                    assert!(text.len() <= 3 * 128, "byte {at} is {value}: {text:?}");
                    assert!(
                        !text.chars().any(char::is_control),
                        "byte {at} is {value}: {text:?}"
                    );
                }
            }
        }
    }
}
