//! `hostint collect`: datagrams become lines.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::give_up;
use super::http::{self, Health};
use crate::cli::{CollectArgs, exit};
use crate::collector::{Exporters, Listener};
use crate::config::{COLLECT_HTTP_PORT, ConfigError, Settled, settle};
use crate::model::{Arrival, Classes, REPORT_PORT};
use crate::os::notify::Notify;
use crate::os::{clock, log, resolve, signals};
use crate::views::text::Grouped;

use super::read_reports;
use super::report_lines::ReportLines;
use super::source::find_names;

/// How often the service manager hears how it goes.
const STATE_LINE: Duration = Duration::from_secs(1);

pub fn run(args: &CollectArgs) -> Result<u8> {
    let Settled { config, file } = settle(&args.settings, args.config.as_deref())?;
    let rules = file.map_or_else(Vec::new, |file| file.rules);
    let classes = Classes::new(&find_names(rules)?);
    let mut reports = ReportLines::new(
        io::stdout().lock(),
        config.json,
        config.drop_reasons,
        classes,
    );
    if let Some(file) = &args.read {
        return read_reports::run(file, args, &mut reports);
    }
    let mut listener = if config.listen.is_empty() {
        Listener::bind_default()?
    } else {
        Listener::bind(&listen_addresses(&config.listen)?)?
    };
    let http = http::bind(config.http.as_deref(), COLLECT_HTTP_PORT)?;
    // Datagrams of strangers are read from here on, and nothing else is done.
    give_up(&[])?;
    signals::install().context("cannot handle signals")?;
    for address in listener.local_addresses() {
        log::info(format_args!("collecting on {address}"));
    }
    let health = Health::new();
    let _server = http
        .map(|listener| http::serve(listener, health.routes()))
        .transpose()?;
    health.lacks(Vec::new());
    let mut written = Ok(());
    let mut seen = 0;
    let mut notify = Notify::from_env();
    notify.ready();
    let mut next_line = Instant::now();
    while !signals::ending() && args.count.is_none_or(|count| seen < count) {
        listener.poll(Duration::from_millis(100), |bytes, from| {
            seen += 1;
            if written.is_ok() {
                let arrival = Arrival {
                    exporter: from,
                    received_ns: clock::realtime_ns(),
                };
                written = reports.datagram(bytes, arrival);
            }
        })?;
        if written.is_ok() {
            written = reports.flush();
        }
        if let Err(err) = written {
            if err.kind() == io::ErrorKind::BrokenPipe {
                break;
            }
            return Err(err).context("cannot write reports to standard output");
        }
        if signals::asked() {
            summarize(&listener, &reports);
        }
        notify.alive();
        health.is_alive();
        if notify.listens() && Instant::now() >= next_line {
            next_line = Instant::now() + STATE_LINE;
            notify.status(state_line(&listener, &reports.exporters));
        }
    }
    notify.stopping();
    summarize(&listener, &reports);
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

/// What came, what did not, what could not be read: on stderr, for each exporter and in all.
fn summarize(listener: &Listener, reports: &ReportLines<impl Write>) {
    reports.summarize_exporters();
    let datagrams = listener.counts();
    log::info(format_args!(
        "{} datagrams, {}, {} dropped by the socket",
        datagrams.datagrams,
        reports.summary(),
        datagrams.kernel_drops
    ));
}

/// `3 exporters; 1,234 reports, 2 lost on the way`, and what else went wrong.
fn state_line(listener: &Listener, exporters: &Exporters) -> String {
    let (sums, drops) = (exporters.counts(), listener.counts().kernel_drops);
    let mut line = format!(
        "{} exporter{}; {} reports, {} lost on the way",
        Grouped(sums.exporters as u64),
        if sums.exporters == 1 { "" } else { "s" },
        Grouped(sums.reports),
        Grouped(sums.numbers.lost)
    );
    for (count, what) in [
        (sums.undecodable.total(), "undecodable"),
        (drops, "dropped by the socket"),
    ] {
        if count > 0 {
            line += &format!(", {} {what}", Grouped(count));
        }
    }
    line
}
