//! A host's state, and the sums over its sink's flows, as metrics.

use super::page::{MetricKind, MetricsPage, OTHER, Rising};
use super::{build_info, engines, seconds, traffic};
use crate::model::metrics::MetricFamily;
use crate::model::{
    BudgetStatus, CollectorState, CounterStatus, DaemonCounter, EngineStatus, HostStatus,
    LeaseState, PathState, SinkStatus, SourceStatus, Tally,
};

/// The metrics, with the deliveries of pushed ones.
pub fn families(status: &HostStatus, tally: &Tally, pushed: &[EngineStatus]) -> Vec<MetricFamily> {
    let mut page = MetricsPage::default();
    build_info(&mut page);
    host(&mut page, status);
    if let Some(sink) = &status.sink {
        sink_families(&mut page, sink);
    }
    let nodes = tally.nodes().map(|(node, sums)| {
        let node = node.map(|node| node.to_string());
        let node = node.unwrap_or_else(|| OTHER.to_owned());
        ([("node", node)], sums)
    });
    traffic::write(&mut page, "node", "source node", &Vec::from_iter(nodes));
    let classes = tally
        .classes()
        .map(|(class, sums)| ([("class", class.unwrap_or(OTHER).to_owned())], sums));
    let classes = Vec::from_iter(classes);
    if !classes.is_empty() {
        traffic::write(&mut page, "class", "class of traffic", &classes);
    }
    if let Some(source) = &status.source {
        source_families(&mut page, source);
    }
    engines::write(&mut page, pushed, &mut Rising::default());
    page.0
}

fn budget(page: &mut MetricsPage, told: BudgetStatus) {
    let ratio = |ppm: u32| f64::from(ppm) / 1e6;
    let share = |one_in: u32| 1.0 / f64::from(one_in.max(1));
    for (name, help, value) in [
        (
            "hostint_budget_allowed_ratio",
            "part of the time of all CPUs that hostint may take on this host",
            ratio(told.allowed_ppm),
        ),
        (
            "hostint_budget_spent_ratio",
            "part of the time of all CPUs that hostint takes, as its daemon estimates it",
            ratio(told.spent_ppm),
        ),
        (
            "hostint_budget_flows_ratio",
            "part of the flows of this host that the budget lets be measured",
            share(told.one_flow_in),
        ),
        (
            "hostint_budget_asked_flows_ratio",
            "part of the flows to this host that its sink asks others to measure",
            share(told.asks_one_flow_in),
        ),
    ] {
        page.family(name, MetricKind::Gauge, help).value(&[], value);
    }
}

pub(super) fn host(page: &mut MetricsPage, status: &HostStatus) {
    if let Some(node) = status.node_id {
        page.family(
            "hostint_node_info",
            MetricKind::Gauge,
            "1; this host's INT node id",
        )
        .value(&[("node", &node.to_string())], 1);
    }
    if let Some(clock) = &status.clock {
        page.family(
            "hostint_clock_info",
            MetricKind::Gauge,
            "1; the clock that stamps packets",
        )
        .value(&[("source", clock.source)], 1);
        let name = "hostint_clock_offset_seconds";
        let help =
            "offset that is added to that clock's reading to get the time since the Unix epoch";
        page.family(name, MetricKind::Gauge, help)
            .value(&[], seconds(clock.offset_ns));
        let name = "hostint_clock_synchronised";
        let help = "1 if the kernel reports that its clock is synchronised to UTC";
        page.family(name, MetricKind::Gauge, help)
            .value(&[], u8::from(clock.synchronised));
    }
    if let Some(told) = status.budget.filter(|told| told.allowed_ppm > 0) {
        budget(page, told);
    }
    let mut family = page.family(
        "hostint_attached_info",
        MetricKind::Gauge,
        "1; the interfaces and hooks to which programs are attached",
    );
    let sink = status.sink.iter().map(|sink| ("sink", &sink.attachments));
    let source = status.source.iter();
    let source = source.map(|source| ("source", &source.attachments));
    for (role, attachments) in sink.chain(source) {
        for at in attachments {
            let labels = [
                ("role", role),
                ("dev", at.dev.as_str()),
                ("hook", at.hook),
                ("mode", at.mode),
            ];
            family.value(&labels, 1);
        }
    }
}

/// Each counter is a metric. It counts packets, numbers or flows, or a part of another counter's, over all runs of the
/// daemon.
pub(super) fn counters(page: &mut MetricsPage, role: &str, counters: &[CounterStatus]) {
    for counter in counters {
        let name = format!("hostint_{role}_{}_total", counter.name);
        page.older(&name, MetricKind::Counter, counter.text)
            .value(&[], counter.packets);
        // Bytes of other counters have no meaning, or are not counted.
        if ["received", "tagged"].contains(&counter.name) {
            let name = format!("hostint_{role}_{}_bytes_total", counter.name);
            let help = format!("bytes of these frames: {}", counter.text);
            page.older(&name, MetricKind::Counter, &help)
                .value(&[], counter.bytes);
        }
    }
}

fn daemon(page: &mut MetricsPage, counter: &DaemonCounter) {
    let (name, value) = (counter.name, seconds(counter.value));
    if name == "pid" {
        return;
    }
    if let Some(name) = name.strip_suffix("_cpu_ns") {
        let name = format!("hostint_daemon_{name}_cpu_seconds_total");
        page.older(&name, MetricKind::Counter, counter.text)
            .value(&[], value);
    } else if let Some(name) = name.strip_suffix("_ns") {
        let name = format!("hostint_daemon_{name}_time_seconds");
        let help = counter.text.replace(", ns since", ", seconds since");
        page.family(&name, MetricKind::Gauge, &help)
            .value(&[], value);
    } else {
        let name = format!("hostint_daemon_{name}_total");
        page.older(&name, MetricKind::Counter, counter.text)
            .value(&[], counter.value);
    }
}

fn gauge(page: &mut MetricsPage, name: &str, help: &str, value: u64) {
    page.family(name, MetricKind::Gauge, help).value(&[], value);
}

fn sink_families(page: &mut MetricsPage, sink: &SinkStatus) {
    counters(page, "sink", &sink.counters);
    for counter in &sink.daemon {
        daemon(page, counter);
    }
    let flows = sink.flows_total as u64;
    gauge(page, "hostint_sink_flows", "flows in the flow table", flows);
    let name = "hostint_sink_flows_max";
    gauge(
        page,
        name,
        "capacity of the flow table",
        sink.flows_max.into(),
    );
    let name = "hostint_sink_leases_granted";
    let help = "source addresses that hold a lease";
    gauge(page, name, help, sink.leases_granted as u64);
    let name = "hostint_sink_collectors";
    let help = "collectors by state; those that get a copy of all reports are not probed";
    let mut family = page.family(name, MetricKind::Gauge, help);
    for state in CollectorState::ALL.map(CollectorState::name) {
        let collectors = sink.collectors.iter();
        let collectors = collectors.filter(|collector| collector.state == state);
        family.value(&[("state", state)], collectors.count());
    }
}

fn source_families(page: &mut MetricsPage, source: &SourceStatus) {
    counters(page, "source", &source.counters);
    let flows = source.flows_total as u64;
    gauge(
        page,
        "hostint_source_flows",
        "flows in the flow table",
        flows,
    );
    let name = "hostint_source_flows_max";
    gauge(
        page,
        name,
        "capacity of the flow table",
        source.flows_max.into(),
    );
    let rules = source.rules_total as u64;
    gauge(
        page,
        "hostint_source_rules",
        "rules of the watchlist",
        rules,
    );
    let name = "hostint_source_peers";
    let help =
        "pairs of addresses whose packets are, or would be, tagged, by the state of their lease";
    let mut family = page.family(name, MetricKind::Gauge, help);
    for state in LeaseState::names().chain(["idle"]) {
        let peers = source.peers.iter().filter(|peer| peer.state == state);
        family.value(&[("state", state)], peers.count());
    }
    let name = "hostint_source_peer_paths";
    let help = "pairs of addresses with a lease, by what is proved of their path";
    let mut family = page.family(name, MetricKind::Gauge, help);
    for path in PathState::ALL {
        let paths = source.peers.iter().filter_map(PathState::of);
        let paths = paths.filter(|state| *state == path);
        family.value(&[("state", path.name())], paths.count());
    }
}
