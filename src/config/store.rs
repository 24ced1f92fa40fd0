//! What can be set of the collector's history.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::mistake::{Fault, fault};
use super::{Size, Span};

const DEFAULT_BYTES: u64 = 4 << 30;
const LEAST_BYTES: u64 = 16 << 20;
const DEFAULT_QUEUE: u64 = 64 << 20;
const LEAST_QUEUE: u64 = 1 << 20;
const DEFAULT_FLOWS: u32 = 200_000;
const DAY: Duration = Duration::from_secs(86_400);

/// What can be set of the store of `hostint collect`.
#[derive(Args, Clone, Debug, Default)]
pub struct StoreOptions {
    /// Keep reports in this file, for hostint history; none keeps nothing, and --read only what a file is named for
    /// [default: /var/lib/hostint/history.db, for others than root ~/.local/state/hostint/history.db]
    #[arg(long, value_name = "FILE")]
    pub store: Option<String>,

    /// Most that the store may take; the oldest reports go first, then the finest roll-ups
    /// [default: 4G]
    #[arg(long, value_name = "SIZE")]
    pub store_size: Option<Size>,

    /// Most memory of reports that wait for the store [default: 64M]
    #[arg(long, value_name = "SIZE")]
    pub store_queue: Option<Size>,

    /// Most flows that are followed at a time; reports of others count for their nodes and class only
    /// [default: 200000]
    #[arg(long, value_name = "N")]
    pub store_flows: Option<u32>,

    /// Keep single reports for this time [default: 1day]
    #[arg(long, value_name = "TIME")]
    pub keep_raw: Option<Span>,

    /// Keep figures of each ten seconds for this time [default: 1day]
    #[arg(long, value_name = "TIME")]
    pub keep_10s: Option<Span>,

    /// Keep figures of each minute for this time [default: 14days]
    #[arg(long, value_name = "TIME")]
    pub keep_1m: Option<Span>,

    /// Keep figures of each hour for this time [default: 1year]
    #[arg(long, value_name = "TIME")]
    pub keep_1h: Option<Span>,
}

/// Where history is kept.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum StorePlace {
    /// Where this host has it, if it can be kept there.
    #[default]
    Default,
    Nowhere,
    File(PathBuf),
}

/// Settings of the history, checked.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StoreConfig {
    pub place: StorePlace,
    pub bytes: u64,
    pub queue_bytes: usize,
    pub most_flows: usize,
    pub keep_raw: Duration,
    pub keep_10s: Duration,
    pub keep_1m: Duration,
    pub keep_1h: Duration,
}

impl StoreOptions {
    /// Checks everything and fills in defaults.
    pub(super) fn check(&self, faults: &mut Vec<Fault>) -> StoreConfig {
        let place = match self.store.as_deref() {
            None => StorePlace::Default,
            Some("none") => StorePlace::Nowhere,
            Some(file) => StorePlace::File(PathBuf::from(file)),
        };
        if self.store.as_deref() == Some("") {
            let message = "no file is named (try --store none to keep nothing)".to_owned();
            faults.push(fault(&["store"], message));
        }
        let size = |size: Option<Size>, default: u64| size.map_or(default, |size| size.0);
        let bytes = size(self.store_size, DEFAULT_BYTES);
        if bytes < LEAST_BYTES {
            let message = format!(
                "a store needs room (expected at least {})",
                Size(LEAST_BYTES)
            );
            faults.push(fault(&["store-size"], message));
        }
        let queue = size(self.store_queue, DEFAULT_QUEUE);
        if queue < LEAST_QUEUE {
            let message = format!(
                "the queue needs room (expected at least {})",
                Size(LEAST_QUEUE)
            );
            faults.push(fault(&["store-queue"], message));
        }
        if self.store_flows == Some(0) {
            let message = "no flow could be followed (expected 1 or more)".to_owned();
            faults.push(fault(&["store-flows"], message));
        }
        let mut kept = [
            ("keep-raw", self.keep_raw, DAY),
            ("keep-10s", self.keep_10s, DAY),
            ("keep-1m", self.keep_1m, 14 * DAY),
            ("keep-1h", self.keep_1h, 365 * DAY),
        ]
        .map(|(key, span, default)| (key, span.map(|span| span.0), default));
        // What nobody set goes along with what somebody did.
        let mut most = Duration::MAX;
        for (_, given, default) in kept.iter_mut().rev() {
            most = most.min(given.unwrap_or(most));
            *default = most.min(*default);
        }
        let mut least = Duration::ZERO;
        let kept = kept.map(|(key, given, default)| {
            least = given.unwrap_or(default.max(least));
            (key, least)
        });
        // Single reports are found through the figures of ten seconds; coarser figures go on where finer ones end.
        for pair in kept.windows(2) {
            let ((finer, short), (coarser, long)) = (pair[0], pair[1]);
            if short > long {
                let message = format!(
                    "{} is longer than {coarser}, {}: what is coarser has to be kept as long",
                    Span(short),
                    Span(long)
                );
                faults.push(fault(&[finer, coarser], message));
            }
        }
        let [keep_raw, keep_10s, keep_1m, keep_1h] = kept.map(|(_, span)| span);
        StoreConfig {
            place,
            bytes,
            queue_bytes: usize::try_from(queue).unwrap_or(usize::MAX),
            most_flows: self.store_flows.unwrap_or(DEFAULT_FLOWS) as usize,
            keep_raw,
            keep_10s,
            keep_1m,
            keep_1h,
        }
    }
}
