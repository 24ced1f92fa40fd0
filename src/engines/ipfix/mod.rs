//! The IPFIX engine (RFC 7011): flow collectors get a record for each flow and interval.

mod message;
mod record;
mod template;
mod traffic;
mod transport;

use std::io::{self, ErrorKind};
use std::time::Duration;

use super::clock::now_ns;
use super::{Accepted, Engine, Pace, Parcel, Trouble};
use message::{IpfixMessage, MessageFrame, messages};
use record::Records;
use template::Statistics;
use traffic::TotalsMemory;
use transport::{TCP_BYTES, UdpSession, send_by_tcp};

/// The most reports of a parcel, and so the most flows. An interval with more reports ends early.
const MOST_REPORTS: usize = 32 << 10;

/// The memory of a report in the queue. Only rare ones take more.
const REPORT_BYTES: usize = 2 << 10;

/// Over UDP, templates are repeated after this many messages of a parcel. Each parcel begins with them anyway.
const UDP_REFRESH: usize = 512;

/// The transport protocol of messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MessageTransport {
    Tcp,
    Udp,
}

/// The settings of the engine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IpfixSettings {
    /// `HOST:PORT` of the collecting process.
    pub collector: String,
    pub transport: MessageTransport,
    pub domain: u32,
    pub interval: Duration,
    /// The bytes of the engine's queue. An interval ends before it is full.
    pub queue: usize,
}

/// An exporting process of flows.
pub struct Ipfix {
    settings: IpfixSettings,
    session: Option<UdpSession>,
    traffic: TotalsMemory,
    statistics: Statistics,
    /// The number of reports in parcels so far.
    taken: u64,
    /// The number and the records of a parcel until it is delivered. It has the same records when it is sent again.
    parcel: Option<(u64, Records)>,
}

impl Ipfix {
    pub fn new(settings: IpfixSettings) -> Self {
        let statistics = Statistics {
            domain: settings.domain,
            ..Statistics::default()
        };
        Self {
            settings,
            session: None,
            traffic: TotalsMemory::default(),
            statistics,
            taken: 0,
            parcel: None,
        }
    }

    /// Makes the records of a parcel. Report numbers that no parcel has were dropped before they came here.
    fn make_records(&mut self, parcel: &Parcel, now_ns: u64) -> Records {
        let records = Records::of(parcel, &mut self.traffic, now_ns);
        let newest = parcel.entries().map(|entry| entry.number).max();
        self.taken += parcel.len() as u64 - records.without_flow as u64;
        self.statistics.not_sent = newest.unwrap_or(0).saturating_sub(self.taken);
        self.statistics.process = parcel.run().0 as u32;
        records
    }

    fn send(&mut self, records: &Records, now_ns: u64) -> io::Result<()> {
        let before = self.statistics;
        let now = &mut self.statistics;
        let count = |message: &IpfixMessage| {
            now.messages += 1;
            now.records += u64::from(message.flows);
            now.octets += message.bytes.len() as u64;
        };
        let mut frame = MessageFrame {
            most_bytes: TCP_BYTES,
            time_s: (now_ns / 1_000_000_000) as u32,
            sequence: 0,
            // A connection keeps templates.
            refresh: usize::MAX,
        };
        let destination = &self.settings.collector;
        match self.settings.transport {
            MessageTransport::Tcp => {
                let messages = messages(&records.flows, &before, frame);
                send_by_tcp(destination, &messages, count)
            }
            MessageTransport::Udp => {
                let session = match &mut self.session {
                    Some(session) => session,
                    none => none.insert(UdpSession::open(destination)?),
                };
                frame.most_bytes = session.most_bytes();
                frame.sequence = session.sequence;
                frame.refresh = UDP_REFRESH;
                let sent = session.send(&messages(&records.flows, &before, frame), count);
                // A port without a listener does not end the session, but an address that is gone does.
                if sent
                    .as_ref()
                    .is_err_and(|err| err.kind() != ErrorKind::ConnectionRefused)
                {
                    self.session = None;
                }
                sent
            }
        }
    }
}

impl Engine for Ipfix {
    fn name(&self) -> &'static str {
        "ipfix"
    }

    fn destination(&self) -> String {
        self.settings.collector.clone()
    }

    fn pace(&self) -> Pace {
        Pace {
            reports: (self.settings.queue / REPORT_BYTES).clamp(1, MOST_REPORTS),
            linger: self.settings.interval,
        }
    }

    fn deliver(&mut self, parcel: &Parcel) -> Result<Accepted, Trouble> {
        let now_ns = now_ns();
        let records = match self.parcel.take() {
            Some((number, records)) if number == parcel.number => records,
            _ => self.make_records(parcel, now_ns),
        };
        let sent = if records.flows.is_empty() {
            Ok(())
        } else {
            self.send(&records, now_ns)
        };
        if let Err(err) = sent {
            let IpfixSettings {
                collector,
                transport,
                ..
            } = &self.settings;
            let (by, try_this) = match transport {
                MessageTransport::Tcp => (
                    "TCP",
                    "is an IPFIX collector there? try --ipfix-transport udp for nfdump and pmacct",
                ),
                MessageTransport::Udp => ("UDP", "is an IPFIX collector there?"),
            };
            self.parcel = Some((parcel.number, records));
            let why = format!("cannot deliver to {collector} by {by}: {err} ({try_this})");
            return Err(Trouble::Later(why));
        }
        let refused = records.without_flow;
        Ok(Accepted {
            refused,
            why: (refused > 0)
                .then(|| "they show no flow, but an IPFIX record describes one".into()),
        })
    }
}
