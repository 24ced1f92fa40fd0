//! Losses on links, in queues and in boxes are told where they happened, packet by packet.

use std::net::SocketAddr;

use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or};
use hostint_testing::scratch::Folder;
use hostint_testing::watched_pair::is_settled;
use serde_json::Value;

use crate::exchange::{exchange_tcp_with, exchange_udp};

/// Datagrams to these ports and the following ones are lost: on each link, in the queue of each hop, and in the first two.
const LINKS: u16 = 7010;
const QUEUES: u16 = 7020;
const BOXES: u16 = 7030;

/// The nodes of the hops.
const HOPS: [u64; 3] = [9, 10, 11];

/// a - x0 - h0 - x1 - h1 - x2 - h2 - x3 - b: transit hops between routers without INT, and a collector on b keeps a history.
struct LossyPath {
    lab: Lab,
    store: String,
    _folder: Folder,
    _daemons: Vec<Daemon>,
}

/// Makes the routers, which have `in` towards a and `out` towards b, in the order of the path.
fn wire(lab: &Lab) -> Vec<Host> {
    lab.a.sh("ip link del a0");
    lab.b.sh("ip link del b0");
    let names = ["x0", "h0", "x1", "h1", "x2", "h2", "x3"];
    let routers: Vec<Host> = names.iter().map(|name| lab.host(name)).collect();
    let mut before = (&lab.a, "a0");
    let ends = routers.iter().map(|host| (host, "in"));
    for (number, after) in ends.chain([(&lab.b, "b0")]).enumerate() {
        let (one, other) = (before, after);
        hostint_testing::netns::sh(&format!(
            "ip link add {} netns {} type veth peer name {} netns {}",
            one.1, one.0.ns, other.1, other.0.ns
        ));
        for ((host, dev), end) in [(one, 1), (other, 2)] {
            host.sh(&format!(
                "ip addr add 10.9.{}.{end}/24 dev {dev}; ip link set {dev} up; sysctl -qw net.ipv4.ip_forward=1",
                11 + number
            ));
        }
        before = (after.0, "out");
    }
    lab.a.sh("ip route add default via 10.9.11.2");
    for (number, host) in routers.iter().enumerate() {
        let (back, forth) = (11 + number, 12 + number);
        // The first and the last network are at the ends.
        let to_a = format!("ip route add 10.9.11.0/24 via 10.9.{back}.1");
        let to_b = format!("ip route add 10.9.18.0/24 via 10.9.{forth}.2");
        host.sh(&format!(
            "{}; {}",
            if number > 0 { &to_a } else { ":" },
            if forth < 18 { &to_b } else { ":" }
        ));
    }
    lab.b.sh("ip route add default via 10.9.18.1");
    routers
}

/// Bytes from the UDP header on to the destination port of the datagram, where these many hops pushed their entries.
fn port_at(encapsulation: &str, hops: u32) -> u32 {
    match encapsulation {
        "vxlan-gpe" => 8 + 64 + hops * 24 + 20 + 2,
        _ => 2,
    }
}

fn drop_forwarded(host: &Host, port: u16, port_at: u32) {
    host.sh(&format!(
        "nft add table ip lab; nft 'add chain ip lab lossy {{ type filter hook forward priority 0; }}'
         nft add rule ip lab lossy meta l4proto udp @th,{},16 {port} drop",
        8 * port_at
    ));
}

impl LossyPath {
    fn begin(encapsulation: &str) -> Self {
        let lab = Lab::new();
        let routers = wire(&lab);
        let hops = || routers.iter().skip(1).step_by(2).zip(0..);
        let folder = Folder::create();
        let store = folder.file("history.db").display().to_string();
        let collector = "--collector 10.9.18.2";
        let mut daemons = vec![lab.b.start(
            &format!("collect --listen 10.9.18.2 --store {store}"),
            "collecting on",
        )];
        for (host, dev, node) in [(&lab.a, "a0", 1), (&lab.b, "b0", 2)] {
            let flags = format!(
                "--dev {dev} --node-id {node} {collector} --summary-period 1s --host-times"
            );
            daemons.push(host.leasing_sink(&flags));
        }
        for ((host, _), node) in hops().zip(HOPS) {
            let line = format!("transit --dev in,out --node-id {node} --waits {collector}");
            daemons.push(host.start(&line, "waits in queues are reported"));
        }
        lab.a.hostint(&format!(
            "source attach --dev a0 --encap {encapsulation} --max-hops 3"
        ));
        lab.a.hostint("source add-dest 10.9.18.2");
        for (link, pushed) in routers.iter().step_by(2).zip(0..) {
            drop_forwarded(link, LINKS + pushed, port_at(encapsulation, pushed.into()));
        }
        for (hop, pushed) in hops() {
            if pushed < 2 {
                drop_forwarded(hop, BOXES + pushed, port_at(encapsulation, pushed.into()));
            }
            // All datagrams to the port find a queue without room.
            hop.sh(&format!(
                "tc qdisc add dev out root handle 1: htb default 1
                 tc class add dev out parent 1: classid 1:1 htb rate 10gbit quantum 60000
                 tc class add dev out parent 1: classid 1:2 htb rate 10gbit quantum 60000
                 tc qdisc add dev out parent 1:2 bfifo limit 1
                 tc filter add dev out parent 1: protocol ip u32 match u16 {} 0xffff at {} flowid 1:2",
                QUEUES + pushed,
                20 + port_at(encapsulation, u32::from(pushed) + 1)
            ));
        }
        await_that("the source knows what passes", || is_settled(&lab.a));
        Self {
            lab,
            store,
            _folder: folder,
            _daemons: daemons,
        }
    }

    fn ask(&self, form: &str) -> Vec<u8> {
        let store = &self.store;
        let question = format!("history path --from 1 --to 2 {form} --store {store}");
        self.lab.b.try_hostint(&question).stdout
    }

    /// The path over all hops; null if it is not known yet.
    fn path(&self) -> Value {
        let answer: Value = serde_json::from_slice(&self.ask("--json")).unwrap_or_default();
        let paths = answer["paths"].as_array().cloned().unwrap_or_default();
        let over_all = |path: &Value| path["nodes"].as_array().map(Vec::len) == Some(5);
        paths.into_iter().find(over_all).unwrap_or_default()
    }
}

/// The packets that came to a segment, and those that were lost there.
fn loss(segment: &Value) -> (u64, u64) {
    let count = |name: &str| segment["loss"][name].as_u64().unwrap_or(0);
    (count("packets"), count("lost"))
}

/// What is known of a path: packets and losses of the whole, of its segments in their order, and of its queues.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Known {
    whole: (u64, u64),
    segments: Vec<(u64, u64)>,
    queues: Vec<(u64, u64)>,
}

impl Known {
    fn of(path: &Value) -> Self {
        let all = |name: &str| {
            let list = path[name].as_array().cloned().unwrap_or_default();
            // The source's queue tells no losses.
            let told = list
                .iter()
                .filter(|row| !row["loss"].is_null() || name == "segments");
            told.map(loss).collect::<Vec<_>>()
        };
        Self {
            whole: loss(&path["whole"]),
            segments: all("segments"),
            queues: all("queues"),
        }
    }
}

/// Waits until all places of the path told of whole blocks. Returns what is known then.
fn await_counts(path: &LossyPath, mut send: impl FnMut()) -> Known {
    let mut known = Known::default();
    await_that("packets are counted at all places", || {
        send();
        known = Known::of(&path.path());
        let all = known.segments.iter().chain(&known.queues);
        known.queues.len() == 3 && all.filter(|(packets, _)| *packets > 0).count() == 10
    });
    known
}

/// Both ends tell what packets wait in them: in the source's stack and queue, and until the application reads them.
fn assert_host_times(path: &LossyPath, encapsulation: &str) {
    let to = SocketAddr::from(([10, 9, 18, 2], 7004));
    exchange_tcp_with(&path.lab.a, &path.lab.b, to, 100_000);
    let packets = |row: &Value| row["packets"].as_u64().unwrap_or(0);
    let known = |path: &Value| {
        let rows = |name: &str| path[name].as_array().cloned().unwrap_or_default();
        let mut queues = rows("queues").into_iter();
        let queue = queues.find(|row| row["from"]["node"] == 1);
        let ends = rows("host_segments");
        let end = |kind: &str| ends.iter().find(|row| row["kind"] == kind).cloned();
        [queue, end("stack"), end("read")].map(Option::unwrap_or_default)
    };
    let is_told = || {
        let path = path.path();
        let [queue, stack, read] = known(&path).map(|row| packets(&row));
        // Datagrams have no time in the stack, and some of TCP's segments are joined before they are read.
        queue >= packets(&path["whole"]) && queue > stack && stack > 0 && queue > read && read > 0
    };
    await_that_or(is_told, || {
        format!(
            "{encapsulation}: waits in hosts are told: {:#}",
            path.path()
        )
    });
    let [queue, ..] = known(&path.path());
    let p99_ns = queue["latency"]["p99_ns"].as_u64();
    // Probes of the path have times of their own, which would be seconds.
    assert!(
        p99_ns.is_some_and(|p99_ns| p99_ns < 500_000_000),
        "{encapsulation}: {queue:#}"
    );
}

#[test]
fn losses_are_told_where_they_happened() {
    for encapsulation in ["over-tcp-udp", "vxlan-gpe"] {
        let path = LossyPath::begin(encapsulation);
        let lab = &path.lab;
        let (from, to) = (lab.a.udp("10.9.11.1:5000"), lab.b.udp("10.9.18.2:6000"));
        let before = await_counts(&path, || exchange_udp(&from, &to, 10, 300));
        let mut sent: u64 = 0;
        let send = |port: u16, count: u64| {
            for _ in 0..count {
                from.send_to(&[7; 300], ("10.9.18.2", port)).unwrap();
            }
        };
        assert_eq!(
            before.whole.1, 0,
            "{encapsulation}: nothing was lost yet: {before:?}"
        );
        // So many at each place that no sum of others is the same.
        let links = (LINKS..).zip([100, 101, 103, 107]);
        let queues = (QUEUES..).zip([50, 60, 80]);
        for (port, count) in links.chain(queues).chain((BOXES..).zip([20, 30])) {
            send(port, count);
            exchange_udp(&from, &to, 100, 300);
            sent += count + 100;
        }
        let lost = |known: &Known| {
            known
                .segments
                .iter()
                .map(|(_, lost)| *lost)
                .collect::<Vec<_>>()
        };
        let is_told = || {
            let known = Known::of(&path.path());
            known.whole.1 == 651 && known.whole.0 >= before.whole.0 + sent
        };
        await_that_or(is_told, || {
            format!(
                "{encapsulation}: 651 lost packets are told: {before:?} {:#}",
                path.path()
            )
        });
        let known = Known::of(&path.path());
        // Wire, hop, wire with the queue in front of it, and so on.
        assert_eq!(
            lost(&known),
            [100, 20, 50 + 101, 30, 60 + 103, 0, 80 + 107],
            "{encapsulation}: {known:?}"
        );
        let in_queues: Vec<_> = known.queues.iter().map(|(_, lost)| *lost).collect();
        assert_eq!(in_queues, [50, 60, 80], "{encapsulation}: {known:?}");
        let unseen: Vec<_> = path.path()["segments"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|segment| segment["unseen_hops"].as_u64())
            .collect();
        assert_eq!(
            unseen,
            [Some(1), None, Some(1), None, Some(1), None, Some(1)],
            "{encapsulation}: a router without INT is on each link"
        );
        assert_host_times(&path, encapsulation);
        let told = String::from_utf8(path.ask("")).unwrap();
        assert!(
            told.contains("router   1 router without INT"),
            "{encapsulation}: {told}"
        );
        assert!(
            told.contains(" packets were lost: ") && told.contains("80 in the queue of "),
            "{encapsulation}: {told}"
        );
    }
}

#[test]
fn segments_of_superpackets_are_counted_alike_everywhere() {
    let path = LossyPath::begin("vxlan-gpe");
    let lab = &path.lab;
    let (from, to) = (lab.a.udp("10.9.11.1:5000"), lab.b.udp("10.9.18.2:6000"));
    let before = await_counts(&path, || exchange_udp(&from, &to, 10, 300));
    let to = SocketAddr::from(([10, 9, 18, 2], 7000));
    exchange_tcp_with(&lab.a, &lab.b, to, 30_000_000);
    // A segment of which more came out than in has no figures.
    let is_told = || {
        let known = Known::of(&path.path());
        let all = known.segments.iter().chain(&known.queues);
        all.chain([&known.whole])
            .all(|(packets, _)| *packets > before.whole.0 + 20_000)
    };
    await_that_or(is_told, || {
        format!("the segments are told: {before:?} {:#}", path.path())
    });
    let known = Known::of(&path.path());
    let lost: Vec<_> = known.segments.iter().map(|(_, lost)| *lost).collect();
    // A busy machine may lose some on a link or in a queue, and then all say so.
    assert_eq!([lost[1], lost[3], lost[5]], [0; 3], "in boxes: {known:?}");
    assert_eq!(known.whole.1, lost.iter().sum::<u64>(), "{known:?}");
    assert!(known.whole.1 < known.whole.0 / 100, "{known:?}");
}
