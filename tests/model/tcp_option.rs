//! Echoes of TCP option 114 are read as TCP-INT's own program wrote them.

use hostint::model::WorstHop;

#[test]
fn echoes_tell_the_worst_hop_and_the_latency_of_all() {
    struct Case {
        sentence: &'static str,
        /// Bytes 8 to 11 of the option.
        bytes: [u8; 4],
        told: Option<WorstHop>,
    }
    let hop = WorstHop {
        hop: 1,
        link_gbit_s: Some(100),
        queue_bytes: None,
        free_gbit_s: None,
        latency_ns: 2_560,
    };
    let cases = [
        Case {
            sentence: "nothing is echoed",
            bytes: [0, 0, 0, 0],
            told: None,
        },
        Case {
            sentence: "values without a hop are no echo",
            bytes: [0x85, 0x05, 0x0a, 0],
            told: None,
        },
        Case {
            sentence: "a link has 95 Gbit/s free, and hops took 2.56 us",
            bytes: [0x20, 0x15, 0x0a, 0x00],
            told: Some(WorstHop {
                free_gbit_s: Some(95),
                ..hop
            }),
        },
        Case {
            sentence: "a full link",
            bytes: [0x7f, 0x15, 0x0a, 0x00],
            told: Some(WorstHop {
                free_gbit_s: Some(0),
                ..hop
            }),
        },
        Case {
            sentence: "a queue of 16 KiB, and 7.68 us",
            bytes: [0x82, 0x15, 0x1e, 0x00],
            told: Some(WorstHop {
                queue_bytes: Some(16_384),
                latency_ns: 7_680,
                ..hop
            }),
        },
        Case {
            sentence: "from 8.39 ms on the latency has a larger unit",
            bytes: [0x85, 0x15, 0x9c, 0x80],
            told: Some(WorstHop {
                queue_bytes: Some(40_960),
                latency_ns: 10_223_616,
                ..hop
            }),
        },
        Case {
            sentence: "the longest latency and queue, at a link of unknown speed",
            bytes: [0xff, 0xf8, 0xff, 0xff],
            told: Some(WorstHop {
                hop: 15,
                link_gbit_s: None,
                queue_bytes: Some(1_040_384),
                free_gbit_s: None,
                latency_ns: 2_147_418_112,
            }),
        },
    ];
    for Case {
        sentence,
        bytes: [value, hop_speed, low, high],
        told,
    } in cases
    {
        let latency = u16::from_le_bytes([low, high]);
        assert_eq!(
            WorstHop::from_echo(value, hop_speed, latency),
            told,
            "{sentence}"
        );
    }
}

#[test]
fn a_queue_is_worse_than_a_full_link_and_that_than_a_free_one() {
    let hop = WorstHop {
        hop: 1,
        link_gbit_s: Some(100),
        queue_bytes: None,
        free_gbit_s: None,
        latency_ns: 1_000,
    };
    // From the best to the worst, and whether the hop is busy.
    let queue = |bytes| WorstHop {
        queue_bytes: Some(bytes),
        ..hop
    };
    let free = |gbit_s| WorstHop {
        free_gbit_s: Some(gbit_s),
        ..hop
    };
    let ordered = [
        ("all of the link is free", free(100), false),
        ("a twentieth is free", free(5), false),
        ("less is free", free(4), true),
        ("nothing is free", free(0), true),
        ("nothing waits at a link without a speed", queue(0), false),
        ("a step waits", queue(8_192), true),
        (
            "a step waits, and hops take longer",
            WorstHop {
                latency_ns: 2_000,
                ..queue(8_192)
            },
            true,
        ),
        ("more waits", queue(1_040_384), true),
    ];
    for (at, (sentence, one, is_busy)) in ordered.iter().enumerate() {
        assert_eq!(one.is_busy(), *is_busy, "{sentence}");
        for (before, (other, better, _)) in ordered.iter().enumerate() {
            let expected = before < at;
            assert_eq!(
                one.is_worse_than(better),
                expected,
                "{sentence}, and {other}"
            );
        }
    }
}
