//! Collecting processes of the tests, which keep every message.

use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::decoder::Session;

/// Takes TCP connections; of the first ones it reads only so many bytes, and goes away then.
pub struct TcpCollector {
    pub address: SocketAddr,
    streams: Arc<Mutex<Vec<Vec<u8>>>>,
    ends: Arc<Mutex<bool>>,
    thread: Option<JoinHandle<()>>,
}

impl TcpCollector {
    pub fn start(at: &str, reads: &[usize]) -> Self {
        let listener = TcpListener::bind(at).unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let streams = Arc::new(Mutex::new(Vec::new()));
        let ends = Arc::new(Mutex::new(false));
        let (kept, end) = (Arc::clone(&streams), Arc::clone(&ends));
        let mut reads = Vec::from(reads).into_iter();
        let thread = thread::spawn(move || {
            while !*end.lock().unwrap() {
                match listener.accept() {
                    Ok((mut stream, _)) => {
                        let bytes = read(&mut stream, reads.next());
                        kept.lock().unwrap().push(bytes);
                        drop(stream);
                    }
                    Err(_) => thread::sleep(Duration::from_millis(1)),
                }
            }
        });
        Self {
            address,
            streams,
            ends,
            thread: Some(thread),
        }
    }

    /// What came over each connection.
    pub fn streams(&self) -> Vec<Vec<u8>> {
        self.streams.lock().unwrap().clone()
    }

    /// The same, read.
    pub fn sessions(&self) -> Vec<Session> {
        let streams = self.streams();
        let sessions = streams.iter().map(|stream| {
            let mut session = Session::default();
            session.read_stream(stream);
            session
        });
        sessions.collect()
    }
}

impl Drop for TcpCollector {
    fn drop(&mut self) {
        *self.ends.lock().unwrap() = true;
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || thread::panicking());
    }
}

/// Closing a socket with bytes that nobody read resets the connection.
fn read(stream: &mut TcpStream, most: Option<usize>) -> Vec<u8> {
    stream.set_nonblocking(false).unwrap();
    let late = Duration::from_secs(60);
    stream.set_read_timeout(Some(late)).unwrap();
    let mut bytes = Vec::new();
    match most {
        None => {
            // An end without its last bytes is a reset, too.
            let _ = stream.read_to_end(&mut bytes);
        }
        Some(most) => {
            bytes.resize(most, 0);
            stream.read_exact(&mut bytes).unwrap();
            let mut rest = [0; 1];
            assert_eq!(stream.peek(&mut rest).unwrap(), 1, "more is to come");
        }
    }
    bytes
}

/// All datagrams that wait at a socket.
pub fn datagrams(socket: &UdpSocket) -> Vec<Vec<u8>> {
    socket.set_nonblocking(true).unwrap();
    let mut buffer = vec![0; 65536];
    let mut came = Vec::new();
    while let Ok(length) = socket.recv(&mut buffer) {
        came.push(buffer[..length].to_vec());
    }
    came
}
