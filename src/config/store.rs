//! Settings of the collector's history.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::duration::TimeSpan;
use super::heading::HISTORY;
use super::mistake::{Fault, fault};
use super::size::Size;

const DEFAULT_BYTES: u64 = 4 << 30;
const LEAST_BYTES: u64 = 16 << 20;
const DEFAULT_QUEUE: u64 = 64 << 20;
const LEAST_QUEUE: u64 = 1 << 20;
const DEFAULT_FLOWS: u32 = 200_000;
const DAY: Duration = Duration::from_secs(86_400);

/// Options of `hostint collect` for its history.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = HISTORY)]
pub struct StoreOptions {
    /// Keep reports in this file for hostint history; none keeps nothing. With --read, only a file named here is kept
    /// [default: /var/lib/hostint/history.db, for users other than root ~/.local/state/hostint/history.db]
    #[arg(long, value_name = "FILE")]
    pub store: Option<String>,

    /// Greatest size of the store; beyond it the oldest reports are deleted first, then the finest roll-ups [default:
    /// 4G]
    #[arg(long, value_name = "SIZE")]
    pub store_size: Option<Size>,

    /// Memory for reports that wait for the store [default: 64M]
    #[arg(long, value_name = "SIZE")]
    pub store_queue: Option<Size>,

    /// Greatest number of flows tracked at a time; reports of further flows count only for their nodes and class
    /// [default: 200000]
    #[arg(long, value_name = "N")]
    pub store_flows: Option<u32>,

    /// Keep single reports for this time [default: 1day]
    #[arg(long, value_name = "TIME")]
    pub keep_raw: Option<TimeSpan>,

    /// Keep figures of every ten seconds for this time [default: 1day]
    #[arg(long, value_name = "TIME")]
    pub keep_10s: Option<TimeSpan>,

    /// Keep figures of every minute for this time [default: 14days]
    #[arg(long, value_name = "TIME")]
    pub keep_1m: Option<TimeSpan>,

    /// Keep figures of every hour for this time [default: 1year]
    #[arg(long, value_name = "TIME")]
    pub keep_1h: Option<TimeSpan>,
}

/// The place where history is kept.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum StorePlace {
    /// The host's default place, if history can be kept there.
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
            let message = "the file has no name (try --store none to keep nothing)".to_owned();
            faults.push(fault(&["store"], message));
        }
        let bytes = self.store_size.map_or(DEFAULT_BYTES, |size| size.0);
        if bytes < LEAST_BYTES {
            let message = format!(
                "the store is too small (expected at least {})",
                Size(LEAST_BYTES)
            );
            faults.push(fault(&["store-size"], message));
        }
        let queue = self.store_queue.map_or(DEFAULT_QUEUE, |size| size.0);
        if queue < LEAST_QUEUE {
            let message = format!(
                "the queue is too small (expected at least {})",
                Size(LEAST_QUEUE)
            );
            faults.push(fault(&["store-queue"], message));
        }
        if self.store_flows == Some(0) {
            let message = "0 is not a possible number of flows (expected 1 or more)".to_owned();
            faults.push(fault(&["store-flows"], message));
        }
        let [keep_raw, keep_10s, keep_1m, keep_1h] = self.check_periods(faults);
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

    /// How long reports and figures are kept, the finest first.
    fn check_periods(&self, faults: &mut Vec<Fault>) -> [Duration; 4] {
        let mut kept = [
            ("keep-raw", self.keep_raw, DAY),
            ("keep-10s", self.keep_10s, DAY),
            ("keep-1m", self.keep_1m, 14 * DAY),
            ("keep-1h", self.keep_1h, 365 * DAY),
        ]
        .map(|(key, span, default)| (key, span.map(|span| span.0), default));
        // Periods that were not set follow those that were.
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
        // Single reports are found through the ten-second figures, and coarser figures go on where finer ones end.
        for pair in kept.windows(2) {
            let ((finer, short), (coarser, long)) = (pair[0], pair[1]);
            if short > long {
                let message = format!(
                    "{} is longer than {coarser}, {}, but coarser figures must be kept at least as long",
                    TimeSpan(short),
                    TimeSpan(long)
                );
                faults.push(fault(&[finer, coarser], message));
            }
        }
        kept.map(|(_, span)| span)
    }
}
