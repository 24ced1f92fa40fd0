//! Packet filters, sockets and routes of this host that may stop reports, leases or tagged packets.

use crate::model::preflight::{Finding, NetworkFacts, PacketFilter};

/// One finding for each fact.
pub fn judge_network(facts: &NetworkFacts) -> Vec<Finding> {
    let mut found = filters(facts);
    if facts.ignores_pings {
        found.push(
            Finding::fail(
                "pings",
                "this host ignores pings: no other host gets a lease for it",
            )
            .advise(
                "sysctl net.ipv4.icmp_echo_ignore_all=0, or use --static at sources and --allow here",
            ),
        );
    }
    for port in &facts.bound_ports {
        found.push(
            Finding::note(
                "ports",
                format!("a socket of this host is bound to UDP port {port}, which announces INT"),
            )
            .advise("find its owner with ss -ulnp; packets without INT reach it unchanged"),
        );
    }
    for (collector, from) in &facts.collectors {
        found.push(match from {
            Some(from) => Finding::ok("collector", format!("{collector}: reachable from {from}")),
            None => Finding::fail("collector", format!("{collector}: no route"))
                .advise(format!("check ip route get {}", collector.ip())),
        });
    }
    found
}

fn filters(facts: &NetworkFacts) -> Vec<Finding> {
    let mut found = Vec::new();
    if !facts.legacy_tables.is_empty() {
        found.push(
            Finding::note(
                "firewall",
                format!(
                    "legacy iptables has tables: {}",
                    facts.legacy_tables.join(", ")
                ),
            )
            .advise(format!(
                "check iptables-legacy -S: {} must pass",
                wanted(facts, None)
            )),
        );
    }
    match &facts.filters {
        None => found.push(
            Finding::note("firewall", format!("unknown: {}", facts.filters_unknown)).advise(
                format!("if there is a firewall, {} must pass", wanted(facts, None)),
            ),
        ),
        Some(filters) => {
            let dropping = |one: &&PacketFilter| one.drops_by_policy || one.drops > 0;
            for filter in filters.iter().filter(dropping) {
                let rules = match (filter.drops, filter.drops_by_policy) {
                    (0, _) => "policy drop".to_owned(),
                    (1, policy) => format!("1 rule drops{}", and_policy(policy)),
                    (rules, policy) => format!("{rules} rules drop{}", and_policy(policy)),
                };
                found.push(
                    Finding::note(
                        "firewall",
                        format!("{rules} on hook {}, chain {}", filter.hook, filter.chain),
                    )
                    .advise(format!(
                        "check that it lets {} pass",
                        wanted(facts, Some(&filter.hook))
                    )),
                );
            }
            if found.is_empty() {
                found.push(Finding::ok("firewall", "nftables drops nothing"));
            }
        }
    }
    found
}

fn and_policy(policy: bool) -> &'static str {
    if policy { ", and the policy" } else { "" }
}

/// The description of hostint's own packets that a hook sees.
fn wanted(facts: &NetworkFacts, hook: Option<&str>) -> String {
    let ports: Vec<String> = facts.report_ports.iter().map(u16::to_string).collect();
    let ports = ports.join(", ");
    match hook {
        Some("input") => format!("icmp echo and, at a collector, udp dport {ports}"),
        Some("forward") => {
            format!(
                "icmp echo, udp dport {ports}, and tagged packets of guests (udp dport 4790, 33122)"
            )
        }
        _ => format!("icmp echo and udp dport {ports}"),
    }
}
