//! Traffic: datagrams and raw frames in batches, TCP in bulk, and one byte to and fro.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hostint::os::netdev;
use hostint_testing::netns::Host;
use nix::libc;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

const BATCH: usize = 64;

fn message(buffer: &mut [u8], part: &mut libc::iovec) -> libc::mmsghdr {
    part.iov_base = buffer.as_mut_ptr().cast();
    part.iov_len = buffer.len();
    // SAFETY: plain data; all zeros is an empty message.
    let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
    message.msg_hdr.msg_iov = part;
    message.msg_hdr.msg_iovlen = 1;
    message
}

fn parts() -> [libc::iovec; BATCH] {
    [libc::iovec {
        iov_base: std::ptr::null_mut(),
        iov_len: 0,
    }; BATCH]
}

/// Sends these packets by a connected or bound socket.
pub fn send_batch(socket: &impl AsRawFd, packets: &mut [Vec<u8>]) {
    let mut parts = parts();
    let mut messages: Vec<libc::mmsghdr> = packets
        .iter_mut()
        .zip(&mut parts)
        .map(|(packet, part)| message(packet, part))
        .collect();
    let mut sent = 0;
    while sent < messages.len() {
        let left = &mut messages[sent..];
        // SAFETY: the messages point to buffers and parts that outlive the call.
        let result =
            unsafe { libc::sendmmsg(socket.as_raw_fd(), left.as_mut_ptr(), left.len() as u32, 0) };
        // ENOBUFS and the like: the packet is lost, as it would be on a wire.
        sent += usize::try_from(result).unwrap_or(1);
    }
}

/// What a receiver does while nothing is there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Receiver {
    /// It sleeps, so that the first packet afterwards wakes it up, which takes the sender's CPU long.
    Sleeps,
    /// It asks again.
    Polls,
}

/// Takes what has arrived, at most a batch.
fn receive_batch(socket: &UdpSocket, buffers: &mut [Vec<u8>], receiver: Receiver) -> u64 {
    let flags = match receiver {
        Receiver::Sleeps => libc::MSG_WAITFORONE,
        Receiver::Polls => libc::MSG_DONTWAIT,
    };
    let mut parts = parts();
    let mut messages: Vec<libc::mmsghdr> = buffers
        .iter_mut()
        .zip(&mut parts)
        .map(|(buffer, part)| message(buffer, part))
        .collect();
    // SAFETY: the messages point to buffers and parts that outlive the call.
    let result = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            messages.as_mut_ptr(),
            messages.len() as u32,
            flags,
            std::ptr::null_mut(),
        )
    };
    u64::try_from(result).unwrap_or(0)
}

/// Sends datagrams from a to b as fast as one thread can.
pub struct Datagrams {
    from: UdpSocket,
    to: UdpSocket,
    payload: usize,
}

impl Datagrams {
    pub fn new(a: &Host, b: &Host, payload: usize) -> Self {
        Self::between((a, "10.9.1.1:40000"), (b, "10.9.2.1:5000"), payload)
    }

    pub fn between((a, from): (&Host, &str), (b, at): (&Host, &str), payload: usize) -> Self {
        let to = b.udp(at);
        to.set_read_timeout(Some(Duration::from_millis(50)))
            .unwrap();
        let from = a.udp(from);
        from.connect(at).unwrap();
        Self { from, to, payload }
    }

    /// Packets that arrive in a second, sent for so long.
    pub fn rate(&self, time: Duration) -> f64 {
        self.rate_to(Receiver::Sleeps, time)
    }

    /// The same, with this receiver.
    pub fn rate_to(&self, receiver: Receiver, time: Duration) -> f64 {
        let done = AtomicBool::new(false);
        let received = AtomicU64::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut buffers = vec![vec![0; 2048]; BATCH];
                while !done.load(Ordering::Relaxed) {
                    let taken = receive_batch(&self.to, &mut buffers, receiver);
                    received.fetch_add(taken, Ordering::Relaxed);
                }
            });
            let mut packets = vec![vec![0x5a; self.payload]; BATCH];
            // Whatever is queued of before is gone, and the flow is known.
            let warm = Instant::now() + time / 4;
            while Instant::now() < warm {
                send_batch(&self.from, &mut packets);
            }
            let (begin, before) = (Instant::now(), received.load(Ordering::Relaxed));
            while begin.elapsed() < time {
                send_batch(&self.from, &mut packets);
            }
            let (passed, after) = (begin.elapsed(), received.load(Ordering::Relaxed));
            done.store(true, Ordering::Relaxed);
            (after - before) as f64 / passed.as_secs_f64()
        })
    }
}

/// Sends TCP from a to b as fast as one thread can; bytes that arrive in a second.
pub fn bulk_tcp(a: &Host, b: &Host, time: Duration) -> f64 {
    bulk_tcp_to(a, (b, "10.9.2.1:5001"), time)
}

/// The same to another address of b.
pub fn bulk_tcp_to(a: &Host, (b, at): (&Host, &str), time: Duration) -> f64 {
    let listener = b.enter(|| TcpListener::bind(at)).unwrap();
    let received = Arc::new(AtomicU64::new(0));
    let count = received.clone();
    let receiver = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // A way that loses everything ends, too.
        stream
            .set_read_timeout(Some(Duration::from_secs(2)))
            .unwrap();
        let mut buffer = vec![0; 1 << 20];
        while let Ok(len @ 1..) = stream.read(&mut buffer) {
            count.fetch_add(len as u64, Ordering::Relaxed);
        }
    });
    let mut stream = a.enter(|| TcpStream::connect(at)).unwrap();
    stream
        .set_write_timeout(Some(Duration::from_secs(1)))
        .unwrap();
    let chunk = vec![0x5a; 256 << 10];
    let mut send_for = |time: Duration| {
        let begin = Instant::now();
        while begin.elapsed() < time {
            match stream.write(&chunk) {
                Err(err) if err.kind() == ErrorKind::WouldBlock => break,
                result => result.unwrap(),
            };
        }
        begin.elapsed()
    };
    // Slow start is over.
    send_for(time / 4);
    let before = received.load(Ordering::Relaxed);
    let passed = send_for(time);
    let after = received.load(Ordering::Relaxed);
    drop(stream);
    receiver.join().unwrap();
    (after - before) as f64 / passed.as_secs_f64()
}

/// Keeps this thread on one of the CPUs that the process may use.
pub fn stay_on(place: usize) {
    let own = Pid::from_raw(0);
    let allowed = sched_getaffinity(own).unwrap();
    let mut cpus = (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu) == Ok(true));
    let mut only = CpuSet::new();
    only.set(cpus.nth(place).expect("a CPU for each end"))
        .unwrap();
    sched_setaffinity(own, &only).unwrap();
}

/// One byte to b and back, over and over: the times in us, sorted. Each end has a CPU of its own, as hosts have: where the
/// scheduler puts both on one, a round trip takes a tenth.
pub fn ping_pong(a: &Host, b: &Host, count: usize) -> Vec<f64> {
    let listener = b.enter(|| TcpListener::bind("10.9.2.1:5002")).unwrap();
    let stream = a.enter(|| TcpStream::connect("10.9.2.1:5002")).unwrap();
    let mut times = thread::scope(|scope| {
        scope.spawn(|| echo(listener.accept().unwrap().0));
        scope.spawn(|| round_trips(stream, count)).join().unwrap()
    });
    times.sort_by(f64::total_cmp);
    times
}

fn echo(mut stream: TcpStream) {
    stay_on(1);
    stream.set_nodelay(true).unwrap();
    let mut byte = [0];
    while let Ok(1) = stream.read(&mut byte) {
        stream.write_all(&byte).unwrap();
    }
}

fn round_trips(mut stream: TcpStream, count: usize) -> Vec<f64> {
    stay_on(0);
    stream.set_nodelay(true).unwrap();
    let mut byte = [0];
    let mut round_trip = || {
        let begin = Instant::now();
        stream.write_all(&byte).unwrap();
        stream.read_exact(&mut byte).unwrap();
        begin.elapsed().as_secs_f64() * 1e6
    };
    (0..count).map(|_| round_trip()).collect()
}

/// A socket that sends whole frames by an interface of a host.
pub fn raw_socket(host: &Host, dev: &str) -> OwnedFd {
    host.enter(|| {
        let ipv4 = 0x0800_u16.to_be();
        // SAFETY: a new descriptor, checked below.
        let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0) };
        assert!(fd >= 0, "raw sockets need root");
        // SAFETY: nobody else owns it.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: plain data.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = ipv4;
        address.sll_ifindex = netdev::index_of(dev).unwrap() as i32;
        // SAFETY: the address is valid during the call.
        let bound = unsafe {
            libc::bind(
                fd,
                (&raw const address).cast(),
                size_of_val(&address) as u32,
            )
        };
        assert_eq!(bound, 0, "{dev} is there");
        socket
    })
}
