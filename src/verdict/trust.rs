//! Whether what hosts report may be trusted, and what is no fault of the network.

use std::collections::BTreeMap;

use crate::model::{HostInSlot, NodeId, VERDICT_SLOT_NS, VerdictSlot};

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
/// Applications that take longer to answer are slow, if that is three times the usual.
const SLOW_NS: f64 = 1_000_000.0;
const SLOWER: f64 = 3.0;
/// By how much more than usual receivers limit their senders if that is named.
const FULLER: f64 = 0.2;
/// A host that began again in this number of slots.
const RESTARTED_SLOTS: u32 = 30;
/// The share of reports that are lost, and that of hosts that report nothing, from which on nothing can be said.
pub const MOST_LOST: f64 = 0.3;
const MOST_SILENT: f64 = 0.25;
const BEHIND: (u32, u32) = (6, 4);
/// What a host's figure was for an hour is usual.
const AS_USUAL_SLOTS: u32 = 360;
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

/// A figure of a host, and whether it was unusual in the last slots.
#[derive(Debug, Default)]
struct HostFigure {
    unusual: LastSlots,
    /// What is usual is learned of slots that are not unusual.
    usual: SlowMean,
    now: f64,
    /// Unusual slots in a row.
    lasts: u32,
}

impl HostFigure {
    /// A slot without the figure is as usual. `is_unusual` is asked of the figure and of what is usual, if that is known.
    fn see(&mut self, value: Option<f64>, is_unusual: impl Fn(f64, Option<f64>) -> bool) {
        self.now = value.unwrap_or(0.0);
        let is_unusual = is_unusual(self.now, self.usual.known());
        self.unusual.push(is_unusual);
        self.lasts = if is_unusual { self.lasts + 1 } else { 0 };
        if self.lasts > AS_USUAL_SLOTS {
            (self.usual, self.lasts) = Default::default();
        }
        if value.is_some() && self.lasts == 0 {
            self.usual.learn(self.now);
        }
    }

    /// The figure and the usual one, if enough slots of a window were unusual.
    fn found(&self, window: (u32, u32)) -> Option<(f64, f64, u32)> {
        let usual = self.usual.known().unwrap_or(0.0);
        self.unusual
            .is(window)
            .then_some((self.now, usual, window.1))
    }
}

#[derive(Debug, Default)]
struct HostTrust {
    /// Slots without a report, and slots for which it is gone.
    quiet: u32,
    gone: u32,
    heard_ns: u64,
    covered: HostFigure,
    read_ns: HostFigure,
    answer_ns: HostFigure,
    receiver: HostFigure,
    restarted: Option<u32>,
}

impl HostTrust {
    fn see(&mut self, host: &HostInSlot) {
        let next = |slots: u32, goes_on: bool| if goes_on { slots + 1 } else { 0 };
        self.quiet = next(self.quiet, !host.reports);
        self.gone = next(self.gone, host.is_gone);
        self.heard_ns = host.heard_ns;
        self.restarted = match self.restarted {
            _ if host.restarted => Some(0),
            Some(slots) if slots < RESTARTED_SLOTS => Some(slots + 1),
            _ => None,
        };
        if host.covered.is_some() {
            let is_thin = |covered, usual: Option<f64>| covered < usual.unwrap_or(0.0) - THINNER;
            self.covered.see(host.covered, is_thin);
        }
        let ns = |ns: Option<u64>| ns.map(|ns| ns as f64);
        self.read_ns.see(ns(host.read_ns), |now, usual| {
            usual.is_some_and(|usual| now > LATE_NS.max(LATER * usual))
        });
        self.answer_ns.see(ns(host.answer_ns), |now, usual| {
            usual.is_some_and(|usual| now > SLOW_NS.max(SLOWER * usual))
        });
        self.receiver.see(host.receiver_limited, |now, usual| {
            usual.is_some_and(|usual| now > usual + FULLER)
        });
    }
}

/// What can be said of hosts whatever their packets show.
#[derive(Debug, Default)]
pub struct Trust {
    hosts: BTreeMap<NodeId, HostTrust>,
    /// The end of the last slot.
    end_ns: u64,
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
    pub since_ns: u64,
}

impl Trust {
    pub fn see(&mut self, slot: &VerdictSlot) {
        self.end_ns = slot.end_ns;
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

    /// When what is true for this number of slots began. A host that reports nothing counts as silent only some periods
    /// after its last report, with which it began.
    fn since_ns(&self, host: &HostTrust, slots: u32) -> u64 {
        let long_ns = u64::from(slots.max(1)) * VERDICT_SLOT_NS;
        let begin_ns = self.end_ns.saturating_sub(long_ns);
        match host.quiet > 0 && host.heard_ns > 0 {
            true => begin_ns.min(host.heard_ns),
            false => begin_ns,
        }
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
                since_ns: self.since_ns(host, slots),
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
        self.found(|host| (host.covered.found(THIN)).filter(|_| host.covered.unusual.is_now()))
    }

    /// Hosts whose applications read late.
    pub fn late(&self) -> impl Iterator<Item = Against> {
        self.found(|host| host.read_ns.found(LATE))
    }

    /// Hosts whose applications answer late.
    pub fn slow(&self) -> impl Iterator<Item = Against> {
        self.found(|host| host.answer_ns.found(LATE))
    }

    /// Hosts whose receivers limit their senders.
    pub fn full(&self) -> impl Iterator<Item = Against> {
        self.found(|host| host.receiver.found(LATE))
    }

    /// Hosts that began again a short while ago.
    pub fn restarted(&self) -> impl Iterator<Item = Against> {
        self.found(|host| Some((0.0, 0.0, host.restarted?)))
    }
}
