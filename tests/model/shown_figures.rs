//! Figures of few reports say how many they are of, and have no quantiles; those of all packets have them.

use hostint::model::{LatencyHistogram, ShownFigures};

#[test]
fn fewer_than_twenty_reports_have_no_quantiles() {
    for (of_reports, samples, shown, sentence) in [
        (Some(1), 1, false, "one report"),
        (Some(19), 19, false, "nineteen reports"),
        (Some(20), 20, true, "twenty reports"),
        (None, 1, true, "all packets of a flow that has one"),
    ] {
        let mut latency = LatencyHistogram::default();
        (0..samples).for_each(|n| latency.add(1000 * (n + 1)));
        let figures = ShownFigures {
            of_reports,
            packets: 100,
            lost: 0,
            reordered: None,
            latency: latency.figures(),
            corrected: None,
            resolution: None,
        };
        assert_eq!(figures.quantiles().is_some(), shown, "{sentence}");
    }
}
