//! What became of what goes to engines, as metrics: of reports, and of the metrics themselves.

use super::page::{Kind, Page, Rising};
use crate::model::{EngineStatus, EngineUnit};

/// A counter of engines that get reports, and of those that get metrics.
struct Counted {
    names: [&'static str; 2],
    help: [&'static str; 2],
    of: fn(&EngineStatus) -> u64,
}

const COUNTED: [Counted; 5] = [
    Counted {
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
    Counted {
        names: [
            "hostint_engine_queue_drops_total",
            "hostint_push_queue_drops_total",
        ],
        help: [
            "reports that found the queue to the engine full",
            "points, or samples, that waited for too long",
        ],
        of: |engine| engine.queue_drops,
    },
    Counted {
        names: ["hostint_engine_refused_total", "hostint_push_refused_total"],
        help: [
            "reports that the engine does not want",
            "points, or samples, that the receiver of metrics does not want",
        ],
        of: |engine| engine.refused,
    },
    Counted {
        names: [
            "hostint_engine_abandoned_total",
            "hostint_push_abandoned_total",
        ],
        help: [
            "reports that were still to be delivered at the end",
            "points, or samples, that were still to be delivered at the end",
        ],
        of: |engine| engine.abandoned,
    },
    Counted {
        names: ["hostint_engine_retries_total", "hostint_push_retries_total"],
        help: [
            "deliveries that failed and were tried again",
            "deliveries of metrics that failed and were tried again",
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

/// Families of each sort that there is.
pub fn write(page: &mut Page, engines: &[EngineStatus], rising: &mut Rising) {
    let (reports, metrics): (Vec<_>, Vec<_>) = engines
        .iter()
        .partition(|engine| engine.unit == EngineUnit::Reports);
    for (sort, engines) in [reports, metrics].into_iter().enumerate() {
        if !engines.is_empty() {
            write_sort(page, sort, &engines, rising);
        }
    }
}

fn write_sort(page: &mut Page, sort: usize, engines: &[&EngineStatus], rising: &mut Rising) {
    for counted in COUNTED {
        let (name, help) = (counted.names[sort], counted.help[sort]);
        let mut family = page.family(name, Kind::Counter, help);
        for engine in engines {
            let value = rising.at_least(name, engine.engine, (counted.of)(engine));
            family.value(&[("engine", engine.engine)], value);
        }
    }
    let (names, help) = WAITING;
    let mut family = page.family(names[sort], Kind::Gauge, help[sort]);
    for engine in engines {
        family.value(&[("engine", engine.engine)], engine.waiting);
    }
    let (names, help) = UP;
    let mut family = page.family(names[sort], Kind::Gauge, help);
    for engine in engines {
        let up = u8::from(engine.trouble.is_none());
        family.value(&[("engine", engine.engine)], up);
    }
}
