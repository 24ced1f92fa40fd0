//! Deliveries to engines as metrics: of reports, and of pushed metrics.

use super::page::{MetricKind, MetricsPage, Rising};
use crate::model::{EngineStatus, EngineUnit};

/// A counter's names and helps: for engines that get reports, and for those that get metrics.
struct EngineCounter {
    names: [&'static str; 2],
    help: [&'static str; 2],
    of: fn(&EngineStatus) -> u64,
}

const COUNTED: [EngineCounter; 5] = [
    EngineCounter {
        names: [
            "hostint_engine_delivered_total",
            "hostint_push_delivered_total",
        ],
        help: [
            "reports that the engine has acknowledged",
            "points, or samples, that the receiver of metrics has acknowledged",
        ],
        of: |engine| engine.delivered,
    },
    EngineCounter {
        names: [
            "hostint_engine_queue_drops_total",
            "hostint_push_queue_drops_total",
        ],
        help: [
            "reports dropped because the queue to the engine was full",
            "points, or samples, dropped because they waited too long",
        ],
        of: |engine| engine.queue_drops,
    },
    EngineCounter {
        names: ["hostint_engine_refused_total", "hostint_push_refused_total"],
        help: [
            "reports that the engine refused",
            "points, or samples, that the receiver of metrics refused",
        ],
        of: |engine| engine.refused,
    },
    EngineCounter {
        names: [
            "hostint_engine_abandoned_total",
            "hostint_push_abandoned_total",
        ],
        help: [
            "reports that were not delivered before the end",
            "points, or samples, that were not delivered before the end",
        ],
        of: |engine| engine.abandoned,
    },
    EngineCounter {
        names: ["hostint_engine_retries_total", "hostint_push_retries_total"],
        help: [
            "deliveries that failed and were repeated",
            "deliveries of metrics that failed and were repeated",
        ],
        of: |engine| engine.retries,
    },
];

const WAITING: ([&str; 2], [&str; 2]) = (
    ["hostint_engine_waiting", "hostint_push_waiting"],
    [
        "reports that wait for the engine",
        "points, or samples, that wait for the receiver of metrics",
    ],
);

const UP: ([&str; 2], &str) = (
    ["hostint_engine_up", "hostint_push_up"],
    "1 unless the last delivery failed",
);

/// Writes the families of engines for reports, and of engines for metrics.
pub fn write(page: &mut MetricsPage, engines: &[EngineStatus], rising: &mut Rising) {
    let (reports, metrics): (Vec<_>, Vec<_>) = engines
        .iter()
        .partition(|engine| engine.unit == EngineUnit::Reports);
    for (sort, engines) in [reports, metrics].into_iter().enumerate() {
        if !engines.is_empty() {
            write_sort(page, sort, &engines, rising);
        }
    }
}

fn write_sort(page: &mut MetricsPage, sort: usize, engines: &[&EngineStatus], rising: &mut Rising) {
    for counted in COUNTED {
        let (name, help) = (counted.names[sort], counted.help[sort]);
        let mut family = page.family(name, MetricKind::Counter, help);
        for engine in engines {
            let value = rising.at_least(name, engine.engine, (counted.of)(engine));
            family.value(&[("engine", engine.engine)], value);
        }
    }
    let (names, help) = WAITING;
    let mut family = page.family(names[sort], MetricKind::Gauge, help[sort]);
    for engine in engines {
        family.value(&[("engine", engine.engine)], engine.waiting);
    }
    let (names, help) = UP;
    let mut family = page.family(names[sort], MetricKind::Gauge, help);
    for engine in engines {
        let up = u8::from(engine.trouble.is_none());
        family.value(&[("engine", engine.engine)], up);
    }
}
