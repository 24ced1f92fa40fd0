//! Emitters spread flows over collectors and move them when a collector fails or returns. The clock is the test's.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use hostint::model::*;
use hostint::report::{CollectorStanding, Destinations, Emitter, PROBE_PERIOD, rendezvous};
use hostint::wire::probe::{self, ProbeAnswer};
use hostint_testing::harness::Daemon;
use hostint_testing::places;
use hostint_testing::synthetic::Synthetic;
use serde_json::Value;

const LATE: Duration = Duration::from_secs(60);
const FLOWS: usize = 300;

/// A report that came: who sent it, and of what flow.
type Came = (u64, FlowHash);

/// `hostint collect` that hands on its lines.
struct Collector {
    daemon: Daemon,
    address: SocketAddr,
    lines: Receiver<String>,
}

impl Collector {
    /// On the port of one before, or any.
    fn start(at: SocketAddr) -> Self {
        let mut daemon = Daemon::start(
            Command::new(places::hostint())
                .args(["collect", "--json", "--listen", &at.to_string()])
                .env("HOSTINT_STORE", "none")
                .stdin(Stdio::null())
                .stdout(Stdio::piped()),
        );
        let line = daemon.wait_for("collecting on ");
        let address = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
        let (say, lines) = channel();
        let stdout = BufReader::new(daemon.child.stdout.take().unwrap());
        thread::spawn(move || {
            let lines = stdout.lines().map_while(Result::ok);
            lines.for_each(|line| drop(say.send(line)));
        });
        Self {
            daemon,
            address,
            lines,
        }
    }

    /// So many reports, and no more are there yet.
    fn take(&self, count: u64) -> Vec<Came> {
        let lines = (0..count).map(|_| self.lines.recv_timeout(LATE).unwrap());
        let came = lines.map(|line| {
            let line: Value = serde_json::from_str(&line).unwrap();
            let record = Record::read_line(line.to_string().as_bytes()).unwrap();
            let report = record.report().unwrap();
            let flow = report.observation.flow().unwrap();
            let node = report.observation.reporter().unwrap();
            (node.0.into(), FlowHash::of(&flow))
        });
        let came = came.collect();
        assert!(self.lines.try_recv().is_err(), "more than was sent here");
        came
    }

    /// As by kill -9, with what comes from now on lost.
    fn kill(mut self) -> SocketAddr {
        self.daemon.child.kill().unwrap();
        self.daemon.child.wait().unwrap();
        self.address
    }
}

/// A sink's sending half, and its clock.
struct Sink {
    emitter: Emitter,
    node: NodeId,
    now: Instant,
    sent: BTreeMap<SocketAddr, u64>,
}

impl Sink {
    fn new(node: u32, collectors: &[SocketAddr]) -> Self {
        let node = NodeId(node);
        let destinations = Destinations {
            collectors: collectors.to_vec(),
            spread: Some(node),
            ..Destinations::default()
        };
        Self {
            emitter: Emitter::new(destinations).unwrap(),
            node,
            now: Instant::now(),
            sent: BTreeMap::new(),
        }
    }

    fn standing(&self, collector: SocketAddr) -> CollectorStanding {
        let standings = self.emitter.standings(self.now).into_iter();
        let mut of = standings.filter(|standing| standing.collector == collector);
        of.next().unwrap()
    }

    fn state(&self, collector: SocketAddr) -> CollectorState {
        self.standing(collector).state
    }

    /// A second passes: a probe to each, and their answers are awaited, those of these collectors.
    fn second(&mut self, answering: &[&Collector]) {
        self.now += PROBE_PERIOD;
        let asked = answering.len();
        let mut waiting: BTreeSet<_> = answering.iter().map(|one| one.address).collect();
        self.emitter.probe(self.now);
        let end = Instant::now() + LATE;
        while !waiting.is_empty() {
            assert!(Instant::now() < end, "{} of {asked} answer", waiting.len());
            self.emitter.probe(self.now);
            waiting.retain(|address| self.standing(*address).awaited);
        }
    }

    /// A report of each flow, as this end sees it: from the node's side.
    fn emit(&mut self, reports: &[Observation], back: bool) {
        for report in reports {
            let mut report = report.clone();
            if let Body::Latency(latency) = &mut report.body {
                let ReportedPacket::Named { flow, .. } = &mut latency.packet else {
                    panic!("{latency:?}");
                };
                if back {
                    std::mem::swap(&mut flow.src, &mut flow.dst);
                    std::mem::swap(&mut flow.sport, &mut flow.dport);
                }
                let [mut first, mut last] = [*latency.hops.source(), *latency.hops.sink()];
                last.node = self.node;
                first.node = NodeId(9);
                latency.hops = HopStack::over(first, &[], last);
            }
            self.emitter.emit(report);
        }
        self.emitter.flush();
    }

    /// Reports that each collector was sent since the last call.
    fn sent(&mut self) -> BTreeMap<SocketAddr, u64> {
        let standings = self.emitter.standings(self.now).into_iter();
        let now: BTreeMap<_, _> = standings.map(|one| (one.collector, one.sent)).collect();
        let since = |(to, sent): (&SocketAddr, &u64)| {
            let before = self.sent.get(to).copied().unwrap_or_default();
            (*to, sent - before)
        };
        let news = now.iter().map(since).collect();
        self.sent = now;
        news
    }
}

/// One of each flow.
fn reports() -> Vec<Observation> {
    let mut synthetic = Synthetic::new(1, 8, FLOWS);
    let mut next = |flow| loop {
        let report = synthetic.report(flow, 1_700_000_000_000_000_000).report;
        if matches!(report.observation.body, Body::Latency(_)) {
            return report.observation;
        }
    };
    (0..FLOWS).map(&mut next).collect()
}

/// Both sinks report all flows; where each flow is, which is one place.
fn places(
    sinks: &mut [Sink; 2],
    reports: &[Observation],
    collectors: &[&Collector],
) -> BTreeMap<u64, SocketAddr> {
    let mut sent = BTreeMap::<_, u64>::new();
    for (sink, back) in sinks.iter_mut().zip([false, true]) {
        sink.emit(reports, back);
        for (to, count) in sink.sent() {
            *sent.entry(to).or_default() += count;
        }
    }
    assert_eq!(sent.values().sum::<u64>(), 2 * FLOWS as u64);
    let mut places = BTreeMap::new();
    let mut sides = BTreeMap::<_, BTreeSet<_>>::new();
    for collector in collectors {
        let share = sent[&collector.address];
        for (node, flow) in collector.take(share) {
            let before = places.insert(flow.0, collector.address);
            let here = before.is_none_or(|before| before == collector.address);
            assert!(here, "{flow:?} at {before:?} and {}", collector.address);
            sides.entry(flow.0).or_default().insert(node);
        }
    }
    assert_eq!(places.len(), FLOWS);
    assert!(sides.values().all(|nodes| nodes.len() == 2), "both sinks");
    places
}

#[test]
fn each_flow_is_at_one_collector_and_moves_only_when_that_goes_or_comes_back() {
    let at = |n: u8| SocketAddr::from(([127, 0, 0, n], 0));
    let [one, two, three] = [1, 2, 3].map(|n| Collector::start(at(n)));
    let addresses = [one.address, two.address, three.address];
    // Each sink has its list in another order.
    let backwards = [addresses[2], addresses[0], addresses[1]];
    let mut sinks = [Sink::new(2, &addresses), Sink::new(3, &backwards)];
    let reports = reports();
    let all = [&one, &two, &three];
    sinks.iter_mut().for_each(|sink| sink.second(&all));
    let before = places(&mut sinks, &reports, &all);
    for address in addresses {
        let share = before.values().filter(|at| **at == address).count();
        assert!(share > FLOWS / 6, "{address} has {share} of {FLOWS} flows");
    }

    let gone = two.kill();
    let rest = [&one, &three];
    for sink in &mut sinks {
        let killed = sink.now;
        while sink.state(gone) == CollectorState::Answers {
            sink.second(&rest);
        }
        assert_eq!(sink.state(gone), CollectorState::Silent);
        assert!(sink.now - killed < Duration::from_secs(5), "within 5 s");
        let doubtful = sink.standing(gone).doubtful;
        let share = before.values().filter(|at| **at == gone).count();
        assert_eq!(doubtful, share as u64, "reports since its last answer");
    }
    let meanwhile = places(&mut sinks, &reports, &rest);
    for (flow, at) in &before {
        match *at == gone {
            true => assert_ne!(meanwhile[flow], gone),
            false => assert_eq!(meanwhile[flow], *at, "others' flows stay"),
        }
    }
    let moved = before.iter().filter(|(_, at)| **at == gone);
    let heirs: BTreeSet<_> = moved.map(|(flow, _)| meanwhile[flow]).collect();
    assert_eq!(heirs.len(), 2, "the others share its flows");

    let two = Collector::start(gone);
    let all = [&one, &two, &three];
    for sink in &mut sinks {
        sink.second(&all);
        assert_eq!(sink.state(gone), CollectorState::Silent, "one answer");
        sink.second(&all);
        assert_eq!(sink.state(gone), CollectorState::Answers, "two answers");
    }
    assert_eq!(places(&mut sinks, &reports, &all), before, "as it was");
}

/// A collector that the test is.
struct Played {
    socket: UdpSocket,
    address: SocketAddr,
}

impl Played {
    fn new() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(LATE)).unwrap();
        let address = socket.local_addr().unwrap();
        Self { socket, address }
    }

    /// The next datagram that is a probe, and who sent it; and how many came before.
    fn probe(&self) -> (probe::Probe, SocketAddr, u64) {
        let mut bytes = [0; 2048];
        for before in 0.. {
            let (length, from) = self.socket.recv_from(&mut bytes).unwrap();
            if let Ok(probe) = probe::decode(&bytes[..length]) {
                return (probe, from, before);
            }
        }
        unreachable!()
    }
}

fn answer(probe: probe::Probe, run: u64) -> [u8; probe::MESSAGE_LEN] {
    probe::encode_answer(&ProbeAnswer {
        probe,
        queue_percent: 7,
        run,
    })
}

#[test]
fn a_collector_that_never_answers_keeps_its_share() {
    let [plain, other] = [Played::new(), Played::new()];
    let mut sink = Sink::new(2, &[plain.address, other.address]);
    let reports = reports();
    let expected = reports.iter().filter(|report| {
        let addresses = [plain.address, other.address].map(rendezvous::identity);
        rendezvous::choose(rendezvous::key_of(report), addresses.into_iter()) == Some(0)
    });
    let expected = expected.count() as u64;
    for _ in 0..10 {
        sink.second(&[]);
        assert_eq!(sink.state(plain.address), CollectorState::Unprobed);
        plain.probe();
    }
    sink.emit(&reports, false);
    sink.second(&[]);
    assert_eq!(plain.probe().2, expected);
    assert_eq!(sink.sent()[&plain.address], expected);
}

#[test]
fn only_the_answer_to_the_last_probe_from_the_probed_address_counts() {
    struct Case {
        name: &'static str,
        /// Given the last probe and the one before.
        bytes: fn(probe::Probe, probe::Probe) -> Vec<u8>,
        stranger: bool,
        state: CollectorState,
    }
    let cases = [
        Case {
            name: "another nonce",
            bytes: |probe, _| {
                let nonce = probe.nonce ^ 1;
                answer(probe::Probe { nonce, ..probe }, 1).to_vec()
            },
            stranger: false,
            state: CollectorState::Unprobed,
        },
        Case {
            name: "the probe before",
            bytes: |_, before| answer(before, 1).to_vec(),
            stranger: false,
            state: CollectorState::Unprobed,
        },
        Case {
            name: "the probe itself, sent back",
            bytes: |probe, _| probe::encode(&probe).to_vec(),
            stranger: false,
            state: CollectorState::Unprobed,
        },
        Case {
            name: "a byte more",
            bytes: |probe, _| [&answer(probe, 1)[..], &[0]].concat(),
            stranger: false,
            state: CollectorState::Unprobed,
        },
        Case {
            name: "right, but from another port",
            bytes: |probe, _| answer(probe, 1).to_vec(),
            stranger: true,
            state: CollectorState::Unprobed,
        },
        Case {
            name: "right",
            bytes: |probe, _| answer(probe, 1).to_vec(),
            stranger: false,
            state: CollectorState::Answers,
        },
    ];
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    for case in cases {
        let played = Played::new();
        let mut sink = Sink::new(2, &[played.address]);
        sink.emitter.probe(sink.now);
        let (before, ..) = played.probe();
        sink.second(&[]);
        let (probe, from, _) = played.probe();
        assert_ne!(probe.nonce, before.nonce);
        assert_eq!(probe.node, NodeId(2));
        let bytes = (case.bytes)(probe, before);
        match case.stranger {
            true => stranger.send_to(&bytes, from).unwrap(),
            false => played.socket.send_to(&bytes, from).unwrap(),
        };
        // On loopback it is there when send_to returns.
        sink.emitter.probe(sink.now);
        assert_eq!(sink.state(played.address), case.state, "{}", case.name);
    }
}

#[test]
fn a_collector_that_is_not_there_gets_nothing_unless_none_is() {
    let nobody = Played::new().address;
    let there = Played::new();
    let mut sink = Sink::new(2, &[nobody, there.address]);
    sink.emitter.probe(sink.now);
    sink.emitter.probe(sink.now);
    assert_eq!(sink.state(nobody), CollectorState::Silent, "ICMP says so");
    let reports = reports();
    sink.emit(&reports, false);
    assert_eq!(sink.sent()[&there.address], FLOWS as u64);
    assert_eq!(sink.standing(nobody).sent, 0);

    let alone = [nobody, Played::new().address];
    let mut sink = Sink::new(2, &alone);
    sink.emitter.probe(sink.now);
    sink.emitter.probe(sink.now);
    assert_eq!(alone.map(|at| sink.state(at)), [CollectorState::Silent; 2]);
    sink.emit(&reports, false);
    let sent = sink.sent();
    assert_eq!(sent.values().sum::<u64>(), FLOWS as u64);
    assert!(sent.values().all(|share| *share > 0), "over all: {sent:?}");
}

#[test]
fn a_new_start_between_two_answers_is_told_with_what_may_be_lost() {
    let played = Played::new();
    let mut sink = Sink::new(2, &[played.address]);
    let mut news = Vec::new();
    let mut second = |sink: &mut Sink, run| {
        sink.now += PROBE_PERIOD;
        news.extend(sink.emitter.probe(sink.now));
        let (probe, from, _) = played.probe();
        played.socket.send_to(&answer(probe, run), from).unwrap();
        news.extend(sink.emitter.probe(sink.now));
    };
    let reports = reports();
    second(&mut sink, 1);
    sink.emit(&reports[..50], false);
    second(&mut sink, 1);
    sink.emit(&reports[..5], false);
    second(&mut sink, 2);
    let told: Vec<_> = news
        .iter()
        .map(|one| (one.restarted, one.doubtful))
        .collect();
    assert_eq!(told, [(false, 0), (true, 5)]);
    assert_eq!(sink.standing(played.address).doubtful, 5);
    assert_eq!(sink.standing(played.address).queue_percent, Some(7));
}

#[test]
fn one_that_cannot_answer_takes_the_place_of_one_that_did_when_the_list_says_so() {
    let [stays, replaced] = [Played::new(), Played::new()];
    let mut sink = Sink::new(2, &[stays.address, replaced.address]);
    sink.emitter.probe(sink.now);
    let (probe, from, _) = replaced.probe();
    replaced.socket.send_to(&answer(probe, 1), from).unwrap();
    sink.emitter.probe(sink.now);
    assert_eq!(sink.state(replaced.address), CollectorState::Answers);
    for _ in 0..60 {
        sink.second(&[]);
    }
    assert_eq!(sink.state(replaced.address), CollectorState::Silent);
    sink.emit(&reports(), false);
    assert_eq!(sink.standing(replaced.address).sent, 0);

    sink.emitter.set_collectors(vec![stays.address]);
    let both = vec![stays.address, replaced.address];
    sink.emitter.set_collectors(both);
    assert_eq!(sink.state(replaced.address), CollectorState::Unprobed);
    sink.emit(&reports(), false);
    assert!(sink.standing(replaced.address).sent > 0);
}

#[test]
fn other_collectors_leave_those_that_stay_alone() {
    let [stays, goes, comes] = [Played::new(), Played::new(), Played::new()];
    let mut sink = Sink::new(2, &[stays.address, goes.address]);
    sink.emitter.probe(sink.now);
    let (probe, from, _) = stays.probe();
    stays.socket.send_to(&answer(probe, 1), from).unwrap();
    sink.emitter.probe(sink.now);
    let reports = reports();
    sink.emit(&reports, false);
    let sent = sink.sent();
    let numbers = |played: &Played, count: u64| {
        let mut bytes = [0; 2048];
        let mut next = || loop {
            let (length, _) = played.socket.recv_from(&mut bytes).unwrap();
            if let Ok(group) = hostint::collector::decode(&bytes[..length]) {
                return group.sequence;
            }
        };
        (0..count).map(|_| next()).collect::<Vec<_>>()
    };
    let first = sent[&stays.address];
    assert_eq!(numbers(&stays, first), Vec::from_iter(1..=first as u32));
    let lost = sent[&goes.address];

    sink.emitter
        .set_collectors(vec![comes.address, stays.address]);
    assert_eq!(sink.state(stays.address), CollectorState::Answers);
    sink.emit(&reports, false);
    let now = sink.sent();
    let (old, new) = (now[&stays.address], now[&comes.address]);
    assert_eq!(old + new, FLOWS as u64);
    let on = first as u32 + 1..=(first + old) as u32;
    assert_eq!(numbers(&stays, old), Vec::from_iter(on), "numbers go on");
    assert_eq!(numbers(&comes, new), Vec::from_iter(1..=new as u32));
    let counts = sink.emitter.counts();
    assert_eq!(counts.sent, first + lost + old + new, "none is forgotten");
}
