//! Sends the probes that prove the paths of leases.

use std::net::IpAddr;

use anyhow::{Context, Result};

use crate::host::advice::advise_for;
use crate::lease::OutgoingProbe;
use crate::os::privileges;
use crate::os::probe_sockets::{Envelope, ProbeSockets, path_mtu};

/// The most probes in one turn: a burst of more could overflow a queue on the path.
pub(super) const MOST: usize = 32;
/// No longer probes are sent: loopback would carry 64 KiB.
const LONGEST: usize = 9216;
const IP4_LEN: usize = 20;
const IP6_LEN: usize = 40;
const UDP_LEN: usize = 8;

/// The sender of probes.
pub(super) struct Probes(pub(super) ProbeSockets);

impl Probes {
    /// # Errors
    /// Without CAP_NET_RAW.
    pub(super) fn open() -> Result<Self> {
        let sockets = ProbeSockets::open();
        sockets
            .map(Self)
            .map_err(|err| advise_for(err, &privileges::LEASES))
            .context("cannot open sockets for probes")
    }

    /// Sends a probe. No route, a full queue: then it does not arrive, and is sent again. Returns the length of the packet
    /// if it is as long as the path allows, and not shorter only because there is a limit to probes.
    pub(super) fn send(&mut self, probe: &OutgoingProbe) -> Option<u16> {
        let packet = &probe.packet;
        let envelope = Envelope {
            source: packet.source,
            dest: packet.dest,
            tos: packet.probe.tos,
        };
        let mtu = match probe.longest {
            0 => 0,
            most => longest(packet.dest).min(most.into()),
        };
        let raw = packet.raw_protocol();
        let udp_len = if raw.is_some() { 0 } else { UDP_LEN };
        let payload = packet.payload(probe.key, payload_len(mtu, packet.dest, udp_len));
        let _ = match raw {
            Some(protocol) => self.0.send_ip(&envelope, protocol, &payload),
            None => {
                let ports = (packet.sport(), packet.dport(probe.extension_port));
                self.0.send_udp(&envelope, ports, &payload)
            }
        };
        u16::try_from(mtu).ok().filter(|_| mtu > 0 && mtu < LONGEST)
    }

    /// Gives the ports of probes back while none are sent.
    pub(super) fn rest(&mut self) {
        self.0.rest();
    }
}

/// The length of a packet that is as long as the path allows.
fn longest(dest: IpAddr) -> usize {
    path_mtu(dest).unwrap_or_default().min(LONGEST)
}

/// The bytes behind the UDP header of a packet of this length, or behind the IP header if there is none.
fn payload_len(mtu: usize, dest: IpAddr, udp_len: usize) -> usize {
    let ip_len = if dest.is_ipv4() { IP4_LEN } else { IP6_LEN };
    mtu.saturating_sub(ip_len + udp_len)
}
