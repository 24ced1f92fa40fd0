//! A Kafka broker that accepts and counts everything, keeps nothing, and may want a password.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

pub const TOPIC: &str = "hostint.reports.v1";
pub const PARTITIONS: i32 = 12;

const PRODUCE: i16 = 0;
const METADATA: i16 = 3;
const SASL_HANDSHAKE: i16 = 17;
const API_VERSIONS: i16 = 18;
const SASL_AUTHENTICATE: i16 = 36;

/// What a wrong password is answered by.
const AUTHENTICATION_FAILED: i16 = 58;

pub struct Stub {
    pub at: String,
    /// Bytes of requests with messages.
    pub got: Arc<AtomicU64>,
}

impl Stub {
    /// `login` is user and password as SASL PLAIN has them.
    pub fn start(login: Option<&'static [u8]>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let got = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&got);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, got) = (stream.unwrap(), Arc::clone(&count));
                thread::spawn(move || serve(stream, port, login, &got));
            }
        });
        let at = format!("127.0.0.1:{port}");
        Self { at, got }
    }
}

/// Until the client goes.
fn serve(mut stream: TcpStream, port: u16, login: Option<&[u8]>, got: &AtomicU64) -> Option<()> {
    let mut known = login.is_none();
    loop {
        let mut size = [0; 4];
        stream.read_exact(&mut size).ok()?;
        let mut request = vec![0; u32::from_be_bytes(size) as usize];
        stream.read_exact(&mut request).ok()?;
        let word = |at: usize| i16::from_be_bytes([request[at], request[at + 1]]);
        let body = 10 + word(8) as usize;
        let mut answer = Answer(request[4..8].to_vec());
        match word(0) {
            API_VERSIONS => answer.api_versions(),
            SASL_HANDSHAKE => answer.mechanism("PLAIN"),
            SASL_AUTHENTICATE => {
                known = login == Some(&request[body + 4..]);
                answer.authenticated(known);
            }
            // As brokers do.
            _ if !known => return None,
            METADATA => answer.metadata(port),
            PRODUCE => {
                got.fetch_add(4 + request.len() as u64, Relaxed);
                // No transaction, acks, timeout, one topic by its name, one partition.
                let partition = body + 2 + 2 + 4 + 4 + 2 + TOPIC.len() + 4;
                answer.produced(&request[partition..partition + 4]);
            }
            other => panic!("request {other}"),
        }
        let size = (answer.0.len() as u32).to_be_bytes();
        stream.write_all(&[&size[..], &answer.0].concat()).ok()?;
    }
}

/// The bytes of an answer, from its correlation id on.
struct Answer(Vec<u8>);

impl Answer {
    fn i16(&mut self, number: i16) {
        self.0.extend(number.to_be_bytes());
    }

    fn i32(&mut self, number: i32) {
        self.0.extend(number.to_be_bytes());
    }

    fn string(&mut self, text: &str) {
        self.i16(text.len() as i16);
        self.0.extend(text.as_bytes());
    }

    /// Version 3.
    fn api_versions(&mut self) {
        self.i16(0);
        let versions = [
            (PRODUCE, 7),
            (METADATA, 1),
            (SASL_HANDSHAKE, 1),
            (API_VERSIONS, 3),
            (SASL_AUTHENTICATE, 1),
        ];
        self.0.push(1 + versions.len() as u8);
        for (key, version) in versions {
            self.i16(key);
            self.i16(version);
            self.i16(version);
            self.0.push(0);
        }
        self.i32(0);
        self.0.push(0);
    }

    /// Version 1.
    fn mechanism(&mut self, name: &str) {
        self.i16(0);
        self.i32(1);
        self.string(name);
    }

    /// Version 1.
    fn authenticated(&mut self, good: bool) {
        self.i16(if good { 0 } else { AUTHENTICATION_FAILED });
        self.i16(-1);
        self.i32(0);
        self.0.extend([0; 8]);
    }

    /// Version 1.
    fn metadata(&mut self, port: u16) {
        self.i32(1);
        self.i32(1);
        self.string("127.0.0.1");
        self.i32(port.into());
        self.i16(-1);
        self.i32(1);
        self.i32(1);
        self.i16(0);
        self.string(TOPIC);
        self.0.push(0);
        self.i32(PARTITIONS);
        for partition in 0..PARTITIONS {
            self.i16(0);
            self.i32(partition);
            self.i32(1);
            for _ in ["replicas", "in sync"] {
                self.i32(1);
                self.i32(1);
            }
        }
    }

    /// Version 7.
    fn produced(&mut self, partition: &[u8]) {
        self.i32(1);
        self.string(TOPIC);
        self.i32(1);
        self.0.extend(partition);
        self.i16(0);
        self.0.extend([0; 24]);
        self.i32(0);
    }
}
