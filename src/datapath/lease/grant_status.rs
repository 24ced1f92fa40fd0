//! The leases that a sink granted as `hostint status` shows them.

use std::io;

use crate::datapath::abi::{address_key, lease_constant, sink_grant};
use crate::datapath::kernel::map_names::SINK_GRANTS;
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::events::address;
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
    // Three forms have the place of over-tcp-udp. Which of them is there, its probes say.
    let source = address(key.addr);
    let first = u8::try_from(grant.first_form).ok();
    let first = first.and_then(ProbeForm::from_number);
    let first = first.and_then(ProbeForm::encapsulation);
    let name = |one: Encapsulation| match (one, first) {
        (Encapsulation::OverTcpUdp, Some(first)) => first.name(),
        (one, _) => one.name(),
    };
    let forms = ProbeForm::ALL.into_iter().take(ProbeForm::PLACES);
    let probes: Vec<ArrivedProbes> = forms
        .map(|form| {
            let named = form.encapsulation().map_or(form.name(), name);
            arrived_probes(form, named, grant)
        })
        .collect();
    let proved = probes.iter().filter(|probes| probes.arrived == probes.all);
    let proved = proved.map(|probes| probes.form).collect();
    let mut stripped: Vec<StrippedPackets> = Vec::new();
    for (one, packets) in Encapsulation::COUNTED.into_iter().zip(grant.stripped) {
        // Segments in options and datagrams in options have two places.
        let encapsulation = match (one, first) {
            (Encapsulation::ExtensionUdp, Some(Encapsulation::Options)) => {
                name(Encapsulation::OverTcpUdp)
            }
            (one, _) => name(one),
        };
        match stripped
            .iter_mut()
            .find(|some| some.encapsulation == encapsulation)
        {
            Some(some) => some.packets += packets,
            None => stripped.push(StrippedPackets {
                encapsulation,
                packets,
            }),
        }
    }
    stripped.retain(|some| some.packets > 0);
    GrantStatus {
        source,
        node: NodeId(grant.source_node),
        left_ns: grant.until_ns.saturating_sub(now_ns),
        proved,
        probes: probes.into_iter().filter(has_come).collect(),
        stripped,
        lost: grant.lost,
    }
}

/// True if probes of this form came, be it with another mark than they were sent with.
fn has_come(probes: &ArrivedProbes) -> bool {
    probes.arrived > 0 || probes.tos_changed != 0
}

fn arrived_probes(form: ProbeForm, name: &'static str, grant: &sink_grant) -> ArrivedProbes {
    // Those of INT-MD have no place of their own.
    let (at, first) = match form {
        ProbeForm::IntMd => (ProbeForm::Stray.place(), lease_constant::LEASE_MD_PROBES.0),
        form => (form.place(), 0),
    };
    let [low, high] = grant.arrived[at].map(u128::from);
    let numbers = (1 << form.probes()) - 1;
    ArrivedProbes {
        form: name,
        arrived: ((high << 64 | low) >> first & numbers).count_ones(),
        all: form.probes().into(),
        tos_changed: match form {
            ProbeForm::IntMd => 0,
            _ => grant.tos_changed[at],
        },
    }
}
