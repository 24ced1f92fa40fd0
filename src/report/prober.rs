//! The prober of a collector: it asks once a second whether the collector is there, and reads the answers.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Instant;

use nix::errno::Errno;
use nix::sys::socket::sockopt::{Ipv4RecvErr, Ipv6RecvErr};
use nix::sys::socket::{MsgFlags, recv, setsockopt};

use super::liveness::{Liveness, PROBE_PERIOD};
use crate::model::{CollectorState, NodeId};
use crate::os::wait::Wait;
use crate::wire::probe::{self, MESSAGE_LEN, Probe, ProbeAnswer};

/// The most messages that are read in one call, so that a flood does not hold up the caller.
const AT_ONCE: usize = 16;

/// The probes of one collector, and its answers.
#[derive(Debug)]
pub(super) struct Prober {
    liveness: Liveness,
    /// The socket is connected: it receives only datagrams from the collector's address and port, and ICMP errors about
    /// it.
    socket: Option<UdpSocket>,
    asked: Option<Probe>,
    due: Instant,
    run: Option<u64>,
    queue_percent: Option<u8>,
    /// Reports that had been sent to the collector when the last probe was sent.
    sent: u64,
    /// Reports that had been sent before the last probe that it answered.
    vouched: u64,
    doubtful: u64,
}

/// A change that probes found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CollectorNews {
    pub collector: SocketAddr,
    pub before: CollectorState,
    pub state: CollectorState,
    /// The collector restarted after its last answer.
    pub restarted: bool,
    /// Reports that were sent after its last answer, which it may not have received.
    pub doubtful: u64,
}

/// The present state of a probed collector.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbedState {
    pub(super) state: CollectorState,
    pub(super) since: Instant,
    pub(super) queue_percent: Option<u8>,
    pub(super) doubtful: u64,
    pub(super) awaited: bool,
}

impl Prober {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            liveness: Liveness::new(now),
            socket: None,
            asked: None,
            due: now,
            run: None,
            queue_percent: None,
            sent: 0,
            vouched: 0,
            doubtful: 0,
        }
    }

    pub(super) fn is_silent(&self) -> bool {
        self.liveness.is_silent()
    }

    pub(super) fn known(&self) -> ProbedState {
        ProbedState {
            state: self.liveness.state(),
            since: self.liveness.since(),
            queue_percent: self.queue_percent,
            doubtful: self.doubtful,
            awaited: self.liveness.awaits(),
        }
    }

    /// Lets the caller wake for the next probe, and for the answer to the last one.
    pub(super) fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        wait.until(self.due);
        if let Some(socket) = self.socket.as_ref().filter(|_| self.liveness.awaits()) {
            wait.on(socket);
        }
    }

    /// Reads answers, and sends a probe if one is due. `sent` is the number of reports sent to the collector so far.
    pub(super) fn step(
        &mut self,
        collector: SocketAddr,
        node: NodeId,
        sent: u64,
        now: Instant,
    ) -> Option<CollectorNews> {
        let (before, doubtful) = (self.liveness.state(), self.doubtful);
        let mut restarted = false;
        let due = now >= self.due;
        // Answers are read first: they may have waited while this process did not run.
        if due || self.liveness.awaits() {
            restarted = self.read(now);
        }
        if due {
            self.due = now + PROBE_PERIOD;
            self.ask(collector, node, sent, now);
        }
        let state = self.liveness.state();
        (state != before || restarted).then_some(CollectorNews {
            collector,
            before,
            state,
            restarted,
            doubtful: self.doubtful - doubtful,
        })
    }

    fn ask(&mut self, collector: SocketAddr, node: NodeId, sent: u64, now: Instant) {
        if self.liveness.probed(now) && self.is_silent() {
            self.doubt(sent);
        }
        self.sent = sent;
        let mut nonce = [0; 8];
        if getrandom::fill(&mut nonce).is_err() {
            return;
        }
        let nonce = u64::from_ne_bytes(nonce);
        let question = self.asked.insert(Probe { nonce, node });
        let datagram = probe::encode(question);
        let sent = match &self.socket {
            Some(socket) => socket.send(&datagram),
            None => open(collector).and_then(|socket| self.socket.insert(socket).send(&datagram)),
        };
        if sent.is_err_and(|error| is_refusal(&error)) {
            self.liveness.refused(now);
        }
    }

    /// Reads answers. Returns true if one shows that the collector restarted.
    fn read(&mut self, now: Instant) -> bool {
        let Some(socket) = self.socket.take() else {
            return false;
        };
        let mut restarted = false;
        let mut message = [0; MESSAGE_LEN + 1];
        for _ in 0..AT_ONCE {
            match socket.recv(&mut message) {
                Ok(length) => {
                    let answer = message.get(..length).map(probe::decode_answer);
                    if let Some(Ok(answer)) = answer
                        && self.liveness.awaits()
                        && self.asked == Some(answer.probe)
                    {
                        restarted |= self.take(answer, now);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => {
                    forget_errors(&socket);
                    if is_refusal(&error) {
                        self.liveness.refused(now);
                    }
                }
            }
        }
        self.socket = Some(socket);
        restarted
    }

    fn take(&mut self, answer: ProbeAnswer, now: Instant) -> bool {
        self.queue_percent = Some(answer.queue_percent.min(100));
        let before = self.run.replace(answer.run);
        let restarted = before.is_some_and(|run| run != answer.run);
        let back = self.liveness.answered(now) && before.is_some();
        if restarted || back {
            self.doubt(self.sent);
        } else if !self.is_silent() {
            self.vouched = self.sent;
        }
        restarted
    }

    fn doubt(&mut self, sent: u64) {
        self.doubtful += sent.saturating_sub(self.vouched);
        self.vouched = self.vouched.max(sent);
    }
}

fn open(collector: SocketAddr) -> io::Result<UdpSocket> {
    let socket = match collector {
        SocketAddr::V4(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?,
        SocketAddr::V6(_) => UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))?,
    };
    socket.set_nonblocking(true)?;
    // The socket then reports all ICMP errors, not only that the port is closed.
    match collector {
        SocketAddr::V4(_) => setsockopt(&socket, Ipv4RecvErr, &true)?,
        SocketAddr::V6(_) => setsockopt(&socket, Ipv6RecvErr, &true)?,
    }
    socket.connect(collector)?;
    Ok(socket)
}

/// Removes ICMP errors from the socket's error queue: they take up room that answers need.
fn forget_errors(socket: &UdpSocket) {
    let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
    for _ in 0..AT_ONCE {
        if recv(socket.as_raw_fd(), &mut [0; MESSAGE_LEN], flags).is_err() {
            break;
        }
    }
}

/// True if the error says that the collector is not there, or that there is no route to it.
fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error().map(Errno::from_raw),
        Some(
            Errno::ECONNREFUSED
                | Errno::EHOSTUNREACH
                | Errno::ENETUNREACH
                | Errno::EHOSTDOWN
                | Errno::ENETDOWN
                | Errno::ENOPROTOOPT
        )
    )
}
