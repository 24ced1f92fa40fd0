//! `hostint status`: the state of this host, read or asked of the daemon.

use std::path::Path;

use anyhow::{Result, bail};

use super::output::print;
use super::watch::{self, Looker};
use crate::cli::{StatusArgs, exit};
use crate::control::{ControlAnswer, Form};
use crate::host::ask;
use crate::host::off;
use crate::host::state::{self, HostState, StatusQuery};
use crate::model::HostStatus;
use crate::os::log;
use crate::views;

pub fn run(bpffs: Option<&Path>, args: &StatusArgs) -> Result<u8> {
    let query = StatusQuery {
        flows: args.flows,
        peers: args.peers,
        sort: args.sort.into(),
    };
    if let Some(interval) = args.watch {
        return watch::run(
            Looker::new(bpffs, args.control.as_deref(), query).with_store(args.store.clone()),
            args,
            interval.0,
        );
    }
    let form = if args.json { Form::Json } else { Form::Text };
    let ask = || ask::status(args.control.as_deref(), query.to_question(form, args.all));
    let runs = match state::read_or_ask(bpffs, args.control.as_deref(), query, ask)? {
        HostState::Read(status) => show(&status, args)?,
        HostState::Asked(answer) => show_answer(answer)?,
    };
    Ok(if runs { exit::OK } else { exit::NOTHING })
}

/// Prints the state, and returns whether anything runs.
fn show(status: &HostStatus, args: &StatusArgs) -> Result<bool> {
    let runs = state::runs(status);
    if args.json {
        print(&format!("{}\n", serde_json::to_string(status)?))?;
    } else if runs {
        let all = args.all;
        print(&views::status::StatusText { status, all }.to_string())?;
    } else {
        log::info(match status.off_since_ns {
            Some(since_ns) => off::said(since_ns),
            None => "hostint does not run on this host (network namespace)".to_owned(),
        });
    }
    Ok(runs)
}

/// Prints the daemon's answer, and returns whether anything runs. The daemon writes the text: its JSON does not hold
/// all of what the text says of peers.
fn show_answer(answer: ControlAnswer) -> Result<bool> {
    match (answer.status, answer.text) {
        (Some(status), _) => print(&format!("{status}\n"))?,
        (None, Some(text)) => print(&text)?,
        (None, None) => bail!("the daemon's answer holds no status"),
    }
    Ok(answer.runs.unwrap_or(true))
}
