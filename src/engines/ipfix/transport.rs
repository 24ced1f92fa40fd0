//! The transport of messages to the collecting process: a TCP connection for each parcel, or one UDP socket.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt;

use super::message::IpfixMessage;

const CONNECT: Duration = Duration::from_secs(3);
/// The longest time for writing a parcel and waiting until it was read.
const TCP_PARCEL: Duration = Duration::from_secs(8);

pub(super) const TCP_BYTES: usize = 16 << 10;

/// The longest message, even if the path takes longer ones: collectors are known to read messages of this size.
const MOST_UDP_BYTES: usize = 1420;
/// The longest message if the path MTU is not known (RFC 7011, 10.3.3).
const LEAST_UDP_BYTES: usize = 512;
const UDP_HEADER_BYTES: usize = 8;

/// The number of messages before a pause. A collector's socket holds some 200 KB and has to keep up: this allows at
/// most 22 MB/s.
const BURST: usize = 16;
const BURST_PAUSE: Duration = Duration::from_millis(1);

/// The time within which a near host says that its port is closed.
const ANSWER: Duration = Duration::from_millis(20);

/// The time between two checks whether a connection is over.
const LOOK: Duration = Duration::from_millis(1);

/// Sends messages over a connection of their own, and waits until the other side has read all of it and closes. If it
/// closes earlier, its system resets the connection, so that messages it did not read do not count as delivered.
pub(super) fn send_by_tcp(
    destination: &str,
    messages: &[IpfixMessage],
    mut sent: impl FnMut(&IpfixMessage),
) -> io::Result<()> {
    let mut stream = first_of(destination, |address| {
        TcpStream::connect_timeout(&address, CONNECT)
    })?;
    let end = Instant::now() + TCP_PARCEL;
    for message in messages {
        stream.set_write_timeout(Some(left(end)?))?;
        stream.write_all(&message.bytes).map_err(in_time)?;
        sent(message);
    }
    stream.shutdown(Shutdown::Write)?;
    let mut answer = [0; 512];
    loop {
        stream.set_read_timeout(Some(left(end)?))?;
        if stream.read(&mut answer).map_err(in_time)? == 0 {
            break;
        }
    }
    // The other side has closed, perhaps before it read all. The connection is over when all is acknowledged, or reset.
    while stream.peer_addr().is_ok() {
        left(end)?;
        thread::sleep(LOOK);
    }
    stream.take_error()?.map_or(Ok(()), Err)
}

fn left(end: Instant) -> io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(slow());
    }
    Ok(left)
}

/// Names a timeout, which sockets report as "try again".
fn in_time(err: io::Error) -> io::Error {
    match err.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => slow(),
        _ => err,
    }
}

fn slow() -> io::Error {
    let seconds = TCP_PARCEL.as_secs();
    io::Error::other(format!("it did not read all and close within {seconds} s"))
}

/// A UDP session: the socket, and the number of records sent from it.
#[derive(Debug)]
pub(super) struct UdpSession {
    socket: UdpSocket,
    peer: SocketAddr,
    /// The number of Data Records sent.
    pub(super) sequence: u32,
}

impl UdpSession {
    pub(super) fn open(destination: &str) -> io::Result<Self> {
        first_of(destination, |peer| {
            let local: SocketAddr = match peer {
                SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
                SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
            };
            let socket = UdpSocket::bind(local)?;
            socket.connect(peer)?;
            match peer {
                SocketAddr::V4(_) => {
                    sockopt::set_ip_mtu_discover(&socket, sockopt::Ipv4PathMtuDiscovery::DO)?;
                }
                SocketAddr::V6(_) => {
                    sockopt::set_ipv6_mtu_discover(&socket, sockopt::Ipv6PathMtuDiscovery::DO)?;
                }
            }
            Ok(Self {
                socket,
                peer,
                sequence: 0,
            })
        })
    }

    /// Returns the longest message on this path, as far as the system knows it.
    pub(super) fn most_bytes(&self) -> usize {
        let (mtu, ip_header) = match self.peer {
            SocketAddr::V4(_) => (sockopt::ip_mtu(&self.socket), 20),
            SocketAddr::V6(_) => (sockopt::ipv6_mtu(&self.socket), 40),
        };
        let room = mtu.map_or(0, |mtu| mtu as usize);
        room.saturating_sub(ip_header + UDP_HEADER_BYTES)
            .clamp(LEAST_UDP_BYTES, MOST_UDP_BYTES)
    }

    pub(super) fn send(
        &mut self,
        messages: &[IpfixMessage],
        mut sent: impl FnMut(&IpfixMessage),
    ) -> io::Result<()> {
        for (n, message) in (1..).zip(messages) {
            self.socket.send(&message.bytes)?;
            self.sequence = self.sequence.wrapping_add(message.records);
            sent(message);
            if n % BURST == 0 {
                thread::sleep(BURST_PAUSE);
            }
        }
        thread::sleep(ANSWER);
        self.socket.take_error()?.map_or(Ok(()), Err)
    }
}

/// Tries one address after the other and returns the first success.
fn first_of<T>(
    destination: &str,
    mut open: impl FnMut(SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    let mut failed = None;
    for address in destination.to_socket_addrs()? {
        match open(address) {
            Ok(opened) => return Ok(opened),
            Err(err) => failed = Some(err),
        }
    }
    Err(failed.unwrap_or_else(|| io::Error::other("it has no address")))
}
