//! IPFIX (RFC 7011): flow collectors get a record of each flow and interval.

mod message;
mod record;
mod template;
mod traffic;
mod transport;

use std::io::{self, ErrorKind};
use std::time::Duration;

use super::clock::now_ns;
use super::{Accepted, Engine, Pace, Parcel, Trouble};
use message::{Frame, Message, messages};
use record::Records;
use template::Statistics;
use traffic::Traffic;
use transport::{Session, TCP_BYTES, send_by_tcp};

/// A parcel has no more reports, and so no more flows: an interval with more ends early.
const MOST_REPORTS: usize = 32 << 10;

/// A report in the queue takes no more memory, unless it is a rare one.
const REPORT_BYTES: usize = 2 << 10;

/// Over UDP, templates come again after so many messages of a parcel, besides with each.
const UDP_REFRESH: usize = 512;

/// By what messages travel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Transport {
    Tcp,
    Udp,
}

/// What can be chosen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Settings {
    /// `HOST:PORT` of the collecting process.
    pub collector: String,
    pub transport: Transport,
    pub domain: u32,
    pub interval: Duration,
    /// Bytes of the engine's queue: an interval ends before it is full.
    pub queue: usize,
}

/// An exporting process of flows.
pub struct Ipfix {
    settings: Settings,
    session: Option<Session>,
    traffic: Traffic,
    statistics: Statistics,
    /// Reports in parcels so far.
    taken: u64,
    /// What the parcel with this number comes to, until it is delivered: the same when it is sent again.
    parcel: Option<(u64, Records)>,
}

impl Ipfix {
    pub fn new(settings: Settings) -> Self {
        let statistics = Statistics {
            domain: settings.domain,
            ..Statistics::default()
        };
        Self {
            settings,
            session: None,
            traffic: Traffic::default(),
            statistics,
            taken: 0,
            parcel: None,
        }
    }

    /// Numbers that no parcel has were dropped on the way here.
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
        let count = |message: &Message| {
            now.messages += 1;
            now.records += u64::from(message.flows);
            now.octets += message.bytes.len() as u64;
        };
        let mut frame = Frame {
            most_bytes: TCP_BYTES,
            time_s: (now_ns / 1_000_000_000) as u32,
            sequence: 0,
            // A connection keeps them.
            refresh: usize::MAX,
        };
        let destination = &self.settings.collector;
        match self.settings.transport {
            Transport::Tcp => {
                let messages = messages(&records.flows, &before, frame);
                send_by_tcp(destination, &messages, count)
            }
            Transport::Udp => {
                let session = match &mut self.session {
                    Some(session) => session,
                    none => none.insert(Session::open(destination)?),
                };
                frame.most_bytes = session.most_bytes();
                frame.sequence = session.sequence;
                frame.refresh = UDP_REFRESH;
                let sent = session.send(&messages(&records.flows, &before, frame), count);
                // A port without a listener does not end a session; an address that went away does.
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
        let sent = match records.flows.is_empty() {
            true => Ok(()),
            false => self.send(&records, now_ns),
        };
        if let Err(err) = sent {
            let Settings {
                collector,
                transport,
                ..
            } = &self.settings;
            let (by, try_this) = match transport {
                Transport::Tcp => (
                    "TCP",
                    "is an IPFIX collector there? try --ipfix-transport udp for nfdump and pmacct",
                ),
                Transport::Udp => ("UDP", "is an IPFIX collector there?"),
            };
            self.parcel = Some((parcel.number, records));
            let why = format!("cannot deliver to {collector} by {by}: {err} ({try_this})");
            return Err(Trouble::Later(why));
        }
        let refused = records.without_flow;
        Ok(Accepted {
            refused,
            why: (refused > 0).then(|| "they show no flow, and IPFIX records are of flows".into()),
        })
    }
}
