//! What the programs that time packets through the host are to do, and their settings.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::datapath::abi::{hop_limit, hop_setting, hop_settings};
use crate::datapath::host::tunnel;
use crate::datapath::kernel::token_rate::token_rate_of;
use crate::model::{TunnelKind, WatchRule};

/// What the programs are to do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PassagePlan {
    /// The inode of the network namespace of the interfaces.
    pub netns: u32,
    /// The watchlist; `None`: all packets that are forwarded.
    pub rules: Option<Vec<WatchRule>>,
    /// A flow whose time changed by this is reported at once; zero: never.
    pub step: Duration,
    /// But not again within this time.
    pub hold: Duration,
    /// The most new flows in a second; 0: no limit.
    pub max_new_flows: u64,
    /// The tunnels whose packets are known by the flow inside.
    pub tunnels: BTreeSet<TunnelKind>,
    /// UDP destination port of extension-udp packets.
    pub extension_port: u16,
    /// The folder of the cgroup that all others are below, if packets for this host are timed to their sockets, too.
    pub sockets: Option<PathBuf>,
}

pub(in crate::datapath) fn settings_of(plan: &PassagePlan) -> io::Result<hop_settings> {
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let (new_flow_interval_ns, new_flow_burst_ns) = token_rate_of(plan.max_new_flows)?;
    Ok(hop_settings {
        step_ns: ns(plan.step),
        hold_ns: ns(plan.hold),
        new_flow_interval_ns,
        new_flow_burst_ns,
        netns: plan.netns,
        mark: plan.netns & hop_limit::HOP_MARK_MASK.0,
        flags: flags_of(plan),
        tunnels: tunnel::bits(&plan.tunnels),
        extension_port: plan.extension_port.to_be(),
        ..Default::default()
    })
}

fn flags_of(plan: &PassagePlan) -> u32 {
    let rules = plan.rules.as_deref();
    let of_dev = |rules: &[WatchRule]| rules.iter().any(|rule| !rule.devs.is_empty());
    let flags = [
        (rules.is_some(), hop_setting::HOP_BY_RULES),
        (rules.is_some_and(of_dev), hop_setting::HOP_RULES_OF_DEV),
        (plan.sockets.is_some(), hop_setting::HOP_LOCAL),
    ];
    let set = flags.into_iter().filter(|(is_set, _)| *is_set);
    set.fold(0, |all, (_, flag)| all | flag.0)
}
