//! The columns of the flow table: their content, and the order of flows by each.

use std::cmp::Ordering;

use super::rates::Rates;
use super::words::{self, maybe_percent, maybe_rate};
use crate::model::FlowStatus;
use crate::views::digits::Grouped;
use crate::views::hosts::KnownHosts;
use crate::views::stamped::PeerClocks;

/// One column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FlowColumn {
    Flow,
    Node,
    Encapsulation,
    Rate,
    LossNow,
    Loss,
    P50,
    P99,
    Mean,
    Last,
    Max,
    Bucket,
    Idle,
    Packets,
    Lost,
    Reordered,
    Duplicates,
}

/// A flow, with its rates since the last refresh.
#[derive(Clone, Copy, Debug)]
pub struct FlowLine<'a> {
    pub flow: &'a FlowStatus,
    pub rates: Option<&'a Rates>,
    pub wall_ns: u64,
    pub clocks: &'a PeerClocks,
    pub hosts: &'a KnownHosts,
}

impl FlowLine<'_> {
    /// The share of all packets that were lost.
    pub fn loss(&self) -> Option<f64> {
        let sent = self.flow.packets.saturating_sub(self.flow.duplicates) + self.flow.lost;
        (sent > 0).then(|| self.flow.lost as f64 / sent as f64)
    }

    /// A latency of the flow.
    pub fn latency(&self, ns: i64) -> String {
        self.clocks.text(self.flow.source_node, ns)
    }

    /// The same, if it is known.
    pub fn maybe_latency(&self, ns: Option<i64>) -> String {
        ns.map_or_else(|| words::NONE.to_owned(), |ns| self.latency(ns))
    }

    pub fn idle_ns(&self) -> u64 {
        self.wall_ns.saturating_sub(self.flow.last_ns)
    }
}

impl FlowColumn {
    /// The columns from left to right.
    pub const ALL: [Self; 17] = [
        Self::Flow,
        Self::Node,
        Self::Encapsulation,
        Self::Rate,
        Self::LossNow,
        Self::Loss,
        Self::P50,
        Self::P99,
        Self::Mean,
        Self::Last,
        Self::Max,
        Self::Bucket,
        Self::Idle,
        Self::Packets,
        Self::Lost,
        Self::Reordered,
        Self::Duplicates,
    ];

    /// The columns besides the flow; those that a narrow terminal keeps longest come first.
    pub const BY_IMPORTANCE: [Self; 16] = [
        Self::Rate,
        Self::LossNow,
        Self::P99,
        Self::Loss,
        Self::P50,
        Self::Mean,
        Self::Max,
        Self::Node,
        Self::Idle,
        Self::Last,
        Self::Packets,
        Self::Lost,
        Self::Encapsulation,
        Self::Bucket,
        Self::Reordered,
        Self::Duplicates,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Node => "from node",
            Self::Encapsulation => "encapsulation",
            Self::Rate => "pkt/s",
            Self::LossNow => "loss",
            Self::Loss => "total",
            Self::P50 => "p50 <",
            Self::P99 => "p99 <",
            Self::Mean => "mean",
            Self::Last => "last",
            Self::Max => "max",
            Self::Bucket => "bucket",
            Self::Idle => "idle",
            Self::Packets => "received",
            Self::Lost => "lost",
            Self::Reordered => "reord",
            Self::Duplicates => "dup",
        }
    }

    pub fn width(self) -> usize {
        match self {
            Self::Flow => 34,
            Self::Node => 10,
            Self::Encapsulation => 14,
            Self::Rate => 7,
            Self::LossNow | Self::Loss => 6,
            Self::P50 | Self::P99 => 8,
            Self::Mean | Self::Last | Self::Max => 9,
            Self::Bucket => 7,
            Self::Duplicates => 6,
            Self::Idle => 5,
            Self::Packets => 15,
            Self::Lost => 11,
            Self::Reordered => 9,
        }
    }

    /// Text is aligned left, figures are aligned right.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Flow | Self::Encapsulation)
    }

    pub fn cell(self, row: &FlowLine<'_>) -> String {
        let flow = row.flow;
        match self {
            Self::Flow => flow.flow.to_string(),
            Self::Node => row.hosts.named_within(flow.source_node, self.width()),
            Self::Encapsulation => flow.encapsulation.to_owned(),
            Self::Rate => maybe_rate(row.rates.map(|rates| rates.packets_s)),
            Self::LossNow => maybe_percent(row.rates.and_then(|rates| rates.loss)),
            Self::Loss => maybe_percent(row.loss()),
            Self::P50 => row.maybe_latency(row.rates.and_then(|rates| rates.p50_ns)),
            Self::P99 => row.maybe_latency(row.rates.and_then(|rates| rates.p99_ns)),
            Self::Mean => row.latency(flow.latency_mean_ns),
            Self::Last => row.latency(flow.latency_last_ns.into()),
            Self::Max => row.latency(flow.latency_max_ns.into()),
            Self::Bucket => flow.bucket.to_string(),
            Self::Idle => words::span(row.idle_ns()),
            Self::Packets => Grouped(flow.packets).to_string(),
            Self::Lost => Grouped(flow.lost).to_string(),
            Self::Reordered => Grouped(flow.reordered).to_string(),
            Self::Duplicates => Grouped(flow.duplicates).to_string(),
        }
    }

    /// Whether the greatest value comes first when the order is not reversed.
    pub fn descends(self) -> bool {
        !matches!(
            self,
            Self::Flow | Self::Node | Self::Encapsulation | Self::Idle
        )
    }

    /// The figure to sort by. `None`, and flows without this figure, come last.
    fn figure(self, row: &FlowLine<'_>) -> Option<f64> {
        let flow = row.flow;
        match self {
            Self::Flow | Self::Encapsulation => None,
            Self::Node => Some(f64::from(flow.source_node.0)),
            Self::Rate => row.rates.map(|rates| rates.packets_s),
            Self::LossNow => row.rates.and_then(|rates| rates.loss),
            Self::Loss => row.loss(),
            Self::P50 => row.rates.and_then(|rates| rates.p50_ns).map(|ns| ns as f64),
            Self::P99 => row.rates.and_then(|rates| rates.p99_ns).map(|ns| ns as f64),
            Self::Mean => Some(flow.latency_mean_ns as f64),
            Self::Last => Some(flow.latency_last_ns.into()),
            Self::Max => Some(flow.latency_max_ns.into()),
            Self::Bucket => Some(flow.bucket.into()),
            Self::Idle => Some(row.idle_ns() as f64),
            Self::Packets => Some(flow.packets as f64),
            Self::Lost => Some(flow.lost as f64),
            Self::Reordered => Some(flow.reordered as f64),
            Self::Duplicates => Some(flow.duplicates as f64),
        }
    }

    /// Sorts indices of flows; those with equal figures by recent traffic, then by name.
    pub fn sort<'a>(
        self,
        reversed: bool,
        places: &mut Vec<u32>,
        row: impl Fn(u32) -> FlowLine<'a>,
    ) {
        let mut keyed: Vec<(Option<f64>, f64, u32)> = places
            .iter()
            .map(|place| {
                let row = row(*place);
                let rate = row.rates.map_or(0.0, |rates| rates.packets_s);
                (self.figure(&row), rate, *place)
            })
            .collect();
        let descends = self.descends() != reversed;
        let directed = |order: Ordering| if descends { order.reverse() } else { order };
        keyed.sort_unstable_by(|one, two| {
            let first = match (one.0, two.0) {
                (Some(one), Some(two)) => directed(one.total_cmp(&two)),
                (one, two) => two.is_some().cmp(&one.is_some()),
            };
            let words = || match self {
                Self::Encapsulation => {
                    let name = |place| row(place).flow.encapsulation;
                    directed(name(one.2).cmp(name(two.2)))
                }
                Self::Flow => directed(row(one.2).flow.flow.cmp(&row(two.2).flow.flow)),
                _ => Ordering::Equal,
            };
            first
                .then_with(words)
                .then_with(|| two.1.total_cmp(&one.1))
                .then_with(|| {
                    let (one, two) = (row(one.2).flow, row(two.2).flow);
                    (two.packets, one.flow).cmp(&(one.packets, two.flow))
                })
        });
        places.clear();
        places.extend(keyed.iter().map(|keyed| keyed.2));
    }
}
