//! Episodes of queues are told when they begin and end and once in a period, with the flows of their packets.

use std::time::{Duration, Instant};

use hostint::daemon::postcards::episodes::Episodes;
use hostint::model::{FlowKey, MOST_QUEUE_FLOWS, QueueEpisode, QueueFlow, Vlans};

const PERIOD: Duration = Duration::from_secs(1);

fn episode(queue: u32, number: u64, packets: u64, ended: bool) -> QueueEpisode {
    let begin_ns = number * 1_000_000;
    QueueEpisode {
        queue,
        episode: number,
        begin_ns,
        last_ns: begin_ns + packets,
        end_ns: ended.then_some(begin_ns + packets + 7),
        packets,
        told: packets,
        ..QueueEpisode::default()
    }
}

fn flow(sport: u16, bytes: u64) -> QueueFlow {
    QueueFlow {
        flow: FlowKey {
            src: [192, 0, 2, 1].into(),
            dst: [192, 0, 2, 2].into(),
            sport,
            dport: 9,
            protocol: 17,
            vlans: Vlans::NONE,
        },
        packets: 1,
        bytes,
    }
}

/// Queues, numbers, packets and ends.
fn rows(all: &[QueueEpisode]) -> Vec<(u32, u64, u64, bool)> {
    let row = |one: &QueueEpisode| (one.queue, one.episode, one.packets, one.end_ns.is_some());
    all.iter().map(row).collect()
}

#[test]
fn begin_and_end_are_told_at_once_and_what_is_between_once_in_a_period() {
    let mut all = Episodes::new(0);
    let start = Instant::now();
    let at = |ms: u64| start + Duration::from_millis(ms);
    let steps = [
        (
            "the first packet",
            episode(0, 1, 1, false),
            0,
            vec![(0, 1, 1, false)],
        ),
        ("further ones wait", episode(0, 1, 5, false), 20, vec![]),
        (
            "until the period is over",
            episode(0, 1, 9, false),
            1_100_000,
            vec![(0, 1, 9, false)],
        ),
        (
            "the end does not wait",
            episode(0, 1, 9, true),
            1_100_001,
            vec![(0, 1, 9, true)],
        ),
        (
            "what is late is no news",
            episode(0, 1, 5, false),
            1_100_002,
            vec![],
        ),
        (
            "the next episode begins",
            episode(0, 2, 1, false),
            1_100_003,
            vec![(0, 2, 1, false)],
        ),
    ];
    for (sentence, state, ms, expected) in steps {
        all.add(state, None);
        let due = all.due(PERIOD, false, at(ms));
        assert_eq!(rows(&due.news), expected, "{sentence}");
        assert!(due.again.is_empty(), "{sentence}");
    }
    assert_eq!(all.reports(), 4);
}

#[test]
fn an_end_is_repeated_twice_and_then_forgotten() {
    let mut all = Episodes::new(0);
    let now = Instant::now();
    all.add(episode(0, 1, 3, true), None);
    assert_eq!(
        rows(&all.due(PERIOD, true, now).news),
        [(0, 1, 3, true)],
        "a short episode is told once"
    );
    let repeated: Vec<usize> = (0..4)
        .map(|_| all.due(PERIOD, true, now).again.len())
        .collect();
    assert_eq!(repeated, [1, 1, 0, 0]);
    all.compare(vec![episode(0, 1, 3, true)]);
    let due = all.due(PERIOD, true, now);
    assert!(
        due.news.is_empty() && due.again.is_empty(),
        "the kernel still has it"
    );
}

#[test]
fn events_that_were_lost_are_made_up_for() {
    let mut all = Episodes::new(0);
    let now = Instant::now();
    all.add(episode(0, 1, 3, false), None);
    all.due(PERIOD, false, now);
    all.compare(vec![episode(0, 1, 4, true)]);
    assert_eq!(
        rows(&all.due(PERIOD, false, now).news),
        [(0, 1, 4, true)],
        "the end of the newest episode"
    );
    all.add(episode(1, 1, 3, false), None);
    all.due(PERIOD, false, now);
    all.compare(vec![episode(1, 3, 2, false)]);
    assert_eq!(
        rows(&all.due(PERIOD, false, now).news),
        [(1, 1, 3, true), (1, 3, 2, false)],
        "the end of one that gave way to another, and the begin of that"
    );
}

#[test]
fn flows_are_added_up_and_those_with_most_bytes_are_told() {
    let mut all = Episodes::new(0);
    for sport in 0..20 {
        let state = episode(0, 1, u64::from(sport) + 1, false);
        all.add(state, Some(flow(sport, 100 + u64::from(sport))));
    }
    all.add(episode(0, 1, 21, true), Some(flow(3, 1000)));
    let due = all.due(PERIOD, false, Instant::now());
    let flows = &due.news[0].flows;
    assert_eq!(flows.len(), MOST_QUEUE_FLOWS);
    let first = flows[0];
    assert_eq!((first.flow.sport, first.packets, first.bytes), (3, 2, 1103));
    assert_eq!(flows[1].flow.sport, 19);
    assert!((due.news[0].share(&first) - 200.0 / 21.0).abs() < 1e-9);
}

#[test]
fn the_times_of_an_episode_stay_when_the_clock_is_set() {
    let mut all = Episodes::new(0);
    let now = Instant::now();
    let first = episode(0, 1, 1, false);
    all.add(first.clone(), None);
    all.due(PERIOD, false, now);
    let mut last = episode(0, 1, 9, true);
    for ns in [&mut last.begin_ns, &mut last.last_ns] {
        *ns += 5_000_000_000;
    }
    last.end_ns = last.end_ns.map(|ns| ns + 5_000_000_000);
    all.add(last, None);
    let told = all.due(PERIOD, false, now).news.remove(0);
    assert_eq!(told.begin_ns, first.begin_ns);
    assert_eq!(told.length_ns(), 9 + 7);
}

#[test]
fn a_limit_puts_episodes_off() {
    let mut all = Episodes::new(2);
    let start = Instant::now();
    for queue in 0..5 {
        all.add(episode(queue, 1, 1, true), None);
    }
    let told: Vec<usize> = (0..3)
        .map(|s| {
            let now = start + Duration::from_millis(1100 * s);
            all.due(PERIOD, false, now).news.len()
        })
        .collect();
    assert_eq!(told, [2, 2, 1]);
    assert_eq!(all.put_off(), 3 + 1);
}
