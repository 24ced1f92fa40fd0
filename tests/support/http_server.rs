//! An HTTP server that does what a test tells it and remembers its requests.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What becomes of a request.
#[derive(Clone)]
pub enum Reply {
    /// Status, lines of the head, body.
    Says(u16, &'static str, Vec<u8>),
    /// The connection ends without an answer.
    Close,
    /// As an answer that ends too early.
    Half,
    /// No answer for as long as the client waits.
    Hang,
}

impl Reply {
    pub fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::Says(status, "", body.into())
    }
}

/// What came.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Request {
    /// Behind the address.
    pub target: String,
    /// Names in small letters.
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
            None => body.to_vec(),
            other => panic!("{other:?}"),
        }
    }
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

    /// With these answers, and 200 to all other requests.
    pub fn taking(script: Vec<Reply>) -> Self {
        Self::scripted(script, |_| true, |_| Reply::status(200, ""))
    }

    /// All that came.
    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    /// What came since it was called before.
    pub fn take(&self) -> Vec<Request> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

fn serve(stream: &TcpStream, log: &Mutex<Vec<Request>>, answer: &dyn Fn(&Request) -> Reply) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        log.lock().unwrap().push(request.clone());
        let mut stream = stream;
        let sent = match answer(&request) {
            Reply::Says(status, head, body) => {
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {status} said\r\n{head}Content-Length: {length}\r\n\r\n");
                stream.write_all(&[head.as_bytes(), &body].concat())
            }
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
    let line = |reader: &mut dyn BufRead| {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        Some(line.trim_end().to_owned()).filter(|_| !line.is_empty())
    };
    let target = line(reader)?.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let line = line(reader)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request {
        target,
        headers,
        body: Vec::new(),
    };
    let length = request
        .header("content-length")
        .map_or(0, |length| length.parse().unwrap());
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}
