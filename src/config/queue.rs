//! What is asked of the queues of an interface, as one word, `eth1=trigger:200us,reset:100us,quota:1024`, or as a table.

use std::str::FromStr;

use clap::Args;

use super::duration::TimeSpan;
use super::mistake::{Fault, fault};
use super::size::Size;
use crate::model::{QueueLimits, QueueMeasure, QueueRule};

/// The packets of an episode that are reported unless another number is given.
const USUAL_QUOTA: u32 = 1024;
const MOST_QUOTA: u32 = 65_536;

/// The most rules of queues.
pub(super) const MOST_QUEUES: usize = 64;

/// The form of the word, for messages.
const FORM: &str = "write for instance eth1=trigger:200us,reset:100us,quota:1024";

/// What is wrong with a rule if one before it is about the same.
pub(super) fn repeated<'a>(
    rule: &QueueRule,
    mut before: impl Iterator<Item = &'a QueueRule>,
) -> Option<String> {
    let dev = &rule.dev;
    let same = |one: &QueueRule| (&one.dev, one.queue) == (dev, rule.queue);
    before
        .any(same)
        .then(|| format!("{dev} has settings already (leave one of them out)"))
}

/// What is wrong with this number of rules.
pub(super) fn too_many(given: usize) -> String {
    format!("{given} are too many (at most {MOST_QUEUES} are possible)")
}

/// A table [[queue]]: the same key by key, for several interfaces.
#[derive(Args, Clone, Debug, Default)]
pub struct QueueOptions {
    /// Names of interfaces; * and ? stand for any characters and for one
    #[arg(long, value_name = "DEV", value_delimiter = ',')]
    pub dev: Vec<String>,

    /// The number of a tx queue [default: all that have no rule of their own]
    #[arg(long, value_name = "N")]
    pub queue: Option<u32>,

    /// An episode begins with a packet that took as long, or found as many bytes: 200us or 200k
    #[arg(long, value_name = "TIME|BYTES")]
    pub trigger: Option<String>,

    /// It ends below this [default: half of the trigger]
    #[arg(long, value_name = "TIME|BYTES")]
    pub reset: Option<String>,

    /// Packets of an episode that are reported [default: 1024]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=MOST_QUOTA as i64))]
    pub quota: Option<u32>,
}

impl QueueOptions {
    /// A rule for each name.
    ///
    /// # Errors
    /// All faults.
    pub fn check(self) -> Result<Vec<QueueRule>, Vec<Fault>> {
        let mut faults = Vec::new();
        if self.dev.is_empty() {
            faults.push(fault(&["dev"], "no interface (try dev = \"eth0\")"));
        }
        let limits = limits(self.trigger.as_deref(), self.reset.as_deref(), self.quota);
        let limits = limits.map_err(|why| faults.push(fault(&["trigger", "reset"], why)));
        match limits {
            Ok(limits) if faults.is_empty() => {
                let rule = |dev| QueueRule {
                    dev,
                    queue: self.queue,
                    limits,
                };
                Ok(self.dev.into_iter().map(rule).collect())
            }
            _ => Err(faults),
        }
    }
}

/// Fills in defaults.
fn limits(
    trigger: Option<&str>,
    reset: Option<&str>,
    quota: Option<u32>,
) -> Result<QueueLimits, String> {
    let trigger = trigger.ok_or_else(|| format!("no trigger ({FORM})"))?;
    let (measure, trigger) = level(trigger)?;
    if trigger == 0 {
        return Err("a trigger of 0 has every packet over it (try 200us)".to_owned());
    }
    let (same, reset) = match reset {
        Some(reset) => level(reset)?,
        None => (measure, trigger / 2),
    };
    if same != measure {
        return Err("trigger and reset must be both times, or both bytes".to_owned());
    }
    if reset > trigger {
        return Err("the reset is above the trigger (try half of it)".to_owned());
    }
    Ok(QueueLimits {
        measure,
        trigger,
        reset,
        quota: quota.unwrap_or(USUAL_QUOTA),
    })
}

impl FromStr for QueueRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (dev, settings) = text
            .split_once('=')
            .filter(|(dev, _)| !dev.is_empty())
            .ok_or_else(|| format!("no interface with settings ({FORM})"))?;
        let (mut trigger, mut reset, mut quota, mut queue) = (None, None, None, None);
        for setting in settings.split(',') {
            let (key, value) = setting
                .split_once(':')
                .ok_or_else(|| format!("{setting:?} is no setting with a value ({FORM})"))?;
            let is_again = match key {
                "trigger" => trigger.replace(value).is_some(),
                "reset" => reset.replace(value).is_some(),
                "quota" => quota.replace(quota_of(value)?).is_some(),
                "queue" => queue.replace(queue_of(value)?).is_some(),
                _ => {
                    return Err(format!(
                        "{key:?} is no setting of a queue (expected trigger, reset, quota or queue)"
                    ));
                }
            };
            if is_again {
                return Err(format!("{key} is given twice"));
            }
        }
        Ok(Self {
            dev: dev.to_owned(),
            queue,
            limits: limits(trigger, reset, quota)?,
        })
    }
}

/// A time has a unit of time; bytes have none, or k, M, G.
fn level(text: &str) -> Result<(QueueMeasure, u64), String> {
    let is_size = text.ends_with(|c: char| c.is_ascii_digit() || "kKMGT".contains(c));
    match is_size {
        true => text.parse().map(|Size(bytes)| (QueueMeasure::Bytes, bytes)),
        false => text
            .parse()
            .map(|time: TimeSpan| (QueueMeasure::Time, time.as_ns())),
    }
    .map_err(|why| format!("{text:?}: {why}"))
}

fn quota_of(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|quota| *quota <= MOST_QUOTA);
    number.ok_or_else(|| format!("{text:?} is no quota (expected 0 to {MOST_QUOTA} packets)"))
}

fn queue_of(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|queue| *queue < u32::MAX);
    number.ok_or_else(|| format!("{text:?} is no number of a queue (expected 0, 1 ...)"))
}
