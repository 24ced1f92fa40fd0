//! `hostint history`: asks the history that a collector keeps, by its file or by its address.

mod accept;

use std::io::{self, IsTerminal};

use anyhow::Result;
use ratatui::crossterm::terminal;

use super::output::print;
use crate::cli::{HistoryCommand, exit, words_behind};
use crate::daemon::collect::stored_reports::decoder;
use crate::daemon::history::{self, remote};
use crate::host::advice::Usage;
use crate::host::history::place_to_read;
use crate::model::{DropReasons, HistoryCall};
use crate::os::log;
use crate::store::{HistoryReader, StoreError};
use crate::views::table::TextWidth;

/// The number of columns to write in where there is no terminal.
const COLUMNS: usize = 120;

pub fn run(command: &HistoryCommand) -> Result<u8> {
    let args = command.args();
    history::span(args)?;
    if let HistoryCommand::Accept(args) = command {
        // The verdict that is shown is the one that it is about.
        accept::run(args)?;
    }
    let reply = match &args.url {
        Some(url) => remote::ask(url, &call()?)?,
        None => {
            let place = place_to_read(args.store.as_deref());
            let mut reader = match HistoryReader::open(&place, decoder(DropReasons::usual())) {
                Ok(reader) => reader,
                Err(err @ StoreError::Absent(_)) => {
                    log::error(format_args!(
                        "{err} (hostint collect keeps one; try --store FILE, or --url COLLECTOR)"
                    ));
                    return Ok(exit::NOTHING);
                }
                Err(err) => return Err(err.into()),
            };
            history::answer(command, &mut reader, width())?
        }
    };
    if let Some(said) = reply.said {
        log::error(said);
    }
    print(&reply.text)?;
    Ok(reply.exit)
}

/// This process's command line, as a collector is asked.
fn call() -> Result<HistoryCall> {
    let args = words_behind("history", "--url");
    // A variable names the usual file, and --url is instead of it.
    if args.iter().any(|word| word.starts_with("--store")) {
        let said = "--url asks a collector, and --store a file (try one of them)";
        return Err(Usage(said.to_owned()).into());
    }
    let TextWidth { columns, folds } = width();
    Ok(HistoryCall {
        args,
        columns,
        folds,
    })
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
