//! Metrics of the verdict.

use super::page::{MetricKind, MetricsPage};
use crate::model::{CollectStatus, EventRefusal, NetworkCause, VerdictState};

/// The most causes that are shown.
const MOST: usize = 16;

/// The metrics of one cause at a time.
type OfCause = (&'static str, &'static str, fn(&NetworkCause) -> f64);

/// What was posted, and what the webhook took.
fn write_events(page: &mut MetricsPage, status: &CollectStatus) {
    let name = "hostint_events_total";
    page.family(
        name,
        MetricKind::Counter,
        "events that were posted and taken",
    )
    .value(&[], status.events);
    let name = "hostint_events_refused_total";
    let help = "events that were posted and refused, by reason";
    let mut family = page.family(name, MetricKind::Counter, help);
    for (refusal, reason) in EventRefusal::EACH {
        let count = status.events_refused.get(&refusal).copied();
        family.value(&[("reason", reason)], count.unwrap_or(0));
    }
    let name = "hostint_webhook_total";
    let help = "changes of the verdict that the webhook took, and those that it did not";
    let mut family = page.family(name, MetricKind::Counter, help);
    family.value(&[("result", "taken")], status.webhook_sent);
    family.value(&[("result", "failed")], status.webhook_failed);
}

pub(super) fn write(page: &mut MetricsPage, status: &CollectStatus) {
    write_events(page, status);
    let Some(verdict) = status.verdict.as_deref() else {
        return;
    };
    let name = "hostint_verdict_state";
    let help = "1 for what the last verdict says, 0 for what it does not";
    let mut family = page.family(name, MetricKind::Gauge, help);
    for (state, name) in VerdictState::EACH {
        family.value(&[("state", name)], u64::from(state == verdict.state));
    }
    let is_alerted = |cause: &&NetworkCause| cause.silenced_until_ns.is_none();
    let causes = || verdict.causes.iter().filter(is_alerted).take(MOST);
    let name = "hostint_verdict_cause";
    let help = "1 for each cause that the last verdict names and that is not silenced; node: the first host that it is about";
    let mut family = page.family(name, MetricKind::Gauge, help);
    for cause in causes() {
        let node = cause.node().map_or(String::new(), |node| node.to_string());
        let labels = [
            ("id", &*cause.id),
            ("kind", cause.kind.name()),
            ("side", cause.side.name()),
            ("node", &*node),
        ];
        family.value(&labels, 1_u64);
    }
    let of_cause: [OfCause; 3] = [
        (
            "hostint_verdict_cause_loss_ratio",
            "share of the packets of a cause that were lost since it began",
            |cause| cause.now.loss,
        ),
        (
            "hostint_verdict_cause_p99_seconds",
            "99th percentile of the latency of a cause's packets in the last minute",
            |cause| cause.now.p99_ns.unwrap_or(0) as f64 / 1e9,
        ),
        (
            "hostint_verdict_cause_since_seconds",
            "when a cause began, in seconds since the Unix epoch",
            |cause| cause.since_ns as f64 / 1e9,
        ),
    ];
    for (name, help, of) in of_cause {
        let mut family = page.family(name, MetricKind::Gauge, help);
        for cause in causes() {
            family.value(&[("id", &*cause.id)], of(cause));
        }
    }
    let name = "hostint_verdict_judged_pairs";
    let help = "pairs of nodes whose packets the last verdict is about";
    page.family(name, MetricKind::Gauge, help)
        .value(&[], verdict.judged.pairs);
    let name = "hostint_verdict_duration_seconds";
    let help = "time that the last verdict took";
    page.family(name, MetricKind::Gauge, help)
        .value(&[], status.verdict_ns as f64 / 1e9);
}
