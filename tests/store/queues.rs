//! The history has what hosts told last of each episode of their queues.

use std::time::{SystemTime, UNIX_EPOCH};

use hostint::model::*;
use hostint_testing::report_samples;

use crate::disk::*;

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap().as_nanos()).unwrap()
}

/// What a host tells of an episode.
#[derive(Clone, Copy)]
struct Told {
    node: u32,
    queue: u32,
    packets: u64,
    ended: bool,
    wait_ns: u32,
    /// Before now, in seconds.
    ago_s: u64,
}

const TOLD: Told = Told {
    node: 7,
    queue: 0,
    packets: 10,
    ended: false,
    wait_ns: 1000,
    ago_s: 0,
};

impl Told {
    fn episode(self) -> QueueEpisode {
        let begin_ns = SECOND;
        let last_ns = begin_ns + self.packets * 1000;
        let told = report_samples::reported_episodes(0);
        QueueEpisode {
            queue: self.queue,
            begin_ns,
            last_ns,
            end_ns: self.ended.then_some(last_ns + 500),
            packets: self.packets,
            max_bytes: 1_000_000 - self.wait_ns,
            max_time_ns: Some(self.wait_ns),
            ..told[0].episode.clone()
        }
    }
}

/// What a collector keeps in a run that ends in order.
fn keep(disk: &Disk, now_ns: u64, all: &[Told]) {
    let store = disk.open();
    let keeper = store.keeper();
    for one in all {
        let time_ns = now_ns - one.ago_s * SECOND;
        keeper.see_episode(NodeId(one.node), &one.episode(), time_ns);
    }
}

const QUERY: EpisodeQuery = EpisodeQuery {
    node: None,
    order: EpisodeOrder::Packets,
    limit: 100,
};

/// Nodes, queues, packets and ends of the episodes in the answer about the last hour.
fn found(disk: &Disk, query: &EpisodeQuery, now_ns: u64) -> Vec<(u32, u32, u64, bool)> {
    let last_hour = Span {
        since_ns: now_ns - HOUR,
        until_ns: now_ns + SECOND,
    };
    let episodes = disk.reader().queues(query, last_hour).unwrap();
    let row = |one: &ReportedEpisode| {
        let episode = &one.episode;
        (
            one.node.0,
            episode.queue,
            episode.packets,
            episode.end_ns.is_some(),
        )
    };
    episodes.iter().map(row).collect()
}

#[test]
fn an_end_is_news_without_further_packets() {
    let (disk, now_ns) = (Disk::new(), now_ns());
    let ended = Told {
        ended: true,
        ..TOLD
    };
    for run in [TOLD, ended, TOLD] {
        keep(&disk, now_ns, &[run]);
    }
    assert_eq!(found(&disk, &QUERY, now_ns), [(7, 0, 10, true)]);
}

#[test]
fn a_question_chooses_and_sorts() {
    let (disk, now_ns) = (Disk::new(), now_ns());
    keep(&disk, now_ns, &[]);
    assert!(
        found(&disk, &QUERY, now_ns).is_empty(),
        "nothing was ever told"
    );
    let slow = Told {
        queue: 1,
        wait_ns: 9000,
        packets: 1,
        ago_s: 20,
        ..TOLD
    };
    let long = Told {
        node: 8,
        queue: 2,
        wait_ns: 5000,
        packets: 50,
        ago_s: 10,
        ..TOLD
    };
    let before_the_span = Told {
        queue: 3,
        ago_s: 7200,
        ..TOLD
    };
    keep(&disk, now_ns, &[slow, long, TOLD, before_the_span]);
    let ask = |query: EpisodeQuery| {
        let rows = found(&disk, &query, now_ns);
        rows.into_iter().map(|row| row.1).collect::<Vec<u32>>()
    };
    let by = |order| ask(EpisodeQuery { order, ..QUERY });
    assert_eq!(by(EpisodeOrder::Newest), [0, 2, 1]);
    assert_eq!(by(EpisodeOrder::Length), [2, 0, 1]);
    assert_eq!(by(EpisodeOrder::Wait), [1, 2, 0]);
    assert_eq!(by(EpisodeOrder::Bytes), [0, 2, 1]);
    assert_eq!(by(EpisodeOrder::Packets), [2, 0, 1]);
    assert_eq!(ask(EpisodeQuery { limit: 1, ..QUERY }), [2]);
    let node = Some(NodeId(8));
    assert_eq!(ask(EpisodeQuery { node, ..QUERY }), [2]);
}

#[test]
fn an_episode_has_the_time_of_the_collector() {
    let (disk, now_ns) = (Disk::new(), now_ns());
    let told = Told {
        ended: true,
        packets: 3_000_000,
        ..TOLD
    };
    keep(&disk, now_ns, &[told]);
    let span = Span {
        since_ns: now_ns - HOUR,
        until_ns: now_ns + SECOND,
    };
    let [found] = &disk.reader().queues(&QUERY, span).unwrap()[..] else {
        panic!("one episode was told")
    };
    assert_eq!(found.told_ns, now_ns);
    assert_eq!(found.began_ns, now_ns - 3 * SECOND - 500);
}
