//! The collector's sockets serve several addresses and threads, and survive hostile datagrams and full buffers.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use hostint::collector::{ListenError, Reception, ReportListener, decode, default_addresses};
use hostint::os::clock;

const SOON: Duration = Duration::from_millis(50);
const LATE: Duration = Duration::from_secs(20);
const QUEUE: usize = 64 << 20;

fn bind(addresses: &[&str], receivers: usize) -> Result<ReportListener, ListenError> {
    let addresses: Vec<_> = addresses.iter().map(|a| a.parse().unwrap()).collect();
    ReportListener::bind(&addresses, receivers)
}

/// On loopback, and where.
fn receive(receivers: usize, queue: usize) -> (Reception, SocketAddr) {
    let listener = bind(&["127.0.0.1:0"], receivers).unwrap();
    let address = listener.local_addresses()[0];
    (listener.start(queue, clock::realtime_ns).unwrap(), address)
}

/// All that comes until there are so many: the first byte and the sender.
fn take(reception: &Reception, count: usize) -> Vec<(u8, SocketAddr)> {
    let end = Instant::now() + LATE;
    let mut taken = Vec::new();
    while taken.len() < count {
        assert!(Instant::now() < end, "{} of {count}", taken.len());
        reception.next(SOON, |bytes, arrival| {
            taken.push((bytes[0], arrival.exporter));
            true
        });
    }
    taken
}

/// All that is left once no more will come; the number.
fn rest(reception: &Reception) -> u64 {
    reception.end();
    let end = Instant::now() + LATE;
    let mut taken = 0;
    while !reception.is_done() {
        assert!(Instant::now() < end, "does not end");
        reception.next(SOON, |_, _| {
            taken += 1;
            true
        });
    }
    taken
}

#[test]
fn the_default_is_the_report_port_of_both_families() {
    let text: Vec<_> = default_addresses()
        .iter()
        .map(SocketAddr::to_string)
        .collect();
    assert_eq!(text, ["0.0.0.0:32766", "[::]:32766"]);
}

#[test]
fn both_families_can_share_a_port() {
    for receivers in [1, 3] {
        let listener = bind(&["0.0.0.0:0"], receivers).unwrap();
        let port = listener.local_addresses()[0].port();
        let other = bind(&[&format!("[::]:{port}")], receivers);
        assert!(other.is_ok(), "{other:?}");
    }
}

#[test]
fn a_taken_address_is_named_however_many_threads_share_it() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        for (first, second) in [(1, 1), (1, 3), (3, 1), (3, 3)] {
            let first = bind(&[address], first).unwrap();
            let taken = first.local_addresses()[0];
            let error = ReportListener::bind(&[taken], second)
                .unwrap_err()
                .to_string();
            let expected = format!("cannot bind UDP address {taken}");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
    let error = ReportListener::bind(&[], 1).unwrap_err().to_string();
    assert_eq!(error, "no address to listen on");
}

#[test]
fn waiting_ends_with_the_timeout() {
    let (reception, _) = receive(1, QUEUE);
    let start = Instant::now();
    assert!(!reception.next(SOON, |_, _| panic!("nothing was sent")));
    assert!(start.elapsed() >= SOON, "{:?}", start.elapsed());
}

#[test]
fn datagrams_arrive_whole_whatever_is_in_them() {
    let locals = ["127.0.0.1:0", "[::1]:0"];
    for receivers in [1, 2] {
        let listener = bind(&locals, receivers).unwrap();
        let addresses = listener.local_addresses();
        let reception = listener.start(1 << 20, clock::realtime_ns).unwrap();
        let before = clock::realtime_ns();
        for (address, local) in addresses.iter().zip(locals) {
            let socket = UdpSocket::bind(local).unwrap();
            for size in [0, 1, 12, 92, 1500, 65_000] {
                let sent: Vec<u8> = (0..size).map(|at| at as u8).collect();
                socket.send_to(&sent, address).unwrap();
                let mut seen = 0;
                let end = Instant::now() + LATE;
                while seen == 0 && Instant::now() < end {
                    reception.next(SOON, |bytes, arrival| {
                        seen += 1;
                        assert_eq!(bytes, sent);
                        assert_eq!(arrival.exporter, socket.local_addr().unwrap());
                        assert!((before..=clock::realtime_ns()).contains(&arrival.received_ns));
                        true
                    });
                }
                assert_eq!(seen, 1, "{size}");
            }
        }
        let counts = reception.observer().get();
        assert_eq!(counts.datagrams, 12);
        assert_eq!(counts.bytes, 2 * (1 + 12 + 92 + 1500 + 65_000));
        assert_eq!(
            (counts.socket_drops, counts.queue_drops, counts.errors),
            (0, 0, 0)
        );
    }
}

#[test]
fn what_one_host_sends_stays_in_order_from_whatever_ports() {
    let (reception, address) = receive(4, QUEUE);
    let hosts: Vec<_> = (1..=8).map(|host| format!("127.0.0.{host}:0")).collect();
    for number in 0..100 {
        for host in &hosts {
            // Another port each time.
            let socket = UdpSocket::bind(host).unwrap();
            socket.send_to(&[number], address).unwrap();
        }
    }
    let taken = take(&reception, 800);
    for host in &hosts {
        let host: SocketAddr = host.parse().unwrap();
        let own = taken.iter().filter(|(_, from)| from.ip() == host.ip());
        let numbers: Vec<_> = own.map(|(number, _)| *number).collect();
        assert_eq!(numbers, (0..100).collect::<Vec<_>>(), "{host}");
    }
}

#[test]
fn what_the_kernel_dropped_is_counted_at_any_time() {
    // A door that is closed is a buffer that is full.
    for receivers in [1, 3] {
        let (reception, address) = receive(receivers, QUEUE);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(&[1], address).unwrap();
        take(&reception, 1);
        assert_eq!(reception.observer().get().socket_drops, 0);
        assert_eq!(rest(&reception), 0);
        for sent in 1..=100 {
            socket.send_to(&[2], address).unwrap();
            assert_eq!(
                reception.observer().get().socket_drops,
                sent,
                "the last one too"
            );
        }
        assert_eq!(reception.observer().get().datagrams, 1);
    }
}

#[test]
fn a_full_queue_drops_and_counts_and_recovers() {
    let (reception, address) = receive(2, 1 << 20);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let large = vec![7; 30_000];
    let sent = 1_000;
    for number in 1..=sent {
        socket.send_to(&large, address).unwrap();
        let end = Instant::now() + LATE;
        while reception.observer().get().datagrams + reception.observer().get().socket_drops
            < number
        {
            assert!(Instant::now() < end);
        }
    }
    let counts = reception.observer().get();
    // Nobody took any: less than the queue's megabyte waits.
    let waiting = counts.datagrams - counts.queue_drops;
    assert!((1..36).contains(&waiting), "{counts:?}");
    take(&reception, waiting as usize);
    socket.send_to(&[8], address).unwrap();
    assert_eq!(take(&reception, 1)[0].0, 8, "there is room again");
    assert_eq!(reception.observer().get().queue_drops, counts.queue_drops);
}

#[test]
fn what_came_before_the_end_is_taken_and_what_comes_later_counted() {
    // More than the queue holds: at the end, what is in the sockets waits for room.
    let (reception, address) = receive(2, 1 << 20);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let sent = 20_000;
    let mut number = 0;
    let mut taken = 0;
    while number < sent {
        socket.send_to(&[0; 40], address).unwrap();
        number += 1;
        if number == sent / 2 {
            let counts = reception.observer().get();
            reception.end();
            taken += rest(&reception);
            assert!(taken + counts.queue_drops + counts.socket_drops > 0);
        }
    }
    let counts = reception.observer().get();
    assert_eq!(taken + counts.queue_drops, counts.datagrams);
    assert_eq!(counts.datagrams + counts.socket_drops, sent);
    assert!(counts.socket_drops >= sent / 2);
}

#[test]
fn hostile_bytes_are_no_reports() {
    let (reception, address) = receive(1, QUEUE);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(&[4; 92], address).unwrap();
    let mut seen = 0;
    while seen == 0 {
        reception.next(SOON, |bytes, _| {
            seen += 1;
            assert!(decode(bytes).is_err());
            true
        });
    }
}
