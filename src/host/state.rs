//! The state of this host: read from what is pinned or, where this user may not read that, asked of the daemon.

use std::io;
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use super::advice::advise_pins;
use super::ask;
use super::off;
use crate::control::{ControlAnswer, Form, Query};
use crate::datapath::host::settings_status;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::flow_status::{FlowSelection, VisitFlow};
use crate::datapath::sink::sink_status;
use crate::datapath::source::source_status;
use crate::datapath::transit::transit_status;
use crate::datapath::{self};
use crate::model::{FlowSort, HostStatus, RecentCounts, STATUS_SCHEMA, host_names};
use crate::os::clock;
use crate::views::diagnosis::diagnose;

/// The flows and peers that a status holds.
#[derive(Clone, Copy, Debug)]
pub struct StatusQuery {
    pub flows: usize,
    pub peers: usize,
    pub sort: FlowSort,
}

impl StatusQuery {
    /// The state without single flows and peers.
    pub const NO_FLOWS: Self = Self {
        flows: 0,
        peers: 0,
        sort: FlowSort::Loss,
    };

    /// The state with all peers, without single flows.
    pub const ALL_PEERS: Self = Self {
        peers: usize::MAX,
        ..Self::NO_FLOWS
    };

    /// The same question as the daemon understands it.
    pub fn to_question(self, form: Form, all: bool) -> Query {
        Query {
            form,
            flows: self.flows,
            peers: self.peers,
            sort: self.sort.name().to_owned(),
            all,
        }
    }
}

/// The state of this host.
pub enum HostState {
    /// It was read from the pins.
    Read(Box<HostStatus>),
    /// The daemon answered instead.
    Asked(ControlAnswer),
}

/// Reads the state, or asks for it if this user may not read it. What counters grew by lately is asked of the daemon at
/// this socket in any case: only it remembers.
pub fn read_or_ask(
    bpffs: Option<&Path>,
    control: Option<&Path>,
    query: StatusQuery,
    ask: impl FnOnce() -> Result<ControlAnswer>,
) -> Result<HostState> {
    let denied = match read_here(bpffs, control, query) {
        Ok(status) => return Ok(HostState::Read(Box::new(status))),
        Err(err) => err,
    };
    let failed = if is_denied(&denied) {
        match ask() {
            Ok(answer) => return Ok(HostState::Asked(answer)),
            Err(asked) if is_denied(&asked) => anyhow!(
                "it is for root, and for the group hostint while a sink's daemon runs (try sudo, or usermod -aG hostint USER)"
            ),
            Err(asked) => anyhow!("{:#}; {asked:#}", advise_any(denied)),
        }
    } else {
        advise_any(denied)
    };
    Err(failed).context("cannot read the state of this host")
}

pub fn read_here(
    bpffs: Option<&Path>,
    control: Option<&Path>,
    query: StatusQuery,
) -> Result<HostStatus> {
    match Pins::of_this_host(bpffs, false)? {
        Some(pins) => {
            let recent = ask::recent(control);
            let mut status = read(&pins, query, recent.as_ref())?;
            ask::add_unpinned(&mut status);
            Ok(status)
        }
        None => {
            let mut status = HostStatus {
                off_since_ns: off::since_ns(),
                ..HostStatus::of_nothing()
            };
            ask::add_unpinned(&mut status);
            Ok(status)
        }
    }
}

/// Reads the state from the pins. Some roles have none: their daemons are
/// [asked](ask::add_unpinned).
pub fn read(pins: &Pins, query: StatusQuery, recent: Option<&RecentCounts>) -> Result<HostStatus> {
    read_and_visit(pins, query, recent, None)
}

/// Reads the state from the pins, and shows every flow of the sink to `visit`, during which none may be removed.
pub fn read_and_visit(
    pins: &Pins,
    query: StatusQuery,
    recent: Option<&RecentCounts>,
    visit: Option<VisitFlow<'_>>,
) -> Result<HostStatus> {
    let host = settings_status::read_host(pins)?;
    let flows = FlowSelection {
        most: query.flows,
        sort: query.sort,
    };
    let mut status = HostStatus {
        schema: STATUS_SCHEMA,
        off_since_ns: off::since_ns(),
        node_id: host.as_ref().map(|host| host.node.id),
        node_origin: host.as_ref().map(|host| host.node.origin),
        names: host_names::of_nodes(
            &datapath::host::host_names::read(pins)?,
            clock::realtime_ns(),
        ),
        clock: host.as_ref().and_then(|host| host.clock.clone()),
        budget: host.as_ref().and_then(|host| host.budget),
        sink: sink_status::read(pins, flows, visit)?,
        source: source_status::read(pins)?,
        transit: transit_status::read(pins)?,
        postcards: None,
        tcp: None,
        lacks: host
            .as_ref()
            .map_or_else(Vec::new, |host| host.lacks.lacks()),
        why: Vec::new(),
    };
    // The diagnosis needs all peers.
    status.why = diagnose(&status, recent);
    if let Some(sink) = &mut status.sink {
        sink.grants.truncate(query.peers);
    }
    if let Some(source) = &mut status.source {
        source.peers.truncate(query.peers);
    }
    Ok(status)
}

/// True if something is attached or a daemon runs.
pub fn runs(status: &HostStatus) -> bool {
    status
        .sink
        .as_ref()
        .is_some_and(|sink| sink.daemon_pid.is_some() || !sink.attachments.is_empty())
        || status
            .source
            .as_ref()
            .is_some_and(|source| !source.attachments.is_empty())
        || status
            .transit
            .as_ref()
            .is_some_and(|transit| !transit.interfaces.is_empty())
        || status.postcards.is_some()
        || status.tcp.is_some()
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
