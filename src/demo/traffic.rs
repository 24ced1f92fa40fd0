//! The traffic of the demo: datagrams and a TCP stream from the left host to the right one, until the process ends.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use super::network::{DemoNetwork, LEFT, RIGHT};

pub const UDP_PORT: u16 = 5000;
pub const TCP_PORT: u16 = 7000;
const FROM_PORT: u16 = 40_000;

const PERIOD: Duration = Duration::from_millis(2);
const DATAGRAM: [u8; 200] = [b'x'; 200];
const SEGMENT: [u8; 1000] = [b'y'; 1000];

/// Begins to send and to receive.
pub fn start(network: &DemoNetwork) -> io::Result<()> {
    network.right.enter(|| {
        let datagrams = UdpSocket::bind((RIGHT, UDP_PORT))?;
        let server = TcpListener::bind((RIGHT, TCP_PORT))?;
        run(move || {
            let mut buffer = [0; 2048];
            loop {
                datagrams.recv(&mut buffer)?;
            }
        })?;
        run(move || {
            let (mut stream, _) = server.accept()?;
            let mut buffer = [0; 1 << 16];
            while stream.read(&mut buffer)? > 0 {}
            Ok(())
        })
    })?;
    network.left.enter(|| {
        let datagrams = UdpSocket::bind((LEFT, FROM_PORT))?;
        datagrams.connect((RIGHT, UDP_PORT))?;
        let mut stream = TcpStream::connect((RIGHT, TCP_PORT))?;
        stream.set_nodelay(true)?;
        run(move || {
            loop {
                datagrams.send(&DATAGRAM)?;
                stream.write_all(&SEGMENT)?;
                thread::sleep(PERIOD);
            }
        })
    })
}

/// Runs this by a thread that ends with its first error: then the demo's figures do not match.
fn run(what: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(what).map(drop)
}
