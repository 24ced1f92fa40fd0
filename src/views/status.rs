//! A host's state as text.

use std::collections::BTreeSet;
use std::fmt;

use super::digits::{Grouped, Nanoseconds};
use super::hosts::KnownHosts;
use super::moment::moment;
use super::stamped::PeerClocks;
use super::{
    collectors, diagnosis, grants, peers, status_counters, status_flows, status_postcards,
    status_tcp, summary_budget,
};
use crate::model::{
    AstrayStatus, Attachment, BudgetStatus, ClockStatus, HostStatus, NodeOrigin, SinkSettings,
    SinkStatus, SourceStatus, TransitStatus,
};

/// Displays the state. Settings, and counters that are 0 or count what goes as it should, are shown only with `all`.
#[derive(Clone, Copy, Debug)]
pub struct StatusText<'a> {
    pub status: &'a HostStatus,
    pub all: bool,
}

fn attachments(f: &mut fmt::Formatter<'_>, list: &[Attachment]) -> fmt::Result {
    if list.is_empty() {
        writeln!(f, "  not attached to any interface")?;
    }
    for at in list {
        write!(f, "  {:<15} {} {}", at.dev, at.hook, at.mode)?;
        if let Some(encapsulation) = &at.encapsulation {
            write!(f, "  {encapsulation}")?;
        }
        if let Some(way) = at.superpackets {
            write!(f, ", superpackets {way}")?;
        }
        if let Some(hops) = at.max_hops {
            write!(f, ", transit hops {hops}")?;
            if at.path_items == ["latency"] {
                f.write_str(" (entries without queue)")?;
            }
        }
        if let Some(why) = &at.why {
            write!(f, "  {why}")?;
        }
        if at.nic_timestamps == Some(true) {
            write!(f, ", timestamps of the network card where available")?;
        }
        writeln!(f)?;
    }
    Ok(())
}

/// The forms of packets that the sink knows.
fn recognised(f: &mut fmt::Formatter<'_>, set: &SinkSettings) -> fmt::Result {
    writeln!(
        f,
        "  recognises {}; dscp {:#04x}/{:#04x}, extension port {}{}{}",
        set.encapsulations.join(", "),
        set.dscp_value,
        set.dscp_mask,
        set.extension_port,
        set.int_dscp_value.map_or_else(String::new, |value| format!(
            ", int-md dscp {value:#04x}/{:#04x}",
            set.int_dscp_mask.unwrap_or_default()
        )),
        if set.drop_tagged {
            "; DROPS tagged packets"
        } else {
            ""
        }
    )
}

/// The sources whose packets are stripped, and what becomes of others.
fn who_is_stripped(f: &mut fmt::Formatter<'_>, sink: &SinkStatus) -> fmt::Result {
    let set = &sink.settings;
    write!(
        f,
        "  strips packets of {} source{} with lease{}",
        sink.leases_granted,
        if sink.leases_granted == 1 { "" } else { "s" },
        if sink.leases_granted == 1 { "" } else { "s" }
    )?;
    if !set.allow.is_empty() {
        write!(f, ", and of {}", set.allow.join(", "))?;
    }
    writeln!(
        f,
        "; others {}{}",
        if set.strict {
            "are DROPPED"
        } else {
            "are passed on unmodified"
        },
        match (set.closing, set.lease_key) {
            (true, _) => "; about to be detached: no leases",
            (false, true) => "",
            (false, false) => "; no lease key",
        }
    )
}

/// Tagged packets where no sink strips them.
fn astray(f: &mut fmt::Formatter<'_>, list: &[AstrayStatus]) -> fmt::Result {
    for astray in list {
        let (dev, packets) = (&astray.dev, Grouped(astray.packets));
        match astray.active {
            true => writeln!(
                f,
                "  TAGGED PACKETS COME IN BY {dev}, where no sink strips them ({packets} so far): no leases are \
                 granted meanwhile (try hostint sink --dev {dev} beside the others)"
            )?,
            false => writeln!(
                f,
                "  {packets} tagged packets came in by {dev} before, where no sink strips them"
            )?,
        }
    }
    Ok(())
}

fn sink(
    f: &mut fmt::Formatter<'_>,
    sink: &SinkStatus,
    hosts: &KnownHosts,
    all: bool,
) -> fmt::Result {
    match sink.daemon_pid {
        Some(pid) => writeln!(f, "sink: daemon runs (pid {pid})")?,
        None => writeln!(
            f,
            "sink: no daemon runs: INT is stripped, but nothing is reported"
        )?,
    }
    attachments(f, &sink.attachments)?;
    if all || sink.settings.drop_tagged {
        recognised(f, &sink.settings)?;
    }
    who_is_stripped(f, sink)?;
    grants::write(f, &sink.grants, sink.leases_granted, hosts, all)?;
    astray(f, &sink.astray)?;
    if all {
        periods(f, &sink.settings)?;
    }
    summary_budget::write(f, sink, all)?;
    collectors::write(f, sink)?;
    status_counters::counters(f, &sink.counters, all)?;
    status_counters::daemon_counters(f, sink, all)
}

/// The settings that say when a flow is reported.
fn periods(f: &mut fmt::Formatter<'_>, set: &SinkSettings) -> fmt::Result {
    writeln!(
        f,
        "  report period {}, loss timeout {}",
        Nanoseconds(set.report_period_ns.cast_signed()),
        Nanoseconds(set.loss_timeout_ns.cast_signed())
    )?;
    write!(f, "  latency bucket edges")?;
    for edge in &set.buckets {
        write!(
            f,
            " {}",
            Nanoseconds((i64::from(edge.up_ns) + i64::from(edge.down_ns)) / 2)
        )?;
    }
    writeln!(f)
}

/// What of the budget is spent.
fn budget(f: &mut fmt::Formatter<'_>, budget: BudgetStatus) -> fmt::Result {
    let percent = |ppm: u32| f64::from(ppm) / 10_000.0;
    let (allowed, spent) = (percent(budget.allowed_ppm), percent(budget.spent_ppm));
    write!(
        f,
        "budget: {spent:.2}% of the CPUs' time is spent, of {allowed}%"
    )?;
    match budget.one_flow_in {
        0 | 1 => write!(f, "; all flows are measured")?,
        share => write!(f, "; one flow in {share} is measured")?,
    }
    if budget.asks_one_flow_in > 1 {
        let share = budget.asks_one_flow_in;
        write!(
            f,
            "; others are asked to measure one flow in {share} to here"
        )?;
    }
    if spent > allowed && budget.one_flow_in > 1 {
        write!(f, "; that is still too much (try a larger --budget)")?;
    }
    writeln!(f)
}

fn source(
    f: &mut fmt::Formatter<'_>,
    source: &SourceStatus,
    hosts: &KnownHosts,
    all: bool,
) -> fmt::Result {
    writeln!(f, "source:")?;
    attachments(f, &source.attachments)?;
    if source.rules_total == 0 {
        writeln!(
            f,
            "  no destinations: nothing is tagged (try hostint source add-dest HOST)"
        )?;
    } else if source.dests.is_empty() {
        writeln!(f, "  {} rules (hostint source rules)", source.rules_total)?;
    } else {
        let shown: Vec<String> = source
            .dests
            .iter()
            .take(8)
            .map(|dest| {
                let name = if dest.name == dest.prefix {
                    dest.prefix.clone()
                } else {
                    format!("{} ({})", dest.name, dest.prefix)
                };
                if dest.fixed { name + " static" } else { name }
            })
            .collect();
        let more = source.dests.len().saturating_sub(shown.len());
        write!(f, "  destinations: {}", shown.join(", "))?;
        if more > 0 {
            write!(f, " and {more} more")?;
        }
        writeln!(f)?;
        let names: BTreeSet<&str> = source.dests.iter().map(|dest| &*dest.name).collect();
        if source.rules_total > names.len() {
            writeln!(
                f,
                "  {} rules in all (hostint source rules)",
                source.rules_total
            )?;
        }
    }
    if all {
        let (flows, most) = (source.flows_total, source.flows_max);
        writeln!(f, "  flows: {flows} of at most {most}")?;
    }
    peers::write(f, &source.peers, source.peers_total, hosts)?;
    status_counters::counters(f, &source.counters, all)
}

fn transit(f: &mut fmt::Formatter<'_>, transit: &TransitStatus, all: bool) -> fmt::Result {
    writeln!(f, "transit hop:")?;
    for at in &transit.interfaces {
        write!(
            f,
            "  {:<15} {}  dscp {:#04x}/{:#04x}, extension port {}, {} arrivals",
            at.dev,
            if at.attached { at.mode } else { "NOT ATTACHED" },
            at.dscp_value,
            at.dscp_mask,
            at.extension_port,
            Grouped(at.arrivals_max.into())
        )?;
        if at
            .carriers
            .iter()
            .any(|carrier| ["int-md", "geneve", "tcp-int"].contains(carrier))
        {
            write!(f, ", {}", at.carriers.join(" "))?;
        }
        if let (Some(value), Some(mask)) = (at.int_dscp_value, at.int_dscp_mask) {
            write!(f, ", int-md dscp {value:#04x}/{mask:#04x}")?;
        }
        if let Some(port) = at.int_port {
            write!(f, ", int-md port {port}")?;
        }
        if let Some(hold_ns) = at.hold_ns {
            write!(
                f,
                ", values held for {}",
                Nanoseconds(hold_ns.cast_signed())
            )?;
        }
        if let Some(mbit) = at.link_mbit {
            write!(f, ", link {} Mbit/s", Grouped(mbit.into()))?;
        }
        if let Some(mtu) = at.mtu {
            write!(f, ", mtu {mtu}")?;
        }
        if at.only_allowed {
            write!(f, ", only allowed sources")?;
        }
        if !at.superpackets {
            write!(f, ", no superpackets")?;
        }
        writeln!(f)?;
    }
    status_counters::counters(f, &transit.counters, all)
}

fn synchronisation(clock: &ClockStatus) -> String {
    if !clock.synchronised {
        return "NOT synchronised: one-way latencies are wrong by the difference of the clocks"
            .to_owned();
    }
    match clock.stated_error_ns {
        Some(ns) => format!(
            "synchronised; off by {} at most, as its operator or time daemon states",
            Nanoseconds(ns.get().into())
        ),
        None => "synchronised".to_owned(),
    }
}

impl fmt::Display for StatusText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(since_ns) = self.status.off_since_ns {
            writeln!(f, "OFF since {} (try hostint on)", moment(since_ns))?;
        }
        let hosts = KnownHosts::of_status(self.status);
        if let Some(node) = self.status.node_id {
            let origin = match self.status.node_origin {
                Some(NodeOrigin::Derived) => " (derived from the machine id)",
                _ => "",
            };
            writeln!(f, "node id {node}{origin}")?;
            if let Some(name) = hosts.name(node) {
                writeln!(f, "name {name}")?;
            }
        }
        if let Some(clock) = &self.status.clock {
            writeln!(
                f,
                "clock: {}, offset {} ns, {}",
                clock.source,
                clock.offset_ns,
                synchronisation(clock)
            )?;
        }
        if let Some(told) = self.status.budget.filter(|told| told.allowed_ppm > 0) {
            budget(f, told)?;
        }
        if let Some(sink) = &self.status.sink {
            status_flows::write(f, sink, &PeerClocks::of(self.status), &hosts)?;
        }
        if let Some(status) = &self.status.source {
            source(f, status, &hosts, self.all)?;
        }
        if let Some(status) = &self.status.transit {
            transit(f, status, self.all)?;
        }
        if let Some(status) = &self.status.sink {
            sink(f, status, &hosts, self.all)?;
        }
        if let Some(status) = &self.status.postcards {
            status_postcards::write(f, status, self.all)?;
        }
        if let Some(status) = &self.status.tcp {
            status_tcp::write(f, status)?;
        }
        for lack in &self.status.lacks {
            if self.all || lack.missing.is_some() {
                writeln!(f, "{lack}")?;
            }
        }
        diagnosis::write(f, &self.status.why, self.all)
    }
}
