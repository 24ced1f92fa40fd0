//! What a collector's history is asked about pairs, flows and classes, and the figures that it has of them.

use clap::ValueEnum;
use serde::{Serialize, Serializer};

use crate::model::{
    CorrectedMean, FlowKey, FlowPods, LatencyFigures, LatencyResolution, LossOfAll, LossSplit,
    Measured, NodeId,
};

/// Figures of a subject: those of its reports, and those of all its packets if summaries came. Programs read what people
/// are shown, and both of these beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// All reports of the subject.
    pub reports: u64,
    /// Packets sent, derived from the sequence numbers in the reports.
    pub packets: u64,
    pub lost: u64,
    /// Packets that arrived after later ones. `None` without flow summaries.
    pub reordered: Option<u64>,
    /// Figures over the reported latencies, which are not those of all packets. `None` if none was reported.
    pub latency: Option<LatencyFigures>,
    /// Figures of all packets, as the sinks counted them. `None` without summaries.
    pub measured: Option<MeasuredFigures>,
}

/// The figures that only reports tell.
#[derive(Serialize)]
struct ReportedFigures {
    packets: u64,
    lost: u64,
    latency: Option<LatencyFigures>,
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct FiguresRow {
            reports: u64,
            packets: u64,
            lost: u64,
            reordered: Option<u64>,
            latency: Option<LatencyFigures>,
            clocks_known: bool,
            measured: Option<MeasuredFigures>,
            reported: ReportedFigures,
        }
        let shown = self.shown();
        let row = FiguresRow {
            reports: self.reports,
            packets: shown.packets,
            lost: shown.lost,
            reordered: shown.reordered,
            latency: shown.latency,
            clocks_known: shown.is_corrected(),
            measured: self.measured,
            reported: ReportedFigures {
                packets: self.packets,
                lost: self.lost,
                latency: self.latency,
            },
        };
        row.serialize(serializer)
    }
}

/// The least number of reported latencies for which quantiles are shown.
pub const LEAST_SAMPLES: u64 = 20;

/// Figures of all packets.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct MeasuredFigures {
    /// Summaries that these figures are derived from.
    pub summaries: u64,
    /// Packets that arrived, duplicates among them.
    pub packets: u64,
    pub bytes: u64,
    /// Packets that never arrived.
    pub lost: u64,
    /// Packets that were declared lost and arrived later.
    pub recovered: u64,
    pub reordered: u64,
    pub duplicates: u64,
    pub latency: Option<LatencyFigures>,
    /// The mean without the difference of the two clocks; `None` if they were unknown.
    pub corrected: Option<CorrectedMean>,
    /// Slots of the coarsest histogram for each power of two: a quantile is at most one slot above the true one.
    pub steps: u8,
}

impl From<&Measured> for MeasuredFigures {
    fn from(sums: &Measured) -> Self {
        Self {
            summaries: sums.summaries,
            packets: sums.packets,
            bytes: sums.bytes,
            lost: sums.missing(),
            recovered: sums.recovered,
            reordered: sums.reordered,
            duplicates: sums.duplicates,
            latency: sums.latency.figures(),
            corrected: sums.corrected.mean(),
            steps: sums.latency.resolution().steps(),
        }
    }
}

impl MeasuredFigures {
    /// The latencies without the difference of the two clocks, if that was known for all packets: shifted by its mean.
    pub fn corrected_latency(&self) -> Option<LatencyFigures> {
        let (latency, corrected) = (self.latency?, self.corrected?);
        if corrected.packets != latency.samples {
            return None;
        }
        Some(latency.shifted_to(corrected.mean_ns))
    }
}

/// The figures that a person is shown: those of all packets, or else those of reports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ShownFigures {
    /// `None` if they are of all packets, or else the number of reported latencies.
    pub of_reports: Option<u64>,
    /// Packets that were sent.
    pub packets: u64,
    pub lost: u64,
    pub reordered: Option<u64>,
    /// Without the difference of the two clocks, if `corrected` has all packets.
    pub latency: Option<LatencyFigures>,
    /// The mean without that difference; `None` if the clocks were unknown.
    pub corrected: Option<CorrectedMean>,
    /// Bounds the error of quantiles of all packets; `None` for figures of reports.
    pub resolution: Option<LatencyResolution>,
}

impl Figures {
    pub fn shown(&self) -> ShownFigures {
        match &self.measured {
            Some(measured) => ShownFigures {
                of_reports: None,
                packets: measured
                    .packets
                    .saturating_sub(measured.duplicates)
                    .saturating_add(measured.lost),
                lost: measured.lost,
                reordered: Some(measured.reordered),
                latency: measured.corrected_latency().or(measured.latency),
                corrected: measured.corrected,
                resolution: LatencyResolution::from_steps(measured.steps),
            },
            None => ShownFigures {
                of_reports: Some(self.latency.map_or(0, |latency| latency.samples)),
                packets: self.packets,
                lost: self.lost,
                reordered: self.reordered,
                latency: self.latency,
                corrected: None,
                resolution: None,
            },
        }
    }
}

impl ShownFigures {
    /// True if the latencies have no difference of clocks in them.
    pub fn is_corrected(&self) -> bool {
        let samples = self.latency.map(|latency| latency.samples);
        self.corrected.map(|corrected| corrected.packets) == samples
    }

    /// The latencies, if they are enough for quantiles.
    pub fn quantiles(&self) -> Option<LatencyFigures> {
        let enough = self
            .of_reports
            .is_none_or(|reports| reports >= LEAST_SAMPLES);
        self.latency.filter(|_| enough)
    }
}

/// Figures for packets from one INT source to one INT sink.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairFigures {
    pub source: NodeId,
    pub sink: NodeId,
    pub flows: u64,
    /// The time of the last report in the span, or the end of its period if only figures are left of it.
    pub last_ns: Option<u64>,
    /// The loss by the hosts that dropped the packets, if any host reports drops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_split: Option<LossSplit>,
    /// Only if a budget or a sample left flows out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_of_all: Option<LossOfAll>,
    #[serde(flatten)]
    pub figures: Figures,
}

/// Figures for one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowFigures {
    /// The flow's number in this store.
    pub id: i64,
    pub flow: FlowKey,
    pub source: Option<NodeId>,
    pub sink: Option<NodeId>,
    pub class: Option<String>,
    pub first_ns: u64,
    pub last_ns: u64,
    #[serde(flatten)]
    pub pods: FlowPods,
    /// As of a pair; of one flow alone that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_split: Option<LossSplit>,
    #[serde(flatten)]
    pub figures: Figures,
}

/// Figures for one class of traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFigures {
    pub class: String,
    /// As of a pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_of_all: Option<LossOfAll>,
    #[serde(flatten)]
    pub figures: Figures,
}

/// The figure that flows are sorted by, largest first.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum FlowOrder {
    /// most lost packets first
    #[default]
    Loss,
    /// highest p99 latency first
    Latency,
    /// largest p99 - p50 first
    Jitter,
    /// most packets first
    Packets,
}

/// A query for flows.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FlowQuery {
    pub source: Option<NodeId>,
    pub sink: Option<NodeId>,
    pub class: Option<String>,
    /// Words that must all appear in the flow's text, its class, or the names of its nodes.
    pub search: Option<String>,
    pub order: FlowOrder,
    pub limit: usize,
}

/// The reports that a query is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Subject {
    All,
    Pair { source: NodeId, sink: NodeId },
    Flow(i64),
    Class(String),
}

/// Figures over time, oldest first; periods without reports are left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    pub period_ns: u64,
    pub points: Vec<Point>,
}

/// One period of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    pub begin_ns: u64,
    #[serde(flatten)]
    pub figures: Figures,
}

/// A query for single reports, newest first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReportQuery {
    pub subject: Subject,
    pub limit: usize,
}

/// The figure in a matrix of pairs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum MatrixFigure {
    /// latency that half of the packets do not exceed
    P50,
    /// latency that 99 % of the packets do not exceed
    #[default]
    P99,
    /// p99 - p50
    Jitter,
    /// share of sent packets that were lost
    Loss,
}
