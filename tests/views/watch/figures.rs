//! Rates between two looks at a flow are never negative and never absurd.

use hostint::model::{FlowStatus, HostStatus};
use hostint::views::watch::{KeyPress, quantile, window};

use super::host::{BEGIN_NS, Viewer, flow, sink, source};

/// Packets a second, loss, p50 and p99 as the screen says them.
fn row(viewer: &mut Viewer) -> Vec<String> {
    let screen = viewer.screen();
    let line = screen
        .lines()
        .find(|line| line.starts_with("udp 10."))
        .unwrap_or_else(|| panic!("no flow: {screen}"));
    // udp a > b node rate loss …, with units behind latencies.
    let words: Vec<&str> = line.split_whitespace().skip(5).collect();
    let (rate, loss) = (words[0].to_owned(), words[1].to_owned());
    vec![rate, loss, words[3..].join(" ")]
}

#[test]
fn rates_are_differences_over_the_time_that_passed() {
    struct Case {
        name: &'static str,
        before: Option<FlowStatus>,
        seconds: u64,
        now: FlowStatus,
        rate: &'static str,
        loss: &'static str,
        /// What latencies begin with.
        latency: &'static str,
    }
    let old = || flow(1, 1000, 10, 12);
    let new = FlowStatus {
        first_ns: BEGIN_NS + 1_500_000_000,
        ..flow(1, 100, 0, 15)
    };
    let wrapped = |before: u32, now: u32| {
        let mut flow = old();
        flow.histogram[12] = before;
        let mut next = flow.clone();
        next.packets += 50;
        next.histogram[12] = now;
        (flow, next)
    };
    let fine = |more: u32| FlowStatus {
        packets: u64::from(1000 + more),
        latency_slots: vec![(4_607, 1000), (5_119, more * 9 / 10), (5_631, more / 10)],
        ..old()
    };
    let (before_wrap, behind_wrap) = wrapped(u32::MAX - 9, 40);
    let (torn, smaller) = wrapped(5000, 10);
    let cases = [
        Case {
            name: "a steady flow",
            before: Some(old()),
            seconds: 1,
            now: flow(1, 2000, 10, 12),
            rate: "1,000",
            loss: "0%",
            latency: "4.1 us 6.1 us",
        },
        Case {
            name: "loss is the share of those sent",
            before: Some(old()),
            seconds: 1,
            now: flow(1, 1900, 110, 12),
            rate: "900",
            loss: "10.0%",
            latency: "4.1 us 6.1 us",
        },
        Case {
            name: "a longer interval",
            before: Some(old()),
            seconds: 10,
            now: flow(1, 2000, 10, 12),
            rate: "100",
            loss: "0%",
            latency: "4.1 us 6.1 us",
        },
        Case {
            name: "nothing came",
            before: Some(old()),
            seconds: 1,
            now: old(),
            rate: "0",
            loss: "-",
            latency: "- -",
        },
        Case {
            name: "all that was sent is lost",
            before: Some(old()),
            seconds: 1,
            now: flow(1, 1000, 15, 12),
            rate: "0",
            loss: "100%",
            latency: "- -",
        },
        Case {
            name: "lost packets came after all",
            before: Some(old()),
            seconds: 1,
            now: flow(1, 1010, 5, 12),
            rate: "10",
            loss: "0%",
            latency: "4.1 us",
        },
        Case {
            name: "never seen before, and older than the watch",
            before: None,
            seconds: 1,
            now: old(),
            rate: "-",
            loss: "-",
            latency: "- -",
        },
        Case {
            name: "it began since the last look",
            before: None,
            seconds: 1,
            now: new.clone(),
            rate: "100",
            loss: "0%",
            latency: "32.8 us 49.2 us",
        },
        Case {
            name: "another flow of the same name began since the last look",
            before: Some(old()),
            seconds: 1,
            now: new,
            rate: "100",
            loss: "0%",
            latency: "32.8 us 49.2 us",
        },
        Case {
            name: "the table was made anew with older flows",
            before: Some(old()),
            seconds: 1,
            now: FlowStatus {
                first_ns: BEGIN_NS - 1,
                ..flow(1, 10, 0, 12)
            },
            rate: "-",
            loss: "-",
            latency: "- -",
        },
        Case {
            name: "counted less than before",
            before: Some(old()),
            seconds: 1,
            now: flow(1, 999, 10, 12),
            rate: "-",
            loss: "-",
            latency: "- -",
        },
        Case {
            name: "a slot of the histogram wraps",
            before: Some(before_wrap),
            seconds: 1,
            now: behind_wrap,
            rate: "50",
            loss: "0%",
            latency: "4.1 us 4.1 us",
        },
        Case {
            name: "fine slots are told as such",
            before: Some(fine(0)),
            seconds: 1,
            now: fine(100),
            rate: "100",
            loss: "0%",
            latency: "5.1 us 5.6 us",
        },
        Case {
            name: "a histogram that shrinks says nothing",
            before: Some(torn),
            seconds: 1,
            now: smaller,
            rate: "50",
            loss: "0%",
            latency: "- -",
        },
        Case {
            name: "no time passed",
            before: Some(old()),
            seconds: 0,
            now: flow(1, 2000, 10, 12),
            rate: "-",
            loss: "-",
            latency: "- -",
        },
    ];
    for case in cases {
        let mut viewer = Viewer::new(140, 24);
        viewer.see(sink(case.before.into_iter().collect()));
        viewer.see_after(case.seconds, sink(vec![case.now]));
        let found = row(&mut viewer);
        assert_eq!(found[0], case.rate, "{}: rate", case.name);
        assert_eq!(found[1], case.loss, "{}: loss", case.name);
        assert!(
            found[2].starts_with(case.latency),
            "{}: {} in {}",
            case.name,
            case.latency,
            found[2]
        );
    }
}

#[test]
fn quantiles_are_bounds_of_slots() {
    for (sentence, pairs, thousandths, max_ns, expected) in [
        ("nothing has none", &[][..], 500, 1000, None),
        ("one packet", &[(32, 1)], 500, 1000, Some(32)),
        ("no more than the greatest", &[(32, 1)], 990, 20, Some(20)),
        ("clocks apart", &[(0, 9)], 500, -20, Some(0)),
        ("half of them", &[(8, 50), (512, 50)], 500, 1000, Some(8)),
        (
            "more than half",
            &[(8, 49), (512, 51)],
            500,
            1000,
            Some(512),
        ),
        ("99 of 100", &[(8, 99), (512, 1)], 990, 1000, Some(8)),
        ("98 of 100", &[(8, 98), (512, 2)], 990, 1000, Some(512)),
        (
            "the last slot",
            &[(1 << 30, u32::MAX), (1 << 31, u32::MAX)],
            990,
            i64::MAX,
            Some(1 << 31),
        ),
    ] {
        let found = quantile(pairs, thousandths, max_ns);
        assert_eq!(found, expected, "{sentence}");
    }
    for (sentence, now, before, expected) in [
        (
            "more",
            &[(8, 3), (9, 1)][..],
            &[(8, 1), (9, 1)][..],
            Some(vec![(8, 2)]),
        ),
        (
            "a new slot",
            &[(8, 1), (9, 2)],
            &[(8, 1)],
            Some(vec![(9, 2)]),
        ),
        (
            "one that wrapped",
            &[(8, 4)],
            &[(8, u32::MAX)],
            Some(vec![(8, 5)]),
        ),
        ("less than before", &[(8, 5)], &[(8, 6)], None),
        ("a slot that is gone", &[(8, 5)], &[(8, 5), (9, 1)], None),
    ] {
        assert_eq!(window(now, before, 10), expected, "{sentence}");
    }
}

#[test]
fn counters_that_begin_anew_have_no_rate() {
    let mut viewer = Viewer::new(100, 24);
    for (packets, rate) in [(1000, "-"), (3500, "2,500"), (10, "-"), (30, "20")] {
        viewer.see(sink(vec![flow(1, packets, 0, 12)]));
        let screen = viewer.screen();
        let wanted = format!("received {rate}/s");
        assert!(screen.contains(&wanted), "{wanted}: {screen}");
    }
}

#[test]
fn what_a_daemon_says_is_what_it_read() {
    let mut status = sink(vec![flow(1, 1000, 10, 12), flow(2, 10, 0, 5)]);
    status.source = super::host::source(7).source;
    status.why = super::host::source(7).why;
    let text = serde_json::to_string(&status).unwrap();
    let read: HostStatus = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}

/// A flow of node 2, whose clock is 4.1 us behind, as is known within 92.3 us.
#[test]
fn the_last_latency_is_told_without_the_difference_of_the_clocks_if_that_is_known() {
    for (name, knows, idle_ns, expected) in [
        (
            "the clock is known",
            true,
            0,
            Some("corrected 600 us +- 100"),
        ),
        (
            "it was, a second ago",
            true,
            1_000_000_000,
            Some("corrected 0.6 ms +- 1.3"),
        ),
        ("it is not", false, 0, None),
    ] {
        let mut viewer = Viewer::new(140, 40);
        let seen = |second: u64| {
            let flow = FlowStatus {
                latency_last_ns: 604_100,
                last_ns: BEGIN_NS + second * 1_000_000_000 - idle_ns,
                ..flow(1, 1000 * second, 0, 19)
            };
            HostStatus {
                source: source(0).source.filter(|_| knows),
                ..sink(vec![flow])
            }
        };
        viewer.see(seen(1)).see(seen(2));
        viewer.buffer();
        viewer.press(KeyPress::Enter);
        let screen = viewer.screen();
        match expected {
            Some(text) => assert!(screen.contains(text), "{name}: {screen}"),
            None => assert!(!screen.contains("corrected"), "{name}: {screen}"),
        }
    }
}
