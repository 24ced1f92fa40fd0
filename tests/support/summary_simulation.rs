//! The summaries that the sinks of a network send: counted flow by flow, and by the formula of hostint-sizing(7).

use crate::random::Random;
use crate::simulation::Profile;

/// A packet counts for a period if it came this long before it: two loss timeouts.
const MARGIN_S: f64 = 0.4;

/// What bounds the summaries of a sink.
#[derive(Clone, Copy, Debug)]
pub struct SummaryRules {
    pub period_s: f64,
    /// The most in a second.
    pub most: f64,
    /// Classes of source nodes that have packets.
    pub groups: f64,
    pub idle_s: f64,
}

impl Default for SummaryRules {
    /// The defaults of a sink that ten source nodes send to, in three classes.
    fn default() -> Self {
        Self {
            period_s: 10.0,
            most: 50.0,
            groups: 30.0,
            idle_s: 60.0,
        }
    }
}

/// Summaries of one host in a second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summaries {
    pub groups: f64,
    pub flows: f64,
}

impl Summaries {
    pub fn all(&self) -> f64 {
        self.groups + self.flows
    }
}

impl Profile {
    /// The formula of hostint-sizing(7).
    pub fn summaries(&self, rules: &SummaryRules) -> Summaries {
        let groups = rules.groups / rules.period_s;
        let flows = self.new_flows * (self.duration / rules.period_s + 2.0);
        Summaries {
            groups: groups.min(rules.most),
            flows: flows.min((rules.most - groups).max(0.0)),
        }
    }
}

fn exponential(mean: f64, random: &mut Random) -> f64 {
    let share = (random.u32() as f64 + 1.0) / (u32::MAX as f64 + 2.0);
    -mean * share.ln()
}

/// Beginnings and ends of the flows of a host from `since` until `until`.
fn flows(profile: &Profile, since: f64, until: f64, random: &mut Random) -> Vec<(f64, f64)> {
    let mut flows = Vec::new();
    // Those that last already: their rest is as long as a new one.
    let mut begun = exponential(1.0, random);
    while begun < profile.new_flows * profile.duration {
        flows.push((since, since + exponential(profile.duration, random)));
        begun += exponential(1.0, random);
    }
    let mut at = since + exponential(1.0 / profile.new_flows, random);
    while at < until {
        flows.push((at, at + exponential(profile.duration, random)));
        at += exponential(1.0 / profile.new_flows, random);
    }
    flows
}

/// Counts the summaries of this many hosts in a number of periods.
pub fn simulate(
    profile: &Profile,
    rules: &SummaryRules,
    hosts: u64,
    periods: u32,
    seed: u64,
) -> Summaries {
    let mut random = Random::seeded(seed);
    let until = f64::from(periods) * rules.period_s;
    let (mut groups, mut of_flows) = (0.0, 0.0);
    for _ in 0..hosts {
        let since = -rules.idle_s - rules.period_s;
        let flows = flows(profile, since, until, &mut random);
        for period in 0..periods {
            let begin = f64::from(period) * rules.period_s;
            let end = begin + rules.period_s;
            let due = flows
                .iter()
                .filter(|(first, last)| *first < end && *last > begin - MARGIN_S);
            let forgotten = flows.iter().filter(|(_, last)| {
                let when = last + rules.idle_s;
                (begin..end).contains(&when)
            });
            let room = (rules.most * rules.period_s - rules.groups).max(0.0);
            of_flows += ((due.count() + forgotten.count()) as f64).min(room);
            groups += rules.groups;
        }
    }
    let seconds = hosts as f64 * until;
    Summaries {
        groups: groups / seconds,
        flows: of_flows / seconds,
    }
}
