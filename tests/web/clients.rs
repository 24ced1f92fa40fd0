//! The HTTP server answers every request, and its clients cannot harm the daemon or each other.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::routing::get;
use hostint::web::{
    HttpListener, HttpServer, LONGEST_REQUEST, MOST_CONNECTIONS, PATIENCE, Router, health,
};
use hostint_testing::netns::await_that;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::RcvBuf;

/// Longer than what fits into the buffers of both ends.
const LONG: usize = 32 << 20;

struct Served {
    server: HttpServer,
    ill: Arc<AtomicBool>,
}

fn served() -> Served {
    let ill = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&ill);
    let lacking = move || {
        let lines = ["not attached to eth1", "the clock is not known"];
        let lacking = lines.map(str::to_owned);
        Vec::from_iter(lacking.into_iter().filter(|_| told.load(Ordering::Relaxed)))
    };
    let long = Bytes::from(vec![b'x'; LONG]);
    let routes: Router =
        health(Vec::new, lacking).route("/long", get(move || async move { long.clone() }));
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = HttpListener::bind(address).unwrap().serve(routes).unwrap();
    Served { server, ill }
}

impl Served {
    fn connect(&self) -> TcpStream {
        let client = TcpStream::connect(self.server.address().unwrap()).unwrap();
        let patience = Some(Duration::from_secs(60));
        client.set_read_timeout(patience).unwrap();
        client
    }

    /// The whole answer to a request, whose connection is not kept.
    fn ask(&self, request: &str) -> String {
        let mut client = self.connect();
        let head = format!("{request} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        client.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    }

    /// How many of the connections are open at the server's end. It may have closed others though their clients cannot see that
    /// before they have read the rest.
    fn open<'a>(&self, clients: impl IntoIterator<Item = &'a TcpStream>) -> usize {
        const ESTABLISHED: &str = "01";
        let end = |address: SocketAddr| format!("0100007F:{:04X}", address.port());
        let server = end(self.server.address().unwrap());
        let table = std::fs::read_to_string("/proc/thread-self/net/tcp").unwrap();
        let is_open = |client: &&TcpStream| {
            let client = end(client.local_addr().unwrap());
            table.contains(&format!(" {server} {client} {ESTABLISHED} "))
        };
        clients.into_iter().filter(is_open).count()
    }
}

#[test]
fn who_asks_gets_an_answer_that_says_what_is_wrong() {
    let served = served();
    struct Case {
        name: &'static str,
        ill: bool,
        request: &'static str,
        status: &'static str,
        body: &'static str,
    }
    let cases = [
        Case {
            name: "alive",
            ill: false,
            request: "GET /healthz",
            status: "200",
            body: "ok\n",
        },
        Case {
            name: "ready",
            ill: false,
            request: "GET /readyz",
            status: "200",
            body: "ok\n",
        },
        Case {
            name: "not ready: a line for each reason",
            ill: true,
            request: "GET /readyz",
            status: "503",
            body: "not attached to eth1\nthe clock is not known\n",
        },
        Case {
            name: "not ready, but alive",
            ill: true,
            request: "GET /healthz",
            status: "200",
            body: "ok\n",
        },
        Case {
            name: "the head alone",
            ill: false,
            request: "HEAD /healthz",
            status: "200",
            body: "",
        },
        Case {
            name: "nothing there",
            ill: false,
            request: "GET /etc/passwd",
            status: "404",
            body: "",
        },
        Case {
            name: "nothing is changed by HTTP",
            ill: false,
            request: "POST /healthz",
            status: "405",
            body: "",
        },
        Case {
            name: "nor deleted",
            ill: false,
            request: "DELETE /readyz",
            status: "405",
            body: "",
        },
        Case {
            name: "no method at all",
            ill: false,
            request: "\x01\x02 /",
            status: "400",
            body: "",
        },
    ];
    for case in cases {
        served.ill.store(case.ill, Ordering::Relaxed);
        let answer = served.ask(case.request);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert_eq!(head.split(' ').nth(1), Some(case.status), "{}", case.name);
        assert_eq!(body, case.body, "{}", case.name);
    }
}

#[test]
fn a_request_without_end_is_refused() {
    let served = served();
    let mut client = served.connect();
    let long = format!("GET /healthz?{} ", "x".repeat(2 * LONGEST_REQUEST));
    // It may be closed before all of it was sent.
    let _ = client.write_all(long.as_bytes());
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
        "{answer}"
    );
}

#[test]
fn who_sends_nothing_or_takes_nothing_is_given_up_and_others_are_served_meanwhile() {
    let served = served();
    let mut silent = served.connect();
    let mut slow = served.connect();
    slow.write_all(b"GET /healthz HTTP/1.1\r\nHost:").unwrap();
    let mut full = served.connect();
    full.write_all(b"GET /long HTTP/1.1\r\nHost: h\r\n\r\n")
        .unwrap();
    assert!(served.ask("GET /healthz").ends_with("ok\n"));
    let mut rest = Vec::new();
    // Closed, or reset: both end it.
    let _ = silent.read_to_end(&mut rest);
    assert!(rest.is_empty(), "{rest:?}");
    let _ = slow.read_to_end(&mut rest);
    assert!(!rest.starts_with(b"HTTP/1.1 200"), "{rest:?}");
    // What was given up cannot be read to its end.
    await_that("the server closes what takes nothing", || {
        served.open([&full]) == 0
    });
    rest.clear();
    let _ = full.read_to_end(&mut rest);
    assert!(rest.len() < LONG, "{}", rest.len());
}

/// The memory of this process.
fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = pages.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn an_answer_that_many_clients_take_slowly_is_in_memory_once() {
    const SLOW: usize = 32;
    let served = served();
    let before = resident_bytes();
    let clients = (0..SLOW).map(|_| {
        let mut client = served.connect();
        setsockopt(&client, RcvBuf, &4096).unwrap();
        client
            .write_all(b"GET /long HTTP/1.1\r\nHost: h\r\n\r\n")
            .unwrap();
        client
    });
    let clients = Vec::from_iter(clients);
    for mut client in &clients {
        client.read_exact(&mut [0; 1024]).unwrap();
    }
    let more = resident_bytes().saturating_sub(before);
    // Other tests of this process have some of it.
    assert!(more < SLOW / 2 * LONG, "{more} bytes more");
}

#[test]
fn slow_clients_make_room_for_others_before_their_time_is_over() {
    const SLOW: usize = 400;
    const CASES: [(&str, &[u8]); 4] = [
        ("they send nothing", b""),
        ("they send half a head", b"GET /healthz HTTP/1.1\r\nHost:"),
        (
            "they asked once and ask nothing more",
            b"HEAD /healthz HTTP/1.1\r\nHost: h\r\n\r\n",
        ),
        (
            "they take nothing of a long answer",
            b"GET /long HTTP/1.1\r\nHost: h\r\n\r\n",
        ),
    ];
    for (name, head) in CASES {
        let served = served();
        let slow = (0..SLOW).map(|_| {
            let mut client = served.connect();
            // A long answer does not go into the buffers of the kernel first.
            setsockopt(&client, RcvBuf, &4096).unwrap();
            client.write_all(head).unwrap();
            (Instant::now(), client)
        });
        let slow = Vec::from_iter(slow);
        for path in ["/healthz", "/readyz"] {
            let answer = served.ask(&format!("GET {path}"));
            assert!(answer.ends_with("ok\n"), "{name}: {path}: {answer}");
        }
        // A connection ends when a client wants its place, or when its time is over. All that do not keep the server waiting
        // longest stay, which need not be the newest: some may have taken a few bytes more.
        let (begun, _) = slow[SLOW - MOST_CONNECTIONS];
        let open = served.open(slow.iter().map(|(_, client)| client));
        let asked = 2;
        assert!(
            open >= MOST_CONNECTIONS - asked || begun.elapsed() >= PATIENCE,
            "{name}: {open} are open"
        );
    }
}

#[test]
fn more_clients_than_places_wait_and_none_is_lost() {
    let served = served();
    let idle: Vec<TcpStream> = (0..200).map(|_| served.connect()).collect();
    assert!(idle.len() > MOST_CONNECTIONS);
    // Those before are given up when their time is over.
    assert!(served.ask("GET /healthz").ends_with("ok\n"));
    // A request follows each connection at once: who is silent while others wait for a place is given up, too.
    let clients = (0..200).map(|_| {
        let mut client = served.connect();
        let head = b"GET /readyz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
        client.write_all(head).unwrap();
        client
    });
    for mut client in Vec::from_iter(clients) {
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[test]
fn an_address_that_is_taken_is_named() {
    let served = served();
    let why = HttpListener::bind(served.server.address().unwrap()).unwrap_err();
    let address = served.server.address().unwrap();
    assert_eq!(
        why.to_string(),
        format!("cannot listen on {address}: Address already in use")
    );
}
