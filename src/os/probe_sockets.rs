//! Sockets for packets that probe a path: UDP from chosen ports and addresses, and bare IP packets.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{
    AddressFamily, ControlMessage, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrStorage,
    bind, sendmsg, setsockopt, socket, sockopt,
};
use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, ip_mtu, ipv6_mtu, set_ip_mtu_discover,
    set_ipv6_mtu_discover,
};

use super::icmp;

const IP4_LEN: u16 = 20;
const DONT_FRAGMENT: u16 = 0x4000;
const TTL: u8 = 64;
const UDP: u8 = 17;
const UDP_LEN: usize = 8;
/// Discard: connecting to it sends nothing, and only looks up the route.
const ANY_PORT: u16 = 9;

/// The addresses of a packet, and its ToS byte or traffic class.
#[derive(Clone, Copy, Debug)]
pub struct Envelope {
    pub source: IpAddr,
    pub dest: IpAddr,
    pub tos: u8,
}

/// The sockets. They never block, and receive nothing that anybody reads.
pub struct ProbeSockets {
    raw_v4: OwnedFd,
    raw_v6: Option<OwnedFd>,
    /// UDP sockets by port, and whether they are for IPv6; opened when they are needed.
    udp: HashMap<(u16, bool), OwnedFd>,
}

impl ProbeSockets {
    /// Opens the sockets that need privileges.
    ///
    /// # Errors
    /// The process lacks CAP_NET_RAW.
    pub fn open() -> io::Result<Self> {
        Ok(Self {
            raw_v4: open_raw(AddressFamily::Inet)?,
            raw_v6: open_raw(AddressFamily::Inet6).ok(),
            udp: HashMap::new(),
        })
    }

    /// Closes the sockets that are opened when they are needed: their ports are anybody's again.
    pub fn rest(&mut self) {
        self.udp.clear();
    }

    /// Sends a UDP packet from this port. Where several routes are equal, the ports choose one, as they do for data;
    /// not so if another program holds the port.
    pub fn send_udp(
        &mut self,
        envelope: &Envelope,
        (sport, dport): (u16, u16),
        payload: &[u8],
    ) -> io::Result<()> {
        let socket = match self.udp.entry((sport, envelope.dest.is_ipv6())) {
            Entry::Occupied(opened) => opened.into_mut(),
            Entry::Vacant(place) => match open_udp(sport, envelope.dest.is_ipv6()) {
                Ok(opened) => place.insert(opened),
                Err(err) if err.kind() == io::ErrorKind::AddrInUse => {
                    let datagram = datagram(envelope, (sport, dport), payload);
                    return self.send_ip(envelope, UDP, &datagram);
                }
                Err(err) => return Err(err),
            },
        };
        let to = SockaddrStorage::from(SocketAddr::new(envelope.dest, dport));
        let parts = [IoSlice::new(payload)];
        let tclass = i32::from(envelope.tos);
        let from4;
        let from6;
        let control = match envelope.source {
            IpAddr::V4(source) => {
                from4 = from_v4(source);
                [
                    ControlMessage::Ipv4PacketInfo(&from4),
                    ControlMessage::Ipv4Tos(&envelope.tos),
                ]
            }
            IpAddr::V6(source) => {
                from6 = from_v6(source);
                [
                    ControlMessage::Ipv6PacketInfo(&from6),
                    ControlMessage::Ipv6TClass(&tclass),
                ]
            }
        };
        let flags = MsgFlags::MSG_DONTWAIT;
        sendmsg(socket.as_raw_fd(), &parts, &control, flags, Some(&to))?;
        Ok(())
    }

    /// Sends an IP packet of this protocol.
    pub fn send_ip(&self, envelope: &Envelope, protocol: u8, payload: &[u8]) -> io::Result<()> {
        let len = u16::try_from(payload.len()).map_err(|_| Errno::EMSGSIZE)?;
        let mut packet = match (envelope.source, envelope.dest) {
            (IpAddr::V4(source), IpAddr::V4(dest)) => {
                let total = len.checked_add(IP4_LEN).ok_or(Errno::EMSGSIZE)?;
                let mut header = vec![0x45, envelope.tos];
                header.extend(total.to_be_bytes());
                header.extend([0, 0]);
                header.extend(DONT_FRAGMENT.to_be_bytes());
                // The kernel fills in the checksum.
                header.extend([TTL, protocol, 0, 0]);
                header.extend(source.octets());
                header.extend(dest.octets());
                header
            }
            (IpAddr::V6(source), IpAddr::V6(dest)) => {
                let mut header = vec![0x60 | envelope.tos >> 4, envelope.tos << 4, 0, 0];
                header.extend(len.to_be_bytes());
                header.extend([protocol, TTL]);
                header.extend(source.octets());
                header.extend(dest.octets());
                header
            }
            _ => return Err(Errno::EAFNOSUPPORT.into()),
        };
        packet.extend(payload);
        let socket = match envelope.dest {
            IpAddr::V4(_) => Some(&self.raw_v4),
            IpAddr::V6(_) => self.raw_v6.as_ref(),
        };
        let socket = socket.ok_or(Errno::EAFNOSUPPORT)?;
        let to = SockaddrStorage::from(SocketAddr::new(envelope.dest, 0));
        let parts = [IoSlice::new(&packet)];
        let flags = MsgFlags::MSG_DONTWAIT;
        sendmsg(socket.as_raw_fd(), &parts, &[], flags, Some(&to))?;
        Ok(())
    }
}

/// A UDP packet with its checksum.
fn datagram(envelope: &Envelope, (sport, dport): (u16, u16), payload: &[u8]) -> Vec<u8> {
    let len = (UDP_LEN + payload.len()) as u16;
    let mut header = Vec::with_capacity(UDP_LEN + payload.len());
    for field in [sport, dport, len, 0] {
        header.extend(field.to_be_bytes());
    }
    header.extend(payload);
    let mut summed = Vec::with_capacity(2 * 16 + 4 + header.len());
    match (envelope.source, envelope.dest) {
        (IpAddr::V4(source), IpAddr::V4(dest)) => {
            summed.extend(source.octets());
            summed.extend(dest.octets());
        }
        (source, dest) => {
            summed.extend(v6_octets(source));
            summed.extend(v6_octets(dest));
        }
    }
    summed.extend([0, UDP]);
    summed.extend(len.to_be_bytes());
    summed.extend(&header);
    let sum = match icmp::checksum(&summed) {
        0 => u16::MAX,
        sum => sum,
    };
    header[UDP_LEN - 2..UDP_LEN].copy_from_slice(&sum.to_be_bytes());
    header
}

fn v6_octets(addr: IpAddr) -> [u8; 16] {
    match addr {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

fn from_v4(source: Ipv4Addr) -> libc::in_pktinfo {
    libc::in_pktinfo {
        ipi_ifindex: 0,
        ipi_spec_dst: libc::in_addr {
            s_addr: u32::from_ne_bytes(source.octets()),
        },
        ipi_addr: libc::in_addr { s_addr: 0 },
    }
}

fn from_v6(source: Ipv6Addr) -> libc::in6_pktinfo {
    libc::in6_pktinfo {
        ipi6_addr: libc::in6_addr {
            s6_addr: source.octets(),
        },
        ipi6_ifindex: 0,
    }
}

/// A socket for whole IP packets, which receives nothing.
fn open_raw(family: AddressFamily) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    Ok(socket(family, SockType::Raw, flags, SockProtocol::Raw)?)
}

fn open_udp(port: u16, is_v6: bool) -> io::Result<OwnedFd> {
    let (family, any): (_, IpAddr) = if is_v6 {
        (AddressFamily::Inet6, Ipv6Addr::UNSPECIFIED.into())
    } else {
        (AddressFamily::Inet, Ipv4Addr::UNSPECIFIED.into())
    };
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(family, SockType::Datagram, flags, None)?;
    // A router's source probes for the hosts whose packets it forwards.
    if is_v6 {
        setsockopt(&socket, sockopt::Ipv6V6Only, &true)?;
        set_ipv6_mtu_discover(&socket, Ipv6PathMtuDiscovery::PROBE)?;
        transparent_v6(&socket)?;
    } else {
        set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::PROBE)?;
        setsockopt(&socket, sockopt::IpTransparent, &true)?;
    }
    setsockopt(&socket, sockopt::RcvBuf, &0)?;
    bind(
        socket.as_raw_fd(),
        &SockaddrStorage::from(SocketAddr::new(any, port)),
    )?;
    Ok(socket)
}

fn transparent_v6(socket: &OwnedFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is an integer that outlives the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IPV6,
            libc::IPV6_TRANSPARENT,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Returns the longest packet that reaches `dest` unfragmented, as far as the kernel knows.
pub fn path_mtu(dest: IpAddr) -> io::Result<usize> {
    let any: IpAddr = match dest {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = std::net::UdpSocket::bind((any, 0))?;
    socket.connect((dest, ANY_PORT))?;
    let mtu = match dest {
        IpAddr::V4(_) => ip_mtu(&socket)?,
        IpAddr::V6(_) => ipv6_mtu(&socket)?,
    };
    Ok(mtu as usize)
}
