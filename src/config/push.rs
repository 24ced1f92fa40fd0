//! Settings for pushing metrics, which sink and collector share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::duration::TimeSpan;
use super::heading::STATUS;
use super::mistake::{Fault, fault, secret_fault};
use super::otlp::OtlpOptions;
use super::push_headers::{PushHeaders, read_headers};
use super::url::{Purpose, check_url};

const DEFAULT_INTERVAL: Duration = Duration::from_secs(15);
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
const LONGEST_INTERVAL: Duration = Duration::from_secs(3600);

const OTLP: Purpose = Purpose {
    key: "otlp",
    example: "http://192.0.2.9:4318",
    login: "push-headers-file",
};

/// Options for pushing metrics.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = STATUS)]
pub struct PushOptions {
    #[command(flatten)]
    pub otlp: OtlpOptions,

    /// Interval between pushes, 1s to 1h [default: 15s]
    #[arg(long, value_name = "TIME")]
    pub push_interval: Option<TimeSpan>,

    /// File with HTTP headers for --otlp, one line such as "Name: value" for each; readable by its owner only
    #[arg(long, value_name = "PATH")]
    pub push_headers_file: Option<PathBuf>,

    /// Name that distinguishes these metrics from other senders' (the label instance, service.instance.id) [default:
    /// the host's name, for a sink followed by /NODE-ID]
    #[arg(long, value_name = "NAME")]
    pub push_instance: Option<String>,
}

/// Checked settings for pushing metrics.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PushConfig {
    pub otlp: Option<String>,
    pub interval: TimeSpan,
    pub headers: PushHeaders,
    pub instance: Option<String>,
}

impl PushOptions {
    /// Checks everything and fills in defaults.
    pub(super) fn check(self, faults: &mut Vec<Fault>) -> PushConfig {
        let otlp = self.otlp.otlp;
        check_url(&OTLP, otlp.as_deref(), faults);
        let given = [
            ("push-headers-file", self.push_headers_file.is_some()),
            ("push-instance", self.push_instance.is_some()),
        ];
        for (key, _) in given.iter().filter(|(_, given)| *given) {
            if otlp.is_none() {
                let why = "it needs otlp, without which nothing is pushed (try otlp too)";
                faults.push(fault(&[key], why));
            }
        }
        let interval = self.push_interval.unwrap_or(TimeSpan(DEFAULT_INTERVAL));
        if !(SHORTEST_INTERVAL..=LONGEST_INTERVAL).contains(&interval.0) {
            let why = format!("{interval} is not a possible interval (expected 1s to 1h)");
            faults.push(fault(&["push-interval"], why));
        }
        if self.push_instance.as_deref().is_some_and(is_bad_name) {
            let why = "not a usable name (expected 1 to 255 visible characters)";
            faults.push(fault(&["push-instance"], why));
        }
        let headers = self.push_headers_file.as_deref().map(read_headers);
        let headers = headers.transpose().unwrap_or_else(|why| {
            faults.push(secret_fault("push-headers-file", why));
            None
        });
        PushConfig {
            otlp,
            interval,
            headers: headers.unwrap_or_default(),
            instance: self.push_instance,
        }
    }
}

impl PushConfig {
    /// The keys whose values differ.
    pub fn differs(&self, other: &Self) -> impl Iterator<Item = &'static str> {
        [
            ("otlp", self.otlp == other.otlp),
            ("push-interval", self.interval == other.interval),
            ("push-headers-file", self.headers == other.headers),
            ("push-instance", self.instance == other.instance),
        ]
        .into_iter()
        .filter_map(|(key, same)| (!same).then_some(key))
    }
}

fn is_bad_name(name: &str) -> bool {
    !(1..=255).contains(&name.len()) || name.chars().any(|c| c.is_control() || c.is_whitespace())
}
