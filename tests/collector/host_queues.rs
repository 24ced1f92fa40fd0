//! What hosts told of episodes of queues is added up by queue, and each packet and second counts once.

use hostint::collector::HostQueues;
use hostint::model::*;
use hostint_testing::report_samples;

const SECOND: u64 = 1_000_000_000;
const STARTED: u64 = 1_700_000_000 * SECOND;

/// A report of episode 1 of tx queue 0 of eth1, of node 7, unless a case has something else.
struct Told {
    node: u32,
    dev: Option<&'static str>,
    episode: u64,
    /// In seconds since the collector started.
    begin_s: i64,
    length_s: u64,
    packets: u64,
}

const TOLD: Told = Told {
    node: 7,
    dev: Some("eth1"),
    episode: 1,
    begin_s: 5,
    length_s: 0,
    packets: 1,
};

fn report(told: &Told) -> Report {
    let [mut sample, _] = report_samples::queue_episodes();
    let Body::Queue(report) = &mut sample.observation.body else {
        unreachable!()
    };
    report.node = NodeId(told.node);
    let begin_ns = STARTED.wrapping_add_signed(told.begin_s * SECOND as i64);
    report.episode = QueueEpisode {
        interface: told.dev.map(str::to_owned),
        ifindex: 3,
        episode: told.episode,
        begin_ns,
        last_ns: begin_ns + told.length_s * SECOND,
        packets: told.packets,
        told: told.packets.min(10),
        suppressed: told.packets.saturating_sub(10),
        drops: 2 * told.packets,
        ..QueueEpisode::default()
    };
    sample
}

fn sums(reports: &[Told]) -> Vec<(u32, String, u32, EpisodeCounts)> {
    let mut queues = HostQueues::default();
    queues.start_at(STARTED);
    for told in reports {
        let arrival = Arrival {
            exporter: "192.0.2.1:4000".parse().unwrap(),
            received_ns: STARTED + 60 * SECOND,
        };
        queues.see(&report(told), Some(arrival));
        queues.see(&report(told), None);
    }
    assert_eq!(queues.untracked(), 0);
    let rows = queues.rows().into_iter();
    rows.map(|row| (row.node.0, row.dev, row.queue, row.counts))
        .collect()
}

#[test]
fn an_episode_adds_what_was_not_told_of_it_before() {
    let later = |length_s, packets| Told {
        length_s,
        packets,
        ..TOLD
    };
    let second = |begin_s| Told {
        begin_s,
        episode: 2,
        ..later(1, 4)
    };
    // A sentence; what is told; and episodes, seconds, packets and packets beyond the quota in the sum.
    type Case = (&'static str, Vec<Told>, [u64; 4]);
    let cases: [Case; 8] = [
        ("one that begins", vec![TOLD], [1, 0, 1, 0]),
        (
            "one that grows and is told again",
            vec![TOLD, later(3, 15), later(4, 20), later(4, 20)],
            [1, 4, 20, 10],
        ),
        (
            "a report that is late",
            vec![later(4, 20), later(3, 15), later(5, 21)],
            [1, 5, 21, 11],
        ),
        (
            "its end is late, after that which is longer by time alone",
            vec![later(4, 20), later(6, 20), later(4, 20), later(6, 20)],
            [1, 6, 20, 10],
        ),
        (
            "two, and the end of the first is told again behind the second",
            vec![later(4, 20), second(30), later(4, 20), second(30)],
            [2, 5, 24, 10],
        ),
        (
            "the host's daemon counts from 1 again",
            vec![
                later(4, 20),
                Told {
                    begin_s: 40,
                    ..later(1, 3)
                },
                later(4, 20),
            ],
            [2, 5, 23, 10],
        ),
        (
            "it began before the collector, and goes on: what comes later counts",
            vec![
                Told {
                    begin_s: -30,
                    ..later(31, 100)
                },
                Told {
                    begin_s: -30,
                    ..later(33, 120)
                },
            ],
            [0, 2, 20, 20],
        ),
        (
            "the clock of the host is a second behind",
            vec![Told {
                begin_s: -1,
                ..TOLD
            }],
            [1, 0, 1, 0],
        ),
    ];
    for (name, told, [episodes, seconds, packets, suppressed]) in cases {
        let sums = sums(&told);
        let [(7, dev, 0, counts)] = &sums[..] else {
            panic!("{name}: {sums:?}")
        };
        let expected = EpisodeCounts {
            episodes,
            over_ns: seconds * SECOND,
            packets,
            told: packets - suppressed,
            suppressed,
            drops: 2 * packets,
        };
        assert_eq!((&**dev, *counts), ("eth1", expected), "{name}");
    }
}

#[test]
fn each_queue_of_each_host_has_a_sum() {
    let found = sums(&[
        TOLD,
        Told { node: 8, ..TOLD },
        Told { dev: None, ..TOLD },
        Told {
            episode: 2,
            dev: None,
            ..TOLD
        },
    ]);
    let names: Vec<_> = found
        .iter()
        .map(|(node, dev, queue, counts)| (*node, &**dev, *queue, counts.episodes))
        .collect();
    // The first report without a name repeats one that has it.
    assert_eq!(
        names,
        [(7, "3", 0, 1), (7, "eth1", 0, 1), (8, "eth1", 0, 1)]
    );
}

#[test]
fn sums_are_bounded_and_what_has_no_room_is_counted() {
    let mut queues = HostQueues::default();
    let arrival = Arrival {
        exporter: "192.0.2.1:4000".parse().unwrap(),
        received_ns: STARTED,
    };
    let mut see = |node| queues.see(&report(&Told { node, ..TOLD }), Some(arrival));
    (1..=4100).for_each(&mut see);
    assert_eq!((queues.rows().len(), queues.untracked()), (4096, 4));
}
