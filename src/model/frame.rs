//! The beginning of a packet, as a standard telemetry report carries it.

use std::net::IpAddr;

use etherparse::{LaxNetSlice, LaxSlicedPacket};

use super::{FlowKey, Vlans};

/// A possibly truncated Ethernet frame, from its destination address on.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct TruncatedFrame(pub Vec<u8>);

impl TruncatedFrame {
    /// The flow that the frame belongs to, if enough of it is here; of more than two VLAN tags
    /// the innermost count.
    ///
    /// Ports are read where TCP, UDP and SCTP have them, without a look at the rest of that
    /// header: int-host-reporter puts a TCP header behind protocol 17. They are 0 in later
    /// fragments.
    pub fn flow(&self) -> Option<FlowKey> {
        let packet = LaxSlicedPacket::from_ethernet(&self.0).ok()?;
        let (src, dst, first): (IpAddr, IpAddr, bool) = match packet.net.as_ref()? {
            LaxNetSlice::Ipv4(ip) => {
                let header = ip.header();
                (
                    header.source_addr().into(),
                    header.destination_addr().into(),
                    header.fragments_offset().value() == 0,
                )
            }
            LaxNetSlice::Ipv6(ip) => {
                let header = ip.header();
                (
                    header.source_addr().into(),
                    header.destination_addr().into(),
                    !ip.is_payload_fragmented(),
                )
            }
            LaxNetSlice::Arp(_) => return None,
        };
        let payload = packet.net.as_ref()?.ip_payload_ref()?;
        let protocol = payload.ip_number.0;
        let (sport, dport) = match (protocol, payload.payload) {
            (6 | 17 | 132, [a, b, c, d, ..]) if first => {
                (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]))
            }
            (6 | 17 | 132, _) if first => return None,
            _ => (0, 0),
        };
        Some(FlowKey {
            src,
            dst,
            sport,
            dport,
            protocol,
            vlans: vlans_of(&packet),
        })
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
