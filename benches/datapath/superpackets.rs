//! Bulk TCP in superpackets against segments of the same size without hostint: at TC and XDP, over IPv4 and IPv6, without and
//! with room for four transit hops.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use hostint::datapath::kernel::links::Hook;

use crate::lab::{Pair, Setup, SinkAt};
use crate::programs::{AttachedNoop, Noop};
use crate::rounds::{Rounds, print_row};
use crate::senders::bulk_tcp_to;

const TIME: Duration = Duration::from_millis(600);
/// The headers of IP, and of TCP with timestamps.
const HEADERS: [u32; 2] = [20 + 32, 40 + 32];
const TO: [&str; 2] = ["10.9.2.1:5001", "[fd09:2::1]:5001"];
const FORMS: [(&str, &str); 3] = [
    ("vxlan-gpe", "--encap vxlan-gpe"),
    ("vxlan-gpe, 4 hops", "--encap vxlan-gpe --max-hops 4"),
    ("options", "--encap options"),
];

/// A pair of hosts without hostint, and one with INT, whose segments are as long.
struct Case {
    name: String,
    to: &'static str,
    pairs: [Pair; 2],
    /// At XDP, in the first pair.
    _noops: Vec<AttachedNoop>,
}

/// The bytes of data in a segment, as the receiver sees them.
fn segment_size(pair: &Pair, to: &str) -> u32 {
    const BYTES: usize = 16 << 20;
    let (a, b) = (&pair.lab.a, &pair.lab.b);
    let listener = b.enter(|| TcpListener::bind(to)).expect("it is free");
    let receiver = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("it connects");
        let mut buffer = vec![0; 1 << 20];
        let mut got = 0;
        while got < BYTES {
            got += stream.read(&mut buffer).expect("it is open");
        }
        stream
    });
    let mut sender = a.enter(|| TcpStream::connect(to)).expect("it listens");
    sender.write_all(&vec![0; BYTES]).expect("it is open");
    let receiver = receiver.join().expect("it got all");
    let told = b.sh("ss -tin sport = :5001");
    drop(receiver);
    let size = told.split_whitespace();
    let size = size.filter_map(|word| word.strip_prefix("rcvmss:")).next();
    let size = size.and_then(|size| size.parse().ok());
    size.unwrap_or_else(|| panic!("ss tells the size of segments: {told}"))
}

impl Case {
    fn new(noop: &Noop, sink: SinkAt, is_ipv6: bool, form: (&str, &'static str)) -> Self {
        let (family, to) = [("IPv4", TO[0]), ("IPv6", TO[1])][usize::from(is_ipv6)];
        let with = Pair::new(&Setup {
            sink,
            source: Some(form.1),
            watched: true,
            leased_ipv6: true,
            leased_ipv4: true,
            ..Setup::NOTHING
        });
        let size = segment_size(&with, to);
        let mtu = size + HEADERS[usize::from(is_ipv6)];
        let without = Pair::new(&Setup {
            mtu: if is_ipv6 { 0 } else { mtu },
            mtu6: if is_ipv6 { mtu } else { 0 },
            ..Setup::NOTHING
        });
        let noops = match sink {
            SinkAt::Xdp => [(&without.lab.a, "a0"), (&without.lab.b, "b0")]
                .map(|(host, dev)| noop.attach(host, dev, Hook::XdpNative))
                .into(),
            _ => Vec::new(),
        };
        Self {
            name: format!("{}, sink at {sink:?}, {family}, {size} bytes", form.0),
            to,
            pairs: [without, with],
            _noops: noops,
        }
    }
}

pub fn run() {
    println!(
        "superpackets: one TCP connection, against segments of as many bytes without hostint, target 0.95"
    );
    let noop = Noop::load();
    for sink in [SinkAt::Tc, SinkAt::Xdp] {
        for is_ipv6 in [false, true] {
            for form in FORMS {
                let case = Case::new(&noop, sink, is_ipv6, form);
                let rounds = Rounds::measure(2, |of| {
                    let lab = &case.pairs[of].lab;
                    bulk_tcp_to(&lab.a, (&lab.b, case.to), TIME) * 8.0 / 1e6
                });
                let ratio = Some((rounds.ratio(1, 0), "without"));
                print_row(&case.name, rounds.median(1), "Mbit/s", ratio);
            }
        }
    }
    println!();
}
