//! Data that must arrive as it was sent, and the sink's account of it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

use hostint_testing::netns::Host;
use hostint_testing::random::Random;
use nix::libc;
use serde_json::Value;

/// Bytes that differ everywhere and for every seed.
pub fn noise(seed: u64, len: usize) -> Vec<u8> {
    Random::seeded(seed).bytes(len)
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

/// Ten datagrams at once, which all arrive.
pub fn burst(from: &UdpSocket, to: &UdpSocket) {
    let mut buffer = [0; 2000];
    for _ in 0..10 {
        from.send_to(&[7; 1000], to.local_addr().unwrap()).unwrap();
    }
    for _ in 0..10 {
        to.recv_from(&mut buffer).unwrap();
    }
}

/// Sends a stream there and back; it must arrive as it was sent.
pub fn exchange_tcp(a: &Host, b: &Host, port: u16, len: usize) {
    exchange_tcp_with(a, b, SocketAddr::from(([10, 9, 2, 1], port)), len);
}

/// The same to an address of b.
pub fn exchange_tcp_with(a: &Host, b: &Host, to: SocketAddr, len: usize) {
    let listener = b.enter(|| TcpListener::bind(to)).unwrap();
    let echo = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        stream.write_all(&all).unwrap();
    });
    let data = noise(to.port().into(), len);
    let mut stream = a.enter(|| TcpStream::connect(to)).unwrap();
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

/// Sends datagrams many in one packet (UDP_SEGMENT), with DF as QUIC does; every one must arrive as it was sent.
pub fn exchange_udp_superpackets(from: &UdpSocket, to: &UdpSocket, count: u64, size: u16) {
    use nix::sys::socket::{setsockopt, sockopt::UdpGsoSegment};
    set_option(
        from,
        libc::IPPROTO_IP,
        libc::IP_MTU_DISCOVER,
        libc::IP_PMTUDISC_DO,
    );
    setsockopt(from, UdpGsoSegment, &i32::from(size)).unwrap();
    let mut buffer = [0; 2000];
    for i in 0..count {
        // The last datagram is a short one.
        let sent = noise(i, usize::from(size) * (2 + i as usize % 8) + 1 + i as usize);
        from.send_to(&sent, to.local_addr().unwrap()).unwrap();
        for (n, datagram) in sent.chunks(usize::from(size)).enumerate() {
            let (len, _) = to.recv_from(&mut buffer).unwrap();
            assert!(
                datagram == &buffer[..len],
                "datagram {n} of superpacket {i} came changed"
            );
        }
    }
    setsockopt(from, UdpGsoSegment, &0).unwrap();
}

/// Sets an option of a socket that nix has no name for.
pub fn set_option<T>(socket: &impl AsRawFd, level: i32, name: i32, value: T) {
    // SAFETY: any value is as many bytes as it is long.
    let bytes =
        unsafe { std::slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<T>()) };
    set_option_bytes(socket, level, name, bytes);
}

pub fn set_option_bytes(socket: &impl AsRawFd, level: i32, name: i32, value: &[u8]) {
    let (at, len) = (value.as_ptr().cast(), value.len() as u32);
    // SAFETY: the value is valid during the call.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, at, len) };
    let err = std::io::Error::last_os_error();
    assert_eq!(result, 0, "option {name}: {err}");
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
