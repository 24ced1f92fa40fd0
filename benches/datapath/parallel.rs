//! Datagrams of several flows in a second, sent on two CPUs at once; one flow is sent by both.

use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use hostint_testing::netns::{Host, Lab};

use crate::lab::{Pair, Setup, SinkAt};
use crate::programs::{self, Stats};
use crate::rounds::{Rounds, print_row};
use crate::senders::{send_batch, stay_on};

const CPUS: usize = 2;
const FLOWS: [usize; 4] = [1, 2, 64, 512];
/// Packets of a flow, before the next one of its CPU follows.
const BATCH: usize = 16;
const PAYLOAD: usize = 100;
const TIME: Duration = Duration::from_millis(200);
const FIRST_PORT: usize = 20_000;

const CASES: [(&str, Setup); 3] = [
    ("nothing attached", Setup::NOTHING),
    ("sink at TC, vxlan-gpe", tagging(SinkAt::Tc)),
    ("sink at XDP, vxlan-gpe", tagging(SinkAt::Xdp)),
];

const fn tagging(sink: SinkAt) -> Setup {
    Setup {
        sink,
        source: Some("--encap vxlan-gpe"),
        watched: true,
        ..Setup::NOTHING
    }
}

/// The flows of each CPU, and the socket where all of them end. Nobody reads from it: what does not fit is dropped there.
struct Senders {
    of_cpu: [Vec<UdpSocket>; CPUS],
    _end: UdpSocket,
}

impl Senders {
    fn new(lab: &Lab, flows: usize) -> Self {
        let port = FIRST_PORT + flows;
        let end = lab.b.udp(&format!("10.9.2.1:{port}"));
        let mut of_cpu = [const { Vec::new() }; CPUS];
        for flow in 0..flows {
            let socket = lab.a.udp("10.9.1.1:0");
            socket.connect(("10.9.2.1", port as u16)).unwrap();
            of_cpu[flow % CPUS].push(socket);
        }
        if flows == 1 {
            of_cpu[1].push(of_cpu[0][0].try_clone().unwrap());
        }
        Self { of_cpu, _end: end }
    }

    /// Sends for so long on all CPUs.
    fn send(&self, time: Duration) {
        thread::scope(|scope| {
            for (cpu, sockets) in self.of_cpu.iter().enumerate() {
                scope.spawn(move || {
                    stay_on(cpu);
                    let mut packets = vec![vec![0x5a; PAYLOAD]; BATCH];
                    let begin = Instant::now();
                    let mut in_turn = sockets.iter().cycle();
                    while begin.elapsed() < time {
                        send_batch(in_turn.next().unwrap(), &mut packets);
                    }
                });
            }
        });
    }
}

/// Packets that came to the host's interface so far.
fn arrived(host: &Host) -> f64 {
    let count = host.sh("cat /sys/class/net/b0/statistics/rx_packets");
    count.trim().parse().unwrap()
}

pub fn run() {
    let pairs: Vec<(Pair, Vec<Senders>)> = CASES
        .iter()
        .map(|(_, setup)| {
            let pair = Pair::new(setup);
            let senders = FLOWS.map(|flows| Senders::new(&pair.lab, flows));
            (pair, senders.into())
        })
        .collect();
    println!(
        "parallel: datagrams of {PAYLOAD} bytes that arrive in a second, sent on {CPUS} CPUs at once"
    );
    let rounds = Rounds::measure(CASES.len() * FLOWS.len(), |index| {
        let (pair, senders) = &pairs[index % CASES.len()];
        let senders = &senders[index / CASES.len()];
        senders.send(TIME / 8); // all flows are known
        let (begin, before) = (Instant::now(), arrived(&pair.lab.b));
        senders.send(TIME);
        (arrived(&pair.lab.b) - before) / begin.elapsed().as_secs_f64() / 1e3
    });
    for (which, flows) in FLOWS.iter().enumerate() {
        for (case, (name, _)) in CASES.iter().enumerate() {
            let (index, base) = (which * CASES.len() + case, which * CASES.len());
            let ratio = (case > 0).then(|| (rounds.ratio(index, base), CASES[0].0));
            let name = format!("{flows} flows, {name}");
            print_row(&name, rounds.median(index), "kpps", ratio);
        }
    }
    print_runs(&pairs);
    println!();
}

/// ns of a run of both programs, with those that the kernel's counting takes.
fn print_runs(pairs: &[(Pair, Vec<Senders>)]) {
    let _stats = Stats::enable();
    for ((pair, senders), (name, setup)) in pairs.iter().zip(&CASES) {
        if setup.source.is_none() {
            continue;
        }
        let programs = [
            programs::pinned(&pair.lab.a, "source-tc", "a0"),
            programs::pinned(&pair.lab.b, setup.sink.role(), "b0"),
        ];
        for (senders, flows) in senders.iter().zip(FLOWS) {
            let [source, sink] = programs::measure(programs, || senders.send(TIME));
            println!(
                "  {flows} flows, {name}: runs of the source {source:.0} ns, of the sink {sink:.0} ns"
            );
        }
    }
}
