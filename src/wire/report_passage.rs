//! hostint's report of the time that packets of a flow take through a host (NProto 11).

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_extended::{decode_flow, emit_flow};
use super::report_header::HEADER_BYTES;
use super::report_names::{emit_name, emit_pods, name, pods};
use super::report_tunnel;
use crate::model::{
    FlowKey, FlowPassage, FlowPassageReport, NodeId, PacketPods, PassageReason, PassageStart,
};

/// The times begin at the sender.
const FROM_SENDER: u8 = 1;
/// A second flow follows the first one.
const HAS_NAT: u8 = 2;
/// Names of pods follow the names of interfaces.
const HAS_PODS: u8 = 4;
/// A tunnel follows the flows.
const HAS_TUNNEL: u8 = 8;
const FLAGS: u8 = FROM_SENDER | HAS_NAT | HAS_PODS | HAS_TUNNEL;

/// Reads a whole datagram whose fixed header announces the hops of a flow.
pub(super) fn decode(datagram: &[u8], time_s: u32) -> Result<FlowPassageReport, DecodeError> {
    let mut cursor = Cursor::new(datagram);
    let cursor = &mut cursor;
    cursor.array::<HEADER_BYTES>("report header")?;
    let node = NodeId(cursor.u32("node ID")?);
    let flags = cursor.u8("flags of a hop")?;
    cursor.check("unknown flags of a hop", 1, (flags & !FLAGS).into(), 0)?;
    let bits = cursor.u8("reasons of a hop")?;
    let unknown = bits >> PassageReason::EACH.len();
    cursor.check("unknown reasons of a hop", 1, unknown.into(), 0)?;
    let reserved = cursor.u16("reserved bytes of a hop")?;
    cursor.check("reserved bytes of a hop", 2, reserved.into(), 0)?;
    let reasons = (0..).zip(PassageReason::EACH);
    let reasons = reasons.filter(|(bit, _)| bits >> bit & 1 != 0);
    let reasons = reasons.map(|(_, reason)| reason).collect();
    let (in_ifindex, out_ifindex) = (cursor.u32("input port")?, cursor.u32("output port")?);
    let first_ns = cursor.u64("time of the first packet")?;
    let last_ns = cursor.u64("time of the last packet")?;
    let (packets, bytes) = (cursor.u64("packets")?, cursor.u64("bytes")?);
    let hop_ns = cursor.u32("time of the last hop")?;
    let mean_hop_ns = cursor.u32("mean time")?;
    let max_hop_ns = cursor.u32("greatest time")?;
    let (flow, _) = decode_flow(cursor, 0)?;
    let flow_before_nat = match flags & HAS_NAT {
        0 => None,
        _ => Some(decode_flow(cursor, 0)?.0),
    };
    let tunnel = match flags & HAS_TUNNEL {
        0 => None,
        _ => Some(report_tunnel::decode(cursor)?),
    };
    let hop = FlowPassage {
        flow,
        flow_before_nat,
        tunnel,
        reasons,
        start: match flags & FROM_SENDER {
            0 => PassageStart::Interface,
            _ => PassageStart::Sender,
        },
        in_interface: name(cursor, "name of the input port")?,
        out_interface: name(cursor, "name of the output port")?,
        in_ifindex,
        out_ifindex,
        pods: match flags & HAS_PODS {
            0 => PacketPods::default(),
            _ => pods(cursor)?,
        },
        packets,
        bytes,
        first_ns,
        last_ns,
        hop_ns,
        mean_hop_ns,
        max_hop_ns,
    };
    cursor.end("host-hop report", "no more than its names")?;
    Ok(FlowPassageReport { time_s, node, hop })
}

/// Appends what follows the fixed header.
pub(super) fn emit(report: &FlowPassageReport, out: &mut Vec<u8>) {
    let hop = &report.hop;
    let mut flags = 0;
    if hop.start == PassageStart::Sender {
        flags |= FROM_SENDER;
    }
    if hop.flow_before_nat.is_some() {
        flags |= HAS_NAT;
    }
    if hop.pods.are_known() {
        flags |= HAS_PODS;
    }
    if hop.tunnel.is_some() {
        flags |= HAS_TUNNEL;
    }
    let reasons = (0..).zip(PassageReason::EACH);
    let reasons = reasons.filter(|(_, reason)| hop.reasons.contains(reason));
    let bits = reasons.fold(0_u8, |bits, (bit, _)| bits | 1 << bit);
    out.extend(report.node.0.to_be_bytes());
    out.extend([flags, bits, 0, 0]);
    for ifindex in [hop.in_ifindex, hop.out_ifindex] {
        out.extend(ifindex.to_be_bytes());
    }
    for number in [hop.first_ns, hop.last_ns, hop.packets, hop.bytes] {
        out.extend(number.to_be_bytes());
    }
    for time_ns in [hop.hop_ns, hop.mean_hop_ns, hop.max_hop_ns] {
        out.extend(time_ns.to_be_bytes());
    }
    let flows: [Option<&FlowKey>; 2] = [Some(&hop.flow), hop.flow_before_nat.as_ref()];
    for flow in flows.into_iter().flatten() {
        emit_flow(flow, 0, out);
    }
    if let Some(tunnel) = &hop.tunnel {
        report_tunnel::emit(tunnel, out);
    }
    for name in [&hop.in_interface, &hop.out_interface] {
        emit_name(name.as_deref(), out);
    }
    if hop.pods.are_known() {
        emit_pods(&hop.pods, out);
    }
}
