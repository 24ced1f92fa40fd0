//! The UDP sockets that reports are sent through, one for each address family.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use nix::errno::Errno;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{SndBuf, SndBufForce};
use rustix::net::sockopt;

/// The send buffer's size: room for some ten thousand reports while the device is busy.
const SEND_BUFFER_BYTES: usize = 8 << 20;

/// The most attempts of a send that signals interrupt.
const INTERRUPTIONS: u32 = 8;

const V4_ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
const V6_ANY: SocketAddr = SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0);

/// The sockets of the families in use. None of them blocks.
#[derive(Debug, Default)]
pub struct Sockets {
    v4: Option<UdpSocket>,
    v6: Option<UdpSocket>,
}

impl Sockets {
    /// Opens sockets for the given families.
    pub(super) fn open(v4: bool, v6: bool) -> io::Result<Self> {
        let open = |wanted: bool, local: SocketAddr| wanted.then(|| open_socket(local)).transpose();
        Ok(Self {
            v4: open(v4, V4_ANY)?,
            v6: open(v6, V6_ANY)?,
        })
    }

    /// Opens the socket that this address needs, unless it is open. If that fails, reports to the address count as
    /// lost.
    pub(super) fn open_if_possible(&mut self, to: SocketAddr) {
        match to {
            SocketAddr::V4(_) if self.v4.is_none() => self.v4 = open_socket(V4_ANY).ok(),
            SocketAddr::V6(_) => self.open_v6_if_possible(),
            SocketAddr::V4(_) => {}
        }
    }

    /// Opens the IPv6 socket, unless it is open. On a host without IPv6, reports over IPv6 count as lost.
    pub(super) fn open_v6_if_possible(&mut self) {
        if self.v6.is_none() {
            self.v6 = open_socket(V6_ANY).ok();
        }
    }

    /// Hands a datagram to the kernel.
    pub(super) fn send(&self, datagram: &[u8], to: SocketAddr) -> io::Result<()> {
        let socket = match to {
            SocketAddr::V4(_) => self.v4.as_ref(),
            SocketAddr::V6(_) => self.v6.as_ref(),
        };
        let socket = socket.ok_or(Errno::EAFNOSUPPORT)?;
        let mut tries = 0;
        loop {
            match socket.send_to(datagram, to) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    tries += 1;
                    if tries == INTERRUPTIONS {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Returns the bytes of the largest IP packet on the path to a destination, as far as the kernel knows it.
pub(super) fn path_mtu(to: SocketAddr) -> Option<usize> {
    let local = if to.is_ipv4() { V4_ANY } else { V6_ANY };
    // Connecting makes the kernel look up the route; nothing is sent.
    let socket = UdpSocket::bind(local).ok()?;
    socket.connect(to).ok()?;
    let mtu = match to {
        SocketAddr::V4(_) => sockopt::ip_mtu(&socket),
        SocketAddr::V6(_) => sockopt::ipv6_mtu(&socket),
    };
    usize::try_from(mtu.ok()?).ok()
}

fn open_socket(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(local)?;
    socket.set_nonblocking(true)?;
    // Datagrams are not fragmented, because one lost fragment loses the datagram: those that are too big are refused
    // and counted.
    match local {
        SocketAddr::V4(_) => {
            sockopt::set_ip_mtu_discover(&socket, sockopt::Ipv4PathMtuDiscovery::DO)?;
        }
        SocketAddr::V6(_) => {
            sockopt::set_ipv6_mtu_discover(&socket, sockopt::Ipv6PathMtuDiscovery::DO)?;
        }
    }
    // Without CAP_NET_ADMIN the kernel allows net.core.wmem_max at most. A smaller buffer loses reports sooner; they
    // are counted.
    if setsockopt(&socket, SndBufForce, &SEND_BUFFER_BYTES).is_err() {
        let _ = setsockopt(&socket, SndBuf, &SEND_BUFFER_BYTES);
    }
    Ok(socket)
}
