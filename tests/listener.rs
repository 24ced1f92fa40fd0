//! The collector's sockets: several addresses, hostile datagrams, full buffers.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use hostint::collector::{ListenError, Listener, decode, default_addresses};

const SOON: Duration = Duration::from_millis(50);

fn bind(addresses: &[&str]) -> Result<Listener, ListenError> {
    let addresses: Vec<_> = addresses.iter().map(|a| a.parse().unwrap()).collect();
    Listener::bind(&addresses)
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
    let listener = bind(&["0.0.0.0:0"]).unwrap();
    let port = listener.local_addresses()[0].port();
    let other = bind(&[&format!("[::]:{port}")]);
    assert!(other.is_ok(), "{other:?}");
}

#[test]
fn a_taken_address_is_named() {
    let first = bind(&["127.0.0.1:0"]).unwrap();
    let taken = first.local_addresses()[0];
    let error = Listener::bind(&[taken]).unwrap_err().to_string();
    let expected = format!("cannot bind UDP address {taken}");
    assert!(error.starts_with(&expected), "{error}");
    let error = Listener::bind(&[]).unwrap_err().to_string();
    assert_eq!(error, "no address to listen on");
}

#[test]
fn waiting_ends_with_the_timeout() {
    let mut listener = bind(&["127.0.0.1:0"]).unwrap();
    let start = Instant::now();
    let received = listener.poll(SOON, |_, _| panic!("nothing was sent"));
    assert_eq!(received.unwrap(), 0);
    assert!(start.elapsed() >= SOON, "{:?}", start.elapsed());
}

#[test]
fn datagrams_arrive_whole_whatever_is_in_them() {
    let mut listener = bind(&["127.0.0.1:0", "[::1]:0"]).unwrap();
    let addresses = listener.local_addresses();
    for (address, local) in addresses.iter().zip(["127.0.0.1:0", "[::1]:0"]) {
        let socket = UdpSocket::bind(local).unwrap();
        for size in [0, 1, 12, 92, 1500, 65_000] {
            socket.send_to(&vec![4; size], address).unwrap();
            let mut seen = Vec::new();
            let received = listener.poll(Duration::from_secs(10), |bytes, from| {
                seen.push((bytes.len(), from));
                assert!(decode(bytes).is_err());
            });
            assert_eq!(received.unwrap(), 1);
            assert_eq!(seen, [(size, socket.local_addr().unwrap())]);
        }
    }
    assert_eq!(listener.counts().datagrams, 12);
    assert_eq!(listener.counts().bytes, 2 * (1 + 12 + 92 + 1500 + 65_000));
}

#[test]
fn what_the_kernel_dropped_is_counted() {
    let mut listener = bind(&["127.0.0.1:0"]).unwrap();
    let address = listener.local_addresses()[0];
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let large = vec![0; 60_000];
    let sent = 4_000_u64;
    for _ in 0..sent {
        socket.send_to(&large, address).unwrap();
    }
    let mut received = 0;
    let mut drain = |listener: &mut Listener| {
        while let Ok(count @ 1..) = listener.poll(SOON, |_, _| {}) {
            received += count as u64;
        }
        received
    };
    assert!(
        drain(&mut listener) < sent,
        "the buffer was to be too small"
    );
    // The kernel tells with the next datagram that gets through.
    socket.send_to(&[0], address).unwrap();
    let received = drain(&mut listener);
    assert_eq!(received + listener.counts().kernel_drops, sent + 1);
}
