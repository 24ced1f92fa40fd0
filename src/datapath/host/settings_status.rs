//! The settings of the kernel half as `hostint status` shows them.

use std::io;
use std::num::NonZeroU32;

use super::shared_settings::{SharedSettings, clock_state, host_node, parts_found};
use crate::datapath::abi::{host_settings, sink_flag, sink_settings};
use crate::datapath::kernel::pins::Pins;
use crate::datapath::lease::grants;
use crate::model::{
    BucketEdge, BudgetStatus, ClockStatus, Encapsulation, HostNode, KernelParts, MOST_SHIFT,
    Prefix, SinkSettings,
};

/// What a host's programs share.
#[derive(Clone, Debug)]
pub struct HostSettings {
    pub node: HostNode,
    /// `None` until a program set it.
    pub clock: Option<ClockStatus>,
    /// `None`: no daemon told it.
    pub budget: Option<BudgetStatus>,
    /// UDP destination ports whose traffic is never tagged.
    pub report_ports: Vec<u16>,
    pub clock_offset_ns: i64,
    pub has_lease_key: bool,
    /// The parts of the kernel that daemons asked for in vain.
    pub lacks: KernelParts,
}

/// The settings that are pinned on this host, if there are any.
pub fn read_host(pins: &Pins) -> io::Result<Option<HostSettings>> {
    Ok(SharedSettings::read_pinned(pins)?.as_ref().map(host_status))
}

/// The node that is pinned on this host, if a program was ever set up here.
pub fn node(pins: &Pins) -> io::Result<Option<HostNode>> {
    Ok(SharedSettings::read_pinned(pins)?.as_ref().map(host_node))
}

fn host_status(host: &host_settings) -> HostSettings {
    let state = clock_state(host);
    let ports = &host.report_port[..host.report_port.len().min(host.report_port_count as usize)];
    HostSettings {
        node: host_node(host),
        clock: state.source.name().map(|source| ClockStatus {
            source,
            offset_ns: host.clock_offset_ns,
            synchronised: state.synchronised,
            stated_error_ns: (u32::try_from(host.clock_error_ns).ok()).and_then(NonZeroU32::new),
        }),
        budget: (host.step_ns > 0).then(|| BudgetStatus {
            allowed_ppm: host.budget_ppm,
            spent_ppm: host.spent_ppm,
            one_flow_in: 1 << host.share_shift.min(MOST_SHIFT),
            asks_one_flow_in: 1 << host.asked_shift.min(MOST_SHIFT),
            step_ns: host.step_ns,
        }),
        report_ports: ports.iter().map(|port| u16::from_be(*port)).collect(),
        clock_offset_ns: host.clock_offset_ns,
        has_lease_key: host.has_lease_key != 0,
        lacks: parts_found(host).refused,
    }
}

pub(in crate::datapath) fn sink_settings_status(
    pins: &Pins,
    settings: &sink_settings,
) -> io::Result<SinkSettings> {
    let host = read_host(pins)?.unwrap_or_else(|| host_status(&host_settings::default()));
    let has = |flag: sink_flag| settings.flags & flag.0 != 0;
    let encapsulations = [
        (sink_flag::SINK_OVER_TCP_UDP, Encapsulation::OverTcpUdp),
        (sink_flag::SINK_EXTENSION_UDP, Encapsulation::ExtensionUdp),
        (sink_flag::SINK_VXLAN_GPE, Encapsulation::VxlanGpe),
        (sink_flag::SINK_IOAM, Encapsulation::Ioam),
        (sink_flag::SINK_OPTIONS, Encapsulation::Options),
        (sink_flag::SINK_INT_MD, Encapsulation::IntMd),
    ];
    let int_dscp = |tos: u8| has(sink_flag::SINK_INT_MD).then_some(tos >> 2);
    Ok(SinkSettings {
        encapsulations: encapsulations
            .into_iter()
            .filter(|(flag, _)| has(*flag))
            .map(|(_, encapsulation)| encapsulation.name())
            .collect(),
        dscp_value: settings.tos_value >> 2,
        dscp_mask: settings.tos_mask >> 2,
        extension_port: u16::from_be(settings.extension_port),
        int_dscp_value: int_dscp(settings.md_tos_value),
        int_dscp_mask: int_dscp(settings.md_tos_mask),
        report_period_ns: settings.report_period_ns,
        loss_timeout_ns: settings.loss_timeout_ns,
        bucket_hold_ns: settings.bucket_hold_ns,
        drop_tagged: has(sink_flag::SINK_DROP_TAGGED),
        buckets: settings
            .edge_up
            .iter()
            .zip(settings.edge_down)
            .take(settings.edge_count as usize)
            .map(|(up, down)| BucketEdge {
                up_ns: *up,
                down_ns: down,
            })
            .collect(),
        report_ports: host.report_ports,
        clock_offset_ns: host.clock_offset_ns,
        allow: grants::allowed(pins)?
            .iter()
            .map(Prefix::to_string)
            .collect(),
        strict: has(sink_flag::SINK_STRICT),
        lease_key: host.has_lease_key,
        closing: has(sink_flag::SINK_CLOSING),
    })
}
