//! Reports wait until their clocks are known, or for three seconds.

use hostint::model::ClockSource;

use super::clock_nodes::{Collector, Node, ONE, SECOND, US, other};

/// A report arrives just before the sink's clock is set, or just after; the next reading shows it.
#[test]
fn a_report_waits_for_the_next_readings_and_those_behind_it_wait_too() {
    let other = other(250_000 * US);
    let set = Node {
        ahead_ns: other.ahead_ns + 700_000 * US,
        ..other
    };
    for (name, stamps, tells, expected) in [
        ("the clock was not set", &other, &other, true),
        (
            "it was set, and stamped the packet after it",
            &set,
            &set,
            false,
        ),
        ("it was set behind the packet", &other, &set, false),
    ] {
        let mut collector = Collector::new();
        let t = collector.tell_both(&ONE, &other, 12);
        let handed_on = |collector: &Collector| collector.0.taker.0.len();
        let before = handed_on(&collector);
        collector.send(&ONE, stamps, 40_000, t + SECOND / 2, ClockSource::Tai);
        collector.send(
            &Node { id: 8, ..ONE },
            stamps,
            40_000,
            t + SECOND / 2,
            ClockSource::Tai,
        );
        assert_eq!(handed_on(&collector), before, "{name}: both wait");
        let t = t + SECOND;
        collector.tell(&ONE.evidence(&other, t), t);
        assert_eq!(
            handed_on(&collector),
            before,
            "{name}: the sink did not tell yet"
        );
        collector.tell(&tells.evidence(&ONE, t), t);
        let found = &collector.0.taker.0[before..];
        assert_eq!(found.len(), 2, "{name}");
        assert_eq!(found[0].is_some(), expected, "{name}: {found:?}");
        assert_eq!(found[1], None, "{name}: nobody knows this node");
    }

    // A host that falls silent holds reports up for three seconds.
    let mut collector = Collector::new();
    let t = collector.tell_both(&ONE, &other, 12);
    collector.send(&ONE, &other, 40_000, t + SECOND / 2, ClockSource::Tai);
    for (later, expected) in [(1, 0), (2, 0), (3, 0), (4, 1)] {
        let t = t + later * SECOND;
        collector.tell(&ONE.evidence(&other, t), t);
        assert_eq!(collector.0.taker.0.len(), expected, "{later} s later");
    }
    assert_eq!(collector.0.taker.0, [None]);
}
