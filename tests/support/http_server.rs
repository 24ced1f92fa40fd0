//! An HTTP server that does what a test tells it, and remembers what it was asked.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What becomes of a request.
#[derive(Clone)]
pub enum Reply {
    Status(u16, String),
    /// The connection ends without an answer.
    Close,
    /// As an answer that ends too early.
    Half,
    /// No answer for as long as the client waits.
    Hang,
}

/// What came.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Request {
    /// Behind the address.
    pub target: String,
    /// In small letters.
    pub head: String,
    pub body: Vec<u8>,
}

/// Answers each request as `answer` says, for as long as the test runs.
pub struct HttpServer {
    pub url: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl HttpServer {
    pub fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<Request>>>::default();
        let log = Arc::clone(&seen);
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                thread::spawn(move || serve(&stream.unwrap(), &log, &*answer));
            }
        });
        Self { url, seen }
    }

    /// With the next of these answers to each request that `scripted` picks; then, and to others, as `answer` says.
    pub fn scripted(
        script: Vec<Reply>,
        picks: impl Fn(&Request) -> bool + Send + Sync + 'static,
        answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let script = Mutex::new(VecDeque::from(script));
        Self::start(move |request| {
            let next = picks(request).then(|| script.lock().unwrap().pop_front());
            next.flatten().unwrap_or_else(|| answer(request))
        })
    }

    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(stream: &TcpStream, log: &Mutex<Vec<Request>>, answer: &dyn Fn(&Request) -> Reply) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        log.lock().unwrap().push(request.clone());
        let mut stream = stream;
        let sent = match answer(&request) {
            Reply::Status(status, body) => write!(
                stream,
                "HTTP/1.1 {status} said\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ),
            Reply::Close => return,
            Reply::Half => {
                let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
                return;
            }
            Reply::Hang => {
                // Until the client goes away.
                let _ = reader.read(&mut [0]);
                return;
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let target = head.split(' ').nth(1)?.to_owned();
    let head = head.to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Request { target, head, body })
}
