//! Keeps what hostint takes of the host's CPU time within the budget, by the share of flows that the source measures.

use std::io;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;
use crate::datapath::host::counters;
use crate::datapath::host::step;
use crate::datapath::kernel::map_names::{PEER_COUNTERS, SINK_COUNTERS, SOURCE_COUNTERS};
use crate::datapath::kernel::pins::Pins;
use crate::model::{BudgetStatus, CpuBudget, HostWork, Share, Spent};
use crate::os::{clock, kernel, log};

const PERIOD: Duration = Duration::from_secs(1);
/// A CPU may run at another frequency by then.
const MEASURED_AGAIN: Duration = Duration::from_secs(600);
/// The time of a step where it cannot be measured.
const USUAL_STEP_NS: u32 = 100;

/// A daemon that holds the budget of its host's source.
pub trait HasBudget: OnHost {
    fn budget(&self) -> CpuBudget;
}

/// The duty to do so.
#[derive(Default)]
pub struct KeepBudget {
    /// Of the flows of this host, and of those to it.
    shares: Option<[Share; 2]>,
    step: Option<(Instant, u32)>,
    last: Option<CountedWork>,
}

/// What was counted until then.
#[derive(Clone, Copy)]
struct CountedWork {
    at: Instant,
    work: HostWork,
    daemons_ns: u64,
}

impl KeepBudget {
    /// The time of a step, which is measured now and then.
    fn step_ns(&mut self, now: Instant) -> u32 {
        match self.step {
            Some((at, step_ns)) if now < at + MEASURED_AGAIN => step_ns,
            _ => {
                let before = self.step.map_or(USUAL_STEP_NS, |(_, step_ns)| step_ns);
                let step_ns = step::measure().unwrap_or(before);
                self.step = Some((now, step_ns));
                step_ns
            }
        }
    }

    /// What was spent since the last time, and how long that is.
    fn spent(&mut self, pins: &Pins, now: Instant) -> io::Result<Option<(Spent, Duration)>> {
        let step_ns = self.step_ns(now);
        let reading = CountedWork {
            at: now,
            work: work(pins)?,
            daemons_ns: clock::process_cpu_ns(),
        };
        Ok(self.last.replace(reading).map(|last| {
            let daemons_ns = reading.daemons_ns.saturating_sub(last.daemons_ns);
            let cost = reading.work.since(last.work).cost(step_ns, daemons_ns);
            (cost, now - last.at)
        }))
    }
}

/// What the programs of this host have done.
fn work(pins: &Pins) -> io::Result<HostWork> {
    let [
        tagged,
        tagged_merged,
        tagged_flows,
        roomless,
        left_out,
        unwatched,
    ] = counters::packets_of(
        pins,
        SOURCE_COUNTERS,
        counters::SOURCE,
        [
            "tagged",
            "merged",
            "flow_new",
            "no_option",
            "budget",
            "unwatched",
        ],
    )?;
    let [seen] = counters::packets_of(pins, PEER_COUNTERS, counters::PEER, ["seen"])?;
    let [received, received_merged, received_flows] = counters::packets_of(
        pins,
        SINK_COUNTERS,
        counters::SINK,
        ["received", "merged", "flow_new"],
    )?;
    Ok(HostWork {
        tagged: tagged.saturating_sub(tagged_merged),
        tagged_flows,
        roomless,
        left_alone: left_out + unwatched,
        seen,
        received: received.saturating_sub(received_merged),
        received_flows,
    })
}

impl<D: HasBudget> Duty<D> for KeepBudget {
    fn task(&self) -> &'static str {
        "keep the budget"
    }

    fn period(&self, _daemon: &D) -> Duration {
        PERIOD
    }

    fn turn(&mut self, daemon: &mut D, now: Instant) -> Result<()> {
        let cpus = kernel::cpus();
        let Some((spent, time)) = self.spent(daemon.pins(), now)? else {
            return Ok(());
        };
        let budget = daemon.budget();
        let of_ns = time.as_nanos() as u64 * cpus;
        let [own, asked] = match &mut self.shares {
            Some(shares) => shares,
            none => none.insert(daemon.host().shares()?.map(Share::of)),
        };
        let period = (time, of_ns);
        if own.note(budget, spent.leaving, spent, period) {
            log::info(format_args!(
                "one in {} flows is measured from now on, by the budget of {budget}",
                1u64 << own.shift
            ));
        }
        if asked.note(budget, spent.arriving, spent, period) {
            log::info(format_args!(
                "other hosts are asked to measure one in {} flows to this one, by the budget of {budget}",
                1u64 << asked.shift
            ));
        }
        let told = BudgetStatus {
            allowed_ppm: budget.0,
            spent_ppm: spent.ppm(of_ns),
            step_ns: self.step.map_or(0, |(_, step_ns)| step_ns),
            ..BudgetStatus::default()
        };
        Ok(daemon.host().set_shares([own.shift, asked.shift], told)?)
    }

    /// Programs that go on without a daemon measure all flows, because no daemon would notice that there is room again.
    fn finish(&mut self, daemon: &mut D) -> Result<()> {
        let nothing = BudgetStatus::default();
        Ok(daemon.host().set_shares([0, 0], nothing)?)
    }
}
