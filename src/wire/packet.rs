//! A reported packet: its flow, the flow in its tunnel, and the INT headers between them.

use std::net::IpAddr;

use etherparse::{EtherType, IpNumber, LaxNetSlice, LaxSlicedPacket};

use super::error::DecodeError;
use super::int_header::{self, FoundHeader};
use super::int_refusal;
use super::tunnel::{self, FoundInt, Inside};
use crate::model::{FirstHeader, FlowKey, IntType, Packet, Vlans};

/// Most nested IP headers that are followed.
const MAX_DEPTH: usize = 5;
/// Reads the beginning of any packet; INT is looked for if `with_int`.
pub fn read(first: FirstHeader, bytes: &[u8], with_int: bool) -> Packet {
    let walk = Walk::through(first, bytes, with_int);
    Packet {
        first,
        length: bytes.len(),
        bytes: bytes.to_vec(),
        flow: walk.flow,
        inner_flow: walk.inner_flow,
        int: walk.int.headers,
    }
}

/// Why INT that the packet seems to have is not among its headers.
pub(super) fn unread_int(first: FirstHeader, bytes: &[u8]) -> Option<DecodeError> {
    Walk::through(first, bytes, true).int.unread
}

struct Walk {
    with_int: bool,
    /// Number of IP headers read.
    depth: usize,
    flow: Option<FlowKey>,
    inner_flow: Option<FlowKey>,
    int: FoundInt,
}

impl Walk {
    fn through(first: FirstHeader, bytes: &[u8], with_int: bool) -> Self {
        let mut walk = Self {
            with_int,
            depth: 0,
            flow: None,
            inner_flow: None,
            int: FoundInt::default(),
        };
        match first {
            FirstHeader::Ethernet => walk.ethernet(bytes),
            FirstHeader::Ipv4 | FirstHeader::Ipv6 => walk.ip(bytes),
        }
        walk
    }

    fn ethernet(&mut self, bytes: &[u8]) {
        if let Ok(packet) = LaxSlicedPacket::from_ethernet(bytes) {
            self.sliced(&packet);
        }
    }

    fn ip(&mut self, bytes: &[u8]) {
        if let Ok(packet) = LaxSlicedPacket::from_ip(bytes) {
            self.sliced(&packet);
        }
    }

    fn inside(&mut self, inside: Inside<'_>) {
        match inside {
            Inside::Ethernet(bytes) => self.ethernet(bytes),
            Inside::Ip(bytes) => self.ip(bytes),
            Inside::EtherType(ether_type, bytes) => {
                self.sliced(&LaxSlicedPacket::from_ether_type(
                    EtherType(ether_type),
                    bytes,
                ));
            }
        }
    }

    /// Takes the flow of an IP header, and continues after it.
    ///
    /// Of more than two VLAN tags the innermost are taken. Ports are 0 in later fragments.
    fn sliced(&mut self, packet: &LaxSlicedPacket<'_>) {
        let (src, dst, first): (IpAddr, IpAddr, bool) = match packet.net.as_ref() {
            Some(LaxNetSlice::Ipv4(ip)) => {
                let header = ip.header();
                (
                    header.source_addr().into(),
                    header.destination_addr().into(),
                    header.fragments_offset().value() == 0,
                )
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                let header = ip.header();
                (
                    header.source_addr().into(),
                    header.destination_addr().into(),
                    !ip.is_payload_fragmented(),
                )
            }
            Some(LaxNetSlice::Arp(_)) | None => return,
        };
        let Some(payload) = packet.net.as_ref().and_then(LaxNetSlice::ip_payload_ref) else {
            return;
        };
        if self.depth == MAX_DEPTH || cut_before(payload.ip_number, src.is_ipv6()) {
            return;
        }
        self.depth += 1;
        let flow = FlowKey {
            src,
            dst,
            sport: 0,
            dport: 0,
            protocol: payload.ip_number.0,
            vlans: vlans_of(packet),
        };
        if first {
            self.transport(flow, payload.payload);
        } else {
            self.found(flow);
        }
    }

    /// Records the flow at this depth: the first becomes the outer one, the last the inner one.
    fn found(&mut self, flow: FlowKey) {
        match self.depth {
            1 => self.flow = Some(flow),
            _ => self.inner_flow = Some(flow),
        }
    }

    /// Reads ports at the place where TCP, UDP and SCTP have them, without checking the rest of the header:
    /// int-host-reporter puts a TCP header after protocol 17.
    fn transport(&mut self, mut flow: FlowKey, l4: &[u8]) {
        if let (6 | 17 | 132, bytes) = (flow.protocol, l4) {
            let Some([a, b, c, d]) = bytes.first_chunk() else {
                return;
            };
            flow.sport = u16::from_be_bytes([*a, *b]);
            flow.dport = u16::from_be_bytes([*c, *d]);
        }
        self.found(flow);
        match flow.protocol {
            4 | 41 => self.ip(l4),
            6 => self.tcp(flow, l4),
            17 => self.udp(flow, l4.get(8..).unwrap_or_default()),
            47 => self.gre(l4),
            _ => {}
        }
    }

    /// INT stands before TCP options, as in Host-INT, or after them.
    fn tcp(&mut self, flow: FlowKey, l4: &[u8]) {
        let options = l4.get(12).map_or(5, |byte| usize::from(byte >> 4));
        for begin in [20, 4 * options] {
            if let Some(bytes) = l4.get(begin..)
                && self.int_behind_l4(flow, bytes)
            {
                return;
            }
        }
    }

    fn udp(&mut self, flow: FlowKey, payload: &[u8]) {
        if !tunnel::is_port(flow.dport) {
            self.int_behind_l4(flow, payload);
            return;
        }
        // INT for the tunnel's own packets stands before the tunnel's header.
        let int = self.with_int.then(|| int_header::behind_l4(payload).ok());
        match int.flatten() {
            Some(found) => self.behind_int(flow, found, payload),
            None => self.tunnel(flow.dport, payload),
        }
    }

    fn tunnel(&mut self, port: u16, payload: &[u8]) {
        if let Some(inside) = tunnel::in_udp(port, payload, self.with_int, &mut self.int) {
            self.inside(inside);
        }
    }

    fn gre(&mut self, l4: &[u8]) {
        if let Some(inside) = tunnel::in_gre(l4, self.with_int, &mut self.int) {
            self.inside(inside);
        }
    }

    /// Looks for INT; if there is any, takes its headers and the protocol that they replaced.
    fn int_behind_l4(&mut self, flow: FlowKey, bytes: &[u8]) -> bool {
        if !self.with_int {
            return false;
        }
        // INT v1.0 and later may stand after a probe marker, whose 8 bytes each domain chooses.
        let marked = || {
            let bytes = bytes.get(8..)?;
            let found = int_header::behind_l4(bytes).ok()?;
            (found.header.kind != IntType::HostInt).then_some((found, bytes))
        };
        let first = int_header::behind_l4(bytes);
        let refused = first.as_ref().err().copied();
        let found = first.ok().map(|found| (found, bytes)).or_else(marked);
        let Some((found, bytes)) = found else {
            let resembles = int_refusal::resembles_int(bytes);
            let why = refused.filter(|_| resembles);
            if let Some(why) = why.or_else(|| int_refusal::but_for_one_field(bytes)) {
                self.int.unread.get_or_insert(why);
            }
            return false;
        };
        self.behind_int(flow, found, bytes);
        true
    }

    fn behind_int(&mut self, mut flow: FlowKey, found: FoundHeader, bytes: &[u8]) {
        let mut rest = bytes.get(found.bytes..).unwrap_or_default();
        let (dport, protocol) = (found.header.original_dport, found.next);
        self.int.headers.push(found.header);
        while self.int.has_room()
            && let Ok(next) = int_header::behind_l4(rest)
            && next.header.kind == IntType::Destination
        {
            rest = rest.get(next.bytes..).unwrap_or_default();
            self.int.headers.push(next.header);
        }
        if let Some(protocol) = protocol.and_then(|protocol| u8::try_from(protocol).ok()) {
            // The UDP header belongs to INT, and the original one follows.
            if self.int.has_room() {
                flow.protocol = protocol;
                (flow.sport, flow.dport) = (0, 0);
                self.transport(flow, rest);
            }
            return;
        }
        if let Some(port) = dport {
            flow.dport = port;
            self.found(flow);
        }
        if flow.protocol == 17 {
            self.tunnel(flow.dport, rest);
        }
    }
}

/// Whether an extension header stands where the packet was cut, so that the protocol is unknown.
fn cut_before(protocol: IpNumber, ipv6: bool) -> bool {
    match protocol.0 {
        51 => true,
        0 | 43 | 44 | 60 => ipv6,
        _ => false,
    }
}

fn vlans_of(packet: &LaxSlicedPacket<'_>) -> Vlans {
    let ids = packet.vlan_ids();
    let mut innermost_first = ids.iter().rev().map(|id| id.value());
    Vlans {
        inner: innermost_first.next().unwrap_or(0),
        outer: innermost_first.next().unwrap_or(0),
    }
}
