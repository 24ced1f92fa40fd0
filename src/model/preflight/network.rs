//! What may swallow reports, leases and tagged packets on this host: packet filters, sockets, routes.

use std::net::SocketAddr;

use super::Finding;

/// What was found of it.
#[derive(Clone, Debug, Default)]
pub struct NetworkFacts {
    /// `None`: could not be asked for, and why.
    pub filters: Option<Vec<PacketFilter>>,
    pub filters_unknown: &'static str,
    /// Tables of the older iptables that are in use.
    pub legacy_tables: Vec<String>,
    /// Ports of tagged packets that a socket of this host is bound to.
    pub bound_ports: Vec<u16>,
    /// Where reports go, and by which address of this host; `None`: there is no way.
    pub collectors: Vec<(SocketAddr, Option<std::net::IpAddr>)>,
    pub report_ports: Vec<u16>,
    /// Echo requests are ignored: `net.ipv4.icmp_echo_ignore_all`.
    pub ignores_pings: bool,
}

/// A chain of nftables (or of iptables on top of it) that packets of this host pass.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PacketFilter {
    /// `inet filter input`
    pub chain: String,
    /// `input`, `output`, `ingress`, …
    pub hook: String,
    /// What no rule accepts is dropped.
    pub drops_by_policy: bool,
    /// Rules that drop or reject, in it and in what it jumps to.
    pub drops: usize,
}

/// One line for each of them.
pub fn judge_network(facts: &NetworkFacts) -> Vec<Finding> {
    let mut found = filters(facts);
    if facts.ignores_pings {
        found.push(
            Finding::fail(
                "pings",
                "this host ignores pings: no other host gets a lease for it",
            )
            .advise(
                "sysctl net.ipv4.icmp_echo_ignore_all=0, or sources with --static and --allow here",
            ),
        );
    }
    for port in &facts.bound_ports {
        found.push(
            Finding::note(
                "ports",
                format!("a socket of this host is bound to UDP port {port}, which announces INT"),
            )
            .advise("see whose it is with ss -ulnp; what is no INT reaches it untouched"),
        );
    }
    for (collector, from) in &facts.collectors {
        found.push(match from {
            Some(from) => Finding::ok(
                "collector",
                format!("{collector}: there is a way, from {from}"),
            ),
            None => Finding::fail("collector", format!("{collector}: there is no way to it"))
                .advise(format!("see ip route get {}", collector.ip())),
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
                    "iptables (legacy) has tables: {}",
                    facts.legacy_tables.join(", ")
                ),
            )
            .advise(format!(
                "see iptables-legacy -S: {} must pass",
                wanted(facts, None)
            )),
        );
    }
    match &facts.filters {
        None => found.push(
            Finding::note("firewall", format!("unknown: {}", facts.filters_unknown)).advise(
                format!("if there is one, {} must pass", wanted(facts, None)),
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
                        "see that it lets {} pass",
                        wanted(facts, Some(&filter.hook))
                    )),
                );
            }
            if found.is_empty() {
                found.push(Finding::ok("firewall", "nothing is dropped by nftables"));
            }
        }
    }
    found
}

fn and_policy(policy: bool) -> &'static str {
    if policy { ", and the policy" } else { "" }
}

/// What hostint's own packets are, as seen from a hook.
fn wanted(facts: &NetworkFacts, hook: Option<&str>) -> String {
    let ports: Vec<String> = facts.report_ports.iter().map(u16::to_string).collect();
    let ports = ports.join(", ");
    match hook {
        Some("input") => format!("icmp echo and, at a collector, udp dport {ports}"),
        Some("forward") => {
            format!("icmp echo, udp dport {ports}, and of guests what is tagged (4790, 33122)")
        }
        _ => format!("icmp echo and udp dport {ports}"),
    }
}
