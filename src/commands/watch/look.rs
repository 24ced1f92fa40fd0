//! One look at the host, by its pins or by asking the daemon.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::control::{ControlAnswer, Form};
use crate::host::ask;
use crate::host::state::{self, HostState, StatusQuery};
use crate::model::HostStatus;

/// The least number of flows and peers that the daemon is asked for. It is not asked for all: it has other work.
const ASKED: usize = 1000;

/// How to look.
#[derive(Clone, Debug)]
pub struct Looker {
    bpffs: Option<PathBuf>,
    control: Option<PathBuf>,
    query: StatusQuery,
}

impl Looker {
    pub fn new(bpffs: Option<&Path>, control: Option<&Path>, query: StatusQuery) -> Self {
        Self {
            bpffs: bpffs.map(Path::to_owned),
            control: control.map(Path::to_owned),
            query,
        }
    }

    fn ask(&self, query: StatusQuery) -> Result<ControlAnswer> {
        ask::status(
            self.control.as_deref(),
            query.to_question(Form::Json, false),
        )
    }

    /// All flows and peers, if this user may read them, else as many as the daemon is asked for.
    pub fn all(&self) -> Result<HostStatus> {
        let all = StatusQuery {
            flows: usize::MAX,
            peers: usize::MAX,
            ..self.query
        };
        let asked = StatusQuery {
            flows: self.query.flows.max(ASKED),
            peers: self.query.peers.max(ASKED),
            ..self.query
        };
        match state::read_or_ask(self.bpffs.as_deref(), self.control.as_deref(), all, || {
            self.ask(asked)
        })? {
            HostState::Read(status) => Ok(*status),
            HostState::Asked(answer) => serde_json::from_value(status_of(answer)?)
                .context("cannot understand the daemon's answer (is it of another version?)"),
        }
    }

    /// What the command line asks for, as a line of JSON.
    pub fn json(&self) -> Result<String> {
        let ask = || self.ask(self.query);
        Ok(
            match state::read_or_ask(
                self.bpffs.as_deref(),
                self.control.as_deref(),
                self.query,
                ask,
            )? {
                HostState::Read(status) => format!("{}\n", serde_json::to_string(&status)?),
                HostState::Asked(answer) => format!("{}\n", status_of(answer)?),
            },
        )
    }
}

fn status_of(answer: ControlAnswer) -> Result<serde_json::Value> {
    answer.status.context("the daemon's answer holds no status")
}
