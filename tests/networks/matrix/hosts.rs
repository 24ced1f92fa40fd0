//! Both hosts of a network: their daemons and sources, and what happens to them.

use std::time::{Duration, Instant};

use hostint_testing::mixed::Kind;
use hostint_testing::netns::{Daemon, Host, Lab};
use hostint_testing::networks::Network;
use hostint_testing::next_version::make_other_version;
use hostint_testing::random::env_number;
use hostint_testing::watched_pair::{is_settled, peers};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// In this order, so that each finds what it needs.
pub const EVENTS: [&str; 12] = [
    "start",
    "add-dest",
    "kill -9",
    "SIGSTOP for 5 s",
    "restart",
    "lease lost",
    "del-dest",
    "add-dest again",
    "upgrade",
    "sink detached",
    "sink attached",
    "detach",
];

/// Proofs need no longer.
const LONGEST_SETTLING: Duration = Duration::from_secs(20);
/// Between what happens to one host and to the other one: leases end meanwhile.
const MEANWHILE: Duration = Duration::from_millis(1300);

/// HOSTINT_NETWORKS_ALONE=1: nothing happens, which shows what traffic loses by itself.
fn is_alone() -> bool {
    env_number("HOSTINT_NETWORKS_ALONE", 0) != 0
}

/// Which hosts have a source.
#[derive(Clone, Copy, PartialEq)]
pub enum Sources {
    OnA,
    OnB,
    OnBoth,
}

impl Sources {
    pub const ALL: [Self; 3] = [Self::OnA, Self::OnB, Self::OnBoth];

    pub fn name(self) -> &'static str {
        match self {
            Self::OnA => "a",
            Self::OnB => "b",
            Self::OnBoth => "both",
        }
    }

    fn sides(self) -> &'static [usize] {
        match self {
            Self::OnA => &[0],
            Self::OnB => &[1],
            Self::OnBoth => &[0, 1],
        }
    }
}

struct End {
    host: Host,
    dev: &'static str,
    dests: &'static str,
    daemon: Option<Daemon>,
}

impl End {
    fn start(&mut self) {
        let node = if self.dev == "a0" { 1 } else { 2 };
        let flags = format!("--dev {} --node-id {node}", self.dev);
        self.daemon = Some(self.host.leasing_sink(&flags));
    }

    fn signal(&self, signal: Signal) {
        if let Some(daemon) = &self.daemon {
            daemon.signal(signal);
        }
    }

    fn stop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
        }
    }

    fn add_dests(&self) {
        self.host
            .hostint(&format!("source add-dest {}", self.dests));
    }
}

pub struct Hosts {
    ends: [End; 2],
    sources: Sources,
}

impl Hosts {
    pub fn new(lab: &Lab, network: &Network, sources: Sources) -> Self {
        let end = |host: &Host, dev, side: usize| End {
            host: host.clone(),
            dev,
            dests: network.dests[side],
            daemon: None,
        };
        Self {
            ends: [end(&lab.a, "a0", 0), end(&lab.b, "b0", 1)],
            sources,
        }
    }

    /// The sides, those with a source first.
    fn order(&self) -> [usize; 2] {
        if self.sources == Sources::OnB {
            [1, 0]
        } else {
            [0, 1]
        }
    }

    fn with_source(&self) -> impl Iterator<Item = &End> {
        self.sources.sides().iter().map(|side| &self.ends[*side])
    }

    /// The sides whose sinks read what a source tags.
    fn read_sides(&self) -> Vec<usize> {
        self.sources.sides().iter().map(|side| 1 - side).collect()
    }

    fn settle(&self) {
        let began = Instant::now();
        while began.elapsed() < LONGEST_SETTLING {
            if self.with_source().all(|end| is_settled(&end.host)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    pub fn happen(&mut self, event: &str) {
        if is_alone() {
            return;
        }
        match event {
            "start" => {
                for side in self.order() {
                    self.ends[side].start();
                }
                for end in self.with_source() {
                    end.host
                        .hostint(&format!("source attach --dev {}", end.dev));
                }
            }
            "add-dest" | "add-dest again" => {
                self.with_source().for_each(End::add_dests);
                self.settle();
            }
            "kill -9" => {
                for side in self.order() {
                    self.ends[side].daemon.take().unwrap().kill();
                    std::thread::sleep(MEANWHILE);
                }
                self.ends.iter_mut().for_each(End::start);
            }
            "SIGSTOP for 5 s" => {
                for signal in [Signal::SIGSTOP, Signal::SIGCONT] {
                    for side in self.order() {
                        self.ends[side].signal(signal);
                        std::thread::sleep(MEANWHILE);
                    }
                    if signal == Signal::SIGSTOP {
                        std::thread::sleep(Duration::from_secs(5) - MEANWHILE * 2);
                    }
                }
            }
            "restart" => {
                for side in self.order() {
                    self.ends[side].stop();
                    self.ends[side].start();
                }
            }
            "upgrade" => {
                for side in self.order() {
                    self.ends[side].stop();
                    make_other_version(&self.ends[side].host);
                    self.ends[side].start();
                }
            }
            "lease lost" => {
                for ignores in [1, 0] {
                    for end in &self.ends {
                        end.host.sh(&format!(
                            "sysctl -qw net.ipv4.icmp_echo_ignore_all={ignores}"
                        ));
                    }
                    std::thread::sleep(MEANWHILE * 2);
                }
            }
            "del-dest" => {
                for end in self.with_source() {
                    end.host.hostint(&format!("source del-dest {}", end.dests));
                }
            }
            "sink detached" => {
                let flags = if self.sources == Sources::OnBoth {
                    "--now"
                } else {
                    ""
                };
                for side in self.read_sides() {
                    let end = &mut self.ends[side];
                    end.host.hostint(&format!("sink detach {flags}"));
                    end.daemon = None;
                }
            }
            "sink attached" => {
                for side in self.read_sides() {
                    self.ends[side].start();
                }
                self.settle();
            }
            "detach" => {
                for end in self.with_source() {
                    end.host.hostint("source detach");
                }
            }
            _ => unreachable!("{event}"),
        }
    }

    /// The kinds of traffic that sinks know flows of, and what sources say of their peers.
    pub fn measured(&self) -> Value {
        if is_alone() {
            return Value::Null;
        }
        let mut kinds = Vec::new();
        for side in self.read_sides() {
            let status = self.ends[side].host.status();
            let flows = status["sink"]["flows"].as_array().unwrap();
            for kind in Kind::ALL {
                let is_asked = kind.is_reverse() != (side == 1);
                let port = if is_asked { "dport" } else { "sport" };
                let protocol = if kind.is_udp() { 17 } else { 6 };
                let knows = flows.iter().any(|flow| {
                    let of_flow = &flow["flow"];
                    of_flow[port] == kind.port() && of_flow["protocol"] == protocol
                });
                if knows && !kind.may_be_forbidden() {
                    kinds.push(format!(
                        "{} {}",
                        if is_asked { "to" } else { "from" },
                        kind.name()
                    ));
                }
            }
        }
        let said: Vec<Value> = self
            .with_source()
            .flat_map(|end| peers(&end.host))
            .map(|peer| json!([peer["dest"], peer["state"], peer["ways"], peer["eaten"]]))
            .collect();
        json!({ "kinds": kinds, "peers": said })
    }

    /// Nothing of hostint is left.
    pub fn end(mut self) {
        for end in &mut self.ends {
            if is_alone() {
                return;
            }
            end.host.hostint("sink detach --now");
            end.daemon = None;
        }
    }
}
