//! `hostint status`: pinned maps become something to look at, daemon alive or not.

mod read;

use std::io;
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use super::{advise_pins, ask, check_config, preflight, print};
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
    let status = match read_here(bpffs, args) {
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

fn read_here(bpffs: Option<&Path>, args: &StatusArgs) -> Result<HostStatus> {
    let wanted = Wanted {
        flows: args.flows,
        peers: args.peers,
        sort: args.sort,
    };
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
