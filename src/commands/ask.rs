//! `hostint status` of somebody who may not read what is pinned: the daemon is asked.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde_json::Value;

use super::control::{Patient, path_of};
use super::print;
use super::status::Wanted;
use crate::cli::StatusArgs;
use crate::control::{ControlAnswer, Form, Query, Request};

/// So long a client waits for the daemon.
const WAIT: Duration = Duration::from_secs(20);
/// Longer than any answer.
const LONGEST_ANSWER: u64 = 1 << 30;

/// Shows what the daemon answers, and returns whether anything runs.
pub fn status(args: &StatusArgs) -> Result<bool> {
    let sort = args.sort.to_possible_value();
    let query = Query {
        form: if args.json { Form::Json } else { Form::Text },
        flows: args.flows,
        peers: args.peers,
        sort: sort.map_or_else(String::new, |sort| sort.get_name().to_owned()),
        all: args.all,
    };
    let answer = ask(args.control.as_deref(), &Request::Status(query))?;
    match (answer.status, answer.text) {
        (Some(status), _) => print(&format!("{status}\n"))?,
        (None, Some(text)) => print(&text)?,
        (None, None) => bail!("the daemon's answer holds no status"),
    }
    Ok(answer.runs.unwrap_or(true))
}

/// The daemon's own words, an object of the schema hostint.status/1.
pub fn look(control: Option<&Path>, wanted: Wanted) -> Result<Value> {
    let sort = wanted.sort.to_possible_value();
    let query = Query {
        form: Form::Json,
        flows: wanted.flows,
        peers: wanted.peers,
        sort: sort.map_or_else(String::new, |sort| sort.get_name().to_owned()),
        all: false,
    };
    let answer = ask(control, &Request::Status(query))?;
    answer.status.context("the daemon's answer holds no status")
}

fn ask(given: Option<&Path>, request: &Request) -> Result<ControlAnswer> {
    let path = path_of(given)?;
    let end = Instant::now() + WAIT;
    let socket = UnixStream::connect(&path)
        .with_context(|| format!("cannot ask the daemon at {}", path.display()))?;
    let mut socket = Patient { socket, end };
    socket.write_all(&request.to_line()?)?;
    socket.socket.shutdown(Shutdown::Write)?;
    let mut line = Vec::new();
    socket
        .take(LONGEST_ANSWER)
        .read_to_end(&mut line)
        .context("cannot read the daemon's answer")?;
    let answer: ControlAnswer =
        serde_json::from_slice(&line).context("cannot understand the daemon's answer")?;
    if let Some(why) = answer.error {
        bail!("the daemon refuses: {why}");
    }
    Ok(answer)
}
