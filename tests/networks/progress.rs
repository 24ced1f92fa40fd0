//! The longest time in which nothing arrived at either host, by the kernel's own counts of segments and datagrams.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hostint_testing::netns::{Host, Lab};

#[derive(Clone, Copy, Default)]
pub struct Progress {
    pub longest_stall_ms: u64,
    /// Retransmission timeouts of TCP at both hosts.
    pub timeouts: u64,
}

/// A host's counts of packets that arrived for its sockets, and of timeouts.
#[derive(Clone, Copy, PartialEq)]
struct Counts {
    arrived: u64,
    timeouts: u64,
}

/// A value of /proc/net/snmp or netstat, which have a line of names before each line of values.
fn value(text: &str, kind: &str, name: &str) -> u64 {
    let mut lines = text
        .lines()
        .filter(|line| line.split(' ').next() == Some(kind));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else {
        return 0;
    };
    let mut pairs = names.split(' ').zip(values.split(' '));
    let found = pairs.find(|(of, _)| *of == name);
    found.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
}

impl Counts {
    /// Of the namespace of this thread.
    fn now() -> Self {
        let read = |name: &str| {
            std::fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default()
        };
        let (ipv4, ipv6, more) = (read("snmp"), read("snmp6"), read("netstat"));
        let udp6 = ipv6
            .lines()
            .find_map(|line| line.strip_prefix("Udp6InDatagrams"));
        Self {
            arrived: value(&ipv4, "Tcp:", "InSegs")
                + value(&ipv4, "Udp:", "InDatagrams")
                + udp6
                    .and_then(|text| text.trim().parse::<u64>().ok())
                    .unwrap_or(0),
            timeouts: value(&more, "TcpExt:", "TCPTimeouts"),
        }
    }

    fn of(hosts: &[Host; 2]) -> Self {
        let [a, b] = hosts.each_ref().map(|host| host.enter(Self::now));
        Self {
            arrived: a.arrived + b.arrived,
            timeouts: a.timeouts + b.timeouts,
        }
    }
}

/// Looks at both hosts until it is ended.
pub struct Watch {
    stop: Arc<AtomicBool>,
    looks: JoinHandle<Progress>,
}

impl Watch {
    pub fn start(lab: &Lab) -> Self {
        let hosts = [lab.a.clone(), lab.b.clone()];
        let stop = Arc::new(AtomicBool::new(false));
        let looks = std::thread::spawn({
            let stop = stop.clone();
            move || {
                let began = Counts::of(&hosts);
                let (mut last, mut at, mut longest) = (began, Instant::now(), Duration::ZERO);
                while !stop.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(10));
                    let now = Counts::of(&hosts);
                    longest = longest.max(at.elapsed());
                    if now.arrived != last.arrived {
                        (last, at) = (now, Instant::now());
                    }
                }
                Progress {
                    longest_stall_ms: longest.as_millis() as u64,
                    timeouts: Counts::of(&hosts).timeouts - began.timeouts,
                }
            }
        });
        Self { stop, looks }
    }

    pub fn end(self) -> Progress {
        self.stop.store(true, Ordering::Relaxed);
        self.looks.join().unwrap()
    }
}
