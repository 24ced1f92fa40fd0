//! The invented network does what the table of incidents says, so that the verdict is asked about the right thing.

use hostint::model::{CellCounts, CellGrowth, CellId, LatencyHistogram, VerdictSlot};
use hostint_testing::invented::InventedWorld;

use super::figures::table;
use super::incident::{BEGIN, Incident};

/// The slots of an incident that are looked at before it and in it.
const LOOKED: u64 = 30;

/// Counts and latencies of the cells that are chosen, before the incident and in it.
fn sums(
    kind: &str,
    figure: (&str, f64),
    is: impl Fn(&Incident, &CellId) -> bool,
) -> [CellGrowth; 2] {
    let table = table();
    let has = |line: &&super::figures::Line| {
        line.kind == kind && line.figures.get(figure.0) == Some(figure.1)
    };
    let line = table.iter().find(has).unwrap();
    let (network, incident) = Incident::new(line.clone(), 9);
    let mut world = InventedWorld::new(network, 10, 10);
    let mut sums = [CellGrowth::default(), CellGrowth::default()];
    for number in 0..BEGIN + LOOKED {
        let harm = incident.harm(&world.network, number);
        let slot: VerdictSlot = world.slot(&harm);
        let sum = match number {
            ..LOOKED => &mut sums[0],
            BEGIN.. if number > BEGIN => &mut sums[1],
            _ => continue,
        };
        for (_, growth) in slot.cells.iter().filter(|(id, _)| is(&incident, id)) {
            assert_eq!(
                growth.counts.sent,
                growth.counts.lost + growth.latency.samples()
            );
            sum.counts.sent += growth.counts.sent;
            sum.counts.lost += growth.counts.lost;
            sum.latency.merge(&growth.latency);
            for (sum, part) in sum.parts.iter_mut().zip(growth.parts) {
                sum.sent += part.sent;
                sum.lost += part.lost;
            }
        }
    }
    sums
}

fn loss(counts: CellCounts) -> f64 {
    counts.lost as f64 / counts.sent as f64
}

fn is_to_subject(incident: &Incident, id: &CellId) -> bool {
    id.sink == InventedWorld::node(incident.subject.host)
}

#[test]
fn what_is_lost_is_what_the_table_says() {
    let [before, during] = sums("host-in", ("loss", 0.02), is_to_subject);
    assert!(loss(before.counts) < 0.001, "{:?}", before.counts);
    assert!(
        (loss(during.counts) - 0.02).abs() < 0.003,
        "{:?}",
        during.counts
    );
    let others = |incident: &Incident, id: &CellId| !is_to_subject(incident, id);
    let [_, during] = sums("host-in", ("loss", 0.02), others);
    assert!(loss(during.counts) < 0.001, "{:?}", during.counts);
}

#[test]
fn half_of_the_flows_lose_packets_if_one_of_two_links_does() {
    let [_, during] = sums("half-in", ("loss", 0.05), is_to_subject);
    for (part, counts) in during
        .parts
        .iter()
        .enumerate()
        .filter(|(_, one)| one.sent > 2_000)
    {
        let expected = if part % 2 == 1 { 0.05 } else { 0.0 };
        assert!(
            (loss(*counts) - expected).abs() < 0.02,
            "part {part}: {counts:?}"
        );
    }
}

#[test]
fn packets_wait_and_clocks_step_as_the_table_says() {
    let slow = |found: &LatencyHistogram, than_ns: i64| {
        let slow = found.counts().filter(|(bound, _)| *bound > than_ns);
        slow.map(|(_, count)| count).sum::<u64>() as f64 / found.samples() as f64
    };
    let [before, during] = sums("host-in", ("slow", 0.15), is_to_subject);
    let late_ns = before.latency.quantile(0.999).unwrap();
    let share = slow(&during.latency, late_ns);
    assert!(share > 0.02 && share < 0.16, "{share}");
    let [before, during] = sums("clock", ("step", 400_000.0), is_to_subject);
    let mean = |one: CellGrowth| one.latency.sum_ns() as f64 / one.latency.samples() as f64;
    let [before, during] = [before, during].map(mean);
    let step_ns = during - before;
    assert!((step_ns - 400_000.0).abs() < 40_000.0, "{step_ns}");
}

#[test]
fn a_seed_makes_the_same_slots_again() {
    let line = &table()[0];
    let slots = |seed: u64| -> Vec<VerdictSlot> {
        let (network, incident) = Incident::new(line.clone(), seed);
        let mut world = InventedWorld::new(network, seed, 10);
        let slots = (0..20).map(|number| {
            let harm = incident.harm(&world.network, number);
            world.slot(&harm)
        });
        slots.collect()
    };
    assert_eq!(slots(3), slots(3));
    assert_ne!(slots(3), slots(4));
}
