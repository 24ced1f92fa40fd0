//! Connections whose every byte is known: long ones that are written to now and then, and short ones beside them.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use hostint_testing::account::Account;
use hostint_testing::conversation::{Conversation, Server, byte_at};
use hostint_testing::netns::{Host, Lab, await_that};
use hostint_testing::random::Random;
use nix::sys::socket::{setsockopt, sockopt};

use super::{ADDRESSES, PORT};

const SHORT_PORT: u16 = 7000;
const WORKERS: usize = 4;

/// One stream, in one direction.
struct Stream {
    seed: u64,
    from: usize,
    socket: TcpStream,
    sent: u64,
    reader: JoinHandle<Result<u64, String>>,
}

fn read_all(mut socket: TcpStream, seed: u64) -> Result<u64, String> {
    let (mut place, mut chunk) = (0, vec![0; 64 << 10]);
    loop {
        let count = socket
            .read(&mut chunk)
            .map_err(|err| format!("read after {place} bytes: {err}"))?;
        if count == 0 {
            return Ok(place);
        }
        for byte in &chunk[..count] {
            if *byte != byte_at(seed, place) {
                return Err(format!("byte {place} came changed"));
            }
            place += 1;
        }
    }
}

/// The long streams of both directions.
pub struct Streams {
    hosts: [Host; 2],
    listeners: [TcpListener; 2],
    open: Vec<Stream>,
    ended: Vec<Stream>,
    begun: u64,
}

impl Streams {
    pub fn start(lab: &Lab, count: usize) -> Self {
        let hosts = [lab.a.clone(), lab.b.clone()];
        let listeners = [0, 1].map(|side| {
            let address: SocketAddr = format!("{}:{PORT}", ADDRESSES[side]).parse().unwrap();
            hosts[side].enter(|| TcpListener::bind(address)).unwrap()
        });
        let mut this = Self {
            hosts,
            listeners,
            open: Vec::new(),
            ended: Vec::new(),
            begun: 0,
        };
        for n in 0..count {
            let stream = this.begin(n % 2);
            this.open.push(stream);
        }
        this
    }

    fn begin(&mut self, from: usize) -> Stream {
        let to = self.listeners[1 - from].local_addr().unwrap();
        let connected = self.hosts[from].enter(|| TcpStream::connect(to));
        let socket = connected.unwrap();
        let (accepted, _) = self.listeners[1 - from].accept().unwrap();
        socket.set_nonblocking(true).unwrap();
        self.begun += 1;
        let seed = self.begun << 40;
        Stream {
            seed,
            from,
            socket,
            sent: 0,
            reader: std::thread::spawn(move || read_all(accepted, seed)),
        }
    }

    /// Writes to one of the streams what its socket takes of some bytes.
    pub fn write(&mut self, random: &mut Random) {
        let stream = random.below(self.open.len());
        let stream = &mut self.open[stream];
        let len = 1 + random.below(12_000) as u64;
        let bytes: Vec<u8> = (stream.sent..stream.sent + len)
            .map(|place| byte_at(stream.seed, place))
            .collect();
        match stream.socket.write(&bytes) {
            Ok(count) => stream.sent += count as u64,
            Err(err) => assert_eq!(err.kind(), ErrorKind::WouldBlock, "{err}"),
        }
    }

    /// Gives a stream another traffic class.
    pub fn mark(&mut self, random: &mut Random) {
        let stream = random.below(self.open.len());
        let tos = i32::from(random.u8() & 0xfc);
        setsockopt(&self.open[stream].socket, sockopt::Ipv4Tos, &tos).unwrap();
    }

    /// Ends a stream, whose last bytes may be under way, and begins another one.
    pub fn renew(&mut self, random: &mut Random) {
        let place = random.below(self.open.len());
        let stream = self.begin(self.open[place].from);
        let old = std::mem::replace(&mut self.open[place], stream);
        old.socket.shutdown(Shutdown::Write).unwrap();
        self.ended.push(old);
    }

    /// All streams end whole. Gives back how many, and their bytes.
    pub fn finish(self, what: &str) -> (usize, u64) {
        for stream in &self.open {
            stream.socket.shutdown(Shutdown::Write).unwrap();
        }
        let all: Vec<Stream> = self.open.into_iter().chain(self.ended).collect();
        await_that(&format!("{what}: all streams end"), || {
            all.iter().all(|stream| stream.reader.is_finished())
        });
        let (streams, mut bytes) = (all.len(), 0);
        for stream in all {
            assert_eq!(stream.reader.join().unwrap(), Ok(stream.sent), "{what}");
            bytes += stream.sent;
        }
        (streams, bytes)
    }
}

/// Short connections, some at a time.
pub struct Connections {
    servers: [Server; 2],
    jobs: Option<SyncSender<(usize, u64, u64)>>,
    workers: Vec<JoinHandle<()>>,
    open: Arc<AtomicUsize>,
    account: Arc<Mutex<Account>>,
    begun: u64,
}

impl Connections {
    pub fn start(lab: &Lab) -> Self {
        let hosts = [lab.a.clone(), lab.b.clone()];
        let servers = [0, 1].map(|side| {
            let address = format!("{}:{SHORT_PORT}", ADDRESSES[side]);
            Server::start(&hosts[side], address.parse().unwrap())
        });
        let (jobs, waiting) = sync_channel::<(usize, u64, u64)>(WORKERS);
        let waiting = Arc::new(Mutex::new(waiting));
        let (open, account) = <(Arc<AtomicUsize>, Arc<Mutex<Account>>)>::default();
        let work = || {
            let (waiting, open, account) = (waiting.clone(), open.clone(), account.clone());
            let (hosts, to) = (hosts.clone(), [0, 1].map(|side| servers[side].address));
            move || loop {
                let next = waiting.lock().unwrap().recv();
                let Ok((from, seed, len)) = next else {
                    return;
                };
                let mut of_one = Account::default();
                if let Some(mut one) =
                    Conversation::begin(&hosts[from], to[1 - from], seed, &mut of_one)
                {
                    one.exchange(len, &mut of_one);
                }
                account.lock().unwrap().add(of_one);
                open.fetch_sub(1, Ordering::Relaxed);
            }
        };
        let workers = (0..WORKERS).map(|_| std::thread::spawn(work())).collect();
        Self {
            servers,
            jobs: Some(jobs),
            workers,
            open,
            account,
            begun: 0,
        }
    }

    /// Begins a connection that sends some bytes and receives as many.
    pub fn begin(&mut self, random: &mut Random) {
        self.begun += 1;
        let job = (random.below(2), self.begun << 36, random.below(6000) as u64);
        self.open.fetch_add(1, Ordering::Relaxed);
        self.jobs.as_ref().unwrap().send(job).unwrap();
    }

    /// All of them ended whole. Gives back how many.
    pub fn finish(mut self, what: &str) -> u64 {
        await_that(&format!("{what}: all connections end"), || {
            self.open.load(Ordering::Relaxed) == 0
        });
        self.jobs = None;
        for worker in self.workers.drain(..) {
            worker.join().unwrap();
        }
        let mut account = std::mem::take(&mut *self.account.lock().unwrap());
        for server in &self.servers {
            account.add(server.take_account());
        }
        println!("{what}: {account}");
        assert_eq!(account.foreign_bytes, 0, "{what}: {account}");
        assert_eq!(account.whole, self.begun, "{what}: {account}");
        assert_eq!(account.failures, Vec::<String>::new(), "{what}: {account}");
        self.begun
    }
}
