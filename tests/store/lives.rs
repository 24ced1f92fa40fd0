//! Of flows that hosts forward, episodes of their queues and TCP connections the newest report counts, whatever comes when.

use std::time::{SystemTime, UNIX_EPOCH};

use hostint::model::*;
use hostint::store::StoreKeeper;
use hostint_testing::report_samples;

use crate::disk::*;

/// What a host tells of one thing.
#[derive(Clone, Copy)]
struct Told {
    node: u32,
    /// A flow, a queue or a connection.
    thing: u16,
    /// One that was forgotten begins again.
    life: u64,
    packets: u64,
}

const TOLD: Told = Told {
    node: 7,
    thing: 1,
    life: 1,
    packets: 10,
};
const MORE: Told = Told {
    packets: 30,
    ..TOLD
};

/// Node, thing and packets.
type Found = Vec<(u32, u16, u64)>;

/// A kind of thing: how it is kept, and what is found of it.
struct Kind {
    name: &'static str,
    keep: fn(&StoreKeeper, Told, u64),
    found: fn(&Disk, Span) -> Found,
    /// A row of the table knows its progress, and a begin is a part of its name.
    has_lives: bool,
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "flow",
        keep: keep_hop,
        found: found_hops,
        has_lives: true,
    },
    Kind {
        name: "episode",
        keep: keep_episode,
        found: found_episodes,
        has_lives: true,
    },
    Kind {
        name: "connection",
        keep: keep_connection,
        found: found_connections,
        has_lives: false,
    },
];

fn keep_hop(keeper: &StoreKeeper, told: Told, now_ns: u64) {
    let [most, _] = report_samples::host_hops();
    let Body::FlowPassage(report) = most.observation.body else {
        unreachable!()
    };
    let mut hop = report.hop;
    hop.flow.sport = told.thing;
    hop.first_ns = told.life * SECOND;
    hop.last_ns = hop.first_ns + SECOND;
    hop.packets = told.packets;
    keeper.see_hop(NodeId(told.node), &hop, now_ns);
}

fn found_hops(disk: &Disk, span: Span) -> Found {
    let query = PassageQuery {
        limit: 100,
        ..PassageQuery::default()
    };
    let flows = disk.reader().hops(&query, span).unwrap();
    let row = |one: ForwardedFlow| (one.node.0, one.hop.flow.sport, one.hop.packets);
    flows.into_iter().map(row).collect()
}

fn keep_episode(keeper: &StoreKeeper, told: Told, now_ns: u64) {
    let episode = QueueEpisode {
        queue: told.thing.into(),
        begin_ns: told.life * SECOND,
        last_ns: told.life * SECOND + 1000,
        end_ns: None,
        packets: told.packets,
        ..report_samples::reported_episodes(0)[0].episode.clone()
    };
    keeper.see_episode(NodeId(told.node), &episode, now_ns);
}

fn found_episodes(disk: &Disk, span: Span) -> Found {
    let query = EpisodeQuery {
        node: None,
        order: EpisodeOrder::Packets,
        limit: 100,
    };
    let episodes = disk.reader().queues(&query, span).unwrap();
    let row = |one: ReportedEpisode| {
        let episode = one.episode;
        (one.node.0, episode.queue as u16, episode.packets)
    };
    episodes.into_iter().map(row).collect()
}

fn keep_connection(keeper: &StoreKeeper, told: Told, now_ns: u64) {
    let [most, _] = report_samples::connections();
    let Body::Connection(mut report) = most.observation.body else {
        unreachable!()
    };
    report.node = NodeId(told.node);
    let connection = &mut report.connection;
    connection.id = told.thing.into();
    connection.why = TcpNews::Sample;
    connection.sample.flow.sport = told.thing;
    connection.samples = told.packets;
    keeper.see_connection(&report, &TcpGrowth::default(), now_ns);
}

fn found_connections(disk: &Disk, span: Span) -> Found {
    let query = ConnectionQuery {
        limit: 100,
        ..ConnectionQuery::default()
    };
    let connections = disk.reader().connections(&query, span).unwrap();
    let row = |one: ConnectionFigures| {
        let told = one.connection;
        (one.node.0, told.sample.flow.sport, told.samples)
    };
    connections.into_iter().map(row).collect()
}

/// A sentence, what runs of a collector keep, and what is found.
type Case = (
    &'static str,
    &'static [&'static [Told]],
    &'static [(u32, u16, u64)],
);

const CASES: [Case; 4] = [
    (
        "the last of two reports counts",
        &[&[TOLD, MORE]],
        &[(7, 1, 30)],
    ),
    ("one that is late does not", &[&[MORE, TOLD]], &[(7, 1, 30)]),
    (
        "a later run of the collector goes on",
        &[&[TOLD], &[MORE]],
        &[(7, 1, 30)],
    ),
    (
        "each host and each thing has its own",
        &[&[
            TOLD,
            Told {
                node: 8,
                packets: 9,
                ..TOLD
            },
            Told {
                thing: 2,
                packets: 8,
                ..TOLD
            },
        ]],
        &[(7, 1, 10), (7, 2, 8), (8, 1, 9)],
    ),
];

const CASES_OF_LIVES: [Case; 2] = [
    (
        "a late one in another run of the collector does not count",
        &[&[MORE], &[TOLD]],
        &[(7, 1, 30)],
    ),
    (
        "one that begins again counts by itself",
        &[&[
            TOLD,
            Told {
                life: 2,
                packets: 3,
                ..TOLD
            },
        ]],
        &[(7, 1, 3), (7, 1, 10)],
    ),
];

#[test]
fn the_newest_report_of_each_counts() {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_ns = u64::try_from(since.unwrap().as_nanos()).unwrap();
    let span = Span {
        since_ns: now_ns - HOUR,
        until_ns: now_ns + SECOND,
    };
    for kind in KINDS {
        let of_lives = CASES_OF_LIVES.iter().filter(|_| kind.has_lives);
        for (sentence, runs, expected) in CASES.iter().chain(of_lives) {
            let disk = Disk::new();
            for run in *runs {
                let store = disk.open();
                let keeper = store.keeper();
                for told in *run {
                    (kind.keep)(&keeper, *told, now_ns);
                }
            }
            let mut found = (kind.found)(&disk, span);
            found.sort_unstable();
            assert_eq!(found, *expected, "{}: {sentence}", kind.name);
        }
    }
}
