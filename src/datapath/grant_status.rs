//! The leases that a sink granted as `hostint status` shows them.

use std::io;

use super::abi::{address_key, lease_constant, lease_form, sink_grant};
use super::events::address;
use super::map_names::SINK_GRANTS;
use super::maps::Map;
use super::pins::Pins;
use crate::model::{ArrivedProbes, Encapsulation, GrantStatus, NodeId, ProbeForm, StrippedPackets};
use crate::os::clock;

/// The leases that have not ended, ordered by address.
pub fn read(pins: &Pins) -> io::Result<Vec<GrantStatus>> {
    let mut found = Vec::new();
    let Some(grants) = Map::<address_key, sink_grant>::open(&pins.map(SINK_GRANTS))? else {
        return Ok(found);
    };
    let now_ns = clock::monotonic_ns();
    grants.for_each(|key, grant| {
        if grant.until_ns > now_ns {
            found.push(grant_status(key, &grant, now_ns));
        }
    })?;
    found.sort_by_key(|grant| grant.source);
    Ok(found)
}

/// A grant as status shows it.
pub fn grant_status(key: address_key, grant: &sink_grant, now_ns: u64) -> GrantStatus {
    let probes = ProbeForm::ALL.map(|form| arrived_probes(form, grant));
    let proved = probes.iter().filter(|probes| probes.arrived == probes.all);
    let proved = proved.map(|probes| probes.form).collect();
    let stripped = Encapsulation::COUNTED.into_iter().zip(grant.stripped);
    let stripped = stripped.map(|(encapsulation, packets)| StrippedPackets {
        encapsulation: encapsulation.name(),
        packets,
    });
    GrantStatus {
        source: address(key.addr),
        node: NodeId(grant.source_node),
        lease_version: u8::try_from(grant.version).unwrap_or(u8::MAX),
        left_ns: grant.until_ns.saturating_sub(now_ns),
        proved,
        probes: probes.into_iter().filter(|some| some.arrived > 0).collect(),
        stripped: stripped.filter(|some| some.packets > 0).collect(),
        lost: grant.lost,
    }
}

fn arrived_probes(form: ProbeForm, grant: &sink_grant) -> ArrivedProbes {
    // Those of INT-MD have no place of their own.
    let (at, first) = match form {
        ProbeForm::IntMd => (lease_form::FORM_STRAY.0, lease_constant::LEASE_MD_PROBES.0),
        form => (form.number().into(), 0),
    };
    let [low, high] = grant.arrived[at as usize].map(u128::from);
    let numbers = (1 << form.probes()) - 1;
    ArrivedProbes {
        form: form.name(),
        arrived: ((high << 64 | low) >> first & numbers).count_ones(),
        all: form.probes().into(),
        tos_changed: match form {
            ProbeForm::IntMd => 0,
            _ => grant.tos_changed[at as usize],
        },
    }
}
