//! Tells this host's name to the hosts that it exchanges leases with, and shows their names to `hostint status`.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::datapath::host::host_names::NameTable;
use crate::host::node_seed;
use crate::lease::{HeardName, OwnName};
use crate::model::{ClaimOrigin, NameClaim, NodeId};
use crate::os::{clock, log, netns};

/// The number of turns from one look for old names to the next.
const FORGET: u32 = 60;

/// The duty to do so.
#[derive(Default)]
pub struct KeepHostNames {
    /// The map that has these names of the user.
    written: Option<(u32, BTreeMap<NodeId, String>)>,
    turns: u32,
    /// The log says already that there is no room.
    full_logged: bool,
}

impl<D: ReportsToCollectors + OnHost> Duty<D> for KeepHostNames {
    fn task(&self) -> &'static str {
        "keep the names of hosts"
    }

    fn period(&self, _daemon: &D) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, daemon: &mut D, _now: Instant) -> Result<()> {
        let own = own_name(daemon)?;
        let now_ns = clock::realtime_ns();
        let mut claims = vec![NameClaim {
            node: own.node,
            name: own.name.clone(),
            origin: ClaimOrigin::Own {
                instance: own.instance,
            },
            heard_ns: now_ns,
        }];
        if let Some(leases) = &mut daemon.side_mut().leases {
            leases.names.set_own(own);
            let heard = leases.names.take_heard().into_iter();
            claims.extend(heard.map(|heard| claim_of(heard, now_ns)));
        }
        let table = NameTable::open_or_create(daemon.pins());
        let Some(table) = table.context("cannot open the map of names")? else {
            return Ok(());
        };
        self.give(&table, daemon.given_names())
            .context("cannot write given names")?;
        self.note(&table, &claims);
        self.turns += 1;
        if self.turns.is_multiple_of(FORGET) {
            table
                .forget_old(now_ns)
                .context("cannot forget old names")?;
        }
        Ok(())
    }
}

impl KeepHostNames {
    /// Writes the names that the user gave, unless the map has them.
    fn give(
        &mut self,
        table: &NameTable,
        given: Option<&BTreeMap<NodeId, String>>,
    ) -> io::Result<()> {
        let id = table.id()?;
        let is_written = |(known, names): &(u32, BTreeMap<NodeId, String>)| {
            *known == id && names.iter().eq(given.into_iter().flatten())
        };
        if self.written.as_ref().is_some_and(is_written) {
            return Ok(());
        }
        let given = given.cloned().unwrap_or_default();
        table.give(&given)?;
        self.written = Some((id, given));
        Ok(())
    }

    fn note(&mut self, table: &NameTable, claims: &[NameClaim]) {
        let mut failed = None;
        for claim in claims {
            failed = table.note(claim).err().or(failed);
        }
        if let Some(err) = failed
            && !std::mem::replace(&mut self.full_logged, true)
        {
            log::warning(format_args!(
                "cannot note the names of more hosts, so that status shows their ids alone: {err}"
            ));
        }
    }
}

/// This host as it tells itself.
fn own_name<D: ReportsToCollectors>(daemon: &D) -> Result<OwnName> {
    let identity = daemon.identity().map(|settings| settings.name.clone());
    Ok(OwnName {
        node: daemon.node()?,
        instance: netns::instance()?,
        name: match identity {
            Some(Some(given)) => given,
            Some(None) => node_seed::name()?,
            None => String::new(),
        },
    })
}

fn claim_of(heard: HeardName, now_ns: u64) -> NameClaim {
    NameClaim {
        node: heard.node,
        name: heard.name,
        origin: ClaimOrigin::Told {
            address: heard.address,
            instance: heard.instance,
        },
        heard_ns: now_ns,
    }
}
