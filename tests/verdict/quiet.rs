//! In quiet hours nothing is blamed: nine of them, or with `HOSTINT_LONG=1` three days.

use hostint::model::VerdictState;
use hostint::verdict::VerdictEngine;
use hostint_testing::invented::{Harm, InventedNetwork, InventedWorld, Shape};
use hostint_testing::random::env_number;

/// Slots in which something was blamed, as lines.
fn false_alarms(shape: Shape, begin_hour: u64, slots: u64) -> Vec<String> {
    let network = InventedNetwork::new(shape);
    let none = Harm::none(&network);
    let cells = network.cells.len();
    let mut world = InventedWorld::new(network, shape.seed + 1_000, begin_hour);
    let mut engine = VerdictEngine::default();
    let (mut found, mut before) = (Vec::new(), VerdictState::Healthy);
    let (mut packets, mut lost) = (0, 0);
    for number in 0..slots {
        let slot = world.slot(&none);
        packets += slot
            .cells
            .values()
            .map(|cell| cell.counts.sent)
            .sum::<u64>();
        lost += slot
            .cells
            .values()
            .map(|cell| cell.counts.lost)
            .sum::<u64>();
        let verdict = engine.slot(&slot);
        let is_blame = matches!(
            verdict.state,
            VerdictState::Degraded | VerdictState::Measurement
        );
        if is_blame && verdict.state != before {
            let causes = verdict.causes.iter();
            let causes: Vec<_> = causes.map(|one| (one.kind, &one.subjects)).collect();
            found.push(format!("slot {number}: {:?} {causes:?}", verdict.state));
        }
        before = verdict.state;
    }
    println!(
        "{slots} slots of {} hosts, {cells} cells, {packets} packets, {lost} lost: {} false alarms",
        shape.hosts,
        found.len()
    );
    found
}

#[test]
fn quiet_hours_have_no_alarm() {
    let shapes = [(12, 3, 3, 14), (24, 4, 1, 7), (24, 4, 2, 0)];
    let (slots, shapes) = match env_number("HOSTINT_LONG", 0) {
        0 => (2 * 360, &shapes[..1]),
        _ => (24 * 360, &shapes[..]),
    };
    let mut found = Vec::new();
    for (hosts, racks, seed, begin_hour) in shapes.iter().copied() {
        let shape = Shape {
            hosts,
            racks,
            seed,
            flows: true,
            clocks: true,
        };
        found.extend(false_alarms(shape, begin_hour, slots));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
