//! The daemon's control socket: unprivileged users ask it for what `hostint status` shows.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;

use super::status::{self, Wanted};
use crate::cli::FlowOrder;
use crate::control::{Caller, ControlAnswer, Form, LONGEST_REQUEST, Query, Request, Rights};
use crate::datapath::abi::daemon_counter;
use crate::datapath::map_names::DAEMON_COUNTERS;
use crate::datapath::maps::Map;
use crate::datapath::pins::Pins;
use crate::os::{clock, local_socket, log, netns};
use crate::views;

/// Where sockets of all network namespaces are.
const FOLDER: &str = "/run/hostint";
/// Members may ask.
const GROUP: &str = "hostint";
/// Clients at the same time.
const MOST_CLIENTS: usize = 8;
/// So long a client may take for all of its requests.
const PATIENCE: Duration = Duration::from_secs(10);
/// Flows and peers in an answer, whatever is asked for.
const MOST_SHOWN: usize = 100_000;
/// Refusals are said once a second at most.
const SAY_NS: u64 = 1_000_000_000;

/// Where this host's daemon listens unless told otherwise.
fn default_path() -> io::Result<PathBuf> {
    Ok(Path::new(FOLDER).join(format!("control.{}.sock", netns::id()?)))
}

pub(super) fn path_of(given: Option<&Path>) -> Result<PathBuf> {
    match given {
        Some(path) => Ok(path.to_owned()),
        None => default_path().context("cannot name this network namespace"),
    }
}

/// The file of a socket that is listened on; it goes with this.
pub struct Control {
    listener: Arc<local_socket::Listener>,
}

impl Drop for Control {
    fn drop(&mut self) {
        self.listener.hide();
    }
}

impl Control {
    /// Makes the socket. To be called by the only daemon of this host, while it may still give it to the group.
    pub fn bind(given: Option<&Path>) -> Result<Self> {
        let path = path_of(given)?;
        if let (None, Some(folder)) = (given, path.parent()) {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let listener = local_socket::Listener::bind(&path, local_socket::group(GROUP))
            .with_context(|| format!("cannot listen on {}", path.display()))?;
        Ok(Self {
            listener: Arc::new(listener),
        })
    }

    /// Answers from now on, in threads of its own: nobody who asks slowly, or reads slowly, holds up the daemon.
    pub fn serve(&self, pins: &Pins, reload: Option<fn()>) {
        let listener = Arc::clone(&self.listener);
        let server = Arc::new(Server {
            pins: pins.clone(),
            rights: Rights {
                daemon: nix::unistd::geteuid().as_raw(),
                group: local_socket::group(GROUP),
            },
            reload,
            clients: AtomicUsize::new(0),
            counting: Mutex::new(()),
            said_ns: AtomicU64::new(0),
        });
        let listening = thread::Builder::new().spawn(move || {
            loop {
                match listener.accept() {
                    Ok(client) => server.take(client),
                    // Out of descriptors, say: that may pass.
                    Err(_) => thread::sleep(Duration::from_millis(100)),
                }
            }
        });
        if let Err(err) = listening {
            log::warning(format_args!("nobody listens at the control socket: {err}"));
        }
    }
}

struct Server {
    pins: Pins,
    rights: Rights,
    reload: Option<fn()>,
    clients: AtomicUsize,
    counting: Mutex<()>,
    said_ns: AtomicU64,
}

/// A client that counts as long as this lives.
struct Served(Arc<Server>);

impl Served {
    fn of(server: &Arc<Server>) -> Self {
        server.clients.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(server))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Server {
    fn take(self: &Arc<Self>, client: UnixStream) {
        let served = Served::of(self);
        if self.clients.load(Ordering::Relaxed) > MOST_CLIENTS {
            self.turn_away(client);
            return;
        }
        // Without a thread the client is left alone, too.
        let _ = thread::Builder::new().spawn(move || {
            // A client that goes away, or takes too long, is its own loss.
            let _ = served.0.answer_all(client);
        });
    }

    fn turn_away(&self, mut client: UnixStream) {
        let why = format!("{MOST_CLIENTS} others are served already");
        let answer = self.refuse("a client", &why);
        // Nothing was sent to it before: there is room.
        if let (Ok(()), Ok(line)) = (client.set_nonblocking(true), answer.to_line()) {
            let _ = client.write_all(&line);
        }
    }

    fn answer_all(&self, client: UnixStream) -> Result<()> {
        let (pid, uid, groups) = local_socket::peer(&client)?;
        let peer = Caller { pid, uid, groups };
        let end = Instant::now() + PATIENCE;
        let mut requests = BufReader::new(Patient {
            socket: client.try_clone()?,
            end,
        });
        let mut out = Patient {
            socket: client,
            end,
        };
        loop {
            let mut line = Vec::new();
            let read = (&mut requests)
                .take(LONGEST_REQUEST)
                .read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(());
            }
            let whole = line.last() == Some(&b'\n') || (read as u64) < LONGEST_REQUEST;
            let answer = if whole {
                self.answer(&peer, &line)
            } else {
                self.refuse(&name(&peer), "the request is too long")
            };
            out.write_all(&answer.to_line()?)?;
            if !whole {
                return Ok(());
            }
        }
    }

    fn answer(&self, peer: &Caller, line: &[u8]) -> ControlAnswer {
        let request = match Request::parse(line) {
            Ok(request) => request,
            Err(why) => return self.refuse(&name(peer), &why.to_string()),
        };
        if let Err(why) = self.rights.check(peer, &request) {
            return self.refuse(&name(peer), &why.to_string());
        }
        match (request, self.reload) {
            (Request::Status(query), _) => match read(&self.pins, &query) {
                Ok(answer) => {
                    self.count(daemon_counter::DAEMON_CONTROL_ANSWERED);
                    answer
                }
                Err(err) => self.refuse(&name(peer), &format!("{err:#}")),
            },
            (Request::Reload, Some(reload)) => {
                log::info(format_args!(
                    "{} asks to read the config file again",
                    name(peer)
                ));
                reload();
                self.count(daemon_counter::DAEMON_CONTROL_ANSWERED);
                ControlAnswer::done()
            }
            (Request::Reload, None) => {
                self.refuse(&name(peer), "the daemon was started without a config file")
            }
        }
    }

    /// Counts it, and says it unless one was said just now.
    fn refuse(&self, whom: &str, why: &str) -> ControlAnswer {
        // What was sent may be quoted.
        let why = why.replace(char::is_control, " ");
        self.count(daemon_counter::DAEMON_CONTROL_REFUSED);
        let now_ns = clock::monotonic_ns();
        let said_ns = self.said_ns.load(Ordering::Relaxed);
        if said_ns == 0 || now_ns.saturating_sub(said_ns) > SAY_NS {
            self.said_ns.store(now_ns, Ordering::Relaxed);
            log::warning(format_args!("control socket: {whom} is refused: {why}"));
        }
        ControlAnswer::refused(why)
    }

    fn count(&self, which: daemon_counter) {
        let Ok(_alone) = self.counting.lock() else {
            return;
        };
        if let Ok(Some(counters)) = Map::<u32, u64>::open(&self.pins.map(DAEMON_COUNTERS)) {
            let before = counters.get(&which.0).ok().flatten().unwrap_or_default();
            let _ = counters.set(&which.0, &(before + 1));
        }
    }
}

fn read(pins: &Pins, query: &Query) -> Result<ControlAnswer> {
    let sort = FlowOrder::from_str(&query.sort, false)
        .map_err(|_| anyhow!("flows cannot be sorted by {}", query.sort))?;
    let found = status::read(
        pins,
        Wanted {
            flows: query.flows.min(MOST_SHOWN),
            peers: query.peers.min(MOST_SHOWN),
            sort,
        },
    )?;
    let mut answer = ControlAnswer {
        runs: Some(status::runs(&found)),
        ..ControlAnswer::done()
    };
    match query.form {
        Form::Json => answer.status = Some(serde_json::to_value(&found)?),
        Form::Text => {
            let text = views::status::Text {
                status: &found,
                all: query.all,
            };
            answer.text = Some(text.to_string());
        }
    }
    Ok(answer)
}

fn name(peer: &Caller) -> String {
    format!("process {} of user {}", peer.pid, peer.uid)
}

/// A socket that is waited for until then and no longer, however slowly bytes come and go.
pub(super) struct Patient {
    pub socket: UnixStream,
    pub end: Instant,
}

impl Patient {
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.end.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.left()?)?;
        self.socket.read(buffer)
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}
