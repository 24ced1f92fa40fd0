//! What falls silent is as old as its last report, or as the end of the period that still has its figures.

use hostint::model::*;
use hostint::store::*;
use hostint_testing::synthetic::Synthetic;

use crate::disk::*;

const DAWN: u64 = 20_000 * DAY;

/// The flow, of this number of flows, that reports only in the first minute.
const ENDED: usize = 7;
const FLOWS: usize = 10;

/// Stores two hours of reports, every ten seconds one of each flow. Returns the time of the last one of the ended flow.
fn fill(settings: &StoreSettings) -> u64 {
    let mut network = Synthetic::new(1, FLOWS as u32, FLOWS);
    let mut ended_ns = 0;
    // Each transaction takes a part of what is too old away.
    for session in 0..12 {
        let store = start(settings.clone());
        let mut keeper = store.keeper();
        for round in 0..60 {
            let begin_ns = DAWN + (session * 60 + round) * 10 * SECOND;
            for flow in 0..FLOWS {
                let time_ns = begin_ns + flow as u64;
                if flow != ENDED || begin_ns < DAWN + MINUTE {
                    keep(&mut keeper, &network.report(flow, time_ns));
                    ended_ns = if flow == ENDED { time_ns } else { ended_ns };
                }
            }
        }
    }
    ended_ns
}

#[test]
fn what_ended_is_old_however_little_is_kept_of_it() {
    let kept = |raw_ns, ten_seconds_ns, minutes_ns| StoreLimits {
        raw_ns,
        ten_seconds_ns,
        minutes_ns,
        hours_ns: DAY,
        bytes: 1 << 30,
    };
    let ended_ns = DAWN + 50 * SECOND + ENDED as u64;
    for (name, limits, told_ns) in [
        ("the report", kept(DAY, DAY, DAY), ended_ns),
        ("all figures", kept(10 * MINUTE, DAY, DAY), DAWN + HOUR),
        (
            "those of an hour",
            kept(10 * MINUTE, 20 * MINUTE, 30 * MINUTE),
            DAWN + HOUR,
        ),
    ] {
        let disk = Disk::new();
        let settings = StoreSettings {
            limits,
            ..disk.settings()
        };
        assert_eq!(fill(&settings), ended_ns, "{name}");
        let span = Span {
            since_ns: DAWN,
            until_ns: DAWN + 2 * HOUR,
        };
        let mut reader = disk.reader();
        let query = FlowQuery {
            limit: 100,
            ..FlowQuery::default()
        };
        let flows = reader.flows(&query, span).unwrap();
        assert_eq!(flows.len(), FLOWS, "{name}");
        let newest_ns = span.until_ns - 10 * SECOND;
        for flow in flows {
            let (source, sink) = (flow.source.unwrap(), flow.sink.unwrap());
            let pair = reader.pair(source, sink, span).unwrap().unwrap();
            let one = reader.flow(flow.id, span).unwrap().unwrap();
            let pairs = reader.pairs(span).unwrap();
            let of_all = |pair: &&PairFigures| (pair.source, pair.sink) == (source, sink);
            let of_all = pairs.iter().find(of_all).unwrap();
            let last = [Some(flow.last_ns), Some(one.last_ns), pair.last_ns];
            assert_eq!(last, [of_all.last_ns; 3], "{name}: {source} to {sink}");
            if source == NodeId(ENDED as u32 + 1) {
                assert_eq!(flow.last_ns, told_ns, "{name}");
            } else {
                assert!(flow.last_ns >= newest_ns, "{name}: {}", flow.last_ns);
            }
        }
    }
}
