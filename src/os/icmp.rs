//! ICMP echo: requests with a payload to a host, and the host's replies.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn,
    SockaddrIn6, SockaddrStorage, recvmsg, sendto, setsockopt, socket, sockopt,
};
use rustix::net::sockopt::{Ipv4PathMtuDiscovery, set_ip_mtu_discover};

use super::wait::{self, Wait};

pub(super) const HEADER_LEN: usize = 8;
const LONGEST: usize = 2048;
const RECEIVE_BUFFER_BYTES: usize = 4 << 20;

/// The constants of one address family.
pub(super) struct IcmpFamily {
    pub(super) request: u8,
    reply: u8,
    /// The place of the ICMP header in a received packet: an IPv4 socket delivers the IP header too.
    icmp_at: u32,
}

pub(super) const V4: IcmpFamily = IcmpFamily {
    request: 8,
    reply: 0,
    icmp_at: 20,
};
pub(super) const V6: IcmpFamily = IcmpFamily {
    request: 128,
    reply: 129,
    icmp_at: 0,
};

/// Sockets of the address families that the host has. They never block.
pub struct Echo {
    v4: Option<OwnedFd>,
    v6: Option<OwnedFd>,
    id: u16,
}

/// Computes the checksum of RFC 1071.
pub(super) fn checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = bytes
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)])))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

impl Echo {
    /// Opens sockets that receive only replies whose payload begins with `magic`.
    ///
    /// # Errors
    /// The process lacks CAP_NET_RAW.
    pub fn open(magic: u32, id: u16) -> io::Result<Self> {
        let v4 = open_family(AddressFamily::Inet, SockProtocol::Icmp, &V4, magic)?;
        let v6 = open_family(AddressFamily::Inet6, SockProtocol::IcmpV6, &V6, magic).ok();
        Ok(Self {
            v4: Some(v4),
            v6,
            id,
        })
    }

    /// Sends a request with this payload.
    pub fn send(&self, to: IpAddr, number: u16, payload: &[u8]) -> io::Result<()> {
        let family = match to {
            IpAddr::V4(_) => &V4,
            IpAddr::V6(_) => &V6,
        };
        let mut packet = Vec::with_capacity(HEADER_LEN + payload.len());
        packet.extend([family.request, 0, 0, 0]);
        packet.extend(self.id.to_be_bytes());
        packet.extend(number.to_be_bytes());
        packet.extend(payload);
        let missing = || io::Error::from(Errno::EAFNOSUPPORT);
        match to {
            IpAddr::V4(addr) => {
                let sum = checksum(&packet).to_be_bytes();
                packet[2..4].copy_from_slice(&sum);
                let socket = self.v4.as_ref().ok_or_else(missing)?;
                let to = SockaddrIn::from(SocketAddrV4::new(addr, 0));
                sendto(socket.as_raw_fd(), &packet, &to, MsgFlags::MSG_DONTWAIT)?;
            }
            // The kernel fills in the checksum.
            IpAddr::V6(addr) => {
                let socket = self.v6.as_ref().ok_or_else(missing)?;
                let to = SockaddrIn6::from(SocketAddrV6::new(addr, 0, 0, 0));
                sendto(socket.as_raw_fd(), &packet, &to, MsgFlags::MSG_DONTWAIT)?;
            }
        }
        Ok(())
    }

    /// Lets the caller wake for replies.
    pub fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        let sockets = self.v4.iter().chain(&self.v6);
        sockets.for_each(|socket| wait.on(socket));
    }

    /// Hands each received payload to `take`, with the time when the kernel received it (ns since the Unix epoch).
    pub fn receive(&self, mut take: impl FnMut(&[u8], u64)) -> io::Result<()> {
        for (socket, family) in [(&self.v4, &V4), (&self.v6, &V6)] {
            let Some(socket) = socket else { continue };
            let mut buffer = [0; LONGEST];
            let mut control = nix::cmsg_space!(libc::timespec);
            while let Some((len, received_ns)) = receive_one(socket, &mut buffer, &mut control)? {
                let payload_at = family.icmp_at as usize + HEADER_LEN;
                if let Some(payload) = buffer.get(payload_at..len) {
                    take(payload, received_ns);
                }
            }
        }
        Ok(())
    }
}

fn receive_one(
    socket: &OwnedFd,
    buffer: &mut [u8],
    control: &mut [u8],
) -> io::Result<Option<(usize, u64)>> {
    if wait::is_quiet(socket) {
        return Ok(None);
    }
    let mut parts = [IoSliceMut::new(buffer)];
    let received = match recvmsg::<SockaddrStorage>(
        socket.as_raw_fd(),
        &mut parts,
        Some(control),
        MsgFlags::MSG_DONTWAIT,
    ) {
        Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
        // An ICMP error about a request was received.
        Err(Errno::EHOSTUNREACH | Errno::ENETUNREACH | Errno::ECONNREFUSED) => return Ok(None),
        result => result?,
    };
    let stamp = received.cmsgs()?.find_map(|message| match message {
        ControlMessageOwned::ScmTimestampns(time) => {
            u64::try_from(time.tv_sec() * 1_000_000_000 + time.tv_nsec()).ok()
        }
        _ => None,
    });
    Ok(Some((
        received.bytes,
        stamp.unwrap_or_else(super::clock::realtime_ns),
    )))
}

fn open_family(
    family: AddressFamily,
    protocol: SockProtocol,
    of: &IcmpFamily,
    magic: u32,
) -> io::Result<OwnedFd> {
    let socket = socket(
        family,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
        protocol,
    )?;
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
    if family == AddressFamily::Inet {
        // Requests are never fragmented, so that the kernel does not choose an identification for each.
        set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::PROBE)?;
    }
    let _ = setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER_BYTES);
    accept_only(&socket, of, magic)?;
    Ok(socket)
}

pub(super) fn statement(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    }
}

/// Skips this many instructions if the value is `k`, else the other number of them.
pub(super) fn jump(k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt,
        jf,
        k,
    }
}

/// Makes the kernel drop all other packets for this socket.
fn accept_only(socket: &OwnedFd, of: &IcmpFamily, magic: u32) -> io::Result<()> {
    let byte = libc::BPF_LD | libc::BPF_B | libc::BPF_ABS;
    let word = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let mut program = [
        statement(byte, of.icmp_at),
        jump(of.reply.into(), 0, 3),
        statement(word, of.icmp_at + HEADER_LEN as u32),
        jump(magic, 0, 1),
        statement(libc::BPF_RET | libc::BPF_K, u32::MAX),
        statement(libc::BPF_RET | libc::BPF_K, 0),
    ];
    attach_filter(socket, &mut program)
}

/// Lets this program decide which packets the socket receives.
pub(super) fn attach_filter(socket: &OwnedFd, program: &mut [libc::sock_filter]) -> io::Result<()> {
    let filter = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: the option's value points to as many instructions as it says, which outlive the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const filter).cast(),
            size_of_val(&filter) as libc::socklen_t,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Returns the source address of packets to `dest`, or `None` if there is no route.
pub fn source_address(dest: IpAddr) -> Option<IpAddr> {
    let any: IpAddr = match dest {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = std::net::UdpSocket::bind((any, 0)).ok()?;
    // Connecting sends nothing: the kernel only looks up the route.
    socket.connect((dest, 9)).ok()?;
    socket.local_addr().ok().map(|addr| addr.ip())
}
