//! The collector answers each probe once, from the address that was asked, and counts probes apart from reports.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use hostint::collector::{ListenerCounts, Reception, ReportListener};
use hostint::model::NodeId;
use hostint::os::clock;
use hostint::wire::probe::{self, MESSAGE_LEN, Probe, ProbeAnswer};

const LATE: Duration = Duration::from_secs(60);
const RUN: u64 = 0x1234_5678_9abc_def0;

fn collector(at: &str, receivers: usize, queue: usize) -> (Reception, u16) {
    let listener = ReportListener::bind(&[at.parse().unwrap()], receivers).unwrap();
    let port = listener.local_addresses()[0].port();
    let listener = listener.with_run(RUN);
    (listener.start(queue, clock::realtime_ns).unwrap(), port)
}

fn socket(at: &str) -> UdpSocket {
    let socket = UdpSocket::bind(at).unwrap();
    socket.set_read_timeout(Some(LATE)).unwrap();
    socket
}

fn question(nonce: u64) -> Probe {
    Probe {
        nonce,
        node: NodeId(2),
    }
}

/// The answer to the probe with this number, and who sent it.
fn ask(socket: &UdpSocket, to: SocketAddr, nonce: u64) -> (ProbeAnswer, SocketAddr) {
    let probe = probe::encode(&question(nonce));
    socket.send_to(&probe, to).unwrap();
    let mut bytes = [0; 2 * MESSAGE_LEN];
    let (length, from) = socket.recv_from(&mut bytes).unwrap();
    assert_eq!(length, probe.len(), "no longer than the probe");
    (probe::decode_answer(&bytes[..length]).unwrap(), from)
}

fn await_counts(reception: &Reception, holds: impl Fn(&ListenerCounts) -> bool) -> ListenerCounts {
    let end = Instant::now() + LATE;
    loop {
        let counts = reception.observer().get();
        if holds(&counts) {
            return counts;
        }
        assert!(Instant::now() < end, "never happened: {counts:?}");
        std::thread::yield_now();
    }
}

#[test]
fn the_address_that_is_probed_answers_whichever_of_many_it_is() {
    struct Case {
        name: &'static str,
        listen: &'static str,
        receivers: usize,
        probed: &'static [&'static str],
        from: &'static str,
    }
    let cases = [
        Case {
            name: "one address",
            listen: "127.0.0.1:0",
            receivers: 1,
            probed: &["127.0.0.1"],
            from: "127.0.0.1:0",
        },
        Case {
            name: "every address of IPv4, several threads",
            listen: "0.0.0.0:0",
            receivers: 4,
            probed: &["127.0.0.1", "127.0.0.2", "127.9.9.9"],
            from: "0.0.0.0:0",
        },
        Case {
            name: "every address of IPv6",
            listen: "[::]:0",
            receivers: 2,
            probed: &["::1"],
            from: "[::]:0",
        },
    ];
    for case in cases {
        let (reception, port) = collector(case.listen, case.receivers, 1 << 20);
        let mut probes = 0;
        for at in case.probed {
            let at = SocketAddr::new(at.parse().unwrap(), port);
            // Connected, as a sink's is: answers of others would not come.
            let socket = socket(case.from);
            socket.connect(at).unwrap();
            for nonce in 0..3 {
                socket.send(&probe::encode(&question(nonce))).unwrap();
                let mut bytes = [0; 2 * MESSAGE_LEN];
                let length = socket.recv(&mut bytes).unwrap();
                let answer = probe::decode_answer(&bytes[..length]).unwrap();
                let expected = ProbeAnswer {
                    probe: question(nonce),
                    queue_percent: 0,
                    run: RUN,
                };
                assert_eq!(answer, expected, "{}: {at}", case.name);
                probes += 1;
            }
        }
        let counts = reception.observer().get();
        let expected = ListenerCounts {
            datagrams: probes,
            bytes: probes * MESSAGE_LEN as u64,
            probes,
            ..ListenerCounts::default()
        };
        assert_eq!(counts, expected, "{}", case.name);
        let brought = reception.next(Duration::ZERO, |_, _| true);
        assert!(!brought, "{}: the decoder gets none", case.name);
    }
}

#[test]
fn what_is_no_probe_gets_no_answer_and_goes_to_the_decoder() {
    let (reception, port) = collector("127.0.0.1:0", 1, 1 << 20);
    let to = SocketAddr::from(([127, 0, 0, 1], port));
    let socket = socket("127.0.0.1:0");
    let good = probe::encode(&question(1));
    let answer = probe::encode_answer(&ProbeAnswer {
        probe: question(1),
        queue_percent: 0,
        run: 1,
    });
    let version = |mut probe: [u8; MESSAGE_LEN]| {
        probe[4] += 1;
        probe
    };
    // An answer that is answered would go back and forth between two collectors.
    let others = [&answer[..], &version(good), &good[..31], &[], &[0xf0]];
    for datagram in others {
        socket.send_to(datagram, to).unwrap();
    }
    // The first answer that comes is the one to this.
    assert_eq!(ask(&socket, to, 77).0.probe, question(77));
    let mut came = Vec::new();
    while came.len() < others.len() {
        reception.next(LATE, |bytes, _| {
            came.push(bytes.to_vec());
            true
        });
    }
    assert_eq!(came, others);
    let counts = reception.observer().get();
    let seen = (counts.datagrams, counts.probes, counts.probes_unanswered);
    assert_eq!(seen, (others.len() as u64 + 1, 1, 0));
}

#[test]
fn a_collector_with_a_full_queue_answers_and_says_so() {
    let (reception, port) = collector("127.0.0.1:0", 1, 1);
    let to = SocketAddr::from(([127, 0, 0, 1], port));
    let socket = socket("127.0.0.1:0");
    assert_eq!(ask(&socket, to, 0).0.queue_percent, 0);
    let mut sent = 0;
    while reception.observer().get().queue_drops == 0 {
        socket.send_to(&[0; 1000], to).unwrap();
        sent += 1;
        await_counts(&reception, |counts| {
            counts.datagrams + counts.socket_drops > sent
        });
    }
    let (answer, from) = ask(&socket, to, 1);
    assert_eq!((answer.queue_percent, from), (100, to));
    let counts = reception.observer().get();
    assert_eq!(counts.datagrams, sent + 2);
    assert_eq!((counts.probes, counts.probes_unanswered), (2, 0));
    let mut decoded = 0;
    while reception.next(Duration::ZERO, |_, _| {
        decoded += 1;
        true
    }) {}
    let sum = counts.probes + counts.queue_drops + decoded;
    assert_eq!(sum, counts.datagrams, "each is in one place");
}

#[test]
fn an_answer_that_cannot_be_sent_is_counted() {
    let (reception, port) = collector("127.0.0.1:0", 1, 1 << 20);
    let to = SocketAddr::from(([127, 0, 0, 1], port));
    // One that ends sends its load away.
    let socket = socket("127.0.0.1:0");
    ask(&socket, to, 1);
    let mut answers = 1;
    socket.set_nonblocking(true).unwrap();
    let mut take = || {
        while socket.recv(&mut [0; MESSAGE_LEN]).is_ok() {
            answers += 1;
        }
    };
    reception.end();
    let end = Instant::now() + LATE;
    let mut sent = 1;
    while !reception.is_done() {
        // One at a time: there is no room for the answers to many.
        let counts = reception.observer().get();
        if counts.probes + counts.socket_drops == sent {
            socket.send_to(&probe::encode(&question(2)), to).unwrap();
            sent += 1;
        }
        take();
        assert!(Instant::now() < end, "it never ends");
    }
    take();
    let counts = reception.observer().get();
    assert_eq!(counts.probes, answers + counts.probes_unanswered);
    assert_eq!(counts.datagrams, counts.probes);
}
