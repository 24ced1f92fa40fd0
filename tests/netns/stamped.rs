//! Steady datagrams, each with the time when it was sent and the form in which it arrived.

use std::collections::HashMap;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hostint_testing::netns::Lab;

const INTERVAL: Duration = Duration::from_millis(2);
/// Each datagram repeats its number so often: INT among or behind them hides none but a few.
const WORDS: usize = 16;

/// How a datagram arrived.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    AsSent,
    /// With INT in it, or whatever else.
    Changed,
}

/// What became of a datagram. `sent`: just before.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    pub sent: Instant,
    pub arrived: Option<Form>,
}

/// Steady traffic from a to b.
pub struct Stamped {
    stop: Arc<AtomicBool>,
    sender: JoinHandle<Vec<Instant>>,
    receiver: JoinHandle<HashMap<u32, Form>>,
}

fn payload(number: u32) -> Vec<u8> {
    number.to_be_bytes().repeat(WORDS)
}

/// The number that a datagram repeats most.
fn number_in(bytes: &[u8]) -> u32 {
    let mut seen: HashMap<u32, usize> = HashMap::new();
    for word in bytes.chunks_exact(4) {
        *seen
            .entry(u32::from_be_bytes(word.try_into().unwrap()))
            .or_default() += 1;
    }
    let most = seen.into_iter().max_by_key(|(_, times)| *times);
    most.map_or(u32::MAX, |(number, _)| number)
}

fn receive(socket: &UdpSocket, sent: &AtomicUsize, stop: &AtomicBool) -> HashMap<u32, Form> {
    let mut arrived = HashMap::new();
    let mut buffer = [0; 2000];
    loop {
        let stopped = stop.load(Ordering::Acquire);
        if stopped && arrived.len() >= sent.load(Ordering::Acquire) {
            return arrived;
        }
        match socket.recv(&mut buffer) {
            Ok(len) => {
                let number = number_in(&buffer[..len]);
                let form = if buffer[..len] == payload(number) {
                    Form::AsSent
                } else {
                    Form::Changed
                };
                arrived.insert(number, form);
            }
            Err(_) if stopped => return arrived,
            Err(_) => {}
        }
    }
}

impl Stamped {
    /// From port 5000 of a to this port of b.
    pub fn start(lab: &Lab, port: u16) -> Self {
        let to = lab.b.udp(&format!("10.9.2.1:{port}"));
        to.set_read_timeout(Some(Duration::from_millis(300)))
            .unwrap();
        let from = lab.a.udp("10.9.1.1:5000");
        let target = to.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let sent = Arc::new(AtomicUsize::new(0));
        let sender = std::thread::spawn({
            let (stop, sent) = (stop.clone(), sent.clone());
            move || {
                let mut times = Vec::new();
                while !stop.load(Ordering::Acquire) {
                    times.push(Instant::now());
                    // A host without the route for a moment sends nothing.
                    let _ = from.send_to(&payload(times.len() as u32 - 1), target);
                    sent.store(times.len(), Ordering::Release);
                    std::thread::sleep(INTERVAL);
                }
                times
            }
        });
        let receiver = std::thread::spawn({
            let stop = stop.clone();
            move || receive(&to, &sent, &stop)
        });
        Self {
            stop,
            sender,
            receiver,
        }
    }

    /// Ends the traffic: what became of it, in the order of sending.
    pub fn end(self) -> Vec<Datagram> {
        self.stop.store(true, Ordering::Release);
        let times = self.sender.join().unwrap();
        let arrived = self.receiver.join().unwrap();
        (0..)
            .zip(times)
            .map(|(number, sent)| Datagram {
                sent,
                arrived: arrived.get(&number).copied(),
            })
            .collect()
    }

    /// Ends the traffic: all of it must have arrived as it was sent.
    pub fn assert_untouched(self, what: &str) {
        let datagrams = self.end();
        assert!(!datagrams.is_empty(), "{what}");
        let with = |form| datagrams.iter().filter(|one| one.arrived == form).count();
        assert_eq!(
            (with(Some(Form::Changed)), with(None)),
            (0, 0),
            "{what}: changed, lost of {}",
            datagrams.len()
        );
    }
}
