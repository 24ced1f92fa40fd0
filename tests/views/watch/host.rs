//! A made-up host, and a viewer who watches it.

use std::time::Duration;

use hostint::model::*;
use hostint::model::{ReasonSeverity, ReasonTopic};
use hostint::views::watch::{
    Act, Appearance, FlowColumn, HostSnapshot, KeyPress, SentPaths, Watch,
};
use hostint_testing::status_samples::{self, nothing};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

/// When all began: 12:00:00 UTC.
pub const BEGIN_NS: u64 = 1_700_049_600 * 1_000_000_000 - 1_700_049_600 % 86_400 * 1_000_000_000
    + 12 * 3600 * 1_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;

fn attachment(dev: &str, hook: &'static str, mode: &'static str) -> Attachment {
    Attachment {
        dev: dev.to_owned(),
        hook,
        mode,
        ..status_samples::attachment()
    }
}

pub fn counter(name: &'static str, text: &'static str, packets: u64) -> CounterStatus {
    CounterStatus {
        name,
        text,
        packets,
        bytes: packets * 100,
    }
}

/// A sink with these flows.
pub fn sink(flows: Vec<FlowStatus>) -> HostStatus {
    let all: u64 = flows.iter().map(|flow| flow.packets).sum();
    let lost: u64 = flows.iter().map(|flow| flow.lost).sum();
    HostStatus {
        node_id: Some(NodeId(2)),
        clock: Some(ClockStatus {
            source: "tai",
            offset_ns: 0,
            synchronised: true,
            stated_error_ns: None,
        }),
        sink: Some(SinkStatus {
            attachments: vec![attachment("eth0", "xdp", "native")],
            daemon_pid: Some(4711),
            counters: vec![
                counter(
                    "received",
                    "INT removed, packet handed on as it was sent",
                    all,
                ),
                counter(
                    "not_allowed",
                    "tagged by a host without a lease: passed untouched",
                    0,
                ),
                counter("lost", "sequence numbers declared lost", lost),
            ],
            daemon: vec![
                DaemonCounter {
                    name: "reports_sent",
                    text: "reports sent",
                    value: all / 10,
                },
                DaemonCounter {
                    name: "alive_ns",
                    text: "last sign of life",
                    value: 1,
                },
            ],
            flows_total: flows.len(),
            flows,
            leases_granted: 2,
            astray: Vec::new(),
            ..status_samples::idle_sink()
        }),
        ..nothing()
    }
}

/// A host that only sends.
pub fn source(tagged: u64) -> HostStatus {
    let peer = |dest: &str, state: LeaseState| PeerStatus {
        dest: dest.parse().unwrap(),
        state: state.name(),
        ..status_samples::silent_peer()
    };
    let granted = PeerStatus {
        lease_left_ns: 812_000_000,
        node: Some(NodeId(2)),
        rtt_ns: Some(210_400),
        clock_offset_ns: Some(-4_100),
        clock_error_ns: Some(92_300),
        ways: vec!["tcp vxlan-gpe", "udp vxlan-gpe"],
        proved_ago_ns: Some(1),
        clock_synchronised: Some(false),
        ..peer("192.0.2.2", LeaseState::Granted)
    };
    let reason = |severity, count, text: &str, advice: &str| Reason {
        topic: ReasonTopic::Tagging,
        severity,
        counter: None,
        count: Some(count),
        recent: None,
        recent_s: None,
        text: text.to_owned(),
        advice: advice.to_owned(),
    };
    HostStatus {
        node_id: Some(NodeId(1)),
        clock: Some(ClockStatus {
            source: "realtime",
            offset_ns: 0,
            synchronised: false,
            stated_error_ns: None,
        }),
        source: Some(SourceStatus {
            attachments: vec![attachment("eth0", "tc", "tcx")],
            rules_total: 1,
            dests: Vec::new(),
            counters: vec![
                counter("tagged", "INT inserted", tagged),
                counter("too_long", "no room for INT: untouched", 1204),
                counter("fragment", "fragment: untouched", 0),
            ],
            flows_total: 12,
            flows_max: 65_536,
            peers_total: 3,
            peers: vec![
                peer("192.0.2.3", LeaseState::NoSink),
                peer("2001:db8::17", LeaseState::Forged),
                granted,
            ],
        }),
        why: vec![
            reason(
                ReasonSeverity::Missed,
                1204,
                "packets too long",
                "clamp the MSS, lower the route's MTU, or raise the interface's MTU",
            ),
            reason(
                ReasonSeverity::Missed,
                1,
                "peer without a sink",
                "start hostint sink there",
            ),
        ],
        ..nothing()
    }
}

/// The flow number n, which begins with everything: it has 2^slot ns of latency and a tenth of all packets in the
/// slot above.
pub fn flow(n: u16, packets: u64, lost: u64, slot: usize) -> FlowStatus {
    let mut histogram = vec![0; 32];
    histogram[slot] = (packets - packets / 10) as u32;
    histogram[slot + 1] = (packets / 10) as u32;
    let ns = 1i32 << (slot - 1);
    let [high, low] = n.to_be_bytes();
    FlowStatus {
        flow: FlowKey {
            src: [10, 9, high, low].into(),
            dst: [10, 9, 2, 1].into(),
            sport: 40_000 + n,
            dport: 5001,
            protocol: if n.is_multiple_of(3) { 6 } else { 17 },
            vlans: Vlans::NONE,
        },
        source_node: NodeId(1 + u32::from(n % 4)),
        encapsulation: "over-tcp-udp",
        packets,
        bytes: packets * 100,
        lost,
        latency_min_ns: ns,
        latency_mean_ns: (ns + ns / 10).into(),
        latency_max_ns: ns * 3,
        latency_last_ns: ns + ns / 4,
        bucket: (slot % 4) as u8,
        first_ns: BEGIN_NS - 60 * SECOND_NS,
        last_ns: BEGIN_NS,
        histogram,
        latency_p50_ns: None,
        latency_p99_ns: None,
        latency_slots: Vec::new(),
        ..status_samples::flow(Vlans::NONE)
    }
}

/// A terminal of this size with somebody at it.
pub struct Viewer {
    pub watch: Watch,
    terminal: Terminal<TestBackend>,
    second: u64,
}

impl Viewer {
    pub fn new(width: u16, height: u16) -> Self {
        Self::with(width, height, true, true)
    }

    pub fn with(width: u16, height: u16, colour: bool, unicode: bool) -> Self {
        let look = Appearance { colour, unicode };
        Self {
            watch: Watch::new(look, Duration::from_secs(1), FlowColumn::LossNow),
            terminal: Terminal::new(TestBackend::new(width, height)).unwrap(),
            second: 0,
        }
    }

    /// The host as it is one second after the last look.
    pub fn see(&mut self, status: HostStatus) -> &mut Self {
        self.see_after(1, status)
    }

    pub fn see_after(&mut self, seconds: u64, status: HostStatus) -> &mut Self {
        self.see_told(seconds, status, None)
    }

    /// The same, with what a history says of paths.
    pub fn see_told(
        &mut self,
        seconds: u64,
        status: HostStatus,
        told: Option<SentPaths>,
    ) -> &mut Self {
        self.second += seconds;
        self.watch.update(HostSnapshot {
            status,
            told,
            at: Duration::from_secs(self.second),
            wall_ns: BEGIN_NS + self.second * SECOND_NS,
        });
        self
    }

    /// Presses keys, a character each; the screen is drawn after each.
    pub fn type_keys(&mut self, text: &str) -> &mut Self {
        for char in text.chars() {
            self.press(KeyPress::Char(char));
        }
        self
    }

    pub fn press(&mut self, key: KeyPress) -> Act {
        let act = self.watch.press(key);
        self.buffer();
        act
    }

    pub fn buffer(&mut self) -> &Buffer {
        self.terminal.draw(|frame| self.watch.draw(frame)).unwrap();
        self.terminal.backend().buffer()
    }

    /// The lines of the screen, without spaces at their ends.
    pub fn screen(&mut self) -> String {
        let buffer = self.buffer();
        let area = buffer.area;
        let mut text = String::new();
        for y in 0..area.height {
            let line: String = (0..area.width).map(|x| buffer[(x, y)].symbol()).collect();
            text += line.trim_end();
            text.push('\n');
        }
        text
    }

    /// The first words of rows in the table of flows, from top to bottom.
    pub fn ports(&mut self) -> Vec<u16> {
        let screen = self.screen();
        let flows = screen
            .lines()
            .filter(|line| line.starts_with("udp 10.") || line.starts_with("tcp 10."));
        flows
            .map(|line| {
                let source = line.split_whitespace().nth(1).unwrap();
                source.rsplit(':').next().unwrap().parse().unwrap()
            })
            .collect()
    }
}
