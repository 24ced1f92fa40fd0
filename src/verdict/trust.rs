//! Whether what hosts report may be trusted, and what is no fault of the network.

use std::collections::BTreeMap;

use crate::model::{HostInSlot, NodeId, VerdictSlot};

/// Slots without a report from which on a host is named.
const GONE_SLOTS: u32 = 3;
const SILENT_SLOTS: u32 = 6;
/// One that is gone for longer is not expected any more: half an hour.
const LONG_GONE_SLOTS: u32 = 180;
/// Slots of a window, and how many of them have to be unusual.
const THIN: (u32, u32) = (12, 10);
const LATE: (u32, u32) = (6, 5);
/// By how much less than usual of a host's traffic is measured if that is named.
const THINNER: f64 = 0.1;
/// Packets that wait longer for an application are read late, if that is five times the usual.
const LATE_NS: f64 = 500_000.0;
const LATER: f64 = 5.0;
/// By how much more than usual receivers limit their senders if that is named.
const FULLER: f64 = 0.2;
/// A host that began again in this number of slots.
const RESTARTED_SLOTS: u32 = 30;
/// The share of reports that are lost, and that of hosts that report nothing, from which on nothing can be said.
pub const MOST_LOST: f64 = 0.3;
const MOST_SILENT: f64 = 0.25;
const BEHIND: (u32, u32) = (6, 4);
/// Few hosts have no shares.
const LEAST_HOSTS: usize = 4;

/// A slow mean of what is usual.
#[derive(Clone, Copy, Debug, Default)]
struct SlowMean {
    value: f64,
    slots: u32,
}

impl SlowMean {
    fn learn(&mut self, value: f64) {
        self.slots = (self.slots + 1).min(360);
        self.value += (value - self.value) / f64::from(self.slots);
    }

    /// `None` before five minutes.
    fn known(self) -> Option<f64> {
        (self.slots >= 30).then_some(self.value)
    }
}

/// Which of the last slots were unusual, the last one first.
#[derive(Clone, Copy, Debug, Default)]
struct LastSlots(u16);

impl LastSlots {
    fn push(&mut self, is_unusual: bool) {
        self.0 = self.0 << 1 | u16::from(is_unusual);
    }

    fn is_now(self) -> bool {
        self.0 & 1 == 1
    }

    fn is(self, (window, least): (u32, u32)) -> bool {
        (self.0 & ((1 << window) - 1)).count_ones() >= least
    }
}

#[derive(Debug, Default)]
struct HostTrust {
    /// Slots without a report, and slots for which it is gone.
    quiet: u32,
    gone: u32,
    thin: LastSlots,
    late: LastSlots,
    full: LastSlots,
    covered: SlowMean,
    read_ns: SlowMean,
    receiver: SlowMean,
    last_read_ns: f64,
    last_receiver: f64,
    last_covered: f64,
    restarted: Option<u32>,
}

impl HostTrust {
    fn see(&mut self, host: &HostInSlot) {
        let next = |slots: u32, goes_on: bool| if goes_on { slots + 1 } else { 0 };
        self.quiet = next(self.quiet, !host.reports);
        self.gone = next(self.gone, host.is_gone);
        self.restarted = match self.restarted {
            _ if host.restarted => Some(0),
            Some(slots) if slots < RESTARTED_SLOTS => Some(slots + 1),
            _ => None,
        };
        if let Some(covered) = host.covered {
            let is_thin = (self.covered.known()).is_some_and(|usual| covered < usual - THINNER);
            self.thin.push(is_thin);
            self.last_covered = covered;
            if !is_thin {
                self.covered.learn(covered);
            }
        }
        let read_ns = host.read_ns.unwrap_or(0) as f64;
        let usual_ns = self.read_ns.known().unwrap_or(0.0);
        let is_late = read_ns > LATE_NS.max(LATER * usual_ns);
        self.late.push(is_late);
        self.last_read_ns = read_ns;
        if host.read_ns.is_some() && !is_late {
            self.read_ns.learn(read_ns);
        }
        let receiver = host.receiver_limited.unwrap_or(0.0);
        let usual = self.receiver.known();
        let is_full = usual.is_some_and(|usual| receiver > usual + FULLER);
        self.full.push(is_full);
        self.last_receiver = receiver;
        if host.receiver_limited.is_some() && !is_full {
            self.receiver.learn(receiver);
        }
    }
}

/// What can be said of hosts whatever their packets show.
#[derive(Debug, Default)]
pub struct Trust {
    hosts: BTreeMap<NodeId, HostTrust>,
    behind: LastSlots,
    silent_share: f64,
    reports_lost: f64,
}

/// A figure now, and what is usual.
#[derive(Clone, Copy, Debug, Default)]
pub struct Against {
    pub node: NodeId,
    pub now: f64,
    pub usual: f64,
    /// For how many slots.
    pub slots: u32,
}

impl Trust {
    pub fn see(&mut self, slot: &VerdictSlot) {
        for (node, host) in &slot.hosts {
            self.hosts.entry(*node).or_default().see(host);
        }
        self.hosts.retain(|node, _| slot.hosts.contains_key(node));
        let silent = slot
            .hosts
            .values()
            .filter(|host| !host.reports && !host.is_gone);
        let all = slot.hosts.len();
        self.silent_share = silent.count() as f64 / all.max(1) as f64;
        self.reports_lost = slot.reports_lost;
        let too_silent = all >= LEAST_HOSTS && self.silent_share > MOST_SILENT;
        self.behind
            .push(too_silent || slot.reports_lost > MOST_LOST);
    }

    /// The collector misses too much to say anything.
    pub fn is_behind(&self) -> bool {
        self.behind.is(BEHIND)
    }

    pub fn reports_lost(&self) -> f64 {
        self.reports_lost
    }

    pub fn silent_share(&self) -> f64 {
        self.silent_share
    }

    /// Hosts of which no reports come now.
    pub fn unreported(&self) -> Vec<NodeId> {
        let quiet = self.hosts.iter().filter(|(_, host)| host.quiet > 0);
        quiet.map(|(node, _)| *node).collect()
    }

    fn found<'a>(
        &'a self,
        of: impl Fn(&HostTrust) -> Option<(f64, f64, u32)> + 'a,
    ) -> impl Iterator<Item = Against> + 'a {
        self.hosts.iter().filter_map(move |(node, host)| {
            let (now, usual, slots) = of(host)?;
            Some(Against {
                node: *node,
                now,
                usual,
                slots,
            })
        })
    }

    /// Hosts that neither send nor report.
    pub fn gone(&self) -> impl Iterator<Item = Against> {
        let gone = GONE_SLOTS..LONG_GONE_SLOTS;
        self.found(move |host| gone.contains(&host.gone).then_some((0.0, 0.0, host.gone)))
    }

    /// Hosts that send, and report nothing.
    pub fn silent(&self) -> impl Iterator<Item = Against> {
        self.found(|host| {
            let is_silent = host.quiet >= SILENT_SLOTS && host.gone == 0;
            is_silent.then_some((0.0, 0.0, host.quiet))
        })
    }

    /// Hosts whose packets are not measured as usual.
    pub fn thin(&self) -> impl Iterator<Item = Against> {
        self.found(|host| {
            let usual = host.covered.known().unwrap_or(0.0);
            (host.thin.is(THIN) && host.thin.is_now()).then_some((host.last_covered, usual, THIN.1))
        })
    }

    /// Hosts whose applications read late.
    pub fn late(&self) -> impl Iterator<Item = Against> {
        self.found(|host| {
            let usual = host.read_ns.known().unwrap_or(0.0);
            host.late
                .is(LATE)
                .then_some((host.last_read_ns, usual, LATE.1))
        })
    }

    /// Hosts whose receivers limit their senders.
    pub fn full(&self) -> impl Iterator<Item = Against> {
        self.found(|host| {
            let usual = host.receiver.known().unwrap_or(0.0);
            host.full
                .is(LATE)
                .then_some((host.last_receiver, usual, LATE.1))
        })
    }

    /// Hosts that began again a short while ago.
    pub fn restarted(&self) -> impl Iterator<Item = Against> {
        self.found(|host| Some((0.0, 0.0, host.restarted?)))
    }
}
