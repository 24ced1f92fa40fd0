//! The interval of a sink's clock ages as the sink's answers tell that its clock is steered.

use hostint::lease::OwnTagging;
use hostint::model::{ClockSteering, NodeId};

use super::network::{Network, PAIR, Path, Sink};

#[test]
fn the_bound_of_a_sinks_clock_ages_by_crystals_and_by_the_steering_that_it_tells() {
    let cases = [
        ("it tells nothing", 0, Some(700_100)),
        ("it runs freely, or nearly so", 1, Some(205_100)),
        ("it is slewed by at most 500 ppm", 125, Some(701_100)),
        ("it is slewed by at most 1016 ppm", 254, Some(1_217_100)),
        ("by more than can be told", 255, None),
    ];
    for (name, bits, expected) in cases {
        let ours = OwnTagging {
            node: NodeId(1),
            tagging: Vec::new(),
        };
        let sink = Sink {
            clock_steering: ClockSteering::from_bits(bits),
            ..Sink::default()
        };
        let mut network = Network::new(ours, Path::default(), sink, 1);
        network.pass(1_000);
        let drift = |network: &Network| Some(network.keeper.lease(&PAIR)?.clock?.drift_ppb);
        assert_eq!(drift(&network), expected, "{name}, by a full answer");
        network.asked.clear();
        network.pass(3_000);
        assert!(
            network.asked.iter().all(|(_, len)| *len == 64),
            "{name}: short questions only: {:?}",
            network.asked
        );
        assert_eq!(drift(&network), expected, "{name}, by a short answer");
        network.sink.clock_steering = ClockSteering::of_ppb(100_000);
        network.sink.digest += 1;
        network.pass(3_000);
        assert_eq!(drift(&network), Some(301_100), "{name}, then 100 ppm");
    }
}

#[test]
fn steering_is_told_rounded_up() {
    let cases = [
        ("none", 0, 1, Some(4_000)),
        ("as much as a unit", 4_000, 1, Some(4_000)),
        ("a little more", 4_001, 2, Some(8_000)),
        ("the most", 1_016_000, 254, Some(1_016_000)),
        ("beyond", 1_016_001, 255, None),
        ("far beyond", u64::MAX, 255, None),
    ];
    for (name, ppb, bits, most) in cases {
        let steering = ClockSteering::of_ppb(ppb);
        assert_eq!(
            (steering.bits(), steering.most_ppb()),
            (bits, most),
            "{name}"
        );
    }
}
