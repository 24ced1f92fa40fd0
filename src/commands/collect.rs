//! `hostint collect`: datagrams become lines.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::give_up;
use super::http::{self, Health};
use crate::cli::{CollectArgs, exit};
use crate::collector::{Exporters, Listener};
use crate::config::{COLLECT_HTTP_PORT, ConfigError, Settled, settle};
use crate::model::{Arrival, COLLECT_SCHEMA, Classes, CollectStatus, ExporterHealth, REPORT_PORT};
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
    let (health, status) = (
        Health::new(),
        Arc::new(Mutex::new(CollectStatus::default())),
    );
    let started_ns = clock::realtime_ns();
    let mut _server = None;
    let serves = http.is_some();
    if let Some(http) = http {
        let told = Arc::clone(&status);
        let status = move || told.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let routes = health.routes().merge(http::collector_metrics(status)?);
        _server = Some(http::serve(http, routes)?);
    }
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
        if Instant::now() >= next_line {
            next_line = Instant::now() + STATE_LINE;
            if notify.listens() {
                notify.status(state_line(&listener, &reports.exporters));
            }
            if serves {
                *status.lock().unwrap_or_else(PoisonError::into_inner) =
                    status_of(started_ns, &listener, &reports.exporters);
            }
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

fn status_of(started_ns: u64, listener: &Listener, exporters: &Exporters) -> CollectStatus {
    let (sums, received) = (exporters.counts(), listener.counts());
    CollectStatus {
        schema: COLLECT_SCHEMA,
        started_ns,
        datagrams: received.datagrams,
        bytes: received.bytes,
        socket_drops: received.kernel_drops,
        receive_errors: received.errors,
        undecodable: sums.undecodable.total(),
        reports: sums.reports,
        reports_lost: sums.numbers.lost,
        reports_duplicate: sums.numbers.duplicates,
        exporters_total: sums.exporters,
        exporters_untracked: sums.untracked,
        exporters: exporters
            .each()
            .into_iter()
            .map(|one| ExporterHealth {
                exporter: one.exporter,
                node: one.node,
                hw_id: one.hw_id,
                reports: one.reports,
                lost: one.numbers.lost,
                duplicates: one.numbers.duplicates,
                restarts: one.numbers.restarts,
                last_seen_ns: 0,
                clock: None,
                clock_synchronised: None,
            })
            .collect(),
        ..CollectStatus::default()
    }
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
