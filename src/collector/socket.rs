//! The UDP sockets that share an address. Each serves a part of the senders, and the kernel counts its drops.

use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{
    AddressFamily, GetSockOpt, SetSockOpt, SockFlag, SockType, SockaddrStorage, bind, getsockname,
    setsockopt, socket, sockopt,
};
use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};

/// The receive buffer of all sockets of an address: room for some hundred thousand reports while the collector is busy.
const RECEIVE_BUFFER_BYTES: usize = 64 << 20;

/// The offsets of source addresses in the IP header.
const SOURCE_V4: u32 = 12;
const SOURCE_V6: u32 = 8;
/// Knuth's multiplier, which spreads addresses that differ in any bits.
const SPREAD: u32 = 0x9e37_79b1;

sockopt_impl!(
    /// The kernel's memory figures of a socket, and its count of dropped datagrams.
    MemInfo,
    GetOnly,
    libc::SOL_SOCKET,
    libc::SO_MEMINFO,
    [u32; 9]
);
sockopt_impl!(
    /// The filter of incoming datagrams.
    AttachFilter,
    SetOnly,
    libc::SOL_SOCKET,
    libc::SO_ATTACH_FILTER,
    libc::sock_fprog
);

/// The reason why an address cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("cannot {action} UDP address {address}: {}{}", errno.desc(), advice(*errno))]
    Socket {
        action: &'static str,
        address: SocketAddr,
        errno: Errno,
    },
    #[error("no address to listen on")]
    NoAddress,
    #[error("cannot start a receiving thread")]
    Thread(#[from] std::io::Error),
}

/// What to try against an error of the kernel, in brackets.
fn advice(err: Errno) -> &'static str {
    match err {
        Errno::EADDRINUSE => " (another program listens there: see ss -lunp, or try another port)",
        Errno::EADDRNOTAVAIL => {
            " (no interface of this host has it: see ip address, or try 0.0.0.0 or [::] for all)"
        }
        Errno::EACCES => " (ports below 1024 take CAP_NET_BIND_SERVICE: try sudo, or another port)",
        _ => "",
    }
}

impl ListenError {
    /// True if this host does not have the address family.
    pub(super) fn is_of_family(&self) -> bool {
        let absent = [Errno::EAFNOSUPPORT, Errno::EADDRNOTAVAIL];
        matches!(self, Self::Socket { errno, .. } if absent.contains(errno))
    }
}

/// A bound UDP socket.
#[derive(Debug)]
pub(super) struct Socket(OwnedFd);

impl Socket {
    /// Returns the bound address, with the port that the kernel chose if the configured one is 0.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        getsockname(self.0.as_raw_fd())
            .ok()
            .as_ref()
            .and_then(socket_address)
    }

    /// Returns room for a datagram's destination address, if the socket's own address does not tell it.
    pub(super) fn room_for_destination(&self) -> Option<Vec<u8>> {
        match self.address()? {
            SocketAddr::V4(at) if at.ip().is_unspecified() => {
                Some(nix::cmsg_space!(libc::in_pktinfo))
            }
            SocketAddr::V6(at) if at.ip().is_unspecified() => {
                Some(nix::cmsg_space!(libc::in6_pktinfo))
            }
            _ => None,
        }
    }

    /// Returns how many datagrams the kernel has dropped at this socket, modulo 2^32: because its buffer was full,
    /// their checksum was wrong, or its filter was closed.
    pub(super) fn drops(&self) -> u32 {
        let info = MemInfo.get(&self.0).unwrap_or_default();
        info[libc::SK_MEMINFO_DROPS as usize]
    }

    /// Closes the socket's filter: datagrams that arrive from now on are dropped and counted. Those in the buffer stay.
    pub(super) fn close_filter(&self) -> nix::Result<()> {
        attach(AttachFilter, self, &mut [op(libc::BPF_RET, 0)])
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Binds `count` sockets to one address. All datagrams of a sender, from all its ports, arrive at one of them in their
/// order.
///
/// The first socket is bound before it shares its address. The kernel allows that only where no other process is bound,
/// so two collectors never share an address by mistake.
pub(super) fn open_group(address: SocketAddr, count: usize) -> Result<Vec<Socket>, ListenError> {
    let failed = |action| {
        move |errno| ListenError::Socket {
            action,
            address,
            errno,
        }
    };
    let share =
        |socket: &Socket| setsockopt(&socket.0, sockopt::ReusePort, &true).map_err(failed("share"));
    let first = open(address, count)?;
    bind_to(&first, address)?;
    if count < 2 {
        return Ok(vec![first]);
    }
    share(&first)?;
    let bound = first.address().unwrap_or(address);
    let mut group = vec![first];
    while group.len() < count {
        let next = open(address, count)?;
        share(&next)?;
        bind_to(&next, bound)?;
        group.push(next);
    }
    steer(&group, address.is_ipv6()).map_err(failed("spread the senders of"))?;
    Ok(group)
}

/// Opens one of `count` sockets that share an address.
fn open(address: SocketAddr, count: usize) -> Result<Socket, ListenError> {
    let failed = |action| {
        move |errno| ListenError::Socket {
            action,
            address,
            errno,
        }
    };
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::Inet,
        SocketAddr::V6(_) => AddressFamily::Inet6,
    };
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let fd =
        socket(family, SockType::Datagram, flags, None).map_err(failed("open a socket for"))?;
    if address.is_ipv6() {
        setsockopt(&fd, sockopt::Ipv6V6Only, &true).map_err(failed("keep IPv4 out of"))?;
    }
    // A sink that probes one of several addresses expects the answer from that one.
    if address.ip().is_unspecified() {
        let reported = match address {
            SocketAddr::V4(_) => setsockopt(&fd, sockopt::Ipv4PacketInfo, &true),
            SocketAddr::V6(_) => setsockopt(&fd, sockopt::Ipv6RecvPacketInfo, &true),
        };
        reported.map_err(failed("see the destinations of"))?;
    }
    // Without CAP_NET_ADMIN the kernel allows net.core.rmem_max at most.
    let room = RECEIVE_BUFFER_BYTES / count.max(1);
    if setsockopt(&fd, sockopt::RcvBufForce, &room).is_err() {
        let _ = setsockopt(&fd, sockopt::RcvBuf, &room);
    }
    Ok(Socket(fd))
}

fn bind_to(socket: &Socket, address: SocketAddr) -> Result<(), ListenError> {
    bind(socket.0.as_raw_fd(), &SockaddrStorage::from(address)).map_err(|errno| {
        ListenError::Socket {
            action: "bind",
            address,
            errno,
        }
    })
}

/// Makes the kernel choose a socket by the sender's address alone. By default it would use the port too, which switches
/// vary from report to report.
fn steer(group: &[Socket], v6: bool) -> nix::Result<()> {
    let load = |at: u32| {
        let header = libc::SKF_NET_OFF.cast_unsigned();
        op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, header + at)
    };
    let mut program = Vec::new();
    if v6 {
        program.push(load(SOURCE_V6));
        for word in 1..4 {
            program.push(op(libc::BPF_MISC | libc::BPF_TAX, 0));
            program.push(load(SOURCE_V6 + 4 * word));
            program.push(op(libc::BPF_ALU | libc::BPF_XOR | libc::BPF_X, 0));
        }
    } else {
        program.push(load(SOURCE_V4));
    }
    let count = u32::try_from(group.len()).unwrap_or(u32::MAX);
    program.extend([
        op(libc::BPF_ALU | libc::BPF_MUL | libc::BPF_K, SPREAD),
        op(libc::BPF_ALU | libc::BPF_RSH | libc::BPF_K, 16),
        op(libc::BPF_ALU | libc::BPF_MOD | libc::BPF_K, count),
        op(libc::BPF_RET | libc::BPF_A, 0),
    ]);
    let first = group.first().ok_or(Errno::EINVAL)?;
    attach(sockopt::AttachReusePortCbpf, first, &mut program)
}

/// An instruction of classic BPF.
fn op(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: u16::try_from(code).unwrap_or_default(),
        jt: 0,
        jf: 0,
        k,
    }
}

fn attach(
    option: impl SetSockOpt<Val = libc::sock_fprog>,
    socket: &Socket,
    program: &mut [libc::sock_filter],
) -> nix::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(|_| Errno::EINVAL)?,
        filter: program.as_mut_ptr(),
    };
    option.set(&socket.0, &program)
}

pub(super) fn socket_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    if let Some(v4) = address.as_sockaddr_in() {
        return Some(SocketAddrV4::from(*v4).into());
    }
    let v6 = address.as_sockaddr_in6()?;
    Some(SocketAddrV6::from(*v6).into())
}
