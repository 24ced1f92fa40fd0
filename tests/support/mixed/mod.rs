//! All kinds of traffic between two hosts at once, every byte of it known, and a log of what became of each piece.

mod clients;
mod datagrams;
mod log;
mod servers;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

pub use log::{Log, Outcome, Sample};

use crate::netns::Lab;
use clients::Idle;
use servers::Servers;

/// Kinds of traffic, each to a port of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Question,
    Short,
    Upload,
    Download,
    Idle,
    /// To ports that some networks close.
    ClosedUdp,
    ClosedTcp,
    /// Begun by b.
    ReverseUdp,
    ReverseTcp,
}

impl Kind {
    pub const ALL: [Self; 9] = [
        Self::Question,
        Self::Short,
        Self::Upload,
        Self::Download,
        Self::Idle,
        Self::ClosedUdp,
        Self::ClosedTcp,
        Self::ReverseUdp,
        Self::ReverseTcp,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Question => "UDP question and answer",
            Self::Short => "short connections",
            Self::Upload => "running upload",
            Self::Download => "running download",
            Self::Idle => "idle connection that wakes",
            Self::ClosedUdp => "UDP to a port that may be closed",
            Self::ClosedTcp => "TCP to a port that may be closed",
            Self::ReverseUdp => "UDP question of b",
            Self::ReverseTcp => "connections of b",
        }
    }

    pub fn port(self) -> u16 {
        match self {
            Self::Question | Self::ReverseUdp => 6100,
            Self::Short => 7000,
            Self::Upload => 7002,
            Self::Download => 7003,
            Self::Idle => 7004,
            Self::ClosedUdp => 6109,
            Self::ClosedTcp => 7009,
            Self::ReverseTcp => 7008,
        }
    }

    pub fn is_udp(self) -> bool {
        matches!(self, Self::Question | Self::ClosedUdp | Self::ReverseUdp)
    }

    /// b begins it, and a serves.
    pub fn is_reverse(self) -> bool {
        matches!(self, Self::ReverseUdp | Self::ReverseTcp)
    }

    /// One that the network may forbid.
    pub fn may_be_forbidden(self) -> bool {
        self.is_reverse() || matches!(self, Self::ClosedUdp | Self::ClosedTcp)
    }
}

/// The traffic of a lab, until it is dropped.
pub struct Traffic {
    log: Arc<Log>,
    idle: Idle,
    threads: Vec<JoinHandle<()>>,
    _servers: [Servers; 2],
}

impl Traffic {
    /// a knows b by this address; b knows a by its own.
    pub fn start(lab: &Lab, server: &str) -> Self {
        let log = Arc::new(Log::default());
        let servers = [&lab.a, &lab.b].map(|host| {
            let is_mine = |kind: &Kind| kind.is_reverse() == (host.ns == lab.a.ns);
            Servers::start(host, Kind::ALL.into_iter().filter(is_mine), &log)
        });
        let mut threads = vec![log::watch_the_machine(&log)];
        for kind in Kind::ALL {
            let (from, to) = if kind.is_reverse() {
                (&lab.b, "10.9.1.1")
            } else {
                (&lab.a, server)
            };
            let to = format!("{to}:{}", kind.port()).parse().unwrap();
            threads.extend(match kind {
                Kind::Question | Kind::ReverseUdp | Kind::ClosedUdp => {
                    datagrams::ask(from, to, kind, &log)
                }
                Kind::Upload => vec![clients::upload(from, to, &log)],
                Kind::Download => vec![clients::download(from, to, &log)],
                Kind::Idle => Vec::new(),
                Kind::Short => (0..2)
                    .map(|_| clients::connect_often(from, to, kind, &log))
                    .collect(),
                _ => vec![clients::connect_often(from, to, kind, &log)],
            });
        }
        let to = format!("{server}:{}", Kind::Idle.port()).parse().unwrap();
        Self {
            idle: Idle::open(&lab.a, to, &log),
            log,
            threads,
            _servers: servers,
        }
    }

    /// The time since the traffic began.
    pub fn now(&self) -> Duration {
        self.log.now()
    }

    /// A connection that was idle for the longest time makes an exchange.
    pub fn wake(&mut self) {
        self.idle.wake();
    }

    /// Ends the traffic; what hangs still has some seconds.
    pub fn end(mut self) -> Arc<Log> {
        self.stop();
        self.log.clone()
    }

    fn stop(&mut self) {
        self.log.stop();
        self.idle.end();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.stop();
    }
}
