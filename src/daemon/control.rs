//! The server at a daemon's control socket: unprivileged users ask it for what `hostint status` shows.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::control::{
    Caller, ClientPlace, ClientPlaces, ControlAnswer, DeadlineStream, FOLDERS, LONGEST_REQUEST,
    Query, Request, Rights,
};
use crate::model::RecentCounts;
use crate::os::{clock, local_socket, log};

/// The group whose members may ask.
const GROUP: &str = "hostint";
/// The time that a client has for all of its requests.
const PATIENCE: Duration = Duration::from_secs(10);
/// The least time between two refusals in the log.
const SAY_NS: u64 = 1_000_000_000;

/// What a daemon reports at its socket.
pub trait AnswersClients: Send + Sync + 'static {
    fn status(&self, query: &Query) -> Result<ControlAnswer>;

    /// What counters grew by in the last minute, if the daemon remembers.
    fn recent(&self) -> Option<RecentCounts> {
        None
    }

    /// Asks the daemon to read its config file again; `None` if it has none.
    fn reload(&self) -> Option<fn()>;

    /// Notes that a client got its answer, or was refused.
    fn count(&self, _outcome: Outcome) {}
}

/// What became of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    Answered,
    Refused,
}

/// The users that can connect to a socket. The right to an answer is checked in any case.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Door {
    /// The daemon's user and the group hostint.
    Group,
    /// All: a daemon without privileges cannot give its socket to a group.
    Open,
}

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
    /// Makes the socket; to be called by the only daemon that answers there, while it may still give the file to the
    /// group. The sockets of daemons that were killed go, whatever host of this machine they were on.
    pub fn bind(path: &Path, door: Door) -> Result<Self> {
        for folder in FOLDERS {
            local_socket::remove_dead(Path::new(folder));
        }
        let group = match door {
            Door::Group => local_socket::group(GROUP),
            Door::Open => None,
        };
        let listener = local_socket::LocalListener::bind(path, group)
            .and_then(|listener| {
                if door == Door::Open {
                    listener.open_to_all()?;
                }
                Ok(listener)
            })
            .with_context(|| format!("cannot listen on {}", path.display()))?;
        Ok(Self {
            listener: Arc::new(listener),
        })
    }

    /// Answers from now on, in threads of its own: a client that asks or reads slowly does not hold up the daemon.
    pub fn serve(&self, answers: impl AnswersClients) {
        let listener = Arc::clone(&self.listener);
        let server = Arc::new(Server {
            answers,
            rights: Rights {
                daemon: nix::unistd::geteuid().as_raw(),
                group: local_socket::group(GROUP),
            },
            places: Arc::default(),
            logged_ns: AtomicU64::new(0),
        });
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

struct Server<A> {
    answers: A,
    rights: Rights,
    places: Arc<ClientPlaces>,
    logged_ns: AtomicU64,
}

impl<A: AnswersClients> Server<A> {
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
        match (request, self.answers.reload()) {
            (Request::Recent, _) => {
                self.answers.count(Outcome::Answered);
                ControlAnswer {
                    recent: self.answers.recent(),
                    ..ControlAnswer::done()
                }
            }
            (Request::Status(query), _) => match self.answers.status(&query) {
                Ok(answer) => {
                    self.answers.count(Outcome::Answered);
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
                self.answers.count(Outcome::Answered);
                ControlAnswer::done()
            }
            (Request::Reload, None) => {
                self.refuse(&name(peer), "the daemon was started without a config file")
            }
        }
    }

    /// Counts the refusal, and logs it unless another one was logged just now.
    fn refuse(&self, whom: &str, why: &str) -> ControlAnswer {
        // It may quote what the client sent.
        let why = why.replace(char::is_control, " ");
        self.answers.count(Outcome::Refused);
        let now_ns = clock::monotonic_ns();
        let logged_ns = self.logged_ns.load(Ordering::Relaxed);
        if logged_ns == 0 || now_ns.saturating_sub(logged_ns) > SAY_NS {
            self.logged_ns.store(now_ns, Ordering::Relaxed);
            log::warning(format_args!("control socket: {whom} is refused: {why}"));
        }
        ControlAnswer::refused(why)
    }
}

fn name(peer: &Caller) -> String {
    format!("process {} of user {}", peer.pid, peer.uid)
}
