//! Flows of datagrams whose every byte is known, in both directions: a datagram that arrives is one that was sent.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use hostint_testing::conversation::byte_at;
use hostint_testing::netns::{Host, Lab};
use hostint_testing::random::Random;
use nix::sys::socket::{setsockopt, sockopt};

use super::{ADDRESSES, PORT};

/// Flow, number, length, and a sum of them.
const HEADER: usize = 20;
const LONGEST: usize = 1400;

fn sum(flow: u32, number: u32, len: u32) -> u64 {
    let place = u64::from(number) << 32 | u64::from(len);
    u64::from_ne_bytes(std::array::from_fn(|n| {
        byte_at(u64::from(flow), place ^ (n as u64) << 60)
    }))
}

fn datagram(flow: u32, number: u32, len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len);
    for word in [flow, number, len as u32] {
        bytes.extend(word.to_be_bytes());
    }
    bytes.extend(sum(flow, number, len as u32).to_ne_bytes());
    let seed = u64::from(flow) << 32 | u64::from(number);
    bytes.extend((0..(len - HEADER) as u64).map(|place| byte_at(seed, place)));
    bytes
}

/// The flow and number of a datagram that came as it was sent.
fn check(bytes: &[u8]) -> Option<(u32, u32)> {
    let word = |at: usize| Some(u32::from_be_bytes(*bytes.get(at..at + 4)?.first_chunk()?));
    let (flow, number, len) = (word(0)?, word(4)?, word(8)?);
    let right = len as usize == bytes.len()
        && bytes.len() >= HEADER
        && bytes[12..HEADER] == sum(flow, number, len).to_ne_bytes()
        && datagram(flow, number, bytes.len()) == bytes;
    right.then_some((flow, number))
}

/// What arrived at a host.
#[derive(Default)]
struct Arrived {
    numbers: BTreeMap<u32, BTreeSet<u32>>,
    changed: u64,
    doubled: u64,
}

struct Receiver {
    arrived: Arc<Mutex<Arrived>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    fn start(host: &Host, address: SocketAddr) -> Self {
        let socket = host.udp(&address.to_string());
        let pause = Some(Duration::from_millis(100));
        socket.set_read_timeout(pause).unwrap();
        let (arrived, stop) = <(Arc<Mutex<Arrived>>, Arc<AtomicBool>)>::default();
        let thread = std::thread::spawn({
            let (arrived, stop) = (arrived.clone(), stop.clone());
            move || {
                let mut buffer = [0; 2048];
                while !stop.load(Ordering::Relaxed) {
                    let Ok(len) = socket.recv(&mut buffer) else {
                        continue;
                    };
                    let checked = check(&buffer[..len]);
                    let mut arrived = arrived.lock().unwrap();
                    match checked {
                        None => arrived.changed += 1,
                        Some((flow, number)) => {
                            let is_new = arrived.numbers.entry(flow).or_default().insert(number);
                            arrived.doubled += u64::from(!is_new);
                        }
                    }
                }
            }
        });
        Self {
            arrived,
            stop,
            thread: Some(thread),
        }
    }

    fn count(&self) -> usize {
        let arrived = self.arrived.lock().unwrap();
        arrived.numbers.values().map(BTreeSet::len).sum()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Flow {
    id: u32,
    from: usize,
    socket: UdpSocket,
    sent: u32,
}

/// Datagrams of one source port.
#[derive(Default)]
pub struct OfPort {
    pub sent: u64,
    pub arrived: u64,
}

/// The flows, and the receivers at both hosts.
pub struct Datagrams {
    hosts: [Host; 2],
    receivers: [Receiver; 2],
    flows: Vec<Flow>,
    /// Flows that were ended: host, source port, id, datagrams sent.
    ended: Vec<(usize, u16, u32, u32)>,
}

impl Datagrams {
    pub fn start(lab: &Lab, count: usize) -> Self {
        let hosts = [lab.a.clone(), lab.b.clone()];
        let receivers = [0, 1].map(|side| {
            let address = format!("{}:{PORT}", ADDRESSES[side]).parse().unwrap();
            Receiver::start(&hosts[side], address)
        });
        let mut this = Self {
            hosts,
            receivers,
            flows: Vec::new(),
            ended: Vec::new(),
        };
        for id in 0..count as u32 {
            let flow = this.open(id, id as usize % 2);
            this.flows.push(flow);
        }
        this
    }

    fn open(&self, id: u32, from: usize) -> Flow {
        let socket = self.hosts[from].udp(&format!("{}:0", ADDRESSES[from]));
        let to = format!("{}:{PORT}", ADDRESSES[1 - from]);
        socket.connect(to).unwrap();
        Flow {
            id,
            from,
            socket,
            sent: 0,
        }
    }

    /// Sends some datagrams in one flow. One that the stack refuses counts as sent, and is missing.
    pub fn burst(&mut self, random: &mut Random) {
        let flow = random.below(self.flows.len());
        let flow = &mut self.flows[flow];
        for _ in 0..1 + random.below(8) {
            let len = HEADER + random.below(LONGEST - HEADER + 1);
            let _ = flow.socket.send(&datagram(flow.id, flow.sent, len));
            flow.sent += 1;
        }
    }

    /// Sends several datagrams of one length in one piece, which the kernel or nobody splits.
    pub fn superpacket(&mut self, random: &mut Random) {
        let flow = random.below(self.flows.len());
        let flow = &mut self.flows[flow];
        let len = 200 + random.below(1000);
        let mut bytes = Vec::new();
        for _ in 0..2 + random.below(20) {
            bytes.extend(datagram(flow.id, flow.sent, len));
            flow.sent += 1;
        }
        let segment = sockopt::UdpGsoSegment;
        setsockopt(&flow.socket, segment, &(len as i32)).unwrap();
        let _ = flow.socket.send(&bytes);
        setsockopt(&flow.socket, segment, &0).unwrap();
    }

    /// Gives a flow another traffic class.
    pub fn mark(&mut self, random: &mut Random) {
        let flow = random.below(self.flows.len());
        let tos = i32::from(random.u8() & 0xfc);
        setsockopt(&self.flows[flow].socket, sockopt::Ipv4Tos, &tos).unwrap();
    }

    /// Ends a flow and begins another one, from another port.
    pub fn renew(&mut self, random: &mut Random) {
        let place = random.below(self.flows.len());
        let id = (self.flows.len() + self.ended.len()) as u32;
        let flow = self.open(id, self.flows[place].from);
        let old = std::mem::replace(&mut self.flows[place], flow);
        self.end(&old);
    }

    fn end(&mut self, flow: &Flow) {
        let port = flow.socket.local_addr().unwrap().port();
        self.ended.push((flow.from, port, flow.id, flow.sent));
    }

    pub fn arrived(&self) -> usize {
        self.receivers.iter().map(Receiver::count).sum()
    }

    pub fn sent(&self) -> u64 {
        let open = self.flows.iter().map(|flow| u64::from(flow.sent));
        let ended = self.ended.iter().map(|flow| u64::from(flow.3));
        open.chain(ended).sum()
    }

    /// Nothing came changed or twice. Gives back the datagrams by sending host and source port.
    pub fn finish(mut self, what: &str) -> BTreeMap<(usize, u16), OfPort> {
        for flow in std::mem::take(&mut self.flows) {
            self.end(&flow);
        }
        let mut of_ports = BTreeMap::<_, OfPort>::new();
        for (side, receiver) in self.receivers.iter().enumerate() {
            let arrived = receiver.arrived.lock().unwrap();
            assert_eq!((arrived.changed, arrived.doubled), (0, 0), "{what}: {side}");
            for (from, port, id, sent) in self.ended.iter().filter(|flow| flow.0 != side) {
                let numbers = arrived.numbers.get(id).map_or(0, BTreeSet::len);
                assert!(numbers as u64 <= u64::from(*sent), "{what}: flow {id}");
                let of_port = of_ports.entry((*from, *port)).or_default();
                of_port.sent += u64::from(*sent);
                of_port.arrived += numbers as u64;
            }
        }
        of_ports
    }
}
