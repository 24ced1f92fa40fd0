//! Data that must arrive as it was sent, and what the sink says of it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use serde_json::Value;

use crate::netns::Host;

/// Bytes that differ everywhere and for every seed.
pub fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..len)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 32) as u8
        })
        .collect()
}

/// Sends datagrams of all lengths; every one must arrive as it was sent.
pub fn exchange_udp(from: &UdpSocket, to: &UdpSocket, count: u64, max_len: usize) {
    let mut buffer = [0; 2000];
    for i in 0..count {
        let sent = noise(i, (i as usize * 7) % max_len);
        from.send_to(&sent, to.local_addr().unwrap()).unwrap();
        let (len, _) = to.recv_from(&mut buffer).unwrap();
        assert!(
            sent == buffer[..len],
            "datagram {i} of {} bytes came changed",
            sent.len()
        );
    }
}

/// Sends a stream there and back; it must arrive as it was sent.
pub fn exchange_tcp(a: &Host, b: &Host, port: u16, len: usize) {
    let listener = b.enter(|| TcpListener::bind(("10.9.2.1", port))).unwrap();
    let echo = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        stream.write_all(&all).unwrap();
    });
    let data = noise(port.into(), len);
    let mut stream = a.enter(|| TcpStream::connect(("10.9.2.1", port))).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    stream.write_all(&data).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut back = Vec::new();
    stream.read_to_end(&mut back).unwrap();
    echo.join().unwrap();
    assert!(data == back, "{len} bytes over TCP came back changed");
}

pub fn flow(status: &Value, name: &str, port: u16) -> Value {
    status["sink"]["flows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|flow| flow["flow"]["dport"] == port)
        .unwrap_or_else(|| panic!("{name}: no flow to port {port}: {status}"))
        .clone()
}
