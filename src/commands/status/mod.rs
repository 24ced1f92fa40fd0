//! `hostint status`: pinned maps become something to look at, daemon alive or not.

mod read;

use std::io;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

use super::{advise_pins, ask, check_config, preflight, print, watch};
use crate::cli::{StatusArgs, exit};
use crate::datapath::pins::Pins;
use crate::model::{HostStatus, STATUS_SCHEMA};
use crate::os::log;
use crate::views;

pub(super) use read::sink_attachments;
pub use read::{Wanted, read, read_and_visit};

pub fn run(bpffs: Option<&Path>, args: &StatusArgs) -> Result<u8> {
    if let Some(path) = &args.check_config {
        return check_config::run(path, args.json);
    }
    if args.preflight {
        return preflight::run(bpffs, args);
    }
    if let Some(interval) = args.watch {
        return watch::run(bpffs, args, interval.0);
    }
    let status = match read_here(bpffs, Wanted::of(args)) {
        Ok(status) => status,
        Err(err) if is_denied(&err) => {
            let runs = ask::status(args)
                .map_err(|asked| anyhow!("{:#}; {asked:#}", advise_any(err)))
                .context("cannot read the state of this host")?;
            return Ok(if runs { exit::OK } else { exit::NOTHING });
        }
        Err(err) => return Err(advise_any(err)).context("cannot read the state of this host"),
    };
    let runs = runs(&status);
    if args.json {
        print(&format!("{}\n", serde_json::to_string(&status)?))?;
    } else if runs {
        print(
            &views::status::Text {
                status: &status,
                all: args.all,
            }
            .to_string(),
        )?;
    } else {
        log::info("nothing of hostint runs on this host (network namespace)");
    }
    Ok(if runs { exit::OK } else { exit::NOTHING })
}

/// A look at this host.
pub enum Seen {
    Here(Box<HostStatus>),
    /// What the daemon said.
    Asked(Value),
}

/// Reads the state, or asks for it where this user may not read it.
pub fn look(
    bpffs: Option<&Path>,
    wanted: Wanted,
    ask: impl FnOnce() -> Result<Value>,
) -> Result<Seen> {
    match read_here(bpffs, wanted) {
        Ok(status) => Ok(Seen::Here(Box::new(status))),
        Err(err) if is_denied(&err) => ask()
            .map(Seen::Asked)
            .map_err(|asked| anyhow!("{:#}; {asked:#}", advise_any(err))),
        Err(err) => Err(advise_any(err)),
    }
    .context("cannot read the state of this host")
}

fn read_here(bpffs: Option<&Path>, wanted: Wanted) -> Result<HostStatus> {
    match Pins::of_this_host(bpffs, false)? {
        Some(pins) => read(&pins, wanted),
        None => Ok(HostStatus {
            schema: STATUS_SCHEMA,
            node_id: None,
            clock: None,
            sink: None,
            source: None,
            why: Vec::new(),
        }),
    }
}

/// True if something is attached, or a daemon runs.
pub fn runs(status: &HostStatus) -> bool {
    status
        .sink
        .as_ref()
        .is_some_and(|sink| sink.daemon_pid.is_some() || !sink.attachments.is_empty())
        || status
            .source
            .as_ref()
            .is_some_and(|source| !source.attachments.is_empty())
}

fn is_denied(err: &anyhow::Error) -> bool {
    err.downcast_ref::<io::Error>()
        .is_some_and(|err| err.kind() == io::ErrorKind::PermissionDenied)
}

fn advise_any(err: anyhow::Error) -> anyhow::Error {
    match err.downcast::<io::Error>() {
        Ok(err) => advise_pins(err),
        Err(err) => err,
    }
}
