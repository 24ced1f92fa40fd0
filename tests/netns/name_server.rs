//! A DNS server for one host.

use std::net::{Ipv4Addr, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hostint_testing::netns::Host;
use simple_dns::rdata::{PTR, RData};
use simple_dns::{CLASS, Name, Packet, QTYPE, ResourceRecord, TYPE};

type Addresses = Arc<Mutex<Vec<Ipv4Addr>>>;

/// The name of every address.
pub const NAME: &str = "switch-9.example.org";

/// A name server that knows the same addresses for every name, and one name for every address, for a second.
pub struct NameServer {
    addresses: Addresses,
    /// Questions for names of addresses.
    pointers: Arc<AtomicU64>,
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    folder: PathBuf,
}

fn answer(question: &[u8], addresses: &[Ipv4Addr], pointers: &AtomicU64) -> Option<Vec<u8>> {
    let question = Packet::parse(question).ok()?;
    let asked = question.questions.first()?;
    let mut reply = Packet::new_reply(question.id());
    reply.questions = question.questions.clone();
    if matches!(asked.qtype, QTYPE::TYPE(TYPE::A)) {
        let records = addresses.iter().map(|address| {
            let record = RData::A((*address).into());
            ResourceRecord::new(asked.qname.clone(), CLASS::IN, 1, record)
        });
        reply.answers.extend(records);
    }
    if matches!(asked.qtype, QTYPE::TYPE(TYPE::PTR)) {
        pointers.fetch_add(1, Ordering::Relaxed);
        let record = RData::PTR(PTR(Name::new_unchecked(NAME)));
        let record = ResourceRecord::new(asked.qname.clone(), CLASS::IN, 1, record);
        reply.answers.push(record);
    }
    reply.build_bytes_vec().ok()
}

fn serve(socket: &UdpSocket, addresses: &Addresses, pointers: &AtomicU64, ending: &AtomicBool) {
    let mut bytes = [0; 1500];
    while !ending.load(Ordering::Relaxed) {
        let Ok((len, from)) = socket.recv_from(&mut bytes) else {
            continue;
        };
        if let Some(reply) = answer(&bytes[..len], &addresses.lock().unwrap(), pointers) {
            let _ = socket.send_to(&reply, from);
        }
    }
}

impl NameServer {
    /// The one that the host asks.
    pub fn start(host: &Host, addresses: &[[u8; 4]]) -> Self {
        // ip netns exec lays what is in there over /etc
        let folder = PathBuf::from(format!("/etc/netns/{}", host.ns));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("resolv.conf"), "nameserver 127.0.0.1\n").unwrap();
        let socket = host.udp("127.0.0.1:53");
        socket
            .set_read_timeout(Some(Duration::from_millis(50)))
            .unwrap();
        let known = Addresses::default();
        let ending = Arc::new(AtomicBool::new(false));
        let pointers = Arc::<AtomicU64>::default();
        let (answers, count, end) = (known.clone(), pointers.clone(), ending.clone());
        let server = Self {
            thread: Some(thread::spawn(move || {
                serve(&socket, &answers, &count, &end)
            })),
            addresses: known,
            pointers,
            ending,
            folder,
        };
        server.set(addresses);
        server
    }

    /// How often the name of an address was asked for.
    pub fn pointers(&self) -> u64 {
        self.pointers.load(Ordering::Relaxed)
    }

    pub fn set(&self, addresses: &[[u8; 4]]) {
        let addresses = addresses.iter().map(|address| Ipv4Addr::from(*address));
        *self.addresses.lock().unwrap() = addresses.collect();
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
