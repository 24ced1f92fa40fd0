//! ICMP echo requests with known payloads that this host receives, and their addresses.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use nix::cmsg_space;
use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType,
    SockaddrStorage, recvmsg, setsockopt, socket, sockopt,
};

use super::icmp::{HEADER_LEN, V4, V6, attach_filter, checksum, jump, statement};
use super::wait::{self, Wait};

const IP4_LEN: usize = 20;
const LONGEST: usize = 512;
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;

/// A kind of payload: its first four bytes, and its length, which no other kind has.
#[derive(Clone, Copy, Debug)]
pub struct Payload {
    pub magic: u32,
    pub len: usize,
}

/// A request that was received.
#[derive(Clone, Copy, Debug)]
pub struct EchoRequest<'a> {
    pub from: IpAddr,
    pub to: IpAddr,
    pub payload: &'a [u8],
}

/// Sockets of the address families that the host has. They never block.
pub struct EchoRequests {
    v4: OwnedFd,
    v6: Option<OwnedFd>,
}

impl EchoRequests {
    /// Opens sockets that receive only requests with such payloads.
    ///
    /// # Errors
    /// The process lacks CAP_NET_RAW.
    pub fn open(payloads: &[Payload]) -> io::Result<Self> {
        Ok(Self {
            v4: open_v4(payloads)?,
            v6: open_v6(payloads).ok(),
        })
    }

    /// Lets the caller wake for requests.
    pub fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        wait.on(&self.v4);
        self.v6.iter().for_each(|socket| wait.on(socket));
    }

    /// Waits until a request came, or for this time: for threads beside a daemon's loop, whose wake-ups are the loop's.
    pub fn wait(&self, longest: Duration) {
        let fds = std::iter::once(&self.v4).chain(&self.v6);
        let mut fds: Vec<PollFd<'_>> = fds
            .map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN))
            .collect();
        let timeout = PollTimeout::try_from(longest).unwrap_or(PollTimeout::MAX);
        // A wait that fails is a short one.
        let _ = poll(&mut fds, timeout);
    }

    /// Hands each received request to `take`.
    pub fn receive(&self, mut take: impl FnMut(EchoRequest<'_>)) -> io::Result<()> {
        let mut buffer = [0; LONGEST];
        while let Some((len, _)) = receive_one(&self.v4, &mut buffer)? {
            let address = |at: usize| {
                let bytes: [u8; 4] = buffer.get(at..)?.first_chunk().copied()?;
                Some(IpAddr::from(Ipv4Addr::from(bytes)))
            };
            let payload = buffer.get(IP4_LEN + HEADER_LEN..len);
            if let (Some(from), Some(to), Some(payload)) = (address(12), address(16), payload) {
                take(EchoRequest { from, to, payload });
            }
        }
        let Some(v6) = &self.v6 else {
            return Ok(());
        };
        while let Some((len, addresses)) = receive_one(v6, &mut buffer)? {
            if let (Some((from, to)), Some(payload)) = (addresses, buffer.get(HEADER_LEN..len)) {
                take(EchoRequest { from, to, payload });
            }
        }
        Ok(())
    }
}

/// An ICMP echo request with this payload, from its header on.
pub fn request(from: IpAddr, to: IpAddr, payload: &[u8]) -> (u8, Vec<u8>) {
    let (protocol, kind) = match from {
        IpAddr::V4(_) => (ICMP, V4.request),
        IpAddr::V6(_) => (ICMPV6, V6.request),
    };
    let mut message = vec![kind, 0, 0, 0, 0, 0, 0, 0];
    message.extend(payload);
    let mut summed = Vec::new();
    if let (IpAddr::V6(from), IpAddr::V6(to)) = (from, to) {
        summed.extend(from.octets());
        summed.extend(to.octets());
        summed.extend((message.len() as u32).to_be_bytes());
        summed.extend([0, 0, 0, ICMPV6]);
    }
    summed.extend(&message);
    message[2..4].copy_from_slice(&checksum(&summed).to_be_bytes());
    (protocol, message)
}

type Addresses = Option<(IpAddr, IpAddr)>;

/// Returns the length of the next packet, and its addresses if it came over IPv6.
fn receive_one(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<Option<(usize, Addresses)>> {
    if wait::is_quiet(socket) {
        return Ok(None);
    }
    let mut parts = [IoSliceMut::new(buffer)];
    let mut control = cmsg_space!(libc::in6_pktinfo);
    let received = match recvmsg::<SockaddrStorage>(
        socket.as_raw_fd(),
        &mut parts,
        Some(&mut control),
        MsgFlags::MSG_DONTWAIT,
    ) {
        Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
        result => result?,
    };
    let to = received.cmsgs()?.find_map(|message| match message {
        ControlMessageOwned::Ipv6PacketInfo(info) => {
            Some(Ipv6Addr::from(info.ipi6_addr.s6_addr).into())
        }
        _ => None,
    });
    let from = received.address.as_ref();
    let from = from.and_then(|from| Some(IpAddr::from(from.as_sockaddr_in6()?.ip())));
    Ok(Some((received.bytes, from.zip(to))))
}

fn open_v4(payloads: &[Payload]) -> io::Result<OwnedFd> {
    let socket = open(AddressFamily::Inet, SockProtocol::Icmp)?;
    accept_only(&socket, V4.request, IP4_LEN, payloads)?;
    Ok(socket)
}

fn open_v6(payloads: &[Payload]) -> io::Result<OwnedFd> {
    let socket = open(AddressFamily::Inet6, SockProtocol::IcmpV6)?;
    setsockopt(&socket, sockopt::Ipv6RecvPacketInfo, &true)?;
    accept_only(&socket, V6.request, 0, payloads)?;
    Ok(socket)
}

fn open(family: AddressFamily, protocol: SockProtocol) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    Ok(socket(family, SockType::Raw, flags, protocol)?)
}

/// Makes the kernel drop all other packets for this socket, before it wakes the process.
fn accept_only(
    socket: &OwnedFd,
    request: u8,
    icmp_at: usize,
    payloads: &[Payload],
) -> io::Result<()> {
    let byte = libc::BPF_LD | libc::BPF_B | libc::BPF_ABS;
    let word = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let len = libc::BPF_LD | libc::BPF_W | libc::BPF_LEN;
    let payload_at = icmp_at + HEADER_LEN;
    let ret = libc::BPF_RET | libc::BPF_K;
    // The last two statements are the ends: refused, and accepted. Each payload takes three before them.
    let behind = |payload: usize| 3 * (payloads.len() - payload) as u8;
    let mut program = vec![
        statement(byte, icmp_at as u32),
        jump(request.into(), 0, behind(0) + 1),
        statement(len, 0),
    ];
    for (n, payload) in payloads.iter().enumerate() {
        let to_refused = behind(n + 1);
        program.extend([
            jump((payload_at + payload.len) as u32, 0, 2),
            statement(word, payload_at as u32),
            jump(payload.magic, to_refused + 1, to_refused),
        ]);
    }
    program.extend([statement(ret, 0), statement(ret, u32::MAX)]);
    attach_filter(socket, &mut program)
}
