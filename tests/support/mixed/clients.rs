//! The clients of connections.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use super::servers::{data, receive, send};
use super::{Kind, Log, Outcome};
use crate::netns::Host;

/// A connection without an answer for longer is lost.
const PATIENCE: Duration = Duration::from_secs(12);
/// Between two short connections of a thread.
const REST: Duration = Duration::from_millis(60);

fn connect(from: &Host, to: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = from.enter(|| TcpStream::connect_timeout(&to, PATIENCE))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// A request and its reply. Err: bytes are lost; false: they came changed.
fn exchange(stream: &mut TcpStream, seed: u64, ask: usize, reply: usize) -> std::io::Result<bool> {
    let mut request = seed.to_be_bytes().to_vec();
    request.extend((ask as u32).to_be_bytes());
    request.extend((reply as u32).to_be_bytes());
    request.extend(data(seed, 0, ask));
    stream.write_all(&request)?;
    let mut bytes = vec![0; reply];
    stream.read_exact(&mut bytes)?;
    Ok(bytes == data(!seed, 0, reply))
}

fn outcome(exchanged: std::io::Result<bool>) -> Outcome {
    match exchanged {
        Ok(true) => Outcome::Whole,
        Ok(false) => Outcome::Changed("a reply came changed".into()),
        Err(err) => Outcome::Lost(err.to_string()),
    }
}

/// Connections one after the other, each with one exchange.
pub(super) fn connect_often(
    from: &Host,
    to: SocketAddr,
    kind: Kind,
    log: &Arc<Log>,
) -> JoinHandle<()> {
    let (from, log) = (from.clone(), log.clone());
    std::thread::spawn(move || {
        let mut number = 0;
        while !log.is_stopped() {
            let at = log.now();
            number += 1;
            let (ask, reply) = (1 + number * 997 % 5000, 1 + number * 1499 % 9000);
            let exchanged = connect(&from, to)
                .and_then(|mut stream| exchange(&mut stream, number as u64, ask, reply));
            log.add(kind, at, outcome(exchanged));
            std::thread::sleep(REST);
        }
    })
}

/// A stream that begins again should it break.
fn stream(
    from: &Host,
    to: SocketAddr,
    kind: Kind,
    log: &Arc<Log>,
    run: fn(TcpStream, Kind, &Log) -> std::io::Result<()>,
) -> JoinHandle<()> {
    let (from, log) = (from.clone(), log.clone());
    std::thread::spawn(move || {
        while !log.is_stopped() {
            let at = log.now();
            let ended = connect(&from, to).and_then(|stream| run(stream, kind, &log));
            if log.is_stopped() {
                return;
            }
            let why = match ended {
                Ok(()) => format!("it ended after {:?}", log.now() - at),
                Err(err) => format!("{err} after {:?}", log.now() - at),
            };
            log.add(kind, log.now(), Outcome::Lost(why));
            std::thread::sleep(REST * 8);
        }
    })
}

pub(super) fn upload(from: &Host, to: SocketAddr, log: &Arc<Log>) -> JoinHandle<()> {
    stream(from, to, Kind::Upload, log, send)
}

pub(super) fn download(from: &Host, to: SocketAddr, log: &Arc<Log>) -> JoinHandle<()> {
    stream(from, to, Kind::Download, log, receive)
}

/// Connections that rest most of the time.
pub(super) struct Idle {
    from: Host,
    to: SocketAddr,
    log: Arc<Log>,
    streams: Vec<Arc<Mutex<Option<TcpStream>>>>,
    exchanges: Vec<JoinHandle<()>>,
    woken: usize,
}

impl Idle {
    pub fn open(from: &Host, to: SocketAddr, log: &Arc<Log>) -> Self {
        let open = |_| Arc::new(Mutex::new(connect(from, to).ok()));
        Self {
            from: from.clone(),
            to,
            log: log.clone(),
            streams: (0..6).map(open).collect(),
            exchanges: Vec::new(),
            woken: 0,
        }
    }

    pub fn wake(&mut self) {
        self.woken += 1;
        let place = self.woken % self.streams.len();
        let (log, at) = (self.log.clone(), self.log.now());
        let (from, to, seed) = (self.from.clone(), self.to, self.woken as u64);
        let stream = self.streams[place].clone();
        self.exchanges.push(std::thread::spawn(move || {
            let mut stream = stream.lock().unwrap();
            let found = match stream.as_mut() {
                Some(awake) => outcome(exchange(awake, seed, 3000, 5000)),
                None => Outcome::Lost("it could not be opened".into()),
            };
            if found != Outcome::Whole {
                *stream = connect(&from, to).ok();
            }
            log.add(Kind::Idle, at, found);
        }));
    }

    pub fn end(&mut self) {
        for exchange in self.exchanges.drain(..) {
            let _ = exchange.join();
        }
        self.streams.clear();
    }
}
