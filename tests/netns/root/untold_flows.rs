//! Each change of a flow is told in the end, however late its losses are judged, and whoever reads the table meanwhile.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hostint::datapath::abi::{flow_key, sink_flow};
use hostint::datapath::sink::kernel_half::Sink;
use hostint::datapath::sink::sweeper::{SummaryPlan, Sweeper};
use hostint::model::{FlowKey, SummaryEvent, SummarySubject, Tally};
use hostint::os::clock;
use hostint_testing::netns::await_that;
use hostint_testing::own_pins::OwnPins;

const LOSS_TIMEOUT: Duration = Duration::from_millis(5);
const PERIOD: Duration = Duration::from_millis(200);

fn key() -> flow_key {
    flow_key {
        saddr: [0, 0, 0, 1],
        layers: 17,
        ..flow_key::default()
    }
}

/// Sets the flow that the tests are about.
fn set_flow(sink: &Sink, last_ns: u64, lost: u64) {
    set_flow_that_earned(sink, (last_ns, lost), 1 << 40);
}

fn set_flow_that_earned(sink: &Sink, (last_ns, lost): (u64, u64), earned_bytes: u64) {
    let flow = sink_flow {
        first_ns: last_ns - 1,
        last_ns,
        packets: 1000,
        lost,
        earned_bytes,
        source_node: 5,
        ..sink_flow::default()
    };
    sink.flows.set(&key(), &flow).unwrap();
}

fn sweeper(sink: &Sink, tally: &Arc<Mutex<Tally>>) -> Sweeper {
    let mut sweeper = Sweeper::new(sink, LOSS_TIMEOUT, Duration::from_secs(600)).unwrap();
    sweeper.set_tally(Arc::clone(tally));
    sweeper.set_summaries(plan(PERIOD));
    sweeper
}

fn plan(period: Duration) -> SummaryPlan {
    SummaryPlan {
        period,
        report_bytes: 1,
        copies: 1,
        most_per_s: 10_000,
    }
}

/// Walks over the whole table. Returns the losses in the flow's summaries.
fn pass(sweeper: &mut Sweeper) -> Vec<u64> {
    let mut told = Vec::new();
    let is_flow = |told: &SummaryEvent| matches!(told.subject, SummarySubject::Flow { .. });
    loop {
        let step = sweeper.step(clock::realtime_ns()).unwrap();
        let flows = step.summaries.iter().filter(|told| is_flow(told));
        told.extend(flows.map(|told| told.totals.lost));
        if step.end {
            return told;
        }
    }
}

/// Walks over the table until the flow is told with these losses.
fn await_told(sweeper: &mut Sweeper, lost: u64) {
    await_that(&format!("{lost} losses are told"), || {
        pass(sweeper).contains(&lost)
    });
}

/// Walks over the table until this many periods have passed in which the flow is not told.
fn await_quiet(sweeper: &mut Sweeper, periods: u32) {
    let mut since = Instant::now();
    await_that("the flow is not told any more", || {
        if !pass(sweeper).is_empty() {
            since = Instant::now();
        }
        since.elapsed() > PERIOD * periods
    });
}

#[test]
fn a_loss_that_is_judged_late_is_told_all_the_same() {
    let own = OwnPins::new("late-loss");
    let sink = own.load(64, 16);
    let tally = Arc::default();
    let mut sweeper = sweeper(&sink, &tally);
    let last_ns = clock::realtime_ns();
    set_flow(&sink, last_ns, 0);
    await_told(&mut sweeper, 0);
    await_quiet(&mut sweeper, 3);
    // The daemon did not run for a while, and judges now what is missing since the flow's last packet.
    sweeper.expect_loss(&FlowKey::from(&key()), Instant::now() - LOSS_TIMEOUT);
    set_flow(&sink, last_ns, 3);
    sweeper.end_loss_periods(Instant::now()).unwrap();
    await_told(&mut sweeper, 3);
    await_quiet(&mut sweeper, 3);
    let tally = tally.lock().unwrap();
    let lost: u64 = tally.nodes().map(|(_, sums)| sums.lost).sum();
    assert_eq!(lost, 3, "and it counts in the sums of its node");
}

#[test]
fn a_flow_is_told_though_the_table_was_read_when_it_was_due() {
    let own = OwnPins::new("reader");
    let sink = own.load(64, 16);
    let tally = Arc::default();
    let mut sweeper = sweeper(&sink, &tally);
    set_flow(&sink, clock::realtime_ns(), 0);
    await_told(&mut sweeper, 0);
    await_quiet(&mut sweeper, 3);
    set_flow(&sink, clock::realtime_ns(), 1);
    let reader = tally.lock().unwrap();
    // The next summary is due meanwhile, and so is one more.
    await_quiet(&mut sweeper, 3);
    drop(reader);
    await_told(&mut sweeper, 1);
}

#[test]
fn a_loss_is_told_though_the_flow_does_not_pay_for_it_and_whoever_read_it_before() {
    let own = OwnPins::new("poor-loss");
    let sink = own.load(64, 16);
    let tally = Arc::default();
    let mut sweeper = sweeper(&sink, &tally);
    let last_ns = clock::realtime_ns();
    set_flow_that_earned(&sink, (last_ns, 0), 0);
    await_quiet(&mut sweeper, 3);
    assert_eq!(
        sweeper.summaries_left_out(),
        0,
        "a poor flow is none that was left out"
    );
    sweeper.expect_loss(&FlowKey::from(&key()), Instant::now() - LOSS_TIMEOUT);
    set_flow_that_earned(&sink, (last_ns, 2), 0);
    // Metrics are read meanwhile.
    let counts = hostint::model::FlowCounts {
        packets: 1000,
        lost: 2,
        first_ns: last_ns - 1,
        last_ns,
        node: hostint::model::NodeId(5),
        ..hostint::model::FlowCounts::default()
    };
    tally
        .lock()
        .unwrap()
        .look_between(FlowKey::from(&key()), counts);
    sweeper.end_loss_periods(Instant::now()).unwrap();
    await_told(&mut sweeper, 2);
    await_quiet(&mut sweeper, 3);
    // One more counts, and no more than that.
    sweeper.expect_loss(&FlowKey::from(&key()), Instant::now() - LOSS_TIMEOUT);
    set_flow_that_earned(&sink, (last_ns, 3), 0);
    sweeper.end_loss_periods(Instant::now()).unwrap();
    await_told(&mut sweeper, 3);
    await_quiet(&mut sweeper, 3);
}

#[test]
fn an_empty_table_is_walked_again_when_a_flow_began_or_summaries_are_due() {
    let own = OwnPins::new("empty-table");
    let sink = own.load(64, 16);
    let tally = Arc::default();
    let mut sweeper = sweeper(&sink, &tally);
    sweeper.set_summaries(SummaryPlan::default());
    sweeper.set_summaries(plan(Duration::from_secs(3600)));
    let cases = [
        (0, false, false, "no pass was made"),
        (0, false, true, "it was empty, and nothing began"),
        (0, false, true, "the same"),
        (1, true, false, "a flow began"),
        (1, true, false, "it has a flow"),
        (1, false, false, "it had a flow in the last pass"),
        (1, false, true, "it is empty again"),
    ];
    for (begun_flows, has_flow, is_still_empty, sentence) in cases {
        match has_flow {
            true => set_flow(&sink, clock::realtime_ns(), 0),
            false => drop(sink.flows.remove(&key()).unwrap()),
        }
        let said = sweeper.is_still_empty(|| Ok(begun_flows)).unwrap();
        assert_eq!(said, is_still_empty, "{sentence}");
        if !said {
            pass(&mut sweeper);
        }
    }
    sweeper.set_summaries(plan(Duration::from_nanos(1)));
    let is_empty = sweeper.is_still_empty(|| Ok(1)).unwrap();
    assert!(!is_empty, "summaries are due");
}
