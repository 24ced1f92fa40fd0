//! Sends the probes that prove the paths of leases.

use anyhow::{Context, Result};

use crate::lease::OutgoingProbe;
use crate::os::probe_sockets::{Envelope, ProbeSockets, path_mtu};

/// The most probes in one turn: a burst of more could overflow a queue on the path.
pub(super) const MOST: usize = 32;
/// No longer probes are sent: loopback would carry 64 KiB.
const LONGEST: usize = 9216;
const IP4_LEN: usize = 20;
const IP6_LEN: usize = 40;
const UDP_LEN: usize = 8;
const TCP: u8 = 6;

/// The sender of probes.
pub(super) struct Probes(ProbeSockets);

impl Probes {
    /// # Errors
    /// Without CAP_NET_RAW.
    pub(super) fn open() -> Result<Self> {
        let sockets = ProbeSockets::open();
        sockets
            .map(Self)
            .context("cannot open sockets for probes (needs CAP_NET_RAW)")
    }

    /// Sends a probe. No route, a full queue: then it does not arrive, and is sent again.
    pub(super) fn send(&mut self, probe: &OutgoingProbe) {
        let packet = &probe.packet;
        let envelope = Envelope {
            source: packet.source,
            dest: packet.dest,
            tos: packet.probe.tos,
        };
        let len = if probe.long { longest(packet.dest) } else { 0 };
        let payload = packet.payload(probe.key, len);
        let _ = if packet.is_segment() {
            self.0.send_ip(&envelope, TCP, &payload)
        } else {
            let ports = (packet.sport(), packet.dport(probe.extension_port));
            self.0.send_udp(&envelope, ports, &payload)
        };
    }

    /// Gives the ports of probes back while none are sent.
    pub(super) fn rest(&mut self) {
        self.0.rest();
    }
}

/// The bytes behind the UDP header of a packet that is as long as the path allows.
fn longest(dest: std::net::IpAddr) -> usize {
    let ip_len = if dest.is_ipv4() { IP4_LEN } else { IP6_LEN };
    let mtu = path_mtu(dest).unwrap_or_default().min(LONGEST);
    mtu.saturating_sub(ip_len + UDP_LEN)
}
