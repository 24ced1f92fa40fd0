//! `hostint history`: asks the history that a collector keeps.

mod accept;
mod question;

use std::io::{self, IsTerminal};
use std::time::SystemTime;

use anyhow::{Result, anyhow};
use ratatui::crossterm::terminal;

use super::output::print;
use crate::cli::{HistoryArgs, HistoryCommand, exit};
use crate::daemon::collect::stored_reports::decoder;
use crate::host::advice::Usage;
use crate::host::history::place_to_read;
use crate::model::{
    Answer, DropReasons, History, HostSeen, HostsReporting, NetworkVerdict, Span, VerdictState,
};
use crate::os::{clock, log};
use crate::store::{HOSTS_LAG_NS, HistoryReader, StoreError};
use crate::views::history::View;
use crate::views::hosts::KnownHosts;
use crate::views::table::TextWidth;

/// The number of columns to write in where there is no terminal.
const COLUMNS: usize = 120;

pub fn run(command: &HistoryCommand) -> Result<u8> {
    let args = args_of(command);
    let span = span(args)?;
    if let HistoryCommand::Accept(args) = command {
        // The verdict that is shown is the one that it is about.
        accept::run(args)?;
    }
    let place = place_to_read(args.store.as_deref());
    let decoder = decoder(DropReasons::usual());
    let mut reader = match HistoryReader::open(&place, decoder) {
        Ok(reader) => reader,
        Err(err @ StoreError::Absent(_)) => {
            log::error(format_args!(
                "{err} (hostint collect keeps one; try --store FILE)"
            ));
            return Ok(exit::NOTHING);
        }
        Err(err) => return Err(err.into()),
    };
    let seen = reader.hosts()?;
    let question = question::of(command, &seen)?;
    let is_known = match question.flow() {
        Some(id) => reader.flow(id, span)?.is_some(),
        None => true,
    };
    let answer = is_known.then(|| question.ask(&mut reader, span));
    let Some(answer) = answer.transpose()?.flatten() else {
        log::error(format_args!("no such flow in {}", place.display()));
        return Ok(exit::NOTHING);
    };
    let view = View(&answer);
    let hosts = KnownHosts::new(&seen, reporting(&seen, span));
    let text = if args.json {
        view.json(span, &hosts)
    } else if args.csv {
        view.csv(&hosts)
            .map_err(|err| anyhow!("cannot write CSV: {err}"))?
    } else {
        let width = width();
        let hosts = match width.folds {
            true => hosts.cut_to(width.columns),
            false => hosts,
        };
        view.text(span, width, &hosts)
    };
    print(&text)?;
    Ok(match (command, &answer) {
        (HistoryCommand::Verdict { check: true, .. }, Answer::Verdict { verdict, .. }) => {
            let verdict = verdict.as_deref();
            match verdict.is_some_and(NetworkVerdict::is_silenced) {
                true => exit::OK,
                false => exit_code(verdict.map(|verdict| verdict.state)),
            }
        }
        _ => exit::OK,
    })
}

/// The exit status of `history verdict --check`.
fn exit_code(state: Option<VerdictState>) -> u8 {
    match state {
        Some(VerdictState::Healthy) => exit::OK,
        Some(VerdictState::Degraded) => exit::DEGRADED,
        Some(VerdictState::Measurement) => exit::MEASUREMENT,
        Some(VerdictState::CannotTell) | None => exit::CANNOT_TELL,
    }
}

/// How many hosts report, if the question is about the present.
fn reporting(seen: &[HostSeen], span: Span) -> Option<HostsReporting> {
    let now_ns = clock::realtime_ns();
    let present = now_ns.saturating_sub(span.until_ns) < HOSTS_LAG_NS;
    present.then(|| HostsReporting::at(seen, now_ns, HOSTS_LAG_NS))
}

fn args_of(command: &HistoryCommand) -> &HistoryArgs {
    match command {
        HistoryCommand::Accept(args) => &args.history,
        HistoryCommand::Flows(args) => &args.history,
        HistoryCommand::Hops(args) => &args.history,
        HistoryCommand::Queues(args) => &args.history,
        HistoryCommand::Tcp(args) => &args.history,
        HistoryCommand::Pairs { history, .. }
        | HistoryCommand::Verdict { history, .. }
        | HistoryCommand::Why { history, .. }
        | HistoryCommand::Classes { history }
        | HistoryCommand::Coverage { history }
        | HistoryCommand::Flow { history, .. }
        | HistoryCommand::Series { history, .. }
        | HistoryCommand::Reports { history, .. }
        | HistoryCommand::Path { history, .. }
        | HistoryCommand::Segments { history, .. }
        | HistoryCommand::Drops { history, .. }
        | HistoryCommand::Info { history } => history,
    }
}

fn span(args: &HistoryArgs) -> Result<Span> {
    let now = SystemTime::now();
    let span = Span {
        since_ns: args.since.ns(now),
        until_ns: args.until.ns(now),
    };
    if span.since_ns >= span.until_ns {
        let said = "--since is not before --until".to_owned();
        return Err(Usage(said).into());
    }
    Ok(span)
}

/// The columns to write in: what COLUMNS says, else those of the terminal, else [`COLUMNS`].
fn width() -> TextWidth {
    let folds = io::stdout().is_terminal();
    let reported = std::env::var("COLUMNS").ok();
    let reported = reported.and_then(|text| text.parse().ok());
    let of_terminal = || folds.then(terminal::size)?.ok();
    let columns = reported.or_else(|| of_terminal().map(|(columns, _)| usize::from(columns)));
    TextWidth {
        columns: columns.filter(|columns| *columns > 0).unwrap_or(COLUMNS),
        folds,
    }
}
