//! Receives report datagrams on several addresses at once.

use std::io::IoSliceMut;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use nix::cmsg_space;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockType, SockaddrStorage, bind,
    getsockname, recvmsg, setsockopt, socket, sockopt,
};
use serde::Serialize;

use crate::model::REPORT_PORT;

/// Room for some hundred thousand reports while the collector is busy.
const RECEIVE_BUFFER_BYTES: usize = 64 << 20;

/// No UDP payload is larger.
const DATAGRAM_BYTES: usize = 65_536;

/// Datagrams taken from one socket before the next one has its turn.
const TURN: usize = 256;

/// Pause after a round in which sockets only failed, lest a broken one takes all the time.
const FAILURE_PAUSE: Duration = Duration::from_millis(10);

/// Every address of both families, at the usual report port.
pub fn default_addresses() -> [SocketAddr; 2] {
    [
        (Ipv4Addr::UNSPECIFIED, REPORT_PORT).into(),
        (Ipv6Addr::UNSPECIFIED, REPORT_PORT).into(),
    ]
}

/// Why an address cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("cannot {action} UDP address {address}")]
    Socket {
        action: &'static str,
        address: SocketAddr,
        source: Errno,
    },
    #[error("cannot wait for reports: {0}")]
    Poll(Errno),
    #[error("no address to listen on")]
    NoAddress,
}

/// What arrived at the sockets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ListenerCounts {
    pub datagrams: u64,
    pub bytes: u64,
    /// Datagrams that the kernel dropped because a socket's buffer was full, as of the latest
    /// datagram received.
    pub kernel_drops: u64,
    /// Receive calls that failed.
    pub errors: u64,
}

/// Bound UDP sockets.
#[derive(Debug)]
pub struct Listener {
    sockets: Vec<Socket>,
    datagram: Vec<u8>,
    control: Vec<u8>,
    counts: ListenerCounts,
}

#[derive(Debug)]
struct Socket {
    fd: OwnedFd,
    /// The kernel's count of drops when it was last seen, modulo 2^32.
    drops: u32,
}

impl Listener {
    /// Binds every address.
    pub fn bind(addresses: &[SocketAddr]) -> Result<Self, ListenError> {
        let sockets = addresses.iter().map(|address| open(*address));
        Self::with_sockets(sockets.collect::<Result<_, _>>()?)
    }

    /// Binds [`default_addresses`], as far as this host has those address families.
    pub fn bind_default() -> Result<Self, ListenError> {
        let mut sockets = Vec::new();
        for address in default_addresses() {
            match open(address) {
                Err(ListenError::Socket {
                    source: Errno::EAFNOSUPPORT | Errno::EADDRNOTAVAIL,
                    ..
                }) => {}
                other => sockets.push(other?),
            }
        }
        Self::with_sockets(sockets)
    }

    fn with_sockets(sockets: Vec<Socket>) -> Result<Self, ListenError> {
        if sockets.is_empty() {
            return Err(ListenError::NoAddress);
        }
        Ok(Self {
            sockets,
            datagram: vec![0; DATAGRAM_BYTES],
            control: cmsg_space!(u32),
            counts: ListenerCounts::default(),
        })
    }

    /// The addresses bound, with the ports that the kernel chose where 0 was asked for.
    pub fn local_addresses(&self) -> Vec<SocketAddr> {
        self.sockets
            .iter()
            .filter_map(|socket| getsockname(socket.fd.as_raw_fd()).ok())
            .filter_map(|address| socket_address(&address))
            .collect()
    }

    pub fn counts(&self) -> ListenerCounts {
        self.counts
    }

    /// Waits for datagrams and gives those that are there to `receive`; the number of them.
    ///
    /// Returns early, with 0, when a signal arrives. Receiving never fails for good: a failed
    /// call is counted and the next one tried.
    pub fn poll(
        &mut self,
        timeout: Duration,
        mut receive: impl FnMut(&[u8], SocketAddr),
    ) -> Result<usize, ListenError> {
        let mut fds: Vec<_> = self
            .sockets
            .iter()
            .map(|socket| PollFd::new(socket.fd.as_fd(), PollFlags::POLLIN))
            .collect();
        let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
        match poll(&mut fds, timeout) {
            Ok(0) | Err(Errno::EINTR | Errno::EAGAIN) => return Ok(0),
            Ok(_) => {}
            Err(error) => return Err(ListenError::Poll(error)),
        }
        let ready: Vec<_> = fds.iter().map(|fd| fd.any().unwrap_or(true)).collect();
        let (received, errors) = (self.counts.datagrams, self.counts.errors);
        for index in (0..ready.len()).filter(|index| ready[*index]) {
            self.drain(index, &mut receive);
        }
        let received = self.counts.datagrams - received;
        if received == 0 && self.counts.errors > errors {
            std::thread::sleep(FAILURE_PAUSE);
        }
        Ok(received as usize)
    }

    fn drain(&mut self, index: usize, receive: &mut impl FnMut(&[u8], SocketAddr)) {
        let socket = &mut self.sockets[index];
        for _ in 0..TURN {
            match socket.receive(&mut self.datagram, &mut self.control) {
                Ok((bytes, from, drops)) => {
                    self.counts.datagrams += 1;
                    self.counts.bytes += bytes as u64;
                    self.counts.kernel_drops += u64::from(drops);
                    receive(&self.datagram[..bytes], from);
                }
                Err(Errno::EAGAIN) => return,
                Err(Errno::EINTR) => {}
                Err(_) => {
                    self.counts.errors += 1;
                    return;
                }
            }
        }
    }
}

impl Socket {
    /// The next datagram's size and sender, and how many the kernel dropped since the last one.
    fn receive(
        &mut self,
        datagram: &mut [u8],
        control: &mut [u8],
    ) -> Result<(usize, SocketAddr, u32), Errno> {
        let mut parts = [IoSliceMut::new(datagram)];
        let message = recvmsg::<SockaddrStorage>(
            self.fd.as_raw_fd(),
            &mut parts,
            Some(control),
            MsgFlags::MSG_DONTWAIT,
        )?;
        let from = message.address.as_ref().and_then(socket_address);
        let mut dropped = 0;
        for note in message.cmsgs().into_iter().flatten() {
            if let ControlMessageOwned::RxqOvfl(drops) = note {
                dropped = drops.wrapping_sub(self.drops);
                self.drops = drops;
            }
        }
        Ok((message.bytes, from.ok_or(Errno::EAFNOSUPPORT)?, dropped))
    }
}

fn socket_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    if let Some(v4) = address.as_sockaddr_in() {
        return Some(SocketAddrV4::from(*v4).into());
    }
    let v6 = address.as_sockaddr_in6()?;
    Some(SocketAddrV6::from(*v6).into())
}

fn open(address: SocketAddr) -> Result<Socket, ListenError> {
    let failed = |action| {
        move |source| ListenError::Socket {
            action,
            address,
            source,
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
    // Without CAP_NET_ADMIN the kernel grants as much as net.core.rmem_max.
    if setsockopt(&fd, sockopt::RcvBufForce, &RECEIVE_BUFFER_BYTES).is_err() {
        let _ = setsockopt(&fd, sockopt::RcvBuf, &RECEIVE_BUFFER_BYTES);
    }
    // Any kernel since 2.6.33 has this; without it, drops show as gaps in the exporters' numbers.
    let _ = setsockopt(&fd, sockopt::RxqOvfl, &1);
    bind(fd.as_raw_fd(), &SockaddrStorage::from(address)).map_err(failed("bind"))?;
    Ok(Socket { fd, drops: 0 })
}
