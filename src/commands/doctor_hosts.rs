//! `hostint doctor HOST…`: what this host knows of others, by its leases and by the history of its collector.

use std::net::IpAddr;
use std::path::Path;

use anyhow::Result;

use crate::daemon::collect::stored_reports::decoder;
use crate::host::history::place_to_read;
use crate::model::preflight::Finding;
use crate::model::{DropReasons, History, HostSeen, HostStatus};
use crate::os::{clock, resolve};
use crate::store::{HOSTS_LAG_NS, HistoryReader, StoreError, called};
use crate::views::preflight::{NamedHost, judge_leases, judge_reports};

/// The findings about each host.
pub fn findings(
    said: &[String],
    status: &HostStatus,
    store: Option<&Path>,
) -> Result<Vec<Finding>> {
    let seen = seen(store)?;
    let known = seen.as_deref().unwrap_or_default();
    let mut found = Vec::new();
    for said in said {
        let mut host = named(said, status, known);
        if host.addresses.is_empty() && host.nodes.is_empty() {
            let text = format!(
                "{said} is no address, no name that resolves, and no node that this host knows"
            );
            found.push(Finding::fail("peer", text).advise(format!("getent hosts {said}")));
            continue;
        }
        found.extend(judge_leases(&mut host, status));
        if seen.is_some() {
            let now_ns = clock::realtime_ns().saturating_sub(HOSTS_LAG_NS);
            found.push(judge_reports(&host, known, now_ns));
        }
    }
    if seen.is_none() {
        let text = "whether they report is unknown here: this host has no history of a collector";
        found.push(
            Finding::note("reports", text)
                .advise("hostint doctor HOST, where hostint collect runs"),
        );
    }
    Ok(found)
}

/// The hosts that the collector of this host saw; `None` if it keeps no history.
fn seen(store: Option<&Path>) -> Result<Option<Vec<HostSeen>>> {
    match HistoryReader::open(&place_to_read(store), decoder(DropReasons::usual())) {
        Ok(mut reader) => Ok(Some(reader.hosts()?)),
        Err(StoreError::Absent(_)) => Ok(None),
        Err(err) => Err(err.into()),
    }
}

/// What a name stands for: an address, a node by its id or its name, or what resolves to addresses.
fn named(said: &str, status: &HostStatus, seen: &[HostSeen]) -> NamedHost {
    let mut host = NamedHost {
        said: said.to_owned(),
        ..NamedHost::default()
    };
    if let Ok(address) = said.parse::<IpAddr>() {
        host.addresses.push(address);
    } else if let Ok(node) = said.parse() {
        host.nodes.push(node);
    } else {
        let names = status.names.iter().filter(|one| *one.name == *said);
        host.nodes.extend(names.map(|one| one.node));
        host.nodes.extend(called(seen, said));
        host.addresses
            .extend(resolve::addresses(said).unwrap_or_default());
    }
    host
}
