//! The headers of a data packet that a report quotes.

use std::net::Ipv4Addr;

use crate::model::{FlowKey, Transport, Vlans};

/// A packet's 20-byte IPv4 header and its L4 header: 8 bytes of UDP or the first 20 of TCP.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct QuotedHeaders {
    ip: [u8; 20],
    l4: [u8; 20],
    transport: Transport,
}

/// Why bytes are not headers that a report can quote.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadHeaders {
    #[error("IPv4 header begins with {0:#04x}, expected 0x45 (version 4, no options)")]
    VersionOrLength(u8),
    #[error("IP protocol is {0}, expected 6 (TCP) or 17 (UDP)")]
    Protocol(u8),
    #[error("L4 header has {found} bytes, expected {expected}")]
    L4Length { found: usize, expected: usize },
}

impl QuotedHeaders {
    /// The headers of a packet whose L4 header directly follows its IPv4 header: in over-tcp-udp, inside vxlan-gpe, and
    /// in every report.
    pub fn new(ip: [u8; 20], l4: &[u8]) -> Result<Self, BadHeaders> {
        let transport = Transport::from_protocol(ip[9]).ok_or(BadHeaders::Protocol(ip[9]))?;
        Self::with_transport(ip, l4, transport)
    }

    /// The outer IPv4 header of an extension-udp packet as received (protocol UDP) and its inner L4 header, whose
    /// length distinguishes UDP from TCP.
    pub fn extension_udp(outer_ip: [u8; 20], inner_l4: &[u8]) -> Result<Self, BadHeaders> {
        if outer_ip[9] != Transport::Udp.protocol() {
            return Err(BadHeaders::Protocol(outer_ip[9]));
        }
        let transport = match inner_l4.len() {
            8 => Transport::Udp,
            _ => Transport::Tcp,
        };
        Self::with_transport(outer_ip, inner_l4, transport)
    }

    fn with_transport(ip: [u8; 20], l4: &[u8], transport: Transport) -> Result<Self, BadHeaders> {
        if ip[0] != 0x45 {
            return Err(BadHeaders::VersionOrLength(ip[0]));
        }
        let expected = transport.quoted_bytes();
        if l4.len() != expected {
            return Err(BadHeaders::L4Length {
                found: l4.len(),
                expected,
            });
        }
        let mut quoted = [0; 20];
        quoted[..expected].copy_from_slice(l4);
        Ok(Self {
            ip,
            l4: quoted,
            transport,
        })
    }

    /// The same headers, with the protocol of this L4 header in the IP header and `tos_bits` set in the type of
    /// service; length and checksum stay unchanged.
    #[must_use]
    pub fn relabelled(mut self, tos_bits: u8) -> Self {
        self.ip[1] |= tos_bits;
        self.ip[9] = self.transport.protocol();
        self
    }

    /// The IPv4 header.
    pub fn ip(&self) -> &[u8; 20] {
        &self.ip
    }

    /// The L4 header: 8 bytes of UDP or 20 of TCP.
    pub fn l4(&self) -> &[u8] {
        &self.l4[..self.transport.quoted_bytes()]
    }

    pub fn src(&self) -> Ipv4Addr {
        Ipv4Addr::new(self.ip[12], self.ip[13], self.ip[14], self.ip[15])
    }

    pub fn dst(&self) -> Ipv4Addr {
        Ipv4Addr::new(self.ip[16], self.ip[17], self.ip[18], self.ip[19])
    }

    /// The flow that the packet belongs to, assuming no VLAN tag.
    pub fn flow(&self) -> FlowKey {
        FlowKey {
            src: self.src().into(),
            dst: self.dst().into(),
            sport: u16::from_be_bytes([self.l4[0], self.l4[1]]),
            dport: u16::from_be_bytes([self.l4[2], self.l4[3]]),
            protocol: self.transport.protocol(),
            vlans: Vlans::NONE,
        }
    }
}
