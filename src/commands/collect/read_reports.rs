//! `hostint collect --read`: a file of reports becomes lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use crate::cli::{CollectArgs, exit};
use crate::collector::LineReader;
use crate::collector::capture::Capture;
use crate::collector::datagram::{self, NoDatagram};
use crate::engines::Engines;
use crate::model::{Arrival, REPORT_PORT, Record};
use crate::store::{Opened, Store};
use crate::wire::probe;

use super::engines;
use super::report_lines::ReportLines;
use crate::commands::{give_up, keeping};

/// Lines that are no reports and are named; the others are counted only.
const NAMED_LINES: u64 = 5;

/// Packets of a capture, by what they were.
#[derive(Default)]
struct Packets {
    seen: u64,
    datagrams: u64,
    probes: u64,
    other: u64,
    fragments: u64,
    cut: u64,
    unknown_link: u64,
    wrong_checksum: u64,
}

pub(super) fn run(
    file: &Path,
    args: &CollectArgs,
    store: Option<Opened>,
    engines: impl FnOnce() -> Result<Engines>,
    reports: &mut ReportLines<impl Write>,
) -> Result<u8> {
    let live = file == Path::new("-");
    let name = match live {
        true => "standard input".to_owned(),
        false => file.display().to_string(),
    };
    let reader: Box<dyn Read> = match live {
        true => Box::new(io::stdin().lock()),
        false => Box::new(File::open(file).with_context(|| format!("cannot open {name}"))?),
    };
    // What strangers sent is read from here on, and nothing else is done.
    give_up(&[])?;
    let store = keeping::start(store)?;
    reports.keeper = store.as_ref().map(Store::keeper);
    let mut engines = engines()?;
    reports.feed = (!engines.is_empty()).then(|| engines.feed());
    let mut reader = BufReader::new(reader);
    let first = reader
        .fill_buf()
        .with_context(|| format!("cannot read {name}"))?;
    let is_json = first.first() == Some(&b'{');
    let result = if is_json {
        read_lines(reader, &name, args, live, reports)
    } else {
        read_capture(reader, &name, args, live, reports)
    };
    let flushed = reports.flush();
    (reports.keeper, reports.feed) = (None, None);
    let delivered = engines::finish(engines, true);
    keeping::finish(store)?;
    delivered?;
    match flushed {
        Err(err) if err.kind() != io::ErrorKind::BrokenPipe => {
            Err(err).context("cannot write reports to standard output")
        }
        _ => result,
    }
}

/// Whether to go on: nobody may be listening any more.
fn written(result: io::Result<()>) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(err) if err.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(err) => Err(err).context("cannot write reports to standard output"),
    }
}

fn read_capture(
    reader: impl Read,
    name: &str,
    args: &CollectArgs,
    live: bool,
    reports: &mut ReportLines<impl Write>,
) -> Result<u8> {
    let ports = match args.port.as_slice() {
        [] => &[REPORT_PORT],
        ports => ports,
    };
    let mut capture = Capture::new(reader);
    let mut packets = Packets::default();
    let end = loop {
        if args.count.is_some_and(|count| packets.datagrams >= count) {
            break Ok(());
        }
        let captured = match capture.next_packet() {
            Ok(Some(captured)) => captured,
            Ok(None) => break Ok(()),
            Err(err) => break Err(anyhow!("cannot read {name} to its end: {err}")),
        };
        packets.seen += 1;
        let found = match datagram::find(&captured, ports) {
            Ok(found) => found,
            Err(why) => {
                packets.count(why);
                continue;
            }
        };
        if probe::decode(found.payload).is_ok() {
            packets.probes += 1;
            continue;
        }
        packets.datagrams += 1;
        packets.wrong_checksum += u64::from(found.wrong_checksum);
        let arrival = Arrival {
            exporter: found.from,
            received_ns: captured.time_ns,
        };
        let mut result = reports.datagram(found.payload, arrival);
        if live {
            result = result.and_then(|()| reports.flush());
        }
        if !written(result)? {
            break Ok(());
        }
    };
    reports.summarize_exporters();
    eprintln!("hostint: {name}: {packets}, {}", reports.summary());
    if packets.seen > 0 && packets.datagrams == 0 && end.is_ok() {
        eprintln!(
            "hostint: no packet goes to UDP port {} (try --port)",
            joined(ports)
        );
    }
    end.map(|()| exit::OK)
}

fn joined(ports: &[u16]) -> String {
    let ports: Vec<_> = ports.iter().map(u16::to_string).collect();
    ports.join(" or ")
}

impl Packets {
    fn count(&mut self, why: NoDatagram) {
        *match why {
            NoDatagram::Other => &mut self.other,
            NoDatagram::Fragment => &mut self.fragments,
            NoDatagram::Cut => &mut self.cut,
            NoDatagram::Link => &mut self.unknown_link,
        } += 1;
    }
}

impl std::fmt::Display for Packets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} packets, {} datagrams", self.seen, self.datagrams)?;
        for (count, what) in [
            (self.wrong_checksum, "with a wrong checksum"),
            (self.probes, "probes"),
            (self.other, "other"),
            (self.fragments, "fragments of UDP"),
            (self.cut, "cut by the capture"),
            (self.unknown_link, "of an unknown link type"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        Ok(())
    }
}

fn read_lines(
    reader: impl BufRead,
    name: &str,
    args: &CollectArgs,
    live: bool,
    reports: &mut ReportLines<impl Write>,
) -> Result<u8> {
    let mut lines = LineReader::new(reader);
    let (mut number, mut read, mut bad) = (0_u64, 0_u64, 0_u64);
    let end = loop {
        if args.count.is_some_and(|count| read >= count) {
            break Ok(());
        }
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => break Ok(()),
            Err(err) => break Err(err).with_context(|| format!("cannot read {name} to its end")),
        };
        number += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let read_back = Record::read_line(line).and_then(|record| Ok((record.report()?, record)));
        let mut result = match read_back {
            Ok((report, record)) => {
                read += 1;
                reports.read_back(&record, report, line)
            }
            Err(err) => {
                bad += 1;
                if bad <= NAMED_LINES {
                    eprintln!("hostint: {name} line {number}: {err}");
                }
                Ok(())
            }
        };
        if live {
            result = result.and_then(|()| reports.flush());
        }
        if !written(result)? {
            break Ok(());
        }
    };
    reports.summarize_exporters();
    eprintln!("hostint: {name}: {number} lines, {read} reports, {bad} unreadable lines");
    end.map(|()| exit::OK)
}
