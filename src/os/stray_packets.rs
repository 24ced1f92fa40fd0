//! Plain packets to a port, with a known payload, that reach this host, whatever its own firewall does with them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, socket};

use super::icmp::{attach_filter, jump, statement};
use super::wait::{self, Wait};

const LONGEST: usize = 512;
const TCP: u8 = 6;
const UDP: u8 = 17;
const TCP_LEN: usize = 20;
const UDP_LEN: usize = 8;
/// No packet has this type: it is for experiments on one wire.
const NOTHING: i32 = 0x88b5;

/// Where the packets of one IP version have what is looked at.
struct Family {
    ether_type: i32,
    protocol_at: usize,
    addresses_at: usize,
    header_len: usize,
}

const V4: Family = Family {
    ether_type: libc::ETH_P_IP,
    protocol_at: 9,
    addresses_at: 12,
    header_len: 20,
};
const V6: Family = Family {
    ether_type: libc::ETH_P_IPV6,
    protocol_at: 6,
    addresses_at: 8,
    header_len: 40,
};

/// A packet that was received.
#[derive(Clone, Copy, Debug)]
pub struct StrayPacket<'a> {
    pub from: IpAddr,
    /// The bytes behind the header of TCP or UDP.
    pub payload: &'a [u8],
}

/// Sockets of both IP versions. They never block, and cost other packets nothing while they do not listen.
pub struct StrayPackets {
    sockets: [(Family, OwnedFd); 2],
    listens: bool,
}

impl StrayPackets {
    /// Opens sockets for TCP and UDP to this port whose payload begins with `magic`. Nothing is received at first.
    ///
    /// # Errors
    /// The process lacks CAP_NET_RAW.
    pub fn open(port: u16, magic: u32) -> io::Result<Self> {
        let v4 = open(&V4, port, magic)?;
        let v6 = open(&V6, port, magic)?;
        Ok(Self {
            sockets: [(V4, v4), (V6, v6)],
            listens: false,
        })
    }

    /// Sets whether packets are received.
    pub fn listen(&mut self, listens: bool) -> io::Result<()> {
        if self.listens == listens {
            return Ok(());
        }
        for (family, socket) in &self.sockets {
            let ether_type = if listens { family.ether_type } else { NOTHING };
            bind(socket, ether_type)?;
        }
        self.listens = listens;
        Ok(())
    }

    /// Lets the caller wake for packets.
    pub fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        let sockets = self.sockets.iter().filter(|_| self.listens);
        sockets.for_each(|(_, socket)| wait.on(socket));
    }

    /// Hands each received packet to `take`.
    pub fn receive(&self, mut take: impl FnMut(StrayPacket<'_>)) -> io::Result<()> {
        let mut buffer = [0; LONGEST];
        let sockets = self.sockets.iter().filter(|_| self.listens);
        for (family, socket) in sockets.filter(|(_, socket)| !wait::is_quiet(socket)) {
            loop {
                let len = match recv(socket.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT) {
                    Err(Errno::EAGAIN | Errno::EINTR) => break,
                    // An interface went down.
                    Err(Errno::ENETDOWN) => continue,
                    received => received?,
                };
                if let Some(packet) = buffer.get(..len).and_then(|bytes| family.read(bytes)) {
                    take(packet);
                }
            }
        }
        Ok(())
    }
}

impl Family {
    fn read<'a>(&self, bytes: &'a [u8]) -> Option<StrayPacket<'a>> {
        let l4_len = match *bytes.get(self.protocol_at)? {
            TCP => TCP_LEN,
            UDP => UDP_LEN,
            _ => return None,
        };
        let addresses = bytes.get(self.addresses_at..self.header_len)?;
        let (from, _) = addresses.split_at_checked(addresses.len() / 2)?;
        Some(StrayPacket {
            from: address(from)?,
            payload: bytes.get(self.header_len + l4_len..)?,
        })
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(v4) = <[u8; 4]>::try_from(bytes) {
        return Some(Ipv4Addr::from(v4).into());
    }
    let v6: [u8; 16] = bytes.try_into().ok()?;
    Some(Ipv6Addr::from(v6).into())
}

/// Opens a socket that the kernel hands no packet to before it is bound.
fn open(family: &Family, port: u16, magic: u32) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Packet, SockType::Datagram, flags, None)?;
    let byte = libc::BPF_LD | libc::BPF_B | libc::BPF_ABS;
    let half = libc::BPF_LD | libc::BPF_H | libc::BPF_ABS;
    let word = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let ret = libc::BPF_RET | libc::BPF_K;
    let l4 = family.header_len;
    let mut program = [
        // The port comes first: it refuses nearly all packets.
        statement(half, l4 as u32 + 2),
        jump(port.into(), 0, 7),
        statement(byte, family.protocol_at as u32),
        jump(TCP.into(), 0, 2),
        statement(word, (l4 + TCP_LEN) as u32),
        jump(magic, 4, 3),
        jump(UDP.into(), 0, 2),
        statement(word, (l4 + UDP_LEN) as u32),
        jump(magic, 1, 0),
        statement(ret, 0),
        statement(ret, u32::MAX),
    ];
    attach_filter(&socket, &mut program)?;
    Ok(socket)
}

/// Lets the kernel hand packets of this type to the socket, from all interfaces.
fn bind(socket: &OwnedFd, ether_type: i32) -> io::Result<()> {
    // SAFETY: all zeros are a value of this plain struct.
    let mut to: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    to.sll_family = libc::AF_PACKET as u16;
    to.sll_protocol = u16::from_ne_bytes((ether_type as u16).to_be_bytes());
    // SAFETY: the address is a struct of the length that the call says, and outlives the call.
    let result = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const to).cast(),
            size_of_val(&to) as libc::socklen_t,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
