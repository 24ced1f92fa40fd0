//! Settings of the collector.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;

use clap::Args;

use super::drop_reasons::drop_reasons;
use super::engines::{EngineOptions, EnginesConfig};
use super::heading::{ESSENTIALS, LIMITS, OUTPUT, STATUS};
use super::http::{COLLECT_HTTP_PORT, check_http};
use super::kubernetes::{KubernetesConfig, KubernetesOptions};
use super::mistake::{Fault, fault, item_fault, secret_fault};
use super::node_name::check_names;
use super::place::port_of;
use super::secret::{Password, read_password};
use super::size::Size;
use super::store::{StoreConfig, StoreOptions};
use super::url::{Purpose, check_url};
use crate::model::{DropReasons, NodeId, REPORT_PORT};

/// Default number of receiving threads; one more thread decodes the datagrams.
const DEFAULT_RECEIVERS: usize = 2;
const MOST_RECEIVERS: u32 = 64;

/// Default memory for datagrams that wait for the decoder.
const DEFAULT_QUEUE: Size = Size(64 << 20);
const SMALLEST_QUEUE: Size = Size(1 << 20);

/// The shortest token of events.
const LEAST_TOKEN: usize = 16;

const WEBHOOK: Purpose = Purpose {
    key: "webhook",
    example: "https://192.0.2.9/hostint",
    login: "a URL without them",
};

/// Smallest size at which a file can be rotated.
const SMALLEST_OUTPUT: Size = Size(64 << 10);
const DEFAULT_KEEP: u32 = 5;

/// Options of `hostint collect`, which are also keys of its table in the config file.
#[derive(Args, Clone, Debug, Default)]
pub struct CollectOptions {
    /// Address to receive on, default port 32766; may be repeated [default: 0.0.0.0:32766 and [::]:32766]
    #[arg(long, help_heading = ESSENTIALS, value_name = "ADDR[:PORT]", value_delimiter = ',')]
    pub listen: Vec<String>,

    /// Print one JSON object per line (schema hostint.report/1)
    #[arg(long, help_heading = OUTPUT, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub json: Option<bool>,

    /// Append the lines to this file instead of printing them; SIGUSR1 and SIGHUP reopen it
    #[arg(long, help_heading = OUTPUT, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Rotate --output before it exceeds this size, such as 100M
    #[arg(long, help_heading = OUTPUT, value_name = "SIZE")]
    pub output_size: Option<Size>,

    /// Number of rotated files to keep [default: 5]
    #[arg(long, help_heading = OUTPUT, value_name = "N")]
    pub output_keep: Option<u32>,

    /// Names of drop reason codes: int-host-reporter, p4lang-switch, sd-fabric, or a file with a line such as 80 = "acl deny" for
    /// each code [default: int-host-reporter]
    #[arg(long, help_heading = OUTPUT, value_name = "LIST")]
    pub drop_reasons: Option<String>,

    /// Name of a node, such as 7=web-3, for people to read beside its id; may be repeated [default: what the node sends]
    #[arg(long, help_heading = OUTPUT, value_name = "ID=NAME", value_delimiter = ',')]
    pub name: Vec<String>,

    /// Ask DNS for the names of exporters whose nodes send none, by their addresses [default: no]
    #[arg(long, help_heading = OUTPUT, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub reverse_dns: Option<bool>,

    #[command(flatten)]
    pub kubernetes: KubernetesOptions,

    /// Serve the history as a web page, metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address,
    /// default port 13277, without authentication; 127.0.0.1 restricts it to this host [default: no HTTP]
    #[arg(long, help_heading = STATUS, value_name = "ADDR[:PORT]")]
    pub http: Option<String>,

    /// File with the token by which programs may POST events to /api/events; readable by its owner only [default: none may]
    #[arg(long, help_heading = STATUS, value_name = "PATH")]
    pub events_token_file: Option<PathBuf>,

    /// URL that gets each change of the verdict as JSON (schema hostint.verdict/1) [default: none]
    #[arg(long, help_heading = STATUS, value_name = "URL")]
    pub webhook: Option<String>,

    /// Number of threads that receive; one more thread decodes [default: 2, on hosts with one or two CPUs 1]
    #[arg(long, help_heading = LIMITS, value_name = "N")]
    pub receivers: Option<u32>,

    /// Memory for datagrams that wait to be decoded; datagrams beyond it are dropped and counted [default: 64M]
    #[arg(long, help_heading = LIMITS, value_name = "SIZE")]
    pub queue: Option<Size>,

    #[command(flatten)]
    pub store: StoreOptions,

    #[command(flatten)]
    pub engines: EngineOptions,
}

/// The collector's settings, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CollectConfig {
    pub listen: Vec<String>,
    pub json: bool,
    pub output: Option<OutputFile>,
    pub receivers: usize,
    pub queue: Size,
    /// The names that the user chose.
    pub drop_reasons: Option<DropReasons>,
    /// The names of nodes that the user chose.
    pub names: BTreeMap<NodeId, String>,
    /// DNS is asked for names of exporters whose nodes send none.
    pub reverse_dns: bool,
    pub kubernetes: Option<KubernetesConfig>,
    pub http: Option<String>,
    pub events_token: Option<Password>,
    pub webhook: Option<String>,
    pub store: StoreConfig,
    pub engines: EnginesConfig,
}

/// The file that lines are written to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OutputFile {
    pub path: PathBuf,
    /// The greatest size before rotation, and the number of rotated files to keep.
    pub rotation: Option<(Size, u32)>,
}

impl CollectOptions {
    /// Checks everything and fills in defaults.
    ///
    /// # Errors
    /// All faults.
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
            let why = format!(
                "{count} is not a possible number of threads (expected 1 to {MOST_RECEIVERS})"
            );
            faults.push(fault(&["receivers"], why));
        }
        let queue = self.check_queue(&mut faults);
        let kubernetes = self.kubernetes.check(&mut faults);
        let names = check_names(&self.name, &mut faults);
        let output = self.check_output(&mut faults);
        let events_token = self.check_token(&mut faults);
        check_url(&WEBHOOK, self.webhook.as_deref(), &mut faults);
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
            names,
            reverse_dns: self.reverse_dns.unwrap_or(false),
            kubernetes,
            http: self.http,
            events_token,
            webhook: self.webhook,
            store,
            engines,
        })
    }

    fn check_queue(&self, faults: &mut Vec<Fault>) -> Size {
        let queue = self.queue.unwrap_or(DEFAULT_QUEUE);
        if queue < SMALLEST_QUEUE {
            let why = format!("a queue of {queue} is too small (try {SMALLEST_QUEUE} or more)");
            faults.push(fault(&["queue"], why));
        }
        queue
    }

    fn check_token(&self, faults: &mut Vec<Fault>) -> Option<Password> {
        let path = self.events_token_file.as_deref()?;
        if self.http.is_none() {
            let why = "it needs http, without which no program can post (try http too)";
            faults.push(fault(&["events-token-file"], why));
        }
        let token = read_password("events-token-file", "the token", path, faults)?;
        let is_usable = |byte: u8| byte.is_ascii_graphic();
        if token.0.len() < LEAST_TOKEN || !token.0.bytes().all(is_usable) {
            let why = format!(
                "the token is not one line of {LEAST_TOKEN} visible characters or more (try: openssl rand -hex 16)"
            );
            faults.push(secret_fault("events-token-file", why));
        }
        Some(token)
    }

    fn check_output(&self, faults: &mut Vec<Fault>) -> Option<OutputFile> {
        if self.output.is_none() && self.output_size.is_some() {
            let why = "standard output cannot be rotated (try --output too)".to_owned();
            faults.push(fault(&["output-size"], why));
        }
        if self.output_size.is_none() && self.output_keep.is_some() {
            let why =
                "it needs output-size, without which nothing is rotated (try output-size too)"
                    .to_owned();
            faults.push(fault(&["output-keep"], why));
        }
        if let Some(size) = self.output_size
            && size < SMALLEST_OUTPUT
        {
            let why = format!("{size} is too small to rotate at (try {SMALLEST_OUTPUT} or more)");
            faults.push(fault(&["output-size"], why));
        }
        if self.output_keep == Some(0) {
            let why = "0 is not a possible number of files (try 1 or more)".to_owned();
            faults.push(fault(&["output-keep"], why));
        }
        let keep = self.output_keep.unwrap_or(DEFAULT_KEEP);
        Some(OutputFile {
            path: self.output.clone()?,
            rotation: self.output_size.map(|size| (size, keep)),
        })
    }
}

/// One CPU is left to the decoding thread.
fn default_receivers() -> usize {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    (cpus - 1).clamp(1, DEFAULT_RECEIVERS)
}
