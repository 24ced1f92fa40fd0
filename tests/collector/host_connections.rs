//! What hosts tell of their connections is added up without counting anything twice.

use hostint::collector::HostConnections;
use hostint::model::*;
use hostint_testing::report_samples;

const SECOND: u64 = 1_000_000_000;
const STARTED: u64 = 1_700_000_000 * SECOND;

fn arrival(after_s: u64) -> Arrival {
    Arrival {
        exporter: "192.0.2.1:4000".parse().unwrap(),
        received_ns: STARTED + after_s * SECOND,
    }
}

/// What a host tells of a connection that began that long after the collector, in seconds.
#[derive(Clone, Copy)]
struct Told {
    id: u64,
    begun_s: Option<i64>,
    at_s: u64,
    why: TcpNews,
    retransmitted: u32,
    path_s: u64,
}

const TOLD: Told = Told {
    id: 1,
    begun_s: Some(1),
    at_s: 10,
    why: TcpNews::Sample,
    retransmitted: 0,
    path_s: 0,
};

impl Told {
    fn report(self) -> ConnectionReport {
        let [sample, _] = report_samples::connections();
        let Body::Connection(mut report) = sample.observation.body else {
            unreachable!()
        };
        let told = &mut report.connection;
        told.id = self.id;
        told.why = self.why;
        told.limited = Limit::Path;
        told.times = LimitedTimes::default();
        told.times.add(Limit::Path, self.path_s * 1_000_000);
        told.sample.begun_ns = self
            .begun_s
            .map(|begun_s| STARTED.wrapping_add_signed(begun_s * SECOND as i64));
        told.sample.time_ns = STARTED + self.at_s * SECOND;
        told.sample.tcp.total_retrans = self.retransmitted;
        *report
    }

    /// Retransmitted segments and seconds that are new.
    fn adds(self, connections: &mut HostConnections) -> Option<(u64, u64)> {
        let growth = connections.grow(&self.report(), arrival(self.at_s))?;
        let us = growth.times.of(Limit::Path);
        Some((growth.counts.retransmitted_segments, us / 1_000_000))
    }
}

/// A sentence; what is told, report by report; and the segments and seconds that each adds.
type Growing = (&'static str, &'static [Told], &'static [Option<(u64, u64)>]);

#[rustfmt::skip]
const CASES: [Growing; 7] = [
    ("counts that grow",
     &[Told { at_s: 10, retransmitted: 3, path_s: 9, ..TOLD }, Told { at_s: 20, retransmitted: 5, path_s: 19, ..TOLD }],
     &[Some((3, 9)), Some((2, 10))]),
    ("a report that is repeated",
     &[Told { retransmitted: 3, ..TOLD }, Told { retransmitted: 3, ..TOLD }],
     &[Some((3, 0)), None]),
    ("a report that is late",
     &[Told { at_s: 20, retransmitted: 3, ..TOLD }, Told { at_s: 10, retransmitted: 1, ..TOLD }],
     &[Some((3, 0)), None]),
    ("an end that is told twice, and a state from before it",
     &[Told { at_s: 20, why: TcpNews::End, retransmitted: 3, ..TOLD }, Told { at_s: 20, why: TcpNews::End, retransmitted: 3, ..TOLD },
       Told { at_s: 15, retransmitted: 1, ..TOLD }],
     &[Some((3, 0)), None, None]),
    ("a connection that began before the collector, so that an earlier run may have counted it",
     &[Told { begun_s: Some(-60), retransmitted: 7, path_s: 70, ..TOLD },
       Told { begun_s: Some(-60), at_s: 20, retransmitted: 8, path_s: 80, ..TOLD }],
     &[Some((0, 0)), Some((1, 10))]),
    ("a connection whose beginning is not known",
     &[Told { begun_s: None, retransmitted: 7, ..TOLD }, Told { begun_s: None, at_s: 20, retransmitted: 9, ..TOLD }],
     &[Some((0, 0)), Some((2, 0))]),
    ("two connections of a host",
     &[Told { id: 1, retransmitted: 1, ..TOLD }, Told { id: 2, retransmitted: 2, ..TOLD }],
     &[Some((1, 0)), Some((2, 0))]),
];

fn started(most: usize) -> HostConnections {
    let mut connections = HostConnections::new(most);
    connections.start_at(STARTED);
    connections
}

#[test]
fn a_connection_adds_what_it_did_not_tell_before() {
    for (sentence, told, expected) in CASES {
        let mut connections = started(10);
        let added: Vec<_> = told.iter().map(|one| one.adds(&mut connections)).collect();
        assert_eq!(added, expected, "{sentence}");
        let sum: u64 = expected
            .iter()
            .flatten()
            .map(|(segments, _)| segments)
            .sum();
        let rows = connections.rows(10, STARTED + 30 * SECOND);
        assert_eq!(rows[0].counts.retransmitted_segments, sum, "{sentence}");
    }
}

#[test]
fn open_connections_are_those_that_were_told_lately_and_have_not_ended() {
    let mut connections = started(10);
    for id in 1..=3 {
        Told { id, ..TOLD }.adds(&mut connections);
    }
    let end = Told {
        at_s: 20,
        why: TcpNews::End,
        ..TOLD
    };
    end.adds(&mut connections);
    let cases = [(30, 2), (300, 0)];
    for (after_s, open) in cases {
        let rows = connections.rows(10, STARTED + after_s * SECOND);
        assert_eq!(rows[0].open, open, "{after_s} s after the start");
    }
}

#[test]
fn connections_beyond_the_limit_are_in_no_sum_until_others_make_room() {
    let mut connections = started(1);
    let first = Told {
        retransmitted: 1,
        ..TOLD
    };
    assert_eq!(first.adds(&mut connections), Some((1, 0)));
    let second = Told {
        id: 2,
        at_s: 11,
        retransmitted: 2,
        ..TOLD
    };
    assert_eq!(second.adds(&mut connections), Some((0, 0)), "no room");
    assert_eq!(connections.untracked(), 1);
    // The first was not told for ten minutes.
    let later = Told {
        at_s: 700,
        begun_s: Some(650),
        id: 3,
        ..second
    };
    assert_eq!(later.adds(&mut connections), Some((2, 0)));
    assert_eq!(connections.untracked(), 1);
}
