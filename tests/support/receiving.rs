//! A receiver of HTTP requests that does what it is told, and keeps what came.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What it does with a request.
#[derive(Clone)]
pub enum Does {
    /// Answers so: status, lines of the head, body.
    Says(u16, &'static str, Vec<u8>),
    /// Takes the request and never answers.
    Hangs,
    /// Takes the request and closes the connection.
    Closes,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Request {
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(one, _)| one == name);
        found.next().map(|(_, value)| value.as_str())
    }

    /// Its body as it was before it was compressed.
    pub fn unpacked(&self) -> Vec<u8> {
        let body = self.body.as_slice();
        match self.header("content-encoding") {
            Some("gzip") => {
                let mut unpacked = Vec::new();
                let mut decoder = flate2::read::GzDecoder::new(body);
                decoder.read_to_end(&mut unpacked).unwrap();
                unpacked
            }
            Some("snappy") => snap::raw::Decoder::new().decompress_vec(body).unwrap(),
            None => body.to_vec(),
            other => panic!("{other:?}"),
        }
    }
}

pub struct Receiving {
    pub address: SocketAddr,
    came: Receiver<Request>,
}

impl Receiving {
    /// Does so with one request after another, and answers 200 to all others.
    pub fn start(does: impl IntoIterator<Item = Does>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let does = Arc::new(Mutex::new(does.into_iter().collect::<VecDeque<_>>()));
        let (tell, came) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (does, tell) = (Arc::clone(&does), tell.clone());
                std::thread::spawn(move || serve(stream.unwrap(), &does, &tell));
            }
        });
        Self { address, came }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn next(&self) -> Request {
        self.came.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    /// All that came so far.
    pub fn all(&self) -> Vec<Request> {
        self.came.try_iter().collect()
    }
}

/// Requests of one connection.
fn serve(stream: TcpStream, does: &Mutex<VecDeque<Does>>, tell: &Sender<Request>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(request) = read(&mut reader) {
        let does = does.lock().unwrap().pop_front();
        // Nobody may look any more.
        let _ = tell.send(request);
        match does.unwrap_or(Does::Says(200, "", Vec::new())) {
            Does::Closes => return,
            Does::Hangs => {
                // Until the other side has had enough.
                let _ = reader.read(&mut [0]);
                return;
            }
            Does::Says(status, head, body) => {
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {status} So\r\n{head}Content-Length: {length}\r\n\r\n");
                if stream
                    .write_all(&[head.as_bytes(), &body].concat())
                    .is_err()
                {
                    return;
                }
            }
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let line = |reader: &mut dyn BufRead| {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        Some(line.trim_end().to_owned()).filter(|_| !line.is_empty())
    };
    let first = line(reader)?;
    let path = first.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let line = line(reader)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request {
        path,
        headers,
        body: Vec::new(),
    };
    let length = request.header("content-length").map(str::to_owned);
    let length = length.expect("a length").parse().unwrap();
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

/// Waits until a condition holds; what is the sentence of the failure.
pub fn await_that(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < end, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
