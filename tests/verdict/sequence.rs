//! One incident after the other: each has its own beginning, whichever packets the ones before it had.

use hostint::model::{CauseKind, VerdictState};
use hostint::verdict::VerdictEngine;
use hostint_testing::invented::{Harm, InventedNetwork, InventedWorld, SLOT_NS, Shape};

/// Slots until the first incident, those of an incident, and those from the begin of one to the begin of the next.
const FIRST: u64 = 60;
const LASTS: u64 = 10;
const EACH: u64 = 17;
/// The most slots by which a beginning may be off.
const NEAR: u64 = 2;

#[test]
fn an_incident_does_not_begin_with_an_earlier_one() {
    let network = InventedNetwork::new(Shape {
        hosts: 6,
        racks: 2,
        seed: 5,
        flows: true,
        clocks: true,
    });
    let none = Harm::none(&network);
    let links = [
        (CauseKind::HostIn, network.host_in(1)),
        (CauseKind::HostIn, network.host_in(4)),
        (CauseKind::HostOut, network.host_out(2)),
        (CauseKind::LabelOut, network.rack_out(0, 1)),
    ];
    let mut harms = links
        .map(|(_, link)| {
            let mut harm = Harm::none(&network);
            harm.link_loss[link] = 0.05;
            harm
        })
        .to_vec();
    let mut kinds = links.map(|(kind, _)| kind).to_vec();
    // One of the pairs that lost packets on one of several ways.
    let far = network
        .cells
        .iter()
        .find(|cell| network.hosts[cell.source].rack == 0 && network.is_far(cell))
        .unwrap();
    let mut harm = Harm::none(&network);
    for at in network.cells_that(|cell| (cell.source, cell.sink) == (far.source, far.sink)) {
        harm.loss[at] = 0.1;
    }
    harms.push(harm);
    kinds.push(CauseKind::Pair);
    let mut world = InventedWorld::new(network, 6, 10);
    let mut engine = VerdictEngine::default();
    let mut named = 0;
    for number in 0..FIRST + EACH * kinds.len() as u64 {
        let incident = number
            .checked_sub(FIRST)
            .map(|since| (since / EACH, since % EACH));
        let harm = match incident {
            Some((at, slot)) if slot < LASTS => &harms[at as usize],
            _ => &none,
        };
        let verdict = engine.slot(&world.slot(harm));
        let Some((at, LASTS)) = incident.map(|(at, slot)| (at, slot + 1)) else {
            continue;
        };
        assert_eq!(verdict.state, VerdictState::Degraded, "incident {at}");
        assert_eq!(verdict.causes[0].kind, kinds[at as usize], "incident {at}");
        let begin_ns = world.begins_ns(FIRST + at * EACH);
        let off = verdict.causes[0].since_ns.abs_diff(begin_ns) / SLOT_NS;
        assert!(off <= NEAR, "incident {at}: {off} slots off");
        named += 1;
    }
    assert_eq!(named, kinds.len());
}
