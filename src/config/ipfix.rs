//! Settings of the IPFIX engine.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::duration::TimeSpan;
use super::heading::ENGINES;
use super::mistake::{Fault, fault};
use super::place::port_of;

/// The port that IANA assigned.
pub const IPFIX_PORT: u16 = 4739;

const DEFAULT_INTERVAL: TimeSpan = TimeSpan(Duration::from_secs(10));
const SHORTEST: TimeSpan = TimeSpan(Duration::from_millis(100));
const LONGEST: TimeSpan = TimeSpan(Duration::from_secs(600));

/// The transport protocol of IPFIX messages.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum IpfixTransport {
    /// messages that the collector has not read are sent again
    #[default]
    Tcp,
    /// for collectors without TCP, such as nfdump's and pmacct's: nothing confirms that messages arrive
    Udp,
}

/// Options of the IPFIX engine.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = ENGINES)]
pub struct IpfixOptions {
    /// Export flow records to this IPFIX collector, default port 4739
    #[arg(long, value_name = "HOST[:PORT]")]
    pub ipfix: Option<String>,

    /// Transport protocol of messages [default: tcp]
    #[arg(long, value_name = "TRANSPORT")]
    pub ipfix_transport: Option<IpfixTransport>,

    /// Observation domain ID of the messages [default: 0]
    #[arg(long, value_name = "N")]
    pub ipfix_domain: Option<u32>,

    /// Time that one flow record covers, 100ms to 10m; less if there are many reports [default: 10s]
    #[arg(long, value_name = "TIME")]
    pub ipfix_interval: Option<TimeSpan>,
}

/// Settings of the IPFIX engine, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IpfixConfig {
    /// `HOST:PORT`.
    pub collector: String,
    pub transport: IpfixTransport,
    pub domain: u32,
    pub interval: TimeSpan,
}

impl IpfixOptions {
    /// Checks everything and fills in defaults; `None` if the engine is not used.
    pub fn check(self, faults: &mut Vec<Fault>) -> Option<IpfixConfig> {
        let Some(collector) = self.ipfix else {
            for (given, key) in [
                (self.ipfix_transport.is_some(), "ipfix-transport"),
                (self.ipfix_domain.is_some(), "ipfix-domain"),
                (self.ipfix_interval.is_some(), "ipfix-interval"),
            ] {
                if given {
                    let why = "it needs ipfix, without which nothing is exported (try ipfix too)";
                    faults.push(fault(&[key], why));
                }
            }
            return None;
        };
        let with_port = port_of(&collector, IPFIX_PORT).map(|port| with_port(&collector, port));
        let collector = with_port.unwrap_or_else(|why| {
            let why = format!("cannot export to {collector:?}: {why} (try 192.0.2.9:4739)");
            faults.push(fault(&["ipfix"], why));
            collector
        });
        let interval = self.ipfix_interval.unwrap_or(DEFAULT_INTERVAL);
        if !(SHORTEST..=LONGEST).contains(&interval) {
            let why =
                format!("{interval} is not a possible interval (expected {SHORTEST} to {LONGEST})");
            faults.push(fault(&["ipfix-interval"], why));
        }
        Some(IpfixConfig {
            collector,
            transport: self.ipfix_transport.unwrap_or_default(),
            domain: self.ipfix_domain.unwrap_or(0),
            interval,
        })
    }
}

/// `text` with this port unless it has one.
fn with_port(text: &str, port: u16) -> String {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => SocketAddr::new(address, port).to_string(),
        Err(_) if text.contains(':') => text.to_owned(),
        Err(_) => format!("{text}:{port}"),
    }
}
