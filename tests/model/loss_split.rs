//! The loss of a pair is split so that its parts never are more than what was lost.

use hostint::model::{LossSplit, PairDrops};

struct Case {
    sentence: &'static str,
    lost: u64,
    told: PairDrops,
    expected: LossSplit,
}

#[test]
fn the_parts_are_what_the_hosts_told_as_far_as_int_misses_it() {
    let both = PairDrops {
        source_reports: true,
        sink_reports: true,
        ..PairDrops::default()
    };
    let split = LossSplit {
        lost: 150,
        source_host: Some(100),
        sink_host: Some(0),
        network: Some(50),
        ..LossSplit::default()
    };
    let cases = [
        Case {
            sentence: "100 by the source's queue, the rest by the network",
            lost: 150,
            told: PairDrops {
                behind_tag: 100,
                ..both
            },
            expected: split,
        },
        Case {
            sentence: "what arrived is no part of the loss",
            lost: 150,
            told: PairDrops {
                behind_tag: 100,
                behind_strip: 20,
                ..both
            },
            expected: LossSplit {
                behind_strip: 20,
                ..split
            },
        },
        Case {
            sentence: "hosts between are a part of the network's part",
            lost: 150,
            told: PairDrops {
                behind_tag: 100,
                between: 60,
                ..both
            },
            expected: LossSplit {
                between: 50,
                ..split
            },
        },
        Case {
            sentence: "a source host that tells nothing leaves its part in the rest",
            lost: 150,
            told: PairDrops {
                sink_reports: true,
                before_strip: 30,
                ..PairDrops::default()
            },
            expected: LossSplit {
                lost: 150,
                sink_host: Some(30),
                ..LossSplit::default()
            },
        },
        Case {
            sentence: "more drops than INT misses cannot be split",
            lost: 150,
            told: PairDrops {
                behind_tag: 140,
                before_strip: 30,
                ..both
            },
            expected: LossSplit {
                lost: 150,
                source_host: Some(140),
                sink_host: Some(10),
                network: Some(0),
                unsplit: 20,
                ..LossSplit::default()
            },
        },
        Case {
            sentence: "drops without a flow may be a part of what is left",
            lost: 150,
            told: PairDrops {
                behind_tag: 100,
                without_flow: 30,
                ..both
            },
            expected: LossSplit {
                network: Some(20),
                unsplit: 30,
                ..split
            },
        },
        Case {
            sentence: "nothing is lost, and something is dropped",
            lost: 0,
            told: PairDrops {
                behind_tag: 5,
                behind_strip: 7,
                ..both
            },
            expected: LossSplit {
                source_host: Some(0),
                sink_host: Some(0),
                network: Some(0),
                unsplit: 5,
                behind_strip: 7,
                ..LossSplit::default()
            },
        },
    ];
    for case in cases {
        let found = LossSplit::new(case.lost, &case.told);
        assert_eq!(found, case.expected, "{}", case.sentence);
        let parts = [found.source_host, found.sink_host, found.network];
        let sum: u64 = parts.iter().map(|part| part.unwrap_or(0)).sum();
        assert!(sum <= case.lost, "{}", case.sentence);
    }
}
