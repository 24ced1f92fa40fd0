//! hostint's report of packets of a flow that a host dropped (NProto 10).

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_extended::{decode_flow, emit_flow};
use super::report_header::HEADER_BYTES;
use super::report_names::{emit_name, emit_pods, name, pods};
use super::report_tunnel;
use crate::model::{
    DropCount, DropPosition, DroppedInt, FlowKey, HostDrop, HostDropReport, KernelReason, NodeId,
    PacketPods, Tunnel,
};

const SUPERPACKET: u8 = 1;
/// The first packet had INT.
const HAS_INT: u8 = 2;
/// A second flow follows the first one.
const HAS_NAT: u8 = 4;
/// Names of pods follow the names of interfaces.
const HAS_PODS: u8 = 8;
/// A tunnel follows the flows.
const HAS_TUNNEL: u8 = 16;
const FLAGS: u8 = SUPERPACKET | HAS_INT | HAS_NAT | HAS_PODS | HAS_TUNNEL;

/// An age that is not known.
const NO_AGE: u32 = u32::MAX;

/// Reads a whole datagram whose fixed header announces the drops of a flow.
pub(super) fn decode(datagram: &[u8], time_s: u32) -> Result<HostDropReport, DecodeError> {
    let mut cursor = Cursor::new(datagram);
    let cursor = &mut cursor;
    cursor.array::<HEADER_BYTES>("report header")?;
    let node = NodeId(cursor.u32("node ID")?);
    let flags = cursor.u8("flags of a drop")?;
    cursor.check("unknown flags of a drop", 1, (flags & !FLAGS).into(), 0)?;
    let position = position(cursor)?;
    let reserved = cursor.u16("reserved bytes of a drop")?;
    cursor.check("reserved bytes of a drop", 2, reserved.into(), 0)?;
    let (in_ifindex, out_ifindex) = (cursor.u32("input port")?, cursor.u32("output port")?);
    let ifindex = cursor.u32("interface of the drop")?;
    let first_ns = cursor.u64("time of the first drop")?;
    let last_ns = cursor.u64("time of the last drop")?;
    let count = count(cursor)?;
    let number = cursor.u32("number of the reason")?;
    let age_ns = cursor.u32("age of the packet")?;
    let netns = cursor.u32("network namespace")?;
    let (queue_packets, queue_bytes) = (cursor.u32("queue packets")?, cursor.u32("queue bytes")?);
    let cgroup = cursor.u64("cgroup")?;
    let int = int(cursor, flags)?;
    let (flow, flow_before_nat, tunnel) = flows(cursor, flags)?;
    let drop = HostDrop {
        flow,
        flow_before_nat,
        tunnel,
        reason: KernelReason {
            number,
            name: name(cursor, "name of the reason")?,
        },
        place: name(cursor, "place of the drop")?,
        in_interface: name(cursor, "name of the input port")?,
        out_interface: name(cursor, "name of the output port")?,
        in_ifindex,
        out_ifindex,
        pods: match flags & HAS_PODS {
            0 => PacketPods::default(),
            _ => pods(cursor)?,
        },
        count,
        first_ns,
        last_ns,
        age_ns: (age_ns != NO_AGE).then_some(age_ns),
        queue_packets,
        queue_bytes,
        superpacket: flags & SUPERPACKET != 0,
        netns,
        cgroup: (cgroup != 0).then_some(cgroup),
        position,
        int,
        ifindex,
        place_address: 0,
    };
    cursor.end("host-drop report", "no more than its names")?;
    Ok(HostDropReport { time_s, node, drop })
}

/// Reads the INT of the first packet.
fn int(cursor: &mut Cursor<'_>, flags: u8) -> Result<Option<DroppedInt>, DecodeError> {
    let int = DroppedInt {
        source: NodeId(cursor.u32("source node ID")?),
        sequence: cursor.u32("sequence number")?,
    };
    optional(cursor, flags & HAS_INT, int, [int.source.0, int.sequence])
}

/// A flow, the flow before NAT, and the tunnel.
type DroppedFlows = (FlowKey, Option<FlowKey>, Option<Tunnel>);

/// Reads the flows and the tunnel, as far as they are announced.
fn flows(cursor: &mut Cursor<'_>, flags: u8) -> Result<DroppedFlows, DecodeError> {
    let (flow, _) = decode_flow(cursor, 0)?;
    let flow_before_nat = match flags & HAS_NAT {
        0 => None,
        _ => Some(decode_flow(cursor, 0)?.0),
    };
    let tunnel = match flags & HAS_TUNNEL {
        0 => None,
        _ => Some(report_tunnel::decode(cursor)?),
    };
    Ok((flow, flow_before_nat, tunnel))
}

/// Words that are not announced must be 0.
fn optional<T>(
    cursor: &Cursor<'_>,
    announced: u8,
    value: T,
    words: [u32; 2],
) -> Result<Option<T>, DecodeError> {
    if announced != 0 {
        return Ok(Some(value));
    }
    let found = words.into_iter().find(|word| *word != 0).unwrap_or(0);
    cursor.check("INT of a packet without INT", 4, found, 0)?;
    Ok(None)
}

pub(super) fn position(cursor: &mut Cursor<'_>) -> Result<DropPosition, DecodeError> {
    let number = cursor.u8("position of a drop")?;
    DropPosition::from_number(number).ok_or(DecodeError::Kind {
        what: "position of a drop",
        found: number,
        expected: "0 to 5",
    })
}

pub(super) fn count(cursor: &mut Cursor<'_>) -> Result<DropCount, DecodeError> {
    Ok(DropCount {
        packets: cursor.u64("dropped packets")?,
        segments: cursor.u64("dropped segments")?,
        bytes: cursor.u64("dropped bytes")?,
    })
}

pub(super) fn emit_count(count: DropCount, out: &mut Vec<u8>) {
    for number in [count.packets, count.segments, count.bytes] {
        out.extend(number.to_be_bytes());
    }
}

/// Appends what follows the fixed header.
pub(super) fn emit(report: &HostDropReport, out: &mut Vec<u8>) {
    let drop = &report.drop;
    let mut flags = 0;
    for (set, flag) in [
        (drop.superpacket, SUPERPACKET),
        (drop.int.is_some(), HAS_INT),
        (drop.flow_before_nat.is_some(), HAS_NAT),
        (drop.pods.are_known(), HAS_PODS),
        (drop.tunnel.is_some(), HAS_TUNNEL),
    ] {
        if set {
            flags |= flag;
        }
    }
    out.extend(report.node.0.to_be_bytes());
    out.extend([flags, drop.position.number(), 0, 0]);
    for ifindex in [drop.in_ifindex, drop.out_ifindex, drop.ifindex] {
        out.extend(ifindex.to_be_bytes());
    }
    for time_ns in [drop.first_ns, drop.last_ns] {
        out.extend(time_ns.to_be_bytes());
    }
    emit_count(drop.count, out);
    for word in [
        drop.reason.number,
        drop.age_ns.unwrap_or(NO_AGE),
        drop.netns,
        drop.queue_packets,
        drop.queue_bytes,
    ] {
        out.extend(word.to_be_bytes());
    }
    out.extend(drop.cgroup.unwrap_or(0).to_be_bytes());
    let int = drop.int.map_or([0, 0], |int| [int.source.0, int.sequence]);
    for word in int {
        out.extend(word.to_be_bytes());
    }
    let flows: [Option<&FlowKey>; 2] = [Some(&drop.flow), drop.flow_before_nat.as_ref()];
    for flow in flows.into_iter().flatten() {
        emit_flow(flow, 0, out);
    }
    if let Some(tunnel) = &drop.tunnel {
        report_tunnel::emit(tunnel, out);
    }
    for name in [
        &drop.reason.name,
        &drop.place,
        &drop.in_interface,
        &drop.out_interface,
    ] {
        emit_name(name.as_deref(), out);
    }
    if drop.pods.are_known() {
        emit_pods(&drop.pods, out);
    }
}
