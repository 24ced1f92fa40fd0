//! IPFIX messages have right sequence numbers, templates and sizes, and statistics of the exporting process.

use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::thread;
use std::time::Duration;

use hostint::engines::ipfix::{Ipfix, MessageTransport};
use hostint::engines::{Engine, Parcel, Trouble};
use hostint::model::{FlowKey, Vlans};
use hostint_testing::netns::{Lab, await_that, sh};
use hostint_testing::synthetic::Synthetic;

use super::decoder::*;
use super::listeners::TcpCollector;
use super::parcels::*;

/// Reports of as many flows.
fn of_flows(number: u64, first: u64, count: u64) -> Parcel {
    let entries = (first..first + count).map(|n| {
        let flow = FlowKey {
            sport: n as u16,
            vlans: Vlans {
                outer: 0,
                inner: (n >> 16) as u16,
            },
            ..flow4()
        };
        entry(n, latency(flow, 1000 + n as i32 % 1000), TIME_NS)
    });
    parcel(number, entries.collect())
}

#[test]
fn sequence_numbers_count_data_records_and_templates_come_again() {
    let mut sending = Sending::new();
    for round in 0..5 {
        sending.deliver(&of_flows(round + 1, 1 + round * 100, 100));
        let session = &sending.session;
        assert_eq!(session.with_templates as u64, round + 1, "in each parcel");
        assert_eq!(session.flows.len() as u64, (round + 1) * 100);
        assert_eq!(session.missing, 0);
    }
    assert_eq!(sending.session.domain, Some(9));
    let all = sending.session.flows.len() + sending.session.options.len();
    let sequence = |message: &Vec<u8>| u32::from_be_bytes(message[8..12].try_into().unwrap());
    assert_eq!(sending.messages.first().map(sequence), Some(0));
    let last = sending.messages.last().map(sequence).unwrap() as usize;
    assert!((1..all).contains(&last), "{last} before the last message");
    // Who came late understands the next parcel.
    let per_parcel = sending.messages.len() / 5;
    let mut late = Session::default();
    for message in &sending.messages[4 * per_parcel..] {
        late.read(message);
    }
    assert_eq!(late.flows.len(), 100);
}

#[test]
fn the_exporting_process_tells_of_itself() {
    let mut sending = Sending::new();
    sending.deliver(&of_flows(1, 1, 100));
    let first = sending.messages.len() as u64;
    // 101 to 150 were dropped at the queue.
    sending.deliver(&of_flows(2, 151, 10));
    let last = |element| {
        let mut told = sending.session.options.iter().rev();
        told.find_map(|record| record.maybe(element)).unwrap()
    };
    assert_eq!(last(EXPORTED_MESSAGES), first, "those before");
    assert_eq!(last(EXPORTED_RECORDS), 100);
    assert_eq!(last(NOT_SENT), 50);
}

#[test]
fn a_collector_that_goes_away_before_it_has_read_all_gets_the_same_records_again() {
    struct Case {
        name: &'static str,
        reads: &'static [usize],
    }
    let cases = [
        Case {
            name: "at once",
            reads: &[0],
        },
        Case {
            name: "within the templates",
            reads: &[40],
        },
        Case {
            name: "in the middle, twice",
            reads: &[200_000, 70_001],
        },
    ];
    for case in cases {
        let collector = TcpCollector::start("127.0.0.1:0", case.reads);
        let mut engine = Ipfix::new(settings(collector.address, MessageTransport::Tcp));
        let parcel = of_flows(1, 1, 20_000);
        for _ in case.reads {
            let Err(Trouble::Later(why)) = engine.deliver(&parcel) else {
                panic!("{}: it does not have it", case.name);
            };
            let collector = collector.address.to_string();
            let start = format!("cannot deliver to {collector} by TCP: ");
            assert!(why.starts_with(&start), "{}: {why}", case.name);
        }
        engine.deliver(&parcel).expect(case.name);
        let sessions = collector.sessions();
        assert_eq!(sessions.len(), case.reads.len() + 1, "{}", case.name);
        let all = || sessions.iter().flat_map(|session| &session.flows);
        assert_eq!(Sums::of(all()).reports, 20_000, "{}", case.name);
        assert!(sessions.iter().all(|session| session.missing == 0));
    }
}

#[test]
fn a_udp_port_where_nobody_listens_is_trouble_that_is_told() {
    let free = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let mut engine = Ipfix::new(settings(address, MessageTransport::Udp));
    let parcel = of_flows(1, 1, 1);
    let Err(Trouble::Later(why)) = engine.deliver(&parcel) else {
        panic!("nobody is there");
    };
    let refused = format!("cannot deliver to {address} by UDP: Connection refused");
    assert!(why.starts_with(&refused), "{why}");
}

#[test]
fn an_interval_ends_before_the_queue_is_full() {
    struct Case {
        queue: usize,
        reports: usize,
    }
    let cases = [
        Case {
            queue: 1 << 20,
            reports: 512,
        },
        Case {
            queue: 64 << 20,
            reports: 32_768,
        },
        Case {
            queue: 1 << 30,
            reports: 32_768,
        },
    ];
    for case in cases {
        let mut settings = settings("127.0.0.1:4739".parse().unwrap(), MessageTransport::Tcp);
        settings.queue = case.queue;
        let pace = Ipfix::new(settings).pace();
        assert_eq!(pace.reports, case.reports, "{}", case.queue);
        assert_eq!(pace.linger, Duration::from_millis(100));
    }
}

/// The messages of some reports, as they were when this was written.
#[test]
fn messages_are_those_of_the_golden_capture() {
    let mut synthetic = Synthetic::new(5, 3, 6);
    let mut entries: Vec<_> = (1..=60)
        .map(|n| {
            let time_ns = TIME_NS + n * 10_000_000;
            entry(n, synthetic.report(n as usize % 6, time_ns).report, time_ns)
        })
        .collect();
    let six = flow("2001:db8::1", "2001:db8::2");
    let more = [
        latency(six, 25_000),
        latency(six, -25_000),
        loss(six, 2),
        loss(flow4(), 5),
        summary(six, TIME_NS + 1_000_000_000, 100, 140_000),
        summary(flow4(), TIME_NS + 1_000_000_000, 7, 4200),
    ];
    entries.extend(
        (61..)
            .zip(more)
            .map(|(n, report)| entry(n, report, TIME_NS)),
    );
    let mut sending = Sending::new();
    sending.deliver(&parcel(1, entries));
    let mut dump = String::new();
    for mut message in sending.messages {
        // The clock's.
        message[4..8].copy_from_slice(&1_800_000_001u32.to_be_bytes());
        for (n, line) in message.chunks(16).enumerate() {
            let bytes: Vec<_> = line.iter().map(|byte| format!("{byte:02x}")).collect();
            dump += &format!("{:06x} {}\n", n * 16, bytes.join(" "));
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/ipfix/messages.hex");
    if std::env::var_os("HOSTINT_BLESS").is_some() {
        std::fs::write(&path, &dump).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert!(dump == golden, "see the difference after HOSTINT_BLESS=1");
}

/// These need root.
mod root {
    use super::*;

    #[test]
    fn within_a_large_parcel_templates_come_again_by_udp_alone() {
        let mut sending = Sending::new();
        sending.make_room();
        // 73 bytes each in messages of 1420 bytes: some 600.
        let count = 11_000;
        sending.deliver(&of_flows(1, 1, count));
        assert_eq!(sending.session.flows.len() as u64, count);
        assert_eq!(sending.session.missing, 0);
        let messages = sending.session.messages;
        assert_eq!(sending.session.with_templates, 2, "of {messages}");

        let collector = TcpCollector::start("127.0.0.1:0", &[]);
        let mut engine = Ipfix::new(settings(collector.address, MessageTransport::Tcp));
        // In messages of 16 KiB: some 520.
        let count = 116_000;
        engine.deliver(&of_flows(1, 1, count)).unwrap();
        let sessions = collector.sessions();
        assert_eq!(sessions.len(), 1, "a connection for the parcel");
        assert_eq!(sessions[0].flows.len() as u64, count);
        let messages = sessions[0].messages;
        assert!(messages > 512, "{messages}");
        assert_eq!(sessions[0].with_templates, 1, "of {messages}");
    }

    #[test]
    fn messages_fit_the_path() {
        struct Case {
            mtu: usize,
            most: usize,
        }
        let cases = [
            Case {
                mtu: 1500,
                most: 1420,
            },
            Case {
                mtu: 1280,
                most: 1252,
            },
            Case {
                mtu: 576,
                most: 548,
            },
        ];
        let lab = Lab::new();
        for case in cases {
            sh(&format!("ip -n {} link set a0 mtu {}", lab.a.ns, case.mtu));
            let far = SocketAddr::from(([10, 9, 2, 1], 4739));
            let socket = lab.b.enter(|| UdpSocket::bind(far).unwrap());
            let mut engine = Ipfix::new(settings(far, MessageTransport::Udp));
            lab.a.enter(|| engine.deliver(&of_flows(1, 1, 60)).unwrap());
            let mut session = Session::default();
            let mut longest = 0;
            let late = Duration::from_secs(20);
            socket.set_read_timeout(Some(late)).unwrap();
            let mut buffer = [0; 2000];
            while session.flows.len() < 60 {
                let length = socket.recv(&mut buffer).unwrap();
                session.read(&buffer[..length]);
                longest = longest.max(length);
            }
            assert!(longest <= case.most, "MTU {}: {longest}", case.mtu);
            assert!(longest + 80 > case.most, "MTU {}: {longest}", case.mtu);
        }
    }

    /// Its end reaches us, what we wrote does not reach it: closing alone does not say that it has read anything.
    #[test]
    fn a_collector_that_closes_before_anything_came_does_not_have_the_parcel() {
        let lab = Lab::new();
        lab.drop_packets("ip saddr 10.9.1.1 ip length > 100");
        let address = SocketAddr::from(([10, 9, 2, 1], 4739));
        let listener = lab.b.enter(|| TcpListener::bind(address).unwrap());
        let answer = thread::scope(|scope| {
            let delivery = scope.spawn(|| {
                let mut engine = Ipfix::new(settings(address, MessageTransport::Tcp));
                lab.a.enter(|| engine.deliver(&of_flows(1, 1, 100)))
            });
            drop(listener.accept().unwrap());
            await_that("both have ended", || {
                let connections = lab.a.sh("ss -Htan");
                let ended = connections.contains("LAST-ACK") || connections.contains("CLOSING");
                ended || delivery.is_finished()
            });
            assert!(lab.dropped() > 0);
            delivery.join().unwrap()
        });
        assert!(matches!(answer, Err(Trouble::Later(_))), "{answer:?}");
    }
}
