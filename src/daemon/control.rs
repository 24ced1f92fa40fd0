//! The server at the control socket: unprivileged users ask it for what `hostint status` shows.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use crate::control::{
    Caller, ClientPlace, ClientPlaces, ControlAnswer, DeadlineStream, Form, LONGEST_REQUEST, Query,
    Request, Rights, socket_path,
};
use crate::datapath::daemon_counters::ControlCounters;
use crate::datapath::pins::Pins;
use crate::datapath::recent::{CounterValues, RecentValues};
use crate::host::state::{self, StatusQuery};
use crate::model::{FlowSort, RecentCounts};
use crate::os::{clock, local_socket, log};
use crate::views;

/// The group whose members may ask.
const GROUP: &str = "hostint";
/// The time that a client has for all of its requests.
const PATIENCE: Duration = Duration::from_secs(10);
/// Flows and peers in an answer, whatever is asked for.
const MOST_SHOWN: usize = 100_000;
/// The time between two looks at the counters.
const REMEMBER: Duration = Duration::from_secs(10);
/// The least time between two refusals in the log.
const SAY_NS: u64 = 1_000_000_000;

/// A socket that is listened on. Its file goes when this is dropped.
pub struct Control {
    listener: Arc<local_socket::LocalListener>,
}

impl Drop for Control {
    fn drop(&mut self) {
        self.listener.hide();
    }
}

impl Control {
    /// Makes the socket; to be called by the only daemon of this host, while it may still give the file to the group.
    pub fn bind(given: Option<&Path>) -> Result<Self> {
        let path = socket_path(given).context("cannot name this network namespace")?;
        if let (None, Some(folder)) = (given, path.parent()) {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let listener = local_socket::LocalListener::bind(&path, local_socket::group(GROUP))
            .with_context(|| format!("cannot listen on {}", path.display()))?;
        Ok(Self {
            listener: Arc::new(listener),
        })
    }

    /// Answers from now on, in threads of its own: a client that asks or reads slowly does not hold up the daemon.
    pub fn serve(&self, pins: &Pins, reload: Option<fn()>) {
        let listener = Arc::clone(&self.listener);
        let server = Arc::new(Server {
            pins: pins.clone(),
            rights: Rights {
                daemon: nix::unistd::geteuid().as_raw(),
                group: local_socket::group(GROUP),
            },
            reload,
            places: Arc::default(),
            counters: ControlCounters::open(pins).ok().flatten(),
            said_ns: AtomicU64::new(0),
            recent: Mutex::default(),
        });
        let remembering = Arc::downgrade(&server);
        let remembers = thread::Builder::new().spawn(move || {
            while let Some(server) = remembering.upgrade() {
                server.remember();
                drop(server);
                thread::sleep(REMEMBER);
            }
        });
        if let Err(err) = remembers {
            log::warning(format_args!(
                "cannot remember counters: {err}; hostint status shows their sums since the start"
            ));
        }
        let listening = thread::Builder::new().spawn(move || {
            loop {
                match listener.accept() {
                    Ok(client) => server.take(client),
                    // The process may be out of descriptors, for now.
                    Err(_) => thread::sleep(Duration::from_millis(100)),
                }
            }
        });
        if let Err(err) = listening {
            log::warning(format_args!("cannot listen at the control socket: {err}"));
        }
    }
}

struct Server {
    pins: Pins,
    rights: Rights,
    reload: Option<fn()>,
    places: Arc<ClientPlaces>,
    counters: Option<ControlCounters>,
    said_ns: AtomicU64,
    /// The counters of the last minute.
    recent: Mutex<RecentValues>,
}

impl Server {
    fn take(self: &Arc<Self>, client: UnixStream) {
        // An error means that the client went away.
        let Ok((pid, uid, groups)) = local_socket::peer(&client) else {
            return;
        };
        let peer = Caller { pid, uid, groups };
        let place = match self.places.take(uid) {
            Ok(place) => place,
            Err(why) => return self.turn_away(client, &peer, &why.to_string()),
        };
        let server = Arc::clone(self);
        // Without a thread the client gets no answer.
        let _ = thread::Builder::new().spawn(move || {
            let _held: ClientPlace = place;
            // An error means that the client went away or took too long.
            let _ = server.answer_all(client, &peer);
        });
    }

    fn turn_away(&self, mut client: UnixStream, peer: &Caller, why: &str) {
        let answer = self.refuse(&name(peer), why);
        // Nothing was sent to it before, so there is room in its buffer.
        if let (Ok(()), Ok(line)) = (client.set_nonblocking(true), answer.to_line()) {
            let _ = client.write_all(&line);
        }
    }

    fn answer_all(&self, client: UnixStream, peer: &Caller) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let mut requests = BufReader::new(DeadlineStream {
            socket: client.try_clone()?,
            deadline,
        });
        let mut out = DeadlineStream {
            socket: client,
            deadline,
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
                self.answer(peer, &line)
            } else {
                self.refuse(&name(peer), "the request is too long")
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
            (Request::Recent, _) => {
                self.count(ControlCounters::answered);
                ControlAnswer {
                    recent: self.recent(),
                    ..ControlAnswer::done()
                }
            }
            (Request::Status(query), _) => match read(&self.pins, &query, self.recent().as_ref()) {
                Ok(answer) => {
                    self.count(ControlCounters::answered);
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
                self.count(ControlCounters::answered);
                ControlAnswer::done()
            }
            (Request::Reload, None) => {
                self.refuse(&name(peer), "the daemon was started without a config file")
            }
        }
    }

    /// Keeps the present values of counters. Values that cannot be read are left out.
    fn remember(&self) {
        if let Ok(values) = CounterValues::read(&self.pins) {
            let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
            recent.keep(values, Instant::now());
        }
    }

    /// What counters grew by in the last minute, or since the daemon began.
    fn recent(&self) -> Option<RecentCounts> {
        let values = CounterValues::read(&self.pins).ok()?;
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.until(&values, Instant::now())
    }

    /// Counts the refusal, and logs it unless another one was logged just now.
    fn refuse(&self, whom: &str, why: &str) -> ControlAnswer {
        // It may quote what the client sent.
        let why = why.replace(char::is_control, " ");
        self.count(ControlCounters::refused);
        let now_ns = clock::monotonic_ns();
        let said_ns = self.said_ns.load(Ordering::Relaxed);
        if said_ns == 0 || now_ns.saturating_sub(said_ns) > SAY_NS {
            self.said_ns.store(now_ns, Ordering::Relaxed);
            log::warning(format_args!("control socket: {whom} is refused: {why}"));
        }
        ControlAnswer::refused(why)
    }

    fn count(&self, add: fn(&ControlCounters)) {
        if let Some(counters) = &self.counters {
            add(counters);
        }
    }
}

fn read(pins: &Pins, query: &Query, recent: Option<&RecentCounts>) -> Result<ControlAnswer> {
    let sort = FlowSort::from_name(&query.sort)
        .ok_or_else(|| anyhow!("flows cannot be sorted by {}", query.sort))?;
    let found = state::read(
        pins,
        StatusQuery {
            flows: query.flows.min(MOST_SHOWN),
            peers: query.peers.min(MOST_SHOWN),
            sort,
        },
        recent,
    )?;
    let mut answer = ControlAnswer {
        runs: Some(state::runs(&found)),
        ..ControlAnswer::done()
    };
    match query.form {
        Form::Json => answer.status = Some(serde_json::to_value(&found)?),
        Form::Text => {
            let text = views::status::StatusText {
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
