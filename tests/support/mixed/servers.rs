//! The servers of all kinds of traffic.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Kind, Log, Outcome, datagrams};
use crate::conversation::byte_at;
use crate::netns::Host;

/// How much a stream writes at once: some segments, which go as one superpacket.
pub(super) const PIECE: usize = 10_000;
pub(super) const PERIOD: Duration = Duration::from_millis(40);
/// Streams are not silent for longer, if nothing stands still.
const SILENCE: Duration = Duration::from_millis(250);

pub(super) struct Servers {
    host: Host,
    addresses: Vec<SocketAddr>,
    log: Arc<Log>,
    threads: Vec<JoinHandle<()>>,
}

impl Servers {
    pub fn start(host: &Host, kinds: impl Iterator<Item = Kind>, log: &Arc<Log>) -> Self {
        let mut this = Self {
            host: host.clone(),
            addresses: Vec::new(),
            log: log.clone(),
            threads: Vec::new(),
        };
        for kind in kinds {
            let log = log.clone();
            let address = SocketAddr::from(([0, 0, 0, 0], kind.port()));
            this.threads.push(if kind.is_udp() {
                let socket = host.udp(&address.to_string());
                let pause = Some(Duration::from_millis(100));
                socket.set_read_timeout(pause).unwrap();
                std::thread::spawn(move || datagrams::serve(&socket, kind, &log))
            } else {
                this.addresses.push(address);
                let listener = host.enter(|| TcpListener::bind(address)).unwrap();
                std::thread::spawn(move || accept(&listener, kind, &log))
            });
        }
        this
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.log.stop();
        for address in &self.addresses {
            let to = SocketAddr::from(([127, 0, 0, 1], address.port()));
            let _ = self.host.enter(|| TcpStream::connect(to));
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, kind: Kind, log: &Arc<Log>) {
    for stream in listener.incoming().flatten() {
        if log.is_stopped() {
            return;
        }
        if let Ok(from) = stream.peer_addr() {
            log.arrive(kind, from.ip());
        }
        let log = log.clone();
        std::thread::spawn(move || {
            let _ = match kind {
                Kind::Upload => receive(stream, kind, &log),
                Kind::Download => send(stream, kind, &log),
                _ => answer(stream, kind, &log),
            };
        });
    }
}

pub(super) fn data(seed: u64, from: u64, len: usize) -> Vec<u8> {
    let places = from..from + len as u64;
    places.map(|place| byte_at(seed, place)).collect()
}

/// Answers requests: seed, length of what follows, length of the reply.
fn answer(mut stream: TcpStream, kind: Kind, log: &Log) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    loop {
        let mut header = [0; 16];
        stream.read_exact(&mut header)?;
        let seed = u64::from_be_bytes(*header.first_chunk().unwrap());
        let len = |at: usize| u32::from_be_bytes(*header[at..].first_chunk().unwrap()) as usize;
        let (asked, reply) = (len(8), len(12));
        if asked.max(reply) > 1 << 20 {
            let what = "the header of a request came changed".to_owned();
            log.add(kind, log.now(), Outcome::Changed(what));
            return Ok(());
        }
        let mut bytes = vec![0; asked];
        stream.read_exact(&mut bytes)?;
        if bytes != data(seed, 0, asked) {
            let what = "a request came changed".to_owned();
            log.add(kind, log.now(), Outcome::Changed(what));
        }
        stream.write_all(&data(!seed, 0, reply))?;
    }
}

/// Sends a stream without end.
pub(super) fn send(mut stream: TcpStream, kind: Kind, log: &Log) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(Duration::from_millis(200)))?;
    let (seed, mut place) = (kind.port().into(), 0);
    while !log.is_stopped() {
        let bytes = data(seed, place, PIECE);
        let mut rest = &bytes[..];
        while !rest.is_empty() && !log.is_stopped() {
            match stream.write(rest) {
                Ok(len) => rest = &rest[len..],
                Err(err) if is_pause(&err) => {}
                Err(err) => return Err(err),
            }
        }
        place += PIECE as u64;
        std::thread::sleep(PERIOD);
    }
    Ok(())
}

fn is_pause(err: &std::io::Error) -> bool {
    matches!(
        err.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// Receives such a stream, and notes each time in which nothing came.
pub(super) fn receive(mut stream: TcpStream, kind: Kind, log: &Log) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let (seed, mut place) = (u64::from(kind.port()), 0);
    let mut buffer = vec![0; PIECE];
    let mut last = log.now();
    let note = |last: Duration| {
        if log.now() - last > SILENCE {
            log.add(kind, last, Outcome::Whole);
        }
    };
    while !log.is_stopped() {
        let len = match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => len,
            Err(err) if is_pause(&err) => continue,
            Err(err) => return Err(err),
        };
        note(last);
        last = log.now();
        if buffer[..len] != data(seed, place, len) {
            let what = format!("bytes came changed after {place}");
            log.add(kind, last, Outcome::Changed(what));
            return Ok(());
        }
        place += len as u64;
    }
    note(last);
    Ok(())
}
