//! Postcards tell each packet of a flow once, in whatever order its events and its record are read.

use std::time::{Duration, Instant};

use hostint::daemon::postcards::reported_flows::ReportedFlows;

/// Where the number of a flow's packets was read.
#[derive(Clone, Copy)]
enum Read {
    /// In an event, which may be old.
    Event,
    /// In the table, this time after the beginning.
    Table(u64),
}

#[test]
fn no_packet_is_told_twice() {
    use Read::{Event, Table};
    // What was read, one after another, a millisecond apart; true: it is told.
    type Case = (&'static str, &'static [(Read, u64, bool)]);
    let cases: [Case; 6] = [
        (
            "an event begins a flow, and its record tells more",
            &[(Event, 1, true), (Table(1), 5, true)],
        ),
        (
            "what was told is not told again",
            &[(Event, 1, true), (Event, 1, false), (Table(2), 1, false)],
        ),
        (
            "an event that is read after its flow's record is old",
            &[(Table(0), 5, true), (Event, 1, false), (Event, 6, true)],
        ),
        (
            "a record that was read before a newer event was told is old",
            &[(Event, 1, true), (Event, 12, true), (Table(1), 10, false)],
        ),
        (
            "a record that began anew has fewer packets",
            &[(Table(0), 5, true), (Table(1), 2, true)],
        ),
        (
            "the event of a record that began anew is told by the record",
            &[(Table(0), 5, true), (Event, 1, false), (Table(2), 1, true)],
        ),
    ];
    let begin = Instant::now();
    let after = |ms| begin + Duration::from_millis(ms);
    for (sentence, steps) in cases {
        let mut flows = ReportedFlows::new(0);
        for (step, (read, packets, told)) in (1..).zip(steps) {
            let read = match read {
                Event => None,
                Table(ms) => Some(after(*ms) + Duration::from_micros(500)),
            };
            let taken = flows.take("flow", *packets, read, after(step));
            assert_eq!(taken, *told, "{sentence}: step {step}");
        }
    }
}
