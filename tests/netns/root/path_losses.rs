//! Losses on links, in queues and in boxes are told where they happened, packet by packet.

use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or};
use hostint_testing::scratch::Folder;
use hostint_testing::watched_pair::is_settled;
use serde_json::Value;

use crate::exchange::{exchange_tcp, exchange_udp};

/// Datagrams to these ports are lost: on the link to the first hop, in its queue, and in the second hop.
const LINK: u16 = 7001;
const QUEUE: u16 = 7002;
const BOX: u16 = 7003;

/// The nodes of the hops.
const HOPS: [u64; 2] = [9, 10];

/// a - x - m - n - b: m and n are transit hops, x is a router without INT, and a collector on b keeps a history.
struct LossyPath {
    lab: Lab,
    store: String,
    _folder: Folder,
    _daemons: Vec<Daemon>,
}

fn wire(lab: &Lab) -> [Host; 2] {
    let (x, n) = (lab.host("x"), lab.host("n"));
    let link = |one: (&Host, &str, &str), other: (&Host, &str, &str)| {
        hostint_testing::netns::sh(&format!(
            "ip link add {} netns {} type veth peer name {} netns {}",
            one.1, one.0.ns, other.1, other.0.ns
        ));
        for (host, dev, address) in [one, other] {
            host.sh(&format!(
                "ip addr add {address}/24 dev {dev}; ip link set {dev} up; sysctl -qw net.ipv4.ip_forward=1"
            ));
        }
    };
    lab.a.sh("ip link del a0");
    lab.b.sh("ip link del b0");
    link((&lab.a, "a0", "10.9.1.1"), (&x, "x0", "10.9.1.2"));
    link((&x, "x1", "10.9.3.1"), (&lab.m, "m0", "10.9.3.2"));
    link((&lab.m, "m1", "10.9.4.1"), (&n, "n0", "10.9.4.2"));
    link((&n, "n1", "10.9.2.2"), (&lab.b, "b0", "10.9.2.1"));
    lab.a.sh("ip route add default via 10.9.1.2");
    x.sh("ip route add default via 10.9.3.2");
    lab.m
        .sh("ip route add 10.9.2.0/24 via 10.9.4.2; ip route add default via 10.9.3.1");
    n.sh("ip route add default via 10.9.4.1");
    lab.b.sh("ip route add default via 10.9.2.2");
    [x, n]
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
        let [x, n] = wire(&lab);
        let folder = Folder::create();
        let store = folder.file("history.db").display().to_string();
        let collector = "--collector 10.9.2.1";
        let mut daemons = vec![lab.b.start(
            &format!("collect --listen 10.9.2.1 --store {store}"),
            "collecting on",
        )];
        for (host, dev, node) in [(&lab.a, "a0", 1), (&lab.b, "b0", 2)] {
            let flags = format!(
                "--dev {dev} --node-id {node} {collector} --summary-period 1s --host-times"
            );
            daemons.push(host.leasing_sink(&flags));
        }
        for (host, devs, node) in [(&lab.m, "m0,m1", HOPS[0]), (&n, "n0,n1", HOPS[1])] {
            let line = format!("transit --dev {devs} --node-id {node} --waits {collector}");
            daemons.push(host.start(&line, "waits in queues are told"));
        }
        lab.a.hostint(&format!(
            "source attach --dev a0 --encap {encapsulation} --max-hops 2"
        ));
        lab.a.hostint("source add-dest 10.9.2.1");
        drop_forwarded(&x, LINK, port_at(encapsulation, 0));
        drop_forwarded(&n, BOX, port_at(encapsulation, 1));
        // All datagrams to the port find a queue without room.
        lab.m.sh(&format!(
            "tc qdisc add dev m1 root handle 1: htb default 1
             tc class add dev m1 parent 1: classid 1:1 htb rate 10gbit quantum 60000
             tc class add dev m1 parent 1: classid 1:2 htb rate 10gbit quantum 60000
             tc qdisc add dev m1 parent 1:2 bfifo limit 1
             tc filter add dev m1 parent 1: protocol ip u32 match u16 {QUEUE} 0xffff at {} flowid 1:2",
            20 + port_at(encapsulation, 1)
        ));
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

    /// The path over both hops; null if it is not known yet.
    fn path(&self) -> Value {
        let answer: Value = serde_json::from_slice(&self.ask("--json")).unwrap_or_default();
        let paths = answer["paths"].as_array().cloned().unwrap_or_default();
        let over_both = |path: &Value| path["nodes"].as_array().map(Vec::len) == Some(4);
        paths.into_iter().find(over_both).unwrap_or_default()
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
        known.queues.len() == 2 && all.filter(|(packets, _)| *packets > 0).count() == 7
    });
    known
}

/// Both ends tell what packets wait in them: in the source's stack and queue, and until the application reads them.
fn assert_host_times(path: &LossyPath, encapsulation: &str) {
    exchange_tcp(&path.lab.a, &path.lab.b, 7004, 100_000);
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
        // Datagrams are in the first one alone, and some of TCP's segments are joined before they are read.
        queue >= packets(&path["whole"]) && queue > stack && stack > read && read > 0
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
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        let before = await_counts(&path, || exchange_udp(&from, &to, 10, 300));
        let mut sent: u64 = 0;
        let send = |port: u16, count: u64| {
            for _ in 0..count {
                from.send_to(&[7; 300], ("10.9.2.1", port)).unwrap();
            }
        };
        assert_eq!(
            before.whole.1, 0,
            "{encapsulation}: nothing was lost yet: {before:?}"
        );
        for (port, count) in [(LINK, 100), (QUEUE, 50), (BOX, 20)] {
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
            known.whole.1 == 170 && known.whole.0 >= before.whole.0 + sent
        };
        await_that_or(is_told, || {
            format!(
                "{encapsulation}: 170 lost packets are told: {before:?} {:#}",
                path.path()
            )
        });
        let known = Known::of(&path.path());
        // Wire, hop, wire with its queue, hop, wire.
        assert_eq!(
            lost(&known),
            [100, 0, 50, 20, 0],
            "{encapsulation}: {known:?}"
        );
        let in_queues: Vec<_> = known.queues.iter().map(|(_, lost)| *lost).collect();
        assert_eq!(in_queues, [50, 0], "{encapsulation}: {known:?}");
        let unseen: Vec<_> = path.path()["segments"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|segment| segment["unseen_hops"].as_u64())
            .collect();
        assert_eq!(
            unseen,
            [Some(1), None, Some(0), None, Some(0)],
            "{encapsulation}: a router without INT is on the first link"
        );
        assert_host_times(&path, encapsulation);
        let told = String::from_utf8(path.ask("")).unwrap();
        assert!(
            told.contains("router   1 router without INT"),
            "{encapsulation}: {told}"
        );
        assert!(
            told.contains(" packets were lost: 100 in wire ")
                && told.contains("; 50 in the queue of "),
            "{encapsulation}: {told}"
        );
    }
}

#[test]
fn segments_of_superpackets_are_counted_alike_everywhere() {
    let path = LossyPath::begin("vxlan-gpe");
    let lab = &path.lab;
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let before = await_counts(&path, || exchange_udp(&from, &to, 10, 300));
    exchange_tcp(&lab.a, &lab.b, 7000, 30_000_000);
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
    assert_eq!((lost[1], lost[3]), (0, 0), "in boxes: {known:?}");
    assert_eq!(known.whole.1, lost.iter().sum::<u64>(), "{known:?}");
    assert!(known.whole.1 < known.whole.0 / 100, "{known:?}");
}
