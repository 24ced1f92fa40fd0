//! Pairs of nodes in the API: as rows, because 200 nodes have 40,000 pairs, or as groups of pairs.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::groups::{HostGroups, PairGroups, Rank, UNUSUAL_LOSS, value};
use super::history_response::of_span;
use crate::model::{
    BesideUsual, HistoryError, LatencyFigures, LossOfAll, LossSplit, MatrixFigure, NodeId,
    PairFigures, PairUsuals, Span,
};

/// Most pairs in one response.
pub(super) const MOST_PAIRS: usize = 65_536;

/// Values, or an empty array.
struct ValuesOrNone<const N: usize>(Option<[Option<i64>; N]>);

impl<const N: usize> Serialize for ValuesOrNone<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = self.0.as_ref().map_or(&[][..], |values| values);
        values.serialize(serializer)
    }
}

/// One pair as a row, because 200 nodes have 40,000 pairs.
#[derive(Serialize)]
#[serde(untagged)]
enum PairRow {
    Measured(
        NodeId,
        NodeId,
        [Option<u64>; 5],
        ValuesOrNone<5>,
        [u64; 7],
        Box<ValuesOrNone<7>>,
        #[serde(skip_serializing_if = "Option::is_none")] Option<[i64; 5]>,
    ),
    OfReports(
        NodeId,
        NodeId,
        [Option<u64>; 5],
        #[serde(skip_serializing_if = "Option::is_none")] Option<[Option<i64>; 5]>,
    ),
}

impl From<&PairFigures> for PairRow {
    fn from(pair: &PairFigures) -> Self {
        let figures = &pair.figures;
        let counts = [
            Some(pair.flows),
            Some(figures.reports),
            Some(figures.packets),
            Some(figures.lost),
            figures.reordered,
        ];
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let samples = |of: &LatencyFigures| Some(whole(of.samples));
        let latency = figures.latency.map(|of| {
            let max_ns = Some(of.max_ns);
            [samples(&of), of.p50_ns, of.p90_ns, of.p99_ns, max_ns]
        });
        let Some(of) = figures.measured else {
            return Self::OfReports(pair.source, pair.sink, counts, latency);
        };
        let measured = [
            of.packets,
            of.bytes,
            of.lost,
            of.recovered,
            of.reordered,
            of.duplicates,
            of.steps.into(),
        ];
        let of_all = of.latency.map(|of| {
            [
                samples(&of),
                Some(of.min_ns),
                Some(of.mean_ns),
                of.p50_ns,
                of.p90_ns,
                of.p99_ns,
                Some(of.max_ns),
            ]
        });
        let corrected = of.corrected.map(|of| {
            let [low_ns, high_ns] = of.bound_ns;
            let packets = whole(of.packets);
            [packets, of.mean_ns, whole(of.error_ns), low_ns, high_ns]
        });
        Self::Measured(
            pair.source,
            pair.sink,
            counts,
            ValuesOrNone(latency),
            measured,
            Box::new(ValuesOrNone(of_all)),
            corrected,
        )
    }
}

/// The names of a pair's values in its row.
#[derive(Serialize)]
struct PairRowNames(
    &'static str,
    &'static str,
    [&'static str; 5],
    [&'static str; 5],
    [&'static str; 7],
    [&'static str; 7],
    [&'static str; 5],
);

const PAIR_ROW: PairRowNames = PairRowNames(
    "source",
    "sink",
    ["flows", "reports", "packets", "lost", "reordered"],
    ["samples", "p50_ns", "p90_ns", "p99_ns", "max_ns"],
    [
        "measured.packets",
        "measured.bytes",
        "measured.lost",
        "measured.recovered",
        "measured.reordered",
        "measured.duplicates",
        "measured.steps",
    ],
    [
        "measured.samples",
        "measured.min_ns",
        "measured.mean_ns",
        "measured.p50_ns",
        "measured.p90_ns",
        "measured.p99_ns",
        "measured.max_ns",
    ],
    [
        "corrected.packets",
        "corrected.mean_ns",
        "corrected.error_ns",
        "corrected.low_ns",
        "corrected.high_ns",
    ],
);

/// Of too many pairs, those with the most reports are kept; with a limit, those that are worst by a figure, in this order.
/// Pairs that groups have no place for are left out, unless all are summed up by group.
pub(super) fn answer(
    span: Option<Span>,
    mut pairs: Vec<PairFigures>,
    usual: &PairUsuals,
    (figure, limit, by): (MatrixFigure, usize, Option<&HostGroups>),
) -> Result<Vec<u8>, HistoryError> {
    #[derive(Serialize)]
    struct Pairs<'a> {
        total: usize,
        #[serde(flatten)]
        groups: Option<PairGroups<'a>>,
        row: PairRowNames,
        pairs: Vec<PairRow>,
        /// The time of the last report of each pair, in the same order.
        last_ns: Vec<Option<u64>>,
        /// The loss of pairs by the hosts that dropped the packets, by "source>sink"; of those that have it.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        loss_splits: BTreeMap<String, LossSplit>,
        /// What is known of the loss of all flows, of pairs of which a budget or a sample left some out.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        loss_of_all: BTreeMap<String, LossOfAll>,
        /// What is usual of pairs that exceed it, or would seem to.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        usual: BTreeMap<String, BesideUsual>,
    }
    if let Some(by) = by {
        pairs.retain(|pair| by.has(pair));
    }
    let total = pairs.len();
    if limit < MOST_PAIRS {
        pairs.sort_by_cached_key(|pair| Reverse(Rank(value(pair, figure))));
    } else if total > MOST_PAIRS {
        pairs.sort_unstable_by_key(|pair| Reverse(pair.figures.reports));
    }
    let until_ns = span.map_or(0, |span| span.until_ns);
    let groups = by.and_then(|by| by.sum_up(&pairs, usual, (figure, limit, until_ns)));
    let shown = &pairs[..total.min(limit)];
    let key = |pair: &PairFigures| format!("{}>{}", pair.source, pair.sink);
    let pairs = Pairs {
        total,
        groups,
        row: PAIR_ROW,
        pairs: shown.iter().map(PairRow::from).collect(),
        last_ns: shown.iter().map(|pair| pair.last_ns).collect(),
        loss_splits: shown
            .iter()
            .filter_map(|pair| Some((key(pair), pair.loss_split?)))
            .collect(),
        loss_of_all: shown
            .iter()
            .filter_map(|pair| Some((key(pair), pair.loss_of_all?)))
            .collect(),
        usual: shown
            .iter()
            .filter_map(|pair| Some((key(pair), beside_usual(pair, usual)?)))
            .collect(),
    };
    of_span(span, pairs)
}

/// What is usual, if the pair exceeds it, or would seem to.
fn beside_usual(pair: &PairFigures, usual: &PairUsuals) -> Option<BesideUsual> {
    let usual = usual.get(&(pair.source, pair.sink))?;
    let beside = usual.compare(&pair.figures)?;
    let shown = pair.figures.shown();
    let seems = shown.lost as f64 > UNUSUAL_LOSS * shown.packets as f64;
    (beside.more_lost || beside.slower || seems).then_some(beside)
}
