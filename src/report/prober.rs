//! Asks a collector again and again whether it is there.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Instant;

use nix::errno::Errno;
use nix::sys::socket::sockopt::{Ipv4RecvErr, Ipv6RecvErr};
use nix::sys::socket::{MsgFlags, recv, setsockopt};

use super::liveness::{Liveness, PROBE_PERIOD};
use crate::model::{CollectorState, NodeId};
use crate::wire::probe::{self, MESSAGE_LEN, Probe, ProbeAnswer};

/// What is read at a time, whoever sends how much.
const AT_ONCE: usize = 16;

/// One collector, as it answers.
#[derive(Debug)]
pub(super) struct Prober {
    liveness: Liveness,
    /// Connected: the kernel hands on what the collector's own address and port send, and what ICMP says of it.
    socket: Option<UdpSocket>,
    asked: Option<Probe>,
    due: Instant,
    run: Option<u64>,
    queue_percent: Option<u8>,
    /// Reports that had been sent to it when the last probe went out,
    sent: u64,
    /// and before the last probe that it answered.
    vouched: u64,
    doubtful: u64,
}

/// What probes brought to light.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CollectorNews {
    pub collector: SocketAddr,
    pub before: CollectorState,
    pub state: CollectorState,
    /// It began anew since its last answer.
    pub restarted: bool,
    /// Reports that it may not have: sent since its last answer.
    pub doubtful: u64,
}

/// What is known now.
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

    /// Reads what came, and asks if it is time to. `sent`: reports that were sent to it so far.
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
        // Answers first: they may have waited as long as this host was held up.
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

    /// Whether an answer tells of a new start.
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
                Err(error) if is_refusal(&error) => {
                    forget_errors(&socket);
                    self.liveness.refused(now);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
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
    // All that ICMP says, not only that nobody has the port.
    match collector {
        SocketAddr::V4(_) => setsockopt(&socket, Ipv4RecvErr, &true)?,
        SocketAddr::V6(_) => setsockopt(&socket, Ipv6RecvErr, &true)?,
    }
    socket.connect(collector)?;
    Ok(socket)
}

/// Errors that ICMP told are kept, in the room that answers need.
fn forget_errors(socket: &UdpSocket) {
    let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
    for _ in 0..AT_ONCE {
        if recv(socket.as_raw_fd(), &mut [0; MESSAGE_LEN], flags).is_err() {
            break;
        }
    }
}

/// Whether it is not there, or no way leads to it.
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
