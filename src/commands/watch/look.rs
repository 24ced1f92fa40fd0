//! One look at the host, by its pins or by asking the daemon.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::control::{ControlAnswer, Form};
use crate::daemon::collect::stored_reports::decoder;
use crate::host::ask;
use crate::host::state::{self, HostState, StatusQuery};
use crate::model::{DropReasons, History, HostStatus, NodeId, PathFigures, PathQuery, Span};
use crate::os::clock;
use crate::store::HistoryReader;
use crate::views::hosts::KnownHosts;
use crate::views::watch::SentPaths;

/// The least number of flows and peers that the daemon is asked for. It is not asked for all: it has other work.
const ASKED: usize = 1000;

/// The time that a history is asked for: its last periods, which a person watches.
const WAY_NS: u64 = 300_000_000_000;

/// How to look.
#[derive(Clone, Debug)]
pub struct Looker {
    bpffs: Option<PathBuf>,
    control: Option<PathBuf>,
    query: StatusQuery,
    store: Option<PathBuf>,
}

impl Looker {
    pub fn new(bpffs: Option<&Path>, control: Option<&Path>, query: StatusQuery) -> Self {
        Self {
            bpffs: bpffs.map(Path::to_owned),
            control: control.map(Path::to_owned),
            query,
            store: None,
        }
    }

    /// Asks this history for the ways of packets.
    pub fn with_store(self, store: Option<PathBuf>) -> Self {
        Self { store, ..self }
    }

    /// What the history says of the paths from a node to this host.
    pub fn paths(&self, source: NodeId, status: &HostStatus) -> Option<SentPaths> {
        let (store, sink) = (self.store.as_deref()?, status.node_id?);
        let until_ns = clock::realtime_ns();
        let span = Span {
            since_ns: until_ns.saturating_sub(WAY_NS),
            until_ns,
        };
        let sent = SentPaths {
            source,
            since_ns: span.since_ns,
            until_ns,
            ..SentPaths::default()
        };
        Some(
            match read_paths(store, PathQuery::Pair { source, sink }, span) {
                Ok((paths, hosts)) => SentPaths {
                    paths,
                    hosts,
                    ..sent
                },
                Err(err) => SentPaths {
                    trouble: Some(format!("{err:#}")),
                    ..sent
                },
            },
        )
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

fn read_paths(
    store: &Path,
    query: PathQuery,
    span: Span,
) -> Result<(Vec<PathFigures>, KnownHosts)> {
    let mut history = HistoryReader::open(store, decoder(DropReasons::usual()))?;
    let hosts = KnownHosts::new(&history.hosts()?, None);
    Ok((history.paths(query, span)?, hosts))
}

fn status_of(answer: ControlAnswer) -> Result<serde_json::Value> {
    answer.status.context("the daemon's answer holds no status")
}
