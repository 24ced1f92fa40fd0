//! Figures over time in the API: whole, or as short columns of what a chart draws.

use serde::Serialize;

use super::form::AnswerForm;
use super::groups::{error_of, rounded, rounded_count};
use super::history_response::of_span;
use crate::model::{HistoryError, LatencyResolution, Point, Series, Span};

/// The periods by column, which takes a fifth of the bytes of whole points.
#[derive(Default, Serialize)]
struct PointColumns {
    begin_ns: Vec<u64>,
    packets: Vec<i64>,
    lost: Vec<i64>,
    reordered: Vec<Option<i64>>,
    p50_ns: Vec<Option<i64>>,
    p90_ns: Vec<Option<i64>>,
    p99_ns: Vec<Option<i64>>,
    /// The error of the difference of the clocks, and the bounds of the true mean, where they are known.
    error_ns: Vec<Option<i64>>,
    low_ns: Vec<Option<i64>>,
    high_ns: Vec<Option<i64>>,
    /// The figures are those of this number of reports.
    of_reports: Vec<Option<u64>>,
    /// The slots of histograms for each power of two.
    steps: Vec<Option<u8>>,
}

impl PointColumns {
    fn push(&mut self, point: &Point) {
        let shown = point.figures.shown();
        let latency = shown.quantiles();
        let ns = |of: Option<i64>| of.map(|ns| rounded(ns, 10_000));
        self.begin_ns.push(point.begin_ns);
        self.packets.push(rounded_count(shown.packets));
        self.lost.push(rounded_count(shown.lost));
        self.reordered.push(shown.reordered.map(rounded_count));
        self.p50_ns.push(ns(latency.and_then(|of| of.p50_ns)));
        self.p90_ns.push(ns(latency.and_then(|of| of.p90_ns)));
        self.p99_ns.push(ns(latency.and_then(|of| of.p99_ns)));
        let corrected = shown.corrected.filter(|_| shown.is_corrected());
        self.error_ns.push(ns(corrected.map(error_of)));
        self.low_ns.push(ns(corrected.map(|of| of.bound_ns[0])));
        self.high_ns.push(ns(corrected.map(|of| of.bound_ns[1])));
        self.of_reports.push(shown.of_reports);
        let steps = shown.resolution.map(LatencyResolution::steps);
        self.steps.push(steps);
    }
}

pub(super) fn answer(
    span: Option<Span>,
    series: Series,
    form: AnswerForm,
) -> Result<Vec<u8>, HistoryError> {
    #[derive(Serialize)]
    struct ShortSeries {
        period_ns: u64,
        points: PointColumns,
    }
    if form == AnswerForm::Whole {
        return of_span(span, series);
    }
    let mut points = PointColumns::default();
    series.points.iter().for_each(|point| points.push(point));
    let period_ns = series.period_ns;
    of_span(span, ShortSeries { period_ns, points })
}
