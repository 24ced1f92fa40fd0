//! The hosts whose packets the sink strips, by the leases that it granted.

use std::fmt;

use super::digits::Grouped;
use super::hosts::{KnownHosts, NODE_WIDTH};
use crate::model::GrantStatus;

/// Writes one line for each host, and how many there are besides.
pub fn write(
    f: &mut fmt::Formatter<'_>,
    grants: &[GrantStatus],
    total: usize,
    hosts: &KnownHosts,
    all: bool,
) -> fmt::Result {
    for grant in grants {
        write!(
            f,
            "    {:<39} node {:<10} ",
            grant.source.to_string(),
            hosts.named_within(grant.node, NODE_WIDTH)
        )?;
        writeln!(f, "{}", sentence(grant, all))?;
    }
    let more = total.saturating_sub(grants.len());
    if more > 0 && !grants.is_empty() {
        writeln!(f, "    and {more} more")?;
    }
    Ok(())
}

/// What arrived of a host's probes and packets, in a few clauses; what was stripped, if all is asked for.
fn sentence(grant: &GrantStatus, all: bool) -> String {
    let mut clauses = vec![match grant.proved.as_slice() {
        [] => "no form of tagging is known to arrive".to_owned(),
        proved => format!("ready ({})", proved.join(" and ")),
    }];
    for probes in &grant.probes {
        if probes.arrived < probes.all {
            clauses.push(format!(
                "{} of {} probes of {} arrived{}",
                probes.arrived,
                probes.all,
                probes.form,
                match probes.tos_changed {
                    0 => "",
                    _ => " unchanged",
                }
            ));
        }
        if probes.tos_changed != 0 {
            clauses.push(format!(
                "the path changes bits 0x{:02x} of the ToS byte of {}",
                probes.tos_changed, probes.form
            ));
        }
    }
    for stripped in grant.stripped.iter().filter(|_| all) {
        let (packets, encapsulation) = (Grouped(stripped.packets), stripped.encapsulation);
        clauses.push(format!("stripped {packets} in {encapsulation}"));
    }
    if grant.lost > 0 {
        clauses.push(format!("{} lost", Grouped(grant.lost)));
    }
    clauses.join("; ")
}
