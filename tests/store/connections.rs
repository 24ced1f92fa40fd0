//! The history has the last state of each TCP connection, what limited connections, and their states over time.

use std::time::{SystemTime, UNIX_EPOCH};

use hostint::model::*;
use hostint::store::*;
use hostint_testing::report_samples;

use crate::disk::*;

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap().as_nanos()).unwrap()
}

/// A connection of host 7 to 198.51.100.2, as it is told.
#[derive(Clone, Copy)]
struct Told {
    id: u64,
    sport: u16,
    why: TcpNews,
    limited: Limit,
    /// Before now, in seconds.
    ago_s: u64,
    retransmitted: u32,
}

const TOLD: Told = Told {
    id: 1,
    sport: 40001,
    why: TcpNews::Sample,
    limited: Limit::Path,
    ago_s: 0,
    retransmitted: 0,
};

impl Told {
    fn report(self, now_ns: u64) -> ConnectionReport {
        let [most, _] = report_samples::connections();
        let Body::Connection(mut report) = most.observation.body else {
            unreachable!()
        };
        report.node = NodeId(7);
        let told = &mut report.connection;
        told.id = self.id;
        told.why = self.why;
        told.limited = self.limited;
        told.sample.flow.sport = self.sport;
        told.sample.time_ns = now_ns - self.ago_s * SECOND;
        told.sample.begun_ns = Some(told.sample.time_ns - 10 * SECOND);
        told.sample.tcp.total_retrans = self.retransmitted;
        *report
    }

    /// Keeps it, with ten seconds of its limit and all its retransmitted segments as growth.
    fn keep(self, keeper: &StoreKeeper, now_ns: u64) {
        let mut growth = TcpGrowth {
            limited: self.limited,
            counts: ConnectionCounts {
                retransmitted_segments: self.retransmitted.into(),
                ..ConnectionCounts::default()
            },
            ..TcpGrowth::default()
        };
        growth.times.add(self.limited, 10_000_000);
        let arrived_ns = now_ns - self.ago_s * SECOND;
        keeper.see_connection(&self.report(now_ns), &growth, arrived_ns);
    }
}

/// What a collector keeps in a run that ends in order.
fn keep(disk: &Disk, now_ns: u64, all: &[Told]) {
    let store = disk.open();
    let keeper = store.keeper();
    for one in all {
        one.keep(&keeper, now_ns);
    }
}

fn query() -> ConnectionQuery {
    ConnectionQuery {
        limit: 100,
        ..ConnectionQuery::default()
    }
}

fn last_hour(now_ns: u64) -> Span {
    Span {
        since_ns: now_ns - HOUR,
        until_ns: now_ns + SECOND,
    }
}

#[test]
fn the_last_state_of_each_connection_is_kept_over_runs() {
    let (disk, now) = (Disk::new(), now_ns());
    let span = last_hour(now);
    drop(disk.open());
    assert_eq!(disk.reader().connections(&query(), span).unwrap(), []);
    assert_eq!(
        disk.reader()
            .tcp_sums(TcpGrouping::Limit, None, span)
            .unwrap(),
        [],
        "a store without connections"
    );
    let first = Told {
        ago_s: 30,
        retransmitted: 2,
        ..TOLD
    };
    let last = Told {
        ago_s: 20,
        why: TcpNews::End,
        retransmitted: 5,
        limited: Limit::Receiver,
        ..TOLD
    };
    keep(&disk, now, &[first]);
    keep(&disk, now, &[last]);
    let found = disk.reader().connections(&query(), span).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].connection, {
        // What the wire does not carry is not kept either.
        let told = last.report(now).connection;
        let text = serde_json::to_string(&told).unwrap();
        serde_json::from_str::<TcpReport>(&text).unwrap()
    });
    assert_eq!(found[0].node, NodeId(7));
    assert_eq!(found[0].state, ConnectionState::Ended);
}

/// A sentence, a question, and the ids in the order of the answer.
type Asked = (&'static str, ConnectionQuery, &'static [u64]);

#[test]
fn connections_are_found_by_what_is_asked() {
    let (disk, now) = (Disk::new(), now_ns());
    let all = [
        Told {
            id: 1,
            retransmitted: 3,
            ..TOLD
        },
        Told {
            id: 2,
            sport: 40002,
            retransmitted: 9,
            limited: Limit::Application,
            ..TOLD
        },
        Told {
            id: 3,
            sport: 40003,
            ago_s: 600,
            ..TOLD
        },
        Told {
            id: 4,
            sport: 40004,
            ago_s: 5400,
            retransmitted: 99,
            ..TOLD
        },
        Told {
            id: 5,
            sport: 40005,
            ago_s: 600,
            why: TcpNews::Gone,
            ..TOLD
        },
    ];
    keep(&disk, now, &all);
    let newest = ConnectionOrder::Newest;
    let cases: [Asked; 5] = [
        (
            "most retransmissions first",
            ConnectionQuery {
                limit: 2,
                ..query()
            },
            &[2, 1],
        ),
        (
            "the newest first",
            ConnectionQuery {
                order: newest,
                ..query()
            },
            &[1, 2, 3, 5],
        ),
        (
            "those that the path limits",
            ConnectionQuery {
                limited: Some(Limit::Path),
                limit: 1,
                ..query()
            },
            &[1],
        ),
        (
            "those of another host",
            ConnectionQuery {
                node: Some(NodeId(8)),
                ..query()
            },
            &[],
        ),
        (
            "those of a flow that nobody knows",
            ConnectionQuery {
                flow: Some(1),
                ..query()
            },
            &[],
        ),
    ];
    for (sentence, query, expected) in cases {
        let found = disk.reader().connections(&query, last_hour(now)).unwrap();
        let ids: Vec<u64> = found.iter().map(|one| one.connection.id).collect();
        assert_eq!(ids, expected, "{sentence}");
    }
    let found = disk.reader().connections(&query(), last_hour(now)).unwrap();
    let mut states: Vec<_> = found
        .iter()
        .map(|one| (one.connection.id, one.state))
        .collect();
    states.sort_by_key(|(id, _)| *id);
    assert_eq!(
        states,
        [
            (1, ConnectionState::Open),
            (2, ConnectionState::Open),
            (3, ConnectionState::Silent),
            (5, ConnectionState::Gone),
        ]
    );
}

#[test]
fn sums_are_by_limit_and_by_pair() {
    let (disk, now) = (Disk::new(), now_ns());
    let all = [
        Told {
            id: 1,
            retransmitted: 3,
            ..TOLD
        },
        Told {
            id: 2,
            sport: 40002,
            limited: Limit::Receiver,
            why: TcpNews::End,
            ..TOLD
        },
        Told {
            id: 3,
            sport: 40003,
            retransmitted: 4,
            ..TOLD
        },
        Told {
            id: 4,
            sport: 40004,
            ago_s: 5400,
            retransmitted: 99,
            ..TOLD
        },
    ];
    keep(&disk, now, &all);
    let span = last_hour(now);
    let by_limit = disk
        .reader()
        .tcp_sums(TcpGrouping::Limit, None, span)
        .unwrap();
    let rows: Vec<_> = by_limit
        .iter()
        .map(|one| {
            let us = one.times.of(one.limited);
            let retransmitted = one.counts.retransmitted_segments;
            (one.limited, one.connections, one.open, us, retransmitted)
        })
        .collect();
    assert_eq!(
        rows,
        [
            (Limit::Receiver, 1, 0, 10_000_000, 0),
            (Limit::Path, 2, 2, 20_000_000, 7),
        ]
    );
    let by_pair = disk
        .reader()
        .tcp_sums(TcpGrouping::Pair, None, span)
        .unwrap();
    let pair = &by_pair[0];
    assert_eq!(by_pair.len(), 1);
    assert_eq!(pair.node, Some(NodeId(7)));
    assert_eq!(pair.peer, Some([198, 51, 100, 2].into()));
    assert_eq!((pair.limited, pair.connections), (Limit::Path, 3));
    let by_host = disk
        .reader()
        .tcp_sums(TcpGrouping::Host, None, span)
        .unwrap();
    assert_eq!(by_host.len(), 1, "all peers of a host are one row");
    assert_eq!((by_host[0].node, by_host[0].peer), (Some(NodeId(7)), None));
    assert_eq!(by_host[0].counts, by_pair[0].counts);
    let series = disk.reader().limit_series(None, span, 360).unwrap();
    let us: u64 = series.points.iter().map(|point| point.us).sum();
    assert_eq!(us, 30_000_000);
    let other = Some(NodeId(8));
    assert_eq!(
        disk.reader()
            .tcp_sums(TcpGrouping::Pair, other, span)
            .unwrap(),
        []
    );
}

#[test]
fn old_connections_make_room() {
    let (disk, now) = (Disk::new(), now_ns());
    let mut settings = disk.settings();
    settings.limits.minutes_ns = HOUR;
    let store = start(settings);
    let keeper = store.keeper();
    Told {
        id: 1,
        ago_s: 7200,
        ..TOLD
    }
    .keep(&keeper, now);
    Told { id: 2, ..TOLD }.keep(&keeper, now);
    drop((keeper, store));
    let always = Span {
        since_ns: 0,
        until_ns: now + SECOND,
    };
    let found = disk.reader().connections(&query(), always).unwrap();
    let ids: Vec<u64> = found.iter().map(|one| one.connection.id).collect();
    assert_eq!(ids, [2]);
}

#[test]
fn numbers_of_hosts_that_lie_break_no_answer() {
    let (disk, now) = (Disk::new(), now_ns());
    let store = disk.open();
    let keeper = store.keeper();
    let mut report = TOLD.report(now);
    report.connection.id = u64::MAX;
    report.connection.sample.time_ns = u64::MAX;
    report.connection.sample.tcp.bytes_acked = u64::MAX;
    let mut growth = TcpGrowth::default();
    growth.times.add(Limit::Path, u64::MAX);
    growth.counts.bytes_acked = u64::MAX;
    for _ in 0..3 {
        keeper.see_connection(&report, &growth, now);
    }
    drop((keeper, store));
    let span = last_hour(now);
    let mut reader = disk.reader();
    assert_eq!(reader.connections(&query(), span).unwrap().len(), 1);
    for by in [TcpGrouping::Limit, TcpGrouping::Pair, TcpGrouping::Host] {
        assert_ne!(reader.tcp_sums(by, None, span).unwrap(), []);
    }
    assert_ne!(reader.limit_series(None, span, 10).unwrap().points, []);
}

/// What INT counted of the segments of connections from this port: 5 summaries of 100 packets, of which 2 were lost.
fn keep_int(disk: &Disk, sport: u16, sinks: &[u32], time_ns: u64) {
    let store = disk.open();
    let mut keeper = store.keeper();
    let flow = TOLD.report(time_ns).connection.sample.flow;
    for sink in sinks {
        for _ in 0..5 {
            let flow = FlowKey { sport, ..flow };
            let totals = SubjectTotals::default();
            let body = report_samples::flow_summary(time_ns / SECOND, [7, *sink], flow, totals);
            let report = report_samples::of_body(body);
            let arrival = Arrival {
                exporter: "198.51.100.2:32766".parse().unwrap(),
                received_ns: time_ns,
            };
            let measured = Measured {
                summaries: 1,
                packets: 98,
                lost: 2,
                ..Measured::default()
            };
            keeper.keep(&report, 0, Some(arrival), None, Some(&measured), b"{}");
        }
    }
}

#[test]
fn int_counts_stand_beside_a_connection_that_was_seen_whole() {
    let (disk, now) = (Disk::new(), now_ns() - MINUTE);
    let end = |id, sport| Told {
        id,
        sport,
        why: TcpNews::End,
        retransmitted: 60,
        ..TOLD
    };
    let all = [
        end(1, 40001),
        end(2, 40002),
        end(3, 40003),
        // The port was used again.
        end(4, 40003),
        end(5, 40005),
        Told {
            why: TcpNews::Sample,
            ..end(6, 40006)
        },
    ];
    let store = disk.open();
    let keeper = store.keeper();
    for one in all {
        let mut report = one.report(now);
        report.connection.sample.tcp.segments_out = 500;
        keeper.see_connection(&report, &TcpGrowth::default(), now);
    }
    drop((keeper, store));
    for (sport, sinks) in [
        (40001, &[3][..]),
        (40003, &[3]),
        (40005, &[3, 4]),
        (40006, &[3]),
    ] {
        keep_int(&disk, sport, sinks, now);
    }
    let span = last_hour(now);
    let mut found = disk.reader().connections(&query(), span).unwrap();
    found.sort_by_key(|one| one.connection.id);
    let told = BesideInt::Known(IntOfConnection {
        arrived: 490,
        lost: 10,
        unseen: 0,
        dropped_behind_strip: 0,
        spurious_least: 50 - WITHOUT_SOCKET,
    });
    let unknown = |unknown| BesideInt::Unknown { unknown };
    let expected = [
        told,
        unknown(BesideIntUnknown::NotMeasured),
        unknown(BesideIntUnknown::OtherPackets),
        unknown(BesideIntUnknown::OtherPackets),
        unknown(BesideIntUnknown::OtherPackets),
        unknown(BesideIntUnknown::NotEnded),
    ];
    let beside: Vec<_> = found.iter().map(|one| one.int).collect();
    assert_eq!(beside, expected);
    let first = &found[0];
    assert_eq!(first.sink, Some(NodeId(3)));
    let of_flow = ConnectionQuery {
        flow: first.flow_id,
        ..query()
    };
    let of_flow = disk.reader().connections(&of_flow, span).unwrap();
    assert_eq!(of_flow.len(), 1, "the flow's own connection");
    let states = disk
        .reader()
        .connection_series(first.flow_id.unwrap(), span, 360);
    assert_eq!(states.unwrap().points.len(), 1);
}

#[test]
fn the_worst_hops_of_connections_are_counted_once_for_each() {
    let (disk, now) = (Disk::new(), now_ns());
    let span = last_hour(now);
    // A connection's id, seconds ago, the hop, its node, and its value.
    let told = [
        (11, 300, 2, Some(9), 131),
        (11, 200, 2, Some(9), 140),
        (11, 100, 3, None, 100),
        (12, 250, 4, Some(9), 135),
        (13, 50, 3, None, 120),
        (14, 40, 5, None, 127),
        // The same ten seconds or others.
        (14, 40, 5, None, 126),
    ];
    let store = disk.open();
    let keeper = store.keeper();
    for (id, ago_s, hop, node, value) in told {
        let one = Told { id, ago_s, ..TOLD };
        let mut report = one.report(now);
        report.connection.sample.option = Some(OptionFigures {
            worst: Some(WorstSample {
                sample: WorstHop::from_value(value, hop, Some(10), u64::from(value) << 10),
                age_ns: 1,
                node: node.map(NodeId),
            }),
            ..OptionFigures::default()
        });
        keeper.see_connection(&report, &TcpGrowth::default(), now - ago_s * SECOND);
    }
    drop((keeper, store));
    let floor = |ago_s: u64| (now - ago_s * SECOND) / (10 * SECOND) * (10 * SECOND);
    let worst = |value, hop| WorstHop::from_value(value, hop, Some(10), u64::from(value) << 10);
    let found = disk.reader().tcp_hops(None, span).unwrap();
    let hop = |node: Option<u32>, connections, first, last, worst: WorstHop| TcpHop {
        node: node.map(NodeId),
        hop: worst.hop,
        connections,
        first_ns: floor(first),
        last_ns: floor(last),
        worst,
    };
    assert_eq!(
        found.hops,
        [
            hop(Some(9), 2, 300, 200, worst(140, 2)),
            hop(None, 2, 100, 50, worst(120, 3)),
            hop(None, 1, 40, 40, worst(127, 5)),
        ]
    );
    assert_eq!(found.connections, 4);
    let before = disk.reader().tcp_hops(None, last_hour(now - HOUR)).unwrap();
    assert_eq!(before, TcpHops::default(), "an hour before");
    let others = disk.reader().tcp_hops(Some(NodeId(8)), span).unwrap();
    assert_eq!(others, TcpHops::default(), "of another host");
}
