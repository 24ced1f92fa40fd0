//! `hostint collect`: datagrams become lines.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};

use super::give_up;
use crate::cli::{CollectArgs, exit};
use crate::collector::{Exporters, Listener, decode};
use crate::config::{ConfigError, settle};
use crate::model::{Arrival, REPORT_PORT, Record};
use crate::os::{clock, resolve, signals};
use crate::views::text::TextLine;

pub fn run(args: &CollectArgs) -> Result<u8> {
    let config = settle(&args.settings, args.config.as_deref())?.config;
    let mut listener = if config.listen.is_empty() {
        Listener::bind_default()?
    } else {
        Listener::bind(&listen_addresses(&config.listen)?)?
    };
    // Datagrams of strangers are read from here on, and nothing else is done.
    give_up(&[])?;
    signals::install().context("cannot handle signals")?;
    for address in listener.local_addresses() {
        eprintln!("hostint: collecting on {address}");
    }
    let mut exporters = Exporters::default();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut written = Ok(());
    let mut seen = 0;
    while !signals::ending() && args.count.is_none_or(|count| seen < count) {
        listener.poll(Duration::from_millis(100), |bytes, from| {
            seen += 1;
            if written.is_ok() {
                written = take(bytes, from, config.json, &mut exporters, &mut out);
            }
        })?;
        if written.is_ok() {
            written = out.flush();
        }
        if let Err(err) = written {
            if err.kind() == io::ErrorKind::BrokenPipe {
                break;
            }
            return Err(err).context("cannot write reports to standard output");
        }
        if signals::asked() {
            summarize(&listener, &exporters);
        }
    }
    summarize(&listener, &exporters);
    Ok(exit::OK)
}

fn listen_addresses(texts: &[String]) -> Result<Vec<SocketAddr>> {
    texts
        .iter()
        .map(|text| {
            resolve::socket_address(text, REPORT_PORT).map_err(|err| {
                ConfigError::one(format!(
                    "cannot listen on {text}: {err} (try 0.0.0.0:32766 or [::]:32766)"
                ))
                .into()
            })
        })
        .collect()
}

fn take(
    bytes: &[u8],
    from: SocketAddr,
    json: bool,
    exporters: &mut Exporters,
    out: &mut impl Write,
) -> io::Result<()> {
    let report = match decode(bytes) {
        Ok(report) => report,
        Err(err) => {
            exporters.undecodable(from.ip(), &err);
            return Ok(());
        }
    };
    exporters.received(from.ip(), &report);
    let arrival = Arrival {
        exporter: from,
        received_ns: clock::realtime_ns(),
    };
    if !json {
        let report = &report;
        return writeln!(out, "{}", TextLine { report, arrival });
    }
    let mut line = Vec::with_capacity(600);
    Record::new(&report, Some(arrival))
        .append_line(&mut line)
        .map_err(io::Error::other)?;
    out.write_all(&line)
}

/// What came, what did not, what could not be read: on stderr, for each exporter and in all.
fn summarize(listener: &Listener, exporters: &Exporters) {
    for exporter in exporters.each() {
        eprintln!(
            "hostint: exporter {} (hw {}): {} reports, {} lost, {} duplicate",
            exporter.exporter,
            exporter.hw_id,
            exporter.numbers.received,
            exporter.numbers.lost,
            exporter.numbers.duplicates
        );
    }
    let mut undecodable: Vec<_> = exporters.undecodable_by_address().collect();
    undecodable.sort_by_key(|(address, _)| *address);
    for (address, counts) in undecodable {
        eprintln!(
            "hostint: exporter {address}: {} undecodable",
            counts.total()
        );
    }
    let (sums, datagrams) = (exporters.counts(), listener.counts());
    eprintln!(
        "hostint: {} datagrams, {} reports from {} exporter{}, {} lost on the way, {} duplicate, {} undecodable, \
         {} dropped by the socket",
        datagrams.datagrams,
        sums.numbers.received + sums.untracked,
        sums.exporters,
        if sums.exporters == 1 { "" } else { "s" },
        sums.numbers.lost,
        sums.numbers.duplicates,
        sums.undecodable.total(),
        datagrams.kernel_drops
    );
}
