//! TCP conversations whose every byte is known: both ends check the data, and note the longest time without any.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::libc;

use crate::account::Account;
use crate::netns::Host;

/// A transfer that makes no progress for this long has failed. Loss of a fifth makes TCP wait for half a minute at times.
const PATIENCE: Duration = Duration::from_secs(60);
const CHUNK: usize = 64 << 10;
/// Seed, length of the request, length of the reply, the time at which it was begun, and a sum of them.
const HEADER: usize = 40;
/// Both ends are in one process and count time from here.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The byte at a place of the data with this seed.
pub fn byte_at(seed: u64, place: u64) -> u8 {
    let mut x = (seed ^ (place >> 3)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 29;
    (x.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> (8 * (place & 7))) as u8
}

fn sum(words: [u64; 4]) -> u64 {
    words.into_iter().fold(1, |sum, word| {
        (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

fn data(seed: u64, len: u64) -> impl Iterator<Item = Vec<u8>> {
    (0..len).step_by(CHUNK).map(move |from| {
        let to = len.min(from + CHUNK as u64);
        (from..to).map(|place| byte_at(seed, place)).collect()
    })
}

/// Reads data with this seed. False: it did not arrive, or not as it was sent.
fn read_data(stream: &mut TcpStream, seed: u64, len: u64, account: &mut Account) -> bool {
    let (mut place, mut chunk) = (0, vec![0; CHUNK]);
    let mut progress = Instant::now();
    while place < len {
        let wanted = CHUNK.min((len - place) as usize);
        let count = match stream.read(&mut chunk[..wanted]) {
            Ok(0) => {
                let failure = format!("the connection ended after {place} of {len} bytes");
                account.failures.push(failure);
                return false;
            }
            Ok(count) => count,
            Err(err) => {
                account.wait_since(progress);
                let state = state(stream);
                account.fail(
                    &format!("read after {place} of {len} bytes ({state})"),
                    &err,
                );
                return false;
            }
        };
        account.wait_since(progress);
        progress = Instant::now();
        let places = place..place + count as u64;
        let foreign = places
            .zip(&chunk[..count])
            .filter(|(place, byte)| byte_at(seed, *place) != **byte)
            .count();
        account.foreign_bytes += foreign as u64;
        if foreign > 0 {
            let failure = format!("bytes came changed after {place} of {len}");
            account.failures.push(failure);
            return false;
        }
        place += count as u64;
    }
    true
}

fn write_data(stream: &mut TcpStream, seed: u64, len: u64, account: &mut Account) -> bool {
    for chunk in data(seed, len) {
        if let Err(err) = stream.write_all(&chunk) {
            account.fail("write", &err);
            return false;
        }
    }
    true
}

fn set_patience(stream: &TcpStream) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
}

/// The kernel's record of a connection, as much of it as the kernel has.
fn tcp_info(stream: &TcpStream) -> Vec<u8> {
    let mut info = vec![0u8; 256];
    let mut len = info.len() as libc::socklen_t;
    // SAFETY: the buffer and its length are valid during the call.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    info.truncate(if result == 0 { len as usize } else { 0 });
    info
}

/// Retransmission timeouts that followed another one without progress, which the kernel counts from Linux 6.7 on.
fn repeated_timeouts(stream: &TcpStream) -> u64 {
    const TOTAL_RTO: usize = 240;
    let info = tcp_info(stream);
    if info.len() < TOTAL_RTO + 4 {
        return 0;
    }
    let half = |at: usize| u64::from(u16::from_ne_bytes([info[at], info[at + 1]]));
    half(TOTAL_RTO).saturating_sub(half(TOTAL_RTO + 2))
}

/// Why a connection may stand still.
fn state(stream: &TcpStream) -> String {
    let info = tcp_info(stream);
    let word = |at: usize| -> u32 {
        let bytes = info.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_ne_bytes)
    };
    format!(
        "port {}, timeouts {}, backoff {}, RTO {} ms, unacknowledged {}, MSS {}, path MTU {}, sent {} ms ago, \
         acknowledged {} ms ago",
        stream.local_addr().map_or(0, |address| address.port()),
        info.get(2).copied().unwrap_or_default(),
        info.get(4).copied().unwrap_or_default(),
        word(8) / 1000,
        word(24),
        word(16),
        word(60),
        word(44),
        word(56),
    )
}

/// Answers each request of each connection.
fn serve(mut stream: TcpStream, account: &Mutex<Account>) {
    set_patience(&stream);
    // Between requests a connection may rest.
    stream.set_read_timeout(None).unwrap();
    let mut header = [0; HEADER];
    while stream.read_exact(&mut header[..1]).is_ok() {
        set_patience(&stream);
        let mut of_request = Account::default();
        if let Err(err) = stream.read_exact(&mut header[1..]) {
            of_request.fail("read of a request's header", &err);
        }
        let word = |at: usize| u64::from_be_bytes(header[at..at + 8].try_into().unwrap());
        let (seed, len, reply, sent_ns) = (word(0), word(8), word(16), word(24));
        let right = word(32) == sum([seed, len, reply, sent_ns]);
        if right {
            of_request.wait_since(*BEGAN + Duration::from_nanos(sent_ns));
        }
        if !right && of_request.failures.is_empty() {
            of_request.foreign_bytes += HEADER as u64;
            let failure = "the header of a request came changed";
            of_request.failures.push(failure.to_owned());
        }
        let goes_on = right
            && read_data(&mut stream, seed, len, &mut of_request)
            && write_data(&mut stream, !seed, reply, &mut of_request);
        of_request.repeated_timeouts = repeated_timeouts(&stream);
        account.lock().unwrap().add(of_request);
        if !goes_on {
            return;
        }
        stream.set_read_timeout(None).unwrap();
    }
}

/// Answers requests at an address until it is dropped.
pub struct Server {
    host: Host,
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    accepts: Option<JoinHandle<()>>,
    account: Arc<Mutex<Account>>,
}

impl Server {
    pub fn start(host: &Host, address: SocketAddr) -> Self {
        let listener = host.enter(|| TcpListener::bind(address)).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let account = Arc::new(Mutex::new(Account::default()));
        let accepts = std::thread::spawn({
            let (stop, account) = (stop.clone(), account.clone());
            move || {
                for stream in listener.incoming().flatten() {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let account = account.clone();
                    std::thread::spawn(move || serve(stream, &account));
                }
            }
        });
        Self {
            host: host.clone(),
            address,
            stop,
            accepts: Some(accepts),
            account,
        }
    }

    /// The server's account since the last call.
    pub fn take_account(&self) -> Account {
        std::mem::take(&mut self.account.lock().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.host.enter(|| TcpStream::connect(self.address));
        if let Some(accepts) = self.accepts.take() {
            let _ = accepts.join();
        }
    }
}

/// A client's connection.
pub struct Conversation {
    stream: TcpStream,
    seed: u64,
}

impl Conversation {
    /// None: there is no connection, as the account says.
    pub fn begin(from: &Host, to: SocketAddr, seed: u64, account: &mut Account) -> Option<Self> {
        let began = Instant::now();
        let connected = from.enter(|| TcpStream::connect_timeout(&to, PATIENCE));
        account.wait_since(began);
        match connected {
            Ok(stream) => {
                set_patience(&stream);
                Some(Self { stream, seed })
            }
            Err(err) => {
                account.transfers += 1;
                account.fail("connect", &err);
                None
            }
        }
    }

    /// The client's port.
    pub fn port(&self) -> u16 {
        self.stream.local_addr().unwrap().port()
    }

    /// Sends this many bytes and receives as many.
    pub fn exchange(&mut self, len: u64, account: &mut Account) {
        self.seed = self.seed.wrapping_add(0x1_0000);
        account.transfers += 1;
        let words = [self.seed, len, len, BEGAN.elapsed().as_nanos() as u64];
        let header = [&words[..], &[sum(words)]].concat();
        let header: Vec<u8> = header.into_iter().flat_map(u64::to_be_bytes).collect();
        if let Err(err) = self.stream.write_all(&header) {
            account.fail("write of a request", &err);
            return;
        }
        let whole = write_data(&mut self.stream, self.seed, len, account)
            && read_data(&mut self.stream, !self.seed, len, account);
        account.whole += u64::from(whole);
        account.repeated_timeouts += repeated_timeouts(&self.stream);
    }
}

/// Connections one after the other in each of some threads; each makes one exchange, whose length follows from its number.
pub fn many(
    from: &Host,
    server: &Server,
    threads: u64,
    each: u64,
    len_of: fn(u64) -> u64,
) -> Account {
    let work = |thread: u64| {
        let (from, to) = (from.clone(), server.address);
        move || {
            let mut account = Account::default();
            for number in (0..each).map(|n| thread * each + n) {
                if let Some(mut one) = Conversation::begin(&from, to, number << 20, &mut account) {
                    one.exchange(len_of(number), &mut account);
                }
                // Where nothing passes, one failure in each thread is enough.
                if account.whole != account.transfers {
                    break;
                }
            }
            account
        }
    };
    let workers: Vec<_> = (0..threads)
        .map(|thread| std::thread::spawn(work(thread)))
        .collect();
    let mut account = Account::default();
    for worker in workers {
        account.add(worker.join().unwrap());
    }
    account.add(server.take_account());
    account
}
