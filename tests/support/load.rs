//! Steady traffic between two hosts, checked byte by byte: the applications must not notice what happens to hostint.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::netns::Host;

/// How often a datagram is sent.
const INTERVAL: Duration = Duration::from_millis(1);
const BLOCK: usize = 16 << 10;

/// What the applications saw.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub sent: u64,
    pub received: u64,
    /// Datagrams of another length or other bytes than were sent.
    pub changed: u64,
    pub doubled: u64,
    /// Bytes that each stream carried, all of them right.
    pub streams: [u64; 2],
    /// Why a stream broke.
    pub broken: Vec<String>,
}

/// Threads that send and check, until they are asked to end.
pub struct Load {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    /// Bytes that each stream has carried so far.
    carried: [Arc<AtomicU64>; 2],
    sender: JoinHandle<()>,
    receiver: JoinHandle<(u64, u64, u64)>,
    streams: Vec<JoinHandle<Result<u64, String>>>,
}

/// The byte at a place of a stream.
fn byte_at(place: u64) -> u8 {
    (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// A datagram that tells its number, and has another length each time.
fn datagram(number: u64) -> Vec<u8> {
    let len = 8 + (number * 37 % 1200) as usize;
    let mut bytes = number.to_be_bytes().to_vec();
    bytes.extend((8..len).map(|i| byte_at(number.wrapping_add(i as u64))));
    bytes
}

fn receive(socket: &UdpSocket, stop: &AtomicBool) -> (u64, u64, u64) {
    let (mut seen, mut changed, mut doubled) = (BTreeSet::new(), 0, 0);
    let mut buffer = [0; 2048];
    loop {
        match socket.recv(&mut buffer) {
            Ok(len) => {
                let number = buffer[..len]
                    .first_chunk()
                    .map_or(u64::MAX, |n| u64::from_be_bytes(*n));
                if number > 1 << 40 || datagram(number) != buffer[..len] {
                    changed += 1;
                } else if !seen.insert(number) {
                    doubled += 1;
                }
            }
            Err(_) if stop.load(Ordering::Relaxed) => return (seen.len() as u64, changed, doubled),
            Err(_) => {}
        }
    }
}

fn send_stream(mut stream: TcpStream, stop: &AtomicBool) -> Result<u64, String> {
    let mut place = 0u64;
    let mut block = vec![0; BLOCK];
    while !stop.load(Ordering::Relaxed) {
        for byte in &mut block {
            *byte = byte_at(place);
            place += 1;
        }
        stream
            .write_all(&block)
            .map_err(|err| format!("send: {err}"))?;
        std::thread::sleep(INTERVAL);
    }
    stream
        .shutdown(std::net::Shutdown::Write)
        .map_err(|err| format!("shutdown: {err}"))?;
    Ok(place)
}

fn check_stream(mut stream: TcpStream, carried: &AtomicU64) -> Result<u64, String> {
    let mut place = 0u64;
    let mut block = vec![0; BLOCK];
    loop {
        let len = stream
            .read(&mut block)
            .map_err(|err| format!("receive: {err}"))?;
        if len == 0 {
            return Ok(place);
        }
        for byte in &block[..len] {
            if *byte != byte_at(place) {
                return Err(format!("byte {place} came changed"));
            }
            place += 1;
        }
        carried.store(place, Ordering::Relaxed);
    }
}

impl Load {
    /// From a to b by UDP and TCP, and from b to a by another TCP stream.
    pub fn start(a: &Host, b: &Host, a_addr: &str, b_addr: &str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let sent = Arc::new(AtomicU64::new(0));
        let to = b.udp(&format!("{b_addr}:6100"));
        to.set_read_timeout(Some(Duration::from_millis(500)))
            .unwrap();
        let target = to.local_addr().unwrap();
        let from = a.udp(&format!("{a_addr}:6100"));
        let receiver = std::thread::spawn({
            let stop = stop.clone();
            move || receive(&to, &stop)
        });
        let sender = std::thread::spawn({
            let (stop, sent) = (stop.clone(), sent.clone());
            move || {
                let begun = Instant::now();
                for number in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    // An interface that is down for a moment refuses it: then it was not sent.
                    if from.send_to(&datagram(number), target).is_ok() {
                        sent.fetch_add(1, Ordering::Relaxed);
                    }
                    let next = begun + INTERVAL * (number as u32 + 1);
                    std::thread::sleep(next.saturating_duration_since(Instant::now()));
                }
            }
        });
        let mut streams = Vec::new();
        let carried: [Arc<AtomicU64>; 2] = Default::default();
        let ways = [(a, b, b_addr, 6200), (b, a, a_addr, 6300)];
        for ((from, to, addr, port), carried) in ways.into_iter().zip(carried.clone()) {
            let addr: SocketAddr = format!("{addr}:{port}").parse().unwrap();
            let listener = to.enter(|| TcpListener::bind(addr)).unwrap();
            let client = from.enter(|| TcpStream::connect(addr)).unwrap();
            let (server, _) = listener.accept().unwrap();
            client
                .set_write_timeout(Some(Duration::from_secs(60)))
                .unwrap();
            server
                .set_read_timeout(Some(Duration::from_secs(60)))
                .unwrap();
            let stop = stop.clone();
            streams.push(std::thread::spawn(move || {
                let checked = std::thread::spawn(move || check_stream(server, &carried));
                let sent = send_stream(client, &stop)?;
                let received = checked.join().map_err(|_| "panic".to_owned())??;
                if sent != received {
                    return Err(format!("{sent} bytes sent, {received} received"));
                }
                Ok(received)
            }));
        }
        Self {
            stop,
            sent,
            carried,
            sender,
            receiver,
            streams,
        }
    }

    /// Bytes that the streams carried so far.
    pub fn carried(&self) -> [u64; 2] {
        [0, 1].map(|at| self.carried[at].load(Ordering::Relaxed))
    }

    /// Datagrams sent so far.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Ends the traffic; what is under way still arrives.
    pub fn end(self) -> Seen {
        self.stop.store(true, Ordering::Relaxed);
        self.sender.join().unwrap();
        let (received, changed, doubled) = self.receiver.join().unwrap();
        let mut seen = Seen {
            sent: self.sent.load(Ordering::Relaxed),
            received,
            changed,
            doubled,
            ..Seen::default()
        };
        for (at, stream) in self.streams.into_iter().enumerate() {
            match stream.join().unwrap() {
                Ok(bytes) => seen.streams[at] = bytes,
                Err(why) => seen.broken.push(why),
            }
        }
        seen
    }
}

impl Seen {
    /// Everything that was sent arrived, as it was sent.
    pub fn assert_untouched(&self, what: &str) {
        self.assert_right(what);
        assert_eq!(self.received, self.sent, "{what}: {self:?}");
    }

    /// What arrived is what was sent; streams carried on.
    pub fn assert_right(&self, what: &str) {
        assert_eq!(self.broken, Vec::<String>::new(), "{what}");
        assert_eq!((self.changed, self.doubled), (0, 0), "{what}: {self:?}");
        assert!(
            self.streams.iter().all(|bytes| *bytes > 0),
            "{what}: {self:?}"
        );
        assert!(self.sent > 0, "{what}");
    }
}
