//! A table [[limits]]: what is not acceptable, whatever is usual.

use std::str::FromStr;

use clap::Args;

use super::duration::TimeSpan;
use super::mistake::{Fault, fault};
use crate::model::{LimitEnd, TrafficLimit};

/// The most tables.
pub(super) const MOST_LIMITS: usize = 64;

/// A share of packets in whole parts of a thousand million.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LossShare(pub u64);

impl FromStr for LossShare {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = text.strip_suffix('%').map(str::trim_end);
        let percent = percent.and_then(|number| number.parse::<f64>().ok());
        match percent.filter(|percent| (0.0..100.0).contains(percent)) {
            Some(percent) => Ok(Self((percent * 1e7).round() as u64)),
            None => Err("not a share below 100 % (write for instance 0.1%)".to_owned()),
        }
    }
}

/// The keys of a table [[limits]].
#[derive(Args, Clone, Debug, Default)]
pub struct LimitOptions {
    /// Only packets of this class
    #[arg(long, value_name = "CLASS")]
    pub class: Option<String>,

    /// Only packets from this node, or from nodes with this label: web-1, 7, rack=r1
    #[arg(long, value_name = "NODE|LABEL=VALUE")]
    pub from: Option<String>,

    /// Only packets to this node, or to nodes with this label
    #[arg(long, value_name = "NODE|LABEL=VALUE")]
    pub to: Option<String>,

    /// The greatest acceptable latency of 99 of a hundred packets
    #[arg(long, value_name = "TIME")]
    pub latency: Option<TimeSpan>,

    /// The greatest acceptable share of lost packets, such as 0.1%
    #[arg(long, value_name = "SHARE")]
    pub loss: Option<LossShare>,
}

fn end(key: &'static str, given: Option<String>, faults: &mut Vec<Fault>) -> Option<LimitEnd> {
    let text = given?;
    let end = match text.split_once('=') {
        Some((label, value)) => LimitEnd::Label {
            label: label.to_owned(),
            value: value.to_owned(),
        },
        None => LimitEnd::Node(text.clone()),
    };
    if text.split('=').any(str::is_empty) {
        let why = format!("{text:?} names no nodes (try web-1, an id, or rack=r1)");
        faults.push(fault(&[key], why));
    }
    Some(end)
}

impl LimitOptions {
    /// # Errors
    /// All faults.
    pub fn check(self) -> Result<TrafficLimit, Vec<Fault>> {
        let mut faults = Vec::new();
        if self.latency.is_none() && self.loss.is_none() {
            let why = "no limit (try latency = \"5ms\" or loss = \"0.1%\")";
            faults.push(fault(&["latency", "loss"], why));
        }
        let from = end("from", self.from, &mut faults);
        let to = end("to", self.to, &mut faults);
        match faults.is_empty() {
            true => Ok(TrafficLimit {
                class: self.class.map(Box::from),
                from,
                to,
                latency_ns: self.latency.map(TimeSpan::as_ns),
                loss_ppb: self.loss.map(|LossShare(ppb)| ppb),
            }),
            false => Err(faults),
        }
    }
}
