//! Names on the watchlist follow what DNS says.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use simple_dns::rdata::RData;
use simple_dns::{CLASS, Packet, QTYPE, ResourceRecord, TYPE};

use crate::exchange::exchange_udp;
use crate::netns::{Host, Lab, await_that};

/// A name server that knows one address for every name, for a second.
struct NameServer {
    address: Arc<AtomicU32>,
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

fn answer(question: &[u8], address: u32) -> Option<Vec<u8>> {
    let question = Packet::parse(question).ok()?;
    let asked = question.questions.first()?;
    let mut reply = Packet::new_reply(question.id());
    reply.questions = question.questions.clone();
    let is_ipv4 = matches!(asked.qtype, QTYPE::TYPE(TYPE::A));
    if is_ipv4 && address != 0 {
        let record = RData::A(Ipv4Addr::from_bits(address).into());
        reply.answers.push(ResourceRecord::new(
            asked.qname.clone(),
            CLASS::IN,
            1,
            record,
        ));
    }
    reply.build_bytes_vec().ok()
}

fn serve(socket: &UdpSocket, address: &AtomicU32, ending: &AtomicBool) {
    let mut bytes = [0; 1500];
    while !ending.load(Ordering::Relaxed) {
        let Ok((len, from)) = socket.recv_from(&mut bytes) else {
            continue;
        };
        if let Some(reply) = answer(&bytes[..len], address.load(Ordering::Relaxed)) {
            let _ = socket.send_to(&reply, from);
        }
    }
}

impl NameServer {
    fn start(host: &Host, address: [u8; 4]) -> Self {
        let socket = host.udp("127.0.0.1:53");
        socket
            .set_read_timeout(Some(Duration::from_millis(50)))
            .unwrap();
        let address = Arc::new(AtomicU32::new(u32::from_be_bytes(address)));
        let ending = Arc::new(AtomicBool::new(false));
        let (known, end) = (address.clone(), ending.clone());
        Self {
            thread: Some(thread::spawn(move || serve(&socket, &known, &end))),
            address,
            ending,
        }
    }

    fn set(&self, address: [u8; 4]) {
        let address = u32::from_be_bytes(address);
        self.address.store(address, Ordering::Relaxed);
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

#[test]
fn a_name_that_moves_is_followed_and_one_that_is_lost_stays() {
    let lab = Lab::new();
    let folder = format!("/etc/netns/{}", lab.a.ns);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(format!("{folder}/resolv.conf"), "nameserver 127.0.0.1\n").unwrap();
    lab.b.sh("ip addr add 10.9.2.7/24 dev b0");
    let names = NameServer::start(&lab.a, [10, 9, 2, 1]);
    let a = lab.a.sink("--dev a0 --node-id 1");
    let _b = lab.b.sink("--dev b0 --node-id 2");
    lab.a.hostint("source attach --dev a0");
    lab.a
        .hostint("source add-dest --static host-r.example.org.");
    let from = lab.a.udp("10.9.1.1:5000");
    let old = lab.b.udp("10.9.2.1:6000");
    let new = lab.b.udp("10.9.2.7:6000");
    exchange_udp(&from, &old, 5, 100);
    exchange_udp(&from, &new, 5, 100);
    assert_eq!(lab.a.count("source", "tagged"), 5);

    names.set([10, 9, 2, 7]);
    let rules = || lab.a.hostint("source rules");
    await_that("the name means the new address", || {
        rules().contains("host-r.example.org. (10.9.2.7)")
    });
    exchange_udp(&from, &old, 5, 100);
    exchange_udp(&from, &new, 5, 100);
    assert_eq!(lab.a.count("source", "tagged"), 10);
    assert!(a.stderr().contains("is 10.9.2.7 now"), "{}", a.stderr());

    names.set([0; 4]);
    await_that("the loss is told", || {
        a.stderr()
            .contains("cannot find host-r.example.org. any more, so it stays 10.9.2.7")
    });
    exchange_udp(&from, &new, 5, 100);
    assert_eq!(lab.a.count("source", "tagged"), 15);
    drop(names);
    std::fs::remove_dir_all(folder).unwrap();
}
