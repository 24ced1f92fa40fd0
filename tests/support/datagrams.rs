//! Datagrams of several flows that are echoed, and checked at both ends.

use std::collections::HashSet;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::account::Account;
use crate::conversation::byte_at;
use crate::netns::Host;

/// With IP and UDP headers they fit into a link of 1,228 bytes, as QUIC's first packets do.
const LONGEST: u64 = 1200;
/// Echoes that are later than this are missing.
const PATIENCE: Duration = Duration::from_secs(2);
/// Where none may be missing, a machine that does much else has this time.
const LONG_PATIENCE: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_millis(1);

/// A datagram tells its number, and has another length each time.
fn datagram(number: u64) -> Vec<u8> {
    let len = 8 + number * 37 % (LONGEST - 7);
    let mut bytes = number.to_be_bytes().to_vec();
    bytes.extend((8..len).map(|place| byte_at(number, place)));
    bytes
}

/// The number of a datagram that came as it was sent, or how many of its bytes nobody sent.
fn check(bytes: &[u8]) -> Result<u64, u64> {
    let number = bytes.first_chunk().map(|n| u64::from_be_bytes(*n));
    let Some(number) = number.filter(|n| *n < 1 << 40) else {
        return Err(bytes.len() as u64);
    };
    let sent = datagram(number);
    let same = sent.iter().zip(bytes).filter(|(a, b)| a == b).count();
    let foreign = sent.len().max(bytes.len()) - same;
    if foreign == 0 {
        Ok(number)
    } else {
        Err(foreign as u64)
    }
}

/// Returns every datagram that came as it was sent.
pub struct Echo {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    echoes: Option<JoinHandle<()>>,
    account: Arc<Mutex<Account>>,
}

impl Echo {
    pub fn start(host: &Host, address: SocketAddr) -> Self {
        let socket = host.udp(&address.to_string());
        socket
            .set_read_timeout(Some(Duration::from_millis(200)))
            .unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let account = Arc::new(Mutex::new(Account::default()));
        let echoes = std::thread::spawn({
            let (stop, account) = (stop.clone(), account.clone());
            move || {
                let mut buffer = [0; 2048];
                while !stop.load(Ordering::Relaxed) {
                    let Ok((len, from)) = socket.recv_from(&mut buffer) else {
                        continue;
                    };
                    match check(&buffer[..len]) {
                        // The sender counts an echo that is not sent.
                        Ok(_) => drop(socket.send_to(&buffer[..len], from)),
                        Err(foreign) => account.lock().unwrap().foreign_bytes += foreign,
                    }
                }
            }
        });
        Self {
            address,
            stop,
            echoes: Some(echoes),
            account,
        }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(echoes) = self.echoes.take() {
            let _ = echoes.join();
        }
    }
}

/// Flows, each with a source port of its own.
pub struct Flows {
    sockets: Vec<UdpSocket>,
    next: u64,
    patience: Duration,
}

impl Flows {
    pub fn new(from: &Host, address: &str, count: usize) -> Self {
        let sockets = (0..count).map(|_| from.udp(&format!("{address}:0")));
        Self {
            sockets: sockets.collect(),
            next: 0,
            patience: PATIENCE,
        }
    }

    /// Waits for each echo, as none is lost on the way.
    pub fn without_loss(self) -> Self {
        Self {
            patience: LONG_PATIENCE,
            ..self
        }
    }

    /// Sends this many datagrams in each flow.
    pub fn exchange(&mut self, echo: &Echo, count: u64) -> Account {
        let begun = Instant::now();
        let flows = self.sockets.len() as u64;
        let from = self.next;
        self.next += count * flows;
        let patience = self.patience;
        let receivers: Vec<_> = self
            .sockets
            .iter()
            .enumerate()
            .map(|(flow, socket)| {
                let socket = socket.try_clone().unwrap();
                let numbers = (0..count).map(|n| from + n * flows + flow as u64).collect();
                std::thread::spawn(move || receive(&socket, numbers, patience))
            })
            .collect();
        for n in 0..count {
            for (flow, socket) in self.sockets.iter().enumerate() {
                let number = from + n * flows + flow as u64;
                // A datagram that the stack refuses, for instance after an ICMP error, is missing in the end.
                let _ = socket.send_to(&datagram(number), echo.address);
            }
            let next = begun + INTERVAL * (n as u32 + 1);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        let mut account = Account {
            transfers: count * flows,
            ..Account::default()
        };
        for receiver in receivers {
            account.add(receiver.join().unwrap());
        }
        account.missing = account.transfers - account.whole;
        account.add(std::mem::take(&mut echo.account.lock().unwrap()));
        account
    }
}

fn receive(socket: &UdpSocket, mut awaited: HashSet<u64>, patience: Duration) -> Account {
    let mut account = Account::default();
    socket.set_read_timeout(Some(patience)).unwrap();
    let (mut buffer, mut progress) = ([0; 2048], Instant::now());
    while !awaited.is_empty() {
        let Ok(len) = socket.recv(&mut buffer) else {
            if progress.elapsed() >= patience {
                break;
            }
            // An ICMP error was reported.
            continue;
        };
        match check(&buffer[..len]) {
            Ok(number) => {
                account.whole += u64::from(awaited.remove(&number));
                account.longest_stall = account.longest_stall.max(progress.elapsed());
                progress = Instant::now();
            }
            Err(foreign) => account.foreign_bytes += foreign,
        }
    }
    account
}
