//! One look at the host: by its pins, or by asking the daemon where this user may not read them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cli::StatusArgs;
use crate::commands::ask;
use crate::commands::status::{self, Seen, Wanted};
use crate::model::HostStatus;

/// Flows and peers that the daemon is asked for: it does other things, too.
const ASKED: usize = 1000;

/// How to look.
#[derive(Clone, Debug)]
pub struct Looker {
    bpffs: Option<PathBuf>,
    control: Option<PathBuf>,
    wanted: Wanted,
}

impl Looker {
    pub fn new(bpffs: Option<&Path>, args: &StatusArgs) -> Self {
        Self {
            bpffs: bpffs.map(Path::to_owned),
            control: args.control.clone(),
            wanted: Wanted::of(args),
        }
    }

    /// Everything there is, if it may be read.
    pub fn all(&self) -> Result<HostStatus> {
        let all = Wanted {
            flows: usize::MAX,
            peers: usize::MAX,
            ..self.wanted
        };
        let asked = Wanted {
            flows: self.wanted.flows.max(ASKED),
            peers: self.wanted.peers.max(ASKED),
            ..self.wanted
        };
        let ask = || ask::look(self.control.as_deref(), asked);
        match status::look(self.bpffs.as_deref(), all, ask)? {
            Seen::Here(status) => Ok(*status),
            Seen::Asked(value) => serde_json::from_value(value)
                .context("cannot understand the daemon's answer (is it of another version?)"),
        }
    }

    /// What was asked for on the command line, as a line.
    pub fn json(&self) -> Result<String> {
        let ask = || ask::look(self.control.as_deref(), self.wanted);
        Ok(
            match status::look(self.bpffs.as_deref(), self.wanted, ask)? {
                Seen::Here(status) => format!("{}\n", serde_json::to_string(&status)?),
                Seen::Asked(value) => format!("{value}\n"),
            },
        )
    }
}
