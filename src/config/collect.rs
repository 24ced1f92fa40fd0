//! What can be set of the collector.

use std::path::PathBuf;
use std::thread;

use clap::Args;

use super::engines::{EngineOptions, EnginesConfig};
use super::http::{COLLECT_HTTP_PORT, check_http};
use super::mistake::{Fault, fault, item_fault};
use super::place::port_of;
use super::store::{StoreConfig, StoreOptions};
use super::{Size, drop_reasons};
use crate::model::{DropReasons, REPORT_PORT};

/// Receiving threads unless set otherwise: one decodes what they receive.
const DEFAULT_RECEIVERS: usize = 2;
const MOST_RECEIVERS: u32 = 64;

/// What waits for the decoder has so much memory unless set otherwise.
const DEFAULT_QUEUE: Size = Size(64 << 20);
const SMALLEST_QUEUE: Size = Size(1 << 20);

/// A file that is rotated may be so small.
const SMALLEST_OUTPUT: Size = Size(64 << 10);
const DEFAULT_KEEP: u32 = 5;

/// What can be set of `hostint collect`, by flag or by the same name in the config file.
#[derive(Args, Clone, Debug, Default)]
pub struct CollectOptions {
    /// Address to receive on, default port 32766; repeat for several [default: 0.0.0.0:32766 and [::]:32766]
    #[arg(long, value_name = "ADDR[:PORT]", value_delimiter = ',')]
    pub listen: Vec<String>,

    /// One JSON object a line (schema hostint.report/1)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub json: Option<bool>,

    /// Append the lines to this file, instead of standard output; SIGUSR1 and SIGHUP reopen it
    #[arg(long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Rotate --output before it is larger than this, such as 100M
    #[arg(long, value_name = "SIZE")]
    pub output_size: Option<Size>,

    /// How many rotated files to keep [default: 5]
    #[arg(long, value_name = "N")]
    pub output_keep: Option<u32>,

    /// Names of drop reason codes: int-host-reporter, p4lang-switch, or a file that has a line as 80 = "acl deny"
    /// for each [default: int-host-reporter]
    #[arg(long, value_name = "LIST")]
    pub drop_reasons: Option<String>,

    /// Serve a page of the history, metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default
    /// port 13277, to whoever reaches it; 127.0.0.1 for this host alone [default: no HTTP]
    #[arg(long, value_name = "ADDR[:PORT]")]
    pub http: Option<String>,

    /// Threads that receive; one more decodes [default: 2, on a host with one or two CPUs 1]
    #[arg(long, value_name = "N")]
    pub receivers: Option<u32>,

    /// Memory for datagrams that wait to be decoded; more are dropped and counted [default: 64M]
    #[arg(long, value_name = "SIZE")]
    pub queue: Option<Size>,

    #[command(flatten)]
    pub store: StoreOptions,

    #[command(flatten)]
    pub engines: EngineOptions,
}

/// All settings of a collector, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CollectConfig {
    pub listen: Vec<String>,
    pub json: bool,
    pub output: Option<Output>,
    pub receivers: usize,
    pub queue: Size,
    /// The list that the user chose.
    pub drop_reasons: Option<DropReasons>,
    pub http: Option<String>,
    pub store: StoreConfig,
    pub engines: EnginesConfig,
}

/// The file that lines go to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Output {
    pub path: PathBuf,
    /// Its size before rotation, and how many rotated files are kept.
    pub rotation: Option<(Size, u32)>,
}

impl CollectOptions {
    /// Checks everything and fills in defaults.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn check(self) -> Result<CollectConfig, Vec<Fault>> {
        let mut faults = Vec::new();
        for (i, text) in self.listen.iter().enumerate() {
            if let Err(why) = port_of(text, REPORT_PORT) {
                faults.push(item_fault(
                    "listen",
                    i,
                    format!("cannot listen on {text}: {why} (try 0.0.0.0:32766 or [::]:32766)"),
                ));
            }
        }
        let reasons = self.drop_reasons.as_deref().map(drop_reasons).transpose();
        let drop_reasons = reasons.unwrap_or_else(|err| {
            faults.push(fault(
                &["drop-reasons"],
                err.to_string().replace('\n', "; "),
            ));
            None
        });
        check_http(self.http.as_deref(), COLLECT_HTTP_PORT, &mut faults);
        if let Some(count) = self.receivers
            && !(1..=MOST_RECEIVERS).contains(&count)
        {
            let why = format!("{count} threads cannot receive (expected 1 to {MOST_RECEIVERS})");
            faults.push(fault(&["receivers"], why));
        }
        let queue = self.queue.unwrap_or(DEFAULT_QUEUE);
        if queue < SMALLEST_QUEUE {
            let why = format!("a queue of {queue} is too small (try {SMALLEST_QUEUE} or more)");
            faults.push(fault(&["queue"], why));
        }
        let output = self.check_output(&mut faults);
        let store = self.store.check(&mut faults);
        let engines = self.engines.check(&mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(CollectConfig {
            listen: self.listen,
            json: self.json.unwrap_or(false),
            output,
            receivers: self
                .receivers
                .map_or_else(default_receivers, |count| count as usize),
            queue,
            drop_reasons,
            http: self.http,
            store,
            engines,
        })
    }

    fn check_output(&self, faults: &mut Vec<Fault>) -> Option<Output> {
        if self.output.is_none() && self.output_size.is_some() {
            let why = "standard output is not rotated (try --output too)".to_owned();
            faults.push(fault(&["output-size"], why));
        }
        if self.output_size.is_none() && self.output_keep.is_some() {
            let why = "without output-size nothing is rotated (try it too)".to_owned();
            faults.push(fault(&["output-keep"], why));
        }
        if let Some(size) = self.output_size
            && size < SMALLEST_OUTPUT
        {
            let why = format!("{size} is too small to rotate at (try {SMALLEST_OUTPUT} or more)");
            faults.push(fault(&["output-size"], why));
        }
        if self.output_keep == Some(0) {
            let why = "0 files cannot be kept (try 1 or more)".to_owned();
            faults.push(fault(&["output-keep"], why));
        }
        let keep = self.output_keep.unwrap_or(DEFAULT_KEEP);
        Some(Output {
            path: self.output.clone()?,
            rotation: self.output_size.map(|size| (size, keep)),
        })
    }
}

/// The one that decodes needs a CPU too.
fn default_receivers() -> usize {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    (cpus - 1).clamp(1, DEFAULT_RECEIVERS)
}
