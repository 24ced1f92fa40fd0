//! IOAM over routers that run plain Linux: what they fill in is reported, as tshark reads it, and payloads stay whole.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or, sh};
use hostint_testing::scratch::Folder;
use hostint_testing::watched_pair::{is_settled, peers};
use serde_json::Value;

use crate::exchange::{exchange_tcp_with, exchange_udp, noise};

/// Both routers, the first one first: node, and the numbers of their interfaces.
const ROUTERS: [[u32; 3]; 2] = [[28673, 11, 12], [28674, 21, 22]];

/// a - m - n - b over IPv6: m and n are plain routers, b has a collector.
struct Path {
    lab: Lab,
    routers: [Host; 2],
    reports: Daemon,
    store: String,
    _folder: Folder,
    _sinks: [Daemon; 2],
}

fn link(one: (&Host, &str, &str), other: (&Host, &str, &str)) {
    sh(&format!(
        "ip link add {} netns {} type veth peer name {} netns {}",
        one.1, one.0.ns, other.1, other.0.ns
    ));
    for (host, dev, address) in [one, other] {
        host.sh(&format!(
            "ip addr add {address}/64 dev {dev} nodad; ip link set {dev} up
             sysctl -qw net.ipv6.conf.all.forwarding=1"
        ));
    }
}

fn wire(lab: &Lab) -> Host {
    let n = lab.host("n");
    lab.a.sh("ip link del a0");
    lab.b.sh("ip link del b0");
    link((&lab.a, "a0", "fd09:1::1"), (&lab.m, "m0", "fd09:1::2"));
    link((&lab.m, "m1", "fd09:3::1"), (&n, "n0", "fd09:3::2"));
    link((&n, "n1", "fd09:2::2"), (&lab.b, "b0", "fd09:2::1"));
    lab.a.sh("ip -6 route add default via fd09:1::2");
    lab.m.sh("ip -6 route add default via fd09:3::2");
    n.sh("ip -6 route add default via fd09:3::1");
    lab.b.sh("ip -6 route add default via fd09:2::2");
    n
}

/// As hostint-networks(7) says.
fn fill_in(host: &Host, devs: [&str; 2], [node, one, other]: [u32; 3]) {
    let [came, goes] = devs;
    host.sh(&format!(
        "sysctl -qw net.ipv6.ioam6_id={node}
         sysctl -qw net.ipv6.conf.{came}.ioam6_id={one} net.ipv6.conf.{goes}.ioam6_id={other}
         sysctl -qw net.ipv6.conf.{came}.ioam6_enabled=1 net.ipv6.conf.{goes}.ioam6_enabled=1
         ip ioam namespace add 18505"
    ));
}

fn drop_options(host: &Host) {
    host.sh("nft add table ip6 lab
         nft 'add chain ip6 lab options { type filter hook forward priority 0; }'
         nft add rule ip6 lab options exthdr hbh exists counter drop");
}

impl Path {
    /// `prepare` gets both routers before anything is asked.
    fn begin(source: &str, prepare: impl Fn(&Host, &Host)) -> Self {
        let lab = Lab::new();
        let n = wire(&lab);
        fill_in(&lab.m, ["m0", "m1"], ROUTERS[0]);
        fill_in(&n, ["n0", "n1"], ROUTERS[1]);
        prepare(&lab.m, &n);
        let folder = Folder::create();
        let store = folder.file("history.db").display().to_string();
        let collect = format!("collect --json --store {store}");
        let reports = lab.b.start(&collect, "collecting on [::]");
        let sinks = [
            lab.a.leasing_sink("--dev a0 --node-id 1"),
            lab.b.leasing_sink(
                "--dev b0 --node-id 2 --collector 127.0.0.1 --report-period 10ms --summary-period 1s --hook tc",
            ),
        ];
        lab.a
            .hostint(&format!("source attach --dev a0 --encap ioam {source}"));
        lab.a.hostint("source add-dest fd09:2::1");
        await_that("the source knows what passes", || is_settled(&lab.a));
        let routers = [lab.m.clone(), n];
        Self {
            lab,
            routers,
            reports,
            store,
            _folder: folder,
            _sinks: sinks,
        }
    }

    fn ways(&self) -> Vec<String> {
        let ways = peers(&self.lab.a)[0]["ways"].as_array().cloned();
        let names = ways.unwrap_or_default().into_iter();
        names
            .filter_map(|way| way.as_str().map(str::to_owned))
            .collect()
    }

    /// The hops of each reported packet, newest first: node, both ports, and when it arrived.
    fn told(&self) -> Vec<Vec<[u64; 4]>> {
        let lines = self.reports.stdout();
        let parsed = lines
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let number = |hop: &Value, key: &str| hop[key].as_u64().expect(key);
        let hops = |report: Value| {
            let all = report["transit"].as_array().cloned().unwrap_or_default();
            let keys = ["node", "ingress_port", "egress_port", "ingress_ts_ns"];
            all.iter()
                .map(|hop| keys.map(|key| number(hop, key)))
                .collect()
        };
        parsed
            .filter(|line: &Value| line["kind"] == "latency" && line["source"]["node"] == 1)
            .map(hops)
            .collect()
    }

    fn exchange(&self) {
        let lab = &self.lab;
        let to = lab.b.udp("[fd09:2::1]:7000");
        let from = lab.a.udp("[fd09:1::1]:7001");
        exchange_udp(&from, &to, 500, 1200);
        let address: SocketAddr = "[fd09:2::1]:7002".parse().unwrap();
        exchange_tcp_with(&lab.a, &lab.b, address, 3 << 20);
        for host in [&lab.a, &lab.b] {
            assert_eq!(host.checksum_errors(), 0, "checksums");
        }
    }
}

/// The packets that the history counts on the path over both routers: all of them, then those of each segment.
fn counted(path: &Path) -> Vec<Option<u64>> {
    let store = &path.store;
    let question = format!("history path --from 1 --to 2 --json --store {store}");
    let answer = path.lab.b.try_hostint(&question).stdout;
    let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
    let paths = answer["paths"].as_array().cloned().unwrap_or_default();
    let over_both = |path: &Value| path["nodes"] == serde_json::json!([1, 28673, 28674, 2]);
    let Some(path) = paths.into_iter().find(over_both) else {
        return Vec::new();
    };
    let segments = path["segments"].as_array().cloned().unwrap_or_default();
    let all = [path["whole"].clone()].into_iter().chain(segments);
    all.map(|one| one["packets"].as_u64()).collect()
}

/// The hops of each packet as tshark reads them, which needs no plugin for that.
fn dissected(capture: &str) -> HashSet<Vec<[u64; 4]>> {
    let fields = ["id", "iif", "eif", "tss", "tsf"];
    let named: Vec<String> = fields
        .iter()
        .map(|field| format!("-e ipv6.opt.ioam.trace.node.{field}"))
        .collect();
    let lines = sh(&format!(
        "tshark -r {capture} -T fields {} -E separator=';' 2>/dev/null || true",
        named.join(" ")
    ));
    let packet = |line: &str| {
        let columns: Vec<Vec<u64>> = line
            .split(';')
            .map(|column| {
                let values = column.split(',').filter(|value| !value.is_empty());
                let number = |value: &str| match value.strip_prefix("0x") {
                    Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
                    None => value.parse().unwrap(),
                };
                values.map(number).collect()
            })
            .collect();
        let hop = |at: usize| {
            let ns = columns[3][at] * 1_000_000_000 + columns[4][at] * 1_000;
            [
                columns[0][at],
                columns[1][at],
                columns[2][at],
                ns as u32 as u64,
            ]
        };
        (0..columns[0].len()).map(hop).collect()
    };
    lines.lines().map(packet).collect()
}

#[test]
fn plain_routers_are_the_hops_of_every_packet() {
    let path = Path::begin("", |_, _| {});
    let lab = &path.lab;
    assert_eq!(path.ways(), ["tcp vxlan-gpe", "udp vxlan-gpe", "ioam"]);
    let folder = Folder::create();
    let capture = folder.file("ioam.pcap").display().to_string();
    // With a buffer for all packets: on a busy machine it reads late.
    let mut tshark = lab
        .b
        .command(
            "tshark",
            &[
                "-q", "-i", "b0", "-f", "ip6", "-s", "512", "-B", "64", "-w", &capture,
            ],
        )
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    await_that("tshark captures", || {
        std::fs::metadata(&capture).is_ok_and(|file| file.len() > 0)
    });
    path.exchange();
    let stripped = lab.b.count("sink", "received");
    assert!(stripped > 500, "{stripped} packets stripped");
    let tagged = lab.a.count("source", "tagged");
    assert!(tagged >= stripped, "{tagged} tagged, {stripped} stripped");
    assert!(lab.a.count("source", "encapsulated") > 0, "superpackets");
    for reason in ["bad_shim", "bad_segment", "truncated", "foreign_mark"] {
        assert_eq!(lab.b.count("sink", reason), 0, "{reason}");
    }
    // One of the datagrams and one of the connection at least; how many more depends on their latency.
    await_that_or(|| path.told().len() >= 2, || format!("{:?}", path.told()));
    // What tshark has not read when it is ended is in no file.
    let unseen = || {
        let seen = dissected(&capture);
        let mut told = path.told();
        told.retain(|hops| !seen.contains(hops));
        told
    };
    await_that_or(
        || unseen().is_empty(),
        || format!("tshark saw no such packets: {:?}", unseen()),
    );
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(tshark.id() as i32),
        nix::sys::signal::Signal::SIGINT,
    )
    .unwrap();
    tshark.wait().unwrap();
    for hops in &path.told() {
        let nodes: Vec<[u64; 3]> = hops.iter().map(|hop| [hop[0], hop[1], hop[2]]).collect();
        let newest_first = [ROUTERS[1], ROUTERS[0]].map(|router| router.map(u64::from));
        assert_eq!(nodes, newest_first);
    }
    // Routers tell when a packet arrived: of that they make links, and no time in themselves.
    let stripped = Some(lab.b.count("sink", "received"));
    let expected = [stripped, stripped, None, stripped, None, stripped];
    await_that_or(
        || counted(&path) == expected,
        || format!("{:?} instead of {expected:?}", counted(&path)),
    );
}

#[test]
fn routers_without_room_or_of_another_namespace_are_no_hops_and_harm_nothing() {
    let first = vec![ROUTERS[0].map(u64::from)];
    let other_namespace = "ip ioam namespace del 18505; ip ioam namespace add 123";
    for (name, flags, at_second_router, is_full) in [
        ("room for one entry", "--max-hops 1", "true", true),
        (
            "the second router has another namespace",
            "",
            other_namespace,
            false,
        ),
    ] {
        let path = Path::begin(flags, |_, n| {
            n.sh(at_second_router);
        });
        path.exchange();
        let stripped = path.lab.b.count("sink", "received");
        assert!(stripped > 500, "{name}: {stripped}");
        // Those that were merged again count once.
        let full = path.lab.b.count("sink", "trace_full");
        assert!(
            full <= stripped && (full > 500) == is_full,
            "{name}: {full}"
        );
        await_that_or(|| !path.told().is_empty(), || format!("{name}: told"));
        for hops in path.told() {
            let nodes: Vec<[u64; 3]> = hops.iter().map(|hop| [hop[0], hop[1], hop[2]]).collect();
            assert_eq!(nodes, first, "{name}");
        }
    }
}

#[test]
fn where_a_router_drops_hop_by_hop_options_packets_go_another_way() {
    let path = Path::begin("", |_, n| drop_options(n));
    await_that_or(
        || path.ways() == ["tcp vxlan-gpe", "udp vxlan-gpe"],
        || format!("{:?}", peers(&path.lab.a)),
    );
    path.exchange();
    assert!(path.lab.b.count("sink", "received") > 500);
    assert!(path.told().iter().all(Vec::is_empty), "no router tells");
}

#[test]
fn packets_leave_ioam_when_a_router_begins_to_drop_hop_by_hop_options() {
    let path = Path::begin("", |_, _| {});
    assert!(path.ways().iter().any(|way| way == "ioam"));
    path.exchange();
    let address: SocketAddr = "[fd09:2::1]:7003".parse().unwrap();
    let listener = path.lab.b.enter(|| TcpListener::bind(address)).unwrap();
    let mut sent = path.lab.a.enter(|| TcpStream::connect(address)).unwrap();
    let (mut received, _) = listener.accept().unwrap();
    let mut pass = |seed| {
        let data = noise(seed, 100_000);
        let mut came = vec![0; data.len()];
        std::thread::scope(|scope| {
            scope.spawn(|| sent.write_all(&data).unwrap());
            received.read_exact(&mut came).unwrap();
        });
        assert!(came == data, "round {seed} came changed");
    };
    pass(0);
    let tagged = path.lab.a.count("source", "tagged");
    drop_options(&path.routers[1]);
    // The connection goes on without IOAM: to firewalls it is the same one.
    pass(1);
    let to = path.lab.b.udp("[fd09:2::1]:7004");
    let from = path.lab.a.udp("[fd09:1::1]:7005");
    await_that_or(
        || {
            from.send_to(
                b"lost, as long as it goes in ioam",
                to.local_addr().unwrap(),
            )
            .unwrap();
            !path.ways().iter().any(|way| way == "ioam")
        },
        || format!("{:?}", peers(&path.lab.a)),
    );
    pass(2);
    assert!(path.lab.a.count("source", "tagged") > tagged);
}
