//! Totals since an epoch, of a flow or of all flows of a class from one source node, which a sink reports periodically.

use serde::{Deserialize, Serialize};

use crate::model::{
    BadHistogram, DistributionRecord, FlowKey, FlowSquares, LatencyHistogram, NodeId, SlotRange,
};

/// The longest name of a class in a report, in bytes.
pub const MOST_CLASS_BYTES: usize = 255;

/// A summary, or the part of one that fits into a datagram.
///
/// Each part repeats everything but the counts of latencies, of which it has those in [`SubjectTotals::slots`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Summary {
    /// When the report was made, in whole seconds since the Unix epoch.
    pub time_s: u32,
    /// The period of summaries at the sink.
    pub period_ns: u64,
    pub source_node: NodeId,
    pub sink_node: NodeId,
    pub subject: SummarySubject,
    pub totals: SubjectTotals,
}

/// Totals at the sink that are due for a report.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SummaryEvent {
    pub subject: SummarySubject,
    pub source_node: NodeId,
    pub period_ns: u64,
    pub totals: SubjectTotals,
}

/// The packets that a summary is about.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum SummarySubject {
    Flow {
        flow: FlowKey,
        source_port: u16,
        sink_port: u16,
    },
    /// All packets of a class from the source node. `None`: packets of flows without a class, or without one yet. The
    /// groups of a source node have all its packets, each of them once.
    Group { class: Option<String> },
}

/// Totals since the epoch. Times are ns since the Unix epoch.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SubjectTotals {
    /// Counting began at this time. Other totals of the same subject have another epoch.
    pub epoch_ns: u64,
    /// Arrival of the last packet, as far as it is known.
    pub last_ns: u64,
    pub packets: u64,
    pub bytes: u64,
    /// Packets declared lost; those that arrived later are counted in `recovered` too.
    pub lost: u64,
    pub recovered: u64,
    pub reordered: u64,
    pub duplicates: u64,
    pub late: u64,
    pub restarts: u64,
    /// Those of the flows of a group; nothing of a single flow.
    pub squares: FlowSquares,
    /// A part lacks the counts of slots outside `slots`, and its quantiles mean nothing. Number, sum, least and
    /// greatest are those of the whole.
    pub latency: LatencyHistogram,
    /// The slots whose counts this part carries.
    pub slots: SlotRange,
}

impl SubjectTotals {
    /// True if `self` and `other` are the same but for the slots that they carry.
    fn is_of_same_summary(&self, other: &Self) -> bool {
        let counts = |totals: &Self| {
            (
                [totals.epoch_ns, totals.last_ns],
                [totals.packets, totals.bytes, totals.lost, totals.recovered],
                [totals.reordered, totals.duplicates],
                [totals.late, totals.restarts],
                totals.squares,
            )
        };
        counts(self) == counts(other) && self.latency.same_but_slots(&other.latency)
    }
}

impl Summary {
    /// The class of a group.
    pub fn class(&self) -> Option<&str> {
        match &self.subject {
            SummarySubject::Group { class } => class.as_deref(),
            SummarySubject::Flow { .. } => None,
        }
    }

    /// True if it has the counts of all slots.
    pub fn is_whole(&self) -> bool {
        self.totals.slots == SlotRange::ALL
    }

    /// Adds the next part of the same summary. Parts are sent in the order of their slots.
    ///
    /// Returns false, and leaves `self` as it is, if `next` is not the next part.
    ///
    /// # Errors
    /// If this was the last part, and the parts together are no histogram: they are to be forgotten.
    pub fn join(&mut self, next: &Self) -> Result<bool, BadHistogram> {
        let follows = self.totals.slots.to == next.totals.slots.from
            && (self.time_s, self.period_ns, &self.subject)
                == (next.time_s, next.period_ns, &next.subject)
            && (self.source_node, self.sink_node) == (next.source_node, next.sink_node)
            && self.totals.is_of_same_summary(&next.totals);
        if !follows {
            return Ok(false);
        }
        self.totals.latency.join(&next.totals.latency);
        self.totals.slots.to = next.totals.slots.to;
        match self.is_whole() {
            true => self.totals.latency.check().map(|()| true),
            false => Ok(true),
        }
    }
}

/// The JSON of a summary's totals.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct SummaryRecord {
    /// The class of a group, as the sink calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    pub period_ns: u64,
    pub epoch_ns: u64,
    pub last_ns: u64,
    pub packets: u64,
    pub bytes: u64,
    pub lost: u64,
    pub recovered: u64,
    pub reordered: u64,
    pub duplicates: u64,
    pub late: u64,
    pub restarts: u64,
    /// Those of a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub squares: Option<FlowSquares>,
    pub latency: DistributionRecord,
}

impl From<&Summary> for SummaryRecord {
    fn from(summary: &Summary) -> Self {
        let totals = &summary.totals;
        let SlotRange { from, to } = totals.slots;
        Self {
            class: summary.class().map(str::to_owned),
            period_ns: summary.period_ns,
            epoch_ns: totals.epoch_ns,
            last_ns: totals.last_ns,
            packets: totals.packets,
            bytes: totals.bytes,
            lost: totals.lost,
            recovered: totals.recovered,
            reordered: totals.reordered,
            duplicates: totals.duplicates,
            late: totals.late,
            restarts: totals.restarts,
            squares: match &summary.subject {
                SummarySubject::Group { .. } => Some(totals.squares),
                SummarySubject::Flow { .. } => None,
            },
            latency: DistributionRecord {
                part: (!summary.is_whole()).then_some((from, to)),
                ..(&totals.latency).into()
            },
        }
    }
}

impl SummaryRecord {
    /// The totals that it was made of.
    ///
    /// # Errors
    /// If the latencies are no histogram.
    pub fn totals(&self) -> Result<SubjectTotals, BadHistogram> {
        let slots = match self.latency.part {
            Some((from, to)) => SlotRange { from, to },
            None => SlotRange::ALL,
        };
        Ok(SubjectTotals {
            epoch_ns: self.epoch_ns,
            last_ns: self.last_ns,
            packets: self.packets,
            bytes: self.bytes,
            lost: self.lost,
            recovered: self.recovered,
            reordered: self.reordered,
            duplicates: self.duplicates,
            late: self.late,
            restarts: self.restarts,
            squares: self.squares.unwrap_or_default(),
            latency: LatencyHistogram::of_record(&self.latency, slots)?,
            slots,
        })
    }
}
