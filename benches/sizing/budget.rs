//! A simulated day of a host within a budget: how the share of flows follows its load, and what is spent.

use std::time::Duration;

use hostint::model::{CpuBudget, Share, Spent};
use hostint_testing::random::Random;

const SECOND: Duration = Duration::from_secs(1);
const CPUS: u64 = 32;
const DAY: u64 = 86_400;
/// The CPU time of a connection at its host, if it is measured and if not.
const MEASURED_NS: f64 = 18_000.0;
const LEFT_OUT_NS: f64 = 1_700.0;
/// What a step's measurement is wrong by: one hour the programs take so much more than it says, the next one less.
const WRONG: f64 = 0.25;

/// Connections in a second: few at night, most in the afternoon, and for five minutes of each hour three times as many.
fn load(second: u64, random: &mut Random) -> f64 {
    let of_day = second as f64 / DAY as f64 * std::f64::consts::TAU;
    let usual = 20_000.0 - 17_000.0 * of_day.cos();
    let burst = if second % 3_600 < 300 { 3.0 } else { 1.0 };
    let noise = 0.9 + 0.2 * (random.below(1_000) as f64 / 1_000.0);
    usual * burst * noise
}

/// Prints a row for each two hours, and one for the day.
pub fn run() {
    for budget in ["2%", "1%"] {
        let budget: CpuBudget = budget.parse().expect("it is a budget");
        println!(
            "\nbudget: a day of a host with {CPUS} CPUs, budget {budget}; spent and above it as they are, not as estimated\n"
        );
        println!(
            "| hour | connections/s | all measured, % | one flow in | spent, % | s above | changes |"
        );
        println!("|---|---|---|---|---|---|---|");
        let (mut share, mut random) = (Share::default(), Random::seeded(7));
        let mut day = Hours::default();
        for first in (0..DAY).step_by(7_200) {
            let mut hours = Hours::default();
            for second in first..first + 7_200 {
                let connections = load(second, &mut random);
                hours.live(second, connections, budget, &mut share);
            }
            hours.print(&format!("{}", first / 3_600), share);
            day.add(&hours);
        }
        day.print("all", share);
    }
}

/// Sums of some hours.
#[derive(Default)]
struct Hours {
    seconds: f64,
    connections: f64,
    all_measured: f64,
    spent: f64,
    above: f64,
    changes: f64,
}

impl Hours {
    fn live(&mut self, second: u64, connections: f64, budget: CpuBudget, share: &mut Share) {
        let cpus_ns = CPUS * SECOND.as_nanos() as u64;
        let percent = |ns: f64| 100.0 * ns / cpus_ns as f64;
        let measured = connections / f64::from(1u32 << share.shift);
        let true_ns = measured * MEASURED_NS + (connections - measured) * LEFT_OUT_NS;
        let wrong = match second / 3_600 % 2 {
            0 => 1.0 / (1.0 + WRONG),
            _ => 1.0 + WRONG,
        };
        let estimated = Spent {
            leaving: (measured * MEASURED_NS / 2.0 * wrong) as u64,
            arriving: (measured * MEASURED_NS / 2.0 * wrong) as u64,
            besides: ((connections - measured) * LEFT_OUT_NS * wrong) as u64,
        };
        self.seconds += 1.0;
        self.connections += connections;
        self.all_measured += percent(connections * MEASURED_NS);
        self.spent += percent(true_ns);
        self.above += f64::from(u8::from(percent(true_ns) * 10_000.0 > f64::from(budget.0)));
        let by_flows = estimated.leaving + estimated.arriving;
        let changed = share.note(budget, by_flows, estimated, (SECOND, cpus_ns));
        self.changes += f64::from(u8::from(changed));
    }

    fn add(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.connections += other.connections;
        self.all_measured += other.all_measured;
        self.spent += other.spent;
        self.above += other.above;
        self.changes += other.changes;
    }

    fn print(&self, name: &str, share: Share) {
        println!(
            "| {name} | {:.0} | {:.2} | {} | {:.2} | {:.0} | {:.0} |",
            self.connections / self.seconds,
            self.all_measured / self.seconds,
            1u32 << share.shift,
            self.spent / self.seconds,
            self.above,
            self.changes
        );
    }
}
