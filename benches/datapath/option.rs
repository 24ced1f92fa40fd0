//! TCP option 114: throughput and GRO with it, the time of a request and its answer, and what its program takes.

use std::fs;
use std::os::fd::AsFd;
use std::time::Duration;

use hostint::datapath::kernel::links::{Hook, Link};
use hostint::os::netdev;
use hostint_testing::netns::{Daemon, Host, Lab, sh};
use hostint_testing::scratch::Folder;
use libbpf_rs::query::ProgInfoIter;

use crate::lab::{Pair, Setup};
use crate::programs::{Stats, compile, read};
use crate::rounds::{Rounds, print_row};
use crate::senders::{bulk_tcp, ping_pong};

const TIME: Duration = Duration::from_millis(1000);
const ROUNDS: usize = 20;
const COUNT: usize = 5_000;
/// The name of the program, as the kernel has it.
const PROGRAM: &str = "mind_option";

/// What is between the hosts.
#[derive(Clone, Copy)]
enum Hop {
    Plain,
    /// Ours, which holds its values so long.
    Holds(&'static str),
    /// One that fills other values into each segment.
    Varies,
}

/// Whether both hosts send the option.
const CASES: [(&str, bool, Hop); 5] = [
    ("no option", false, Hop::Plain),
    ("option each 10 ms, no hop", true, Hop::Plain),
    ("option each 10 ms, hop holds 1 ms", true, Hop::Holds("1ms")),
    (
        "option each 10 ms, hop holds 100 us",
        true,
        Hop::Holds("100us"),
    ),
    (
        "option each 10 ms, hop varies each segment",
        true,
        Hop::Varies,
    ),
];

/// A cgroup that this process moves into, so that its sockets are those of one case. The commands of hosts see no other
/// mount of cgroups than this one.
struct Group {
    mount: Folder,
    folder: String,
}

impl Group {
    fn create(name: &str) -> Self {
        let mount = Folder::create();
        let folder = mount.name(&format!("hostint-bench-{}-{name}", std::process::id()));
        let path = mount.path().display();
        sh(&format!("mount -t cgroup2 none {path} && mkdir {folder}"));
        Self { mount, folder }
    }

    fn enter(&self) {
        let folder = &self.folder;
        fs::write(
            format!("{folder}/cgroup.procs"),
            std::process::id().to_string(),
        )
        .unwrap();
    }

    fn leave(&self) {
        let root = self.mount.name("cgroup.procs");
        fs::write(root, std::process::id().to_string()).unwrap();
    }

    fn watch(&self, host: &Host, flags: &str) -> Daemon {
        let folder = &self.folder;
        host.start(
            &format!("tcp --option all --cgroup {folder} --report end {flags}"),
            "connections are watched",
        )
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.leave();
        let (folder, path) = (&self.folder, self.mount.path().display());
        sh(&format!("rmdir {folder}; umount {path}"));
    }
}

/// Hosts and a router, and what runs there.
struct Case {
    _daemons: Vec<Daemon>,
    _varies: Option<Link>,
    pair: Pair,
    group: Group,
}

/// At the router's way out.
fn vary_values(lab: &Lab) -> Link {
    let loaded = compile("varying");
    let program = loaded.progs().next().unwrap();
    lab.m.enter(|| {
        let dev = netdev::index_of("m1").unwrap();
        Link::create(program.as_fd(), dev, Hook::TcxEgress).unwrap()
    })
}

impl Case {
    fn new(name: &str, has_option: bool, hop: Hop, mtu_wire: bool) -> Self {
        let pair = Pair::new(&Setup::NOTHING);
        let group = Group::create(name);
        let lab = &pair.lab;
        if mtu_wire {
            // They go out as a burst, as from a card that segments. Behind a device that would segment, nothing merges.
            lab.a.sh("ethtool -K a0 tso off");
            lab.m.sh("ethtool -K m1 tso off");
        }
        let mut daemons = Vec::new();
        if let Hop::Holds(time) = hop {
            lab.m.hostint(&format!(
                "transit attach --dev m0,m1 --node-id 9 --carriers tcp-int --hold {time}"
            ));
        }
        let varies = matches!(hop, Hop::Varies).then(|| vary_values(lab));
        // Both are at one cgroup, so each socket has a program too many.
        if has_option {
            daemons.extend([&lab.a, &lab.b].map(|host| group.watch(host, "")));
        }
        Self {
            _daemons: daemons,
            _varies: varies,
            pair,
            group,
        }
    }

    fn lab(&self) -> &Lab {
        &self.pair.lab
    }

    fn run<T>(&self, traffic: impl FnOnce(&Lab) -> T) -> T {
        self.group.enter();
        let result = traffic(self.lab());
        self.group.leave();
        result
    }
}

/// Packets and segments that arrived.
fn received(host: &Host) -> [f64; 2] {
    let line = "nstat -asz IpInReceives IpExtInNoECTPkts | awk '/^Ip/ { print $2 }'";
    let text = host.sh(line);
    let mut counts = text.split_whitespace().map(|count| count.parse().unwrap());
    [counts.next().unwrap(), counts.next().unwrap()]
}

fn cases(mtu_wire: bool) -> Vec<Case> {
    let case = |(at, (_, has_option, hop)): (usize, &(&str, bool, Hop))| {
        Case::new(&format!("{mtu_wire}-{at}"), *has_option, *hop, mtu_wire)
    };
    CASES.iter().enumerate().map(case).collect()
}

fn throughput(mtu_wire: bool) {
    let cases = cases(mtu_wire);
    let wire = match mtu_wire {
        true => "packets of the MTU on the wire",
        false => "superpackets on the wire",
    };
    println!("option: one TCP connection, {wire}, {ROUNDS} rounds; target 0.95");
    let mut merged = vec![[0.0; 2]; cases.len()];
    let rounds = Rounds::repeat(ROUNDS, cases.len(), |at| {
        let case = &cases[at];
        let before = received(&case.lab().b);
        let rate = case.run(|lab| bulk_tcp(&lab.a, &lab.b, TIME)) * 8.0 / 1e6;
        let after = received(&case.lab().b);
        for (sum, (after, before)) in merged[at].iter_mut().zip(after.into_iter().zip(before)) {
            *sum += after - before;
        }
        rate
    });
    for (at, (name, ..)) in CASES.iter().enumerate() {
        let ratio = (at > 0).then(|| (rounds.ratio(at, 0), CASES[0].0));
        print_row(name, rounds.median(at), "Mbit/s", ratio);
    }
    if mtu_wire {
        let per_packet = |at: usize| merged[at][1] / merged[at][0];
        println!(
            "  segments that GRO merged; target 0.97 with our hop, 0.85 with one that always varies"
        );
        for (at, (name, ..)) in CASES.iter().enumerate() {
            let ratio = (at > 0).then(|| (per_packet(at) / per_packet(0), CASES[0].0));
            print_row(name, per_packet(at), "", ratio);
        }
    }
}

/// The last case is the first one again: their ratio is what the machine alone makes of two equal cases.
fn latency() {
    let mut cases = cases(false);
    cases.push(Case::new("again", false, Hop::Plain, false));
    println!("option: 1 byte over TCP there and back, p50; target 1.05");
    let rounds = Rounds::repeat(ROUNDS, cases.len(), |at| {
        cases[at].run(|lab| ping_pong(&lab.a, &lab.b, COUNT))[COUNT / 2]
    });
    let names = CASES.iter().map(|(name, ..)| *name);
    for (at, name) in names.chain(["no option, again"]).enumerate() {
        let ratio = (at > 0).then(|| (rounds.ratio(at, 0), CASES[0].0));
        print_row(name, rounds.median(at), "us", ratio);
    }
}

fn programs() -> Vec<u32> {
    ProgInfoIter::default()
        .filter(|found| found.name.as_encoded_bytes() == PROGRAM.as_bytes())
        .map(|found| found.id)
        .collect()
}

/// The runs of the program at the sender, and of one that does nothing beside it: their number and mean time in ns.
fn cost(flags: &str, name: &str, traffic: impl Fn(&Lab)) {
    let case = Case::new(name, false, Hop::Plain, true);
    let known = programs();
    let _daemon = case.group.watch(&case.lab().a, flags);
    let started = programs();
    let program = started.into_iter().find(|id| !known.contains(id));
    let program = program.expect("the daemon attached its program");
    let loaded = compile("noop");
    let noop = loaded
        .progs_mut()
        .find(|program| program.name() == "noop_sockops")
        .unwrap();
    let noop_id = hostint_testing::program_info::of(&noop).id;
    let folder = fs::File::open(&case.group.folder).unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&folder.as_fd());
    let _link = noop.attach_cgroup(fd).unwrap();
    let _stats = Stats::enable();
    let before = [program, noop_id].map(read);
    case.run(&traffic);
    let spent = [program, noop_id].map(read);
    let of = |at: usize| {
        let runs = spent[at].0 - before[at].0;
        (
            runs,
            (spent[at].1 - before[at].1) as f64 / runs.max(1) as f64,
        )
    };
    let ((runs, ns), (_, base)) = (of(0), of(1));
    println!(
        "  {name:<20} {runs:>8} calls, {ns:>6.1} ns each, {base:.1} ns of one that does nothing"
    );
}

pub fn run() {
    throughput(true);
    throughput(false);
    latency();
    let folder = Folder::create();
    let config = folder.name("rules.toml");
    fs::write(&config, "[[watch]]\nto = [\"192.0.2.1\"]\n").unwrap();
    let other = format!("--config {config}");
    println!(
        "option: calls of its program at one end of a connection; target 100 ns over one that does nothing"
    );
    let bulk = |lab: &Lab| {
        bulk_tcp(&lab.a, &lab.b, TIME);
    };
    let requests = |lab: &Lab| {
        ping_pong(&lab.a, &lab.b, COUNT);
    };
    cost("", "bulk", bulk);
    cost("", "requests", requests);
    cost(&other, "unwatched", bulk);
    println!();
}
