//! A router that is an INT transit hop: its entry is in the reports, and every payload arrives as it was sent.

use std::collections::BTreeSet;

use hostint_testing::load::Load;
use hostint_testing::netns::{Daemon, Host, Lab, await_that, sh};
use hostint_testing::next_version::make_other_version;
use hostint_testing::watched_pair::is_settled;
use nix::sys::signal::Signal;
use serde_json::Value;

/// The node id of the router.
const HOP: u64 = 9;

/// A lab whose hosts tag packets to each other, and let this number of hops push.
pub struct Path {
    pub lab: Lab,
    reports: Daemon,
    _sinks: [Daemon; 2],
}

impl Path {
    fn begin(encapsulation: &str, max_hops: u8) -> Self {
        let lab = Lab::new();
        lab.add_ipv6();
        Self::on(lab, encapsulation, max_hops)
    }

    pub fn on(lab: Lab, encapsulation: &str, max_hops: u8) -> Self {
        let reports = lab.b.start("collect --json", "collecting on [::]");
        let sinks = [
            lab.a.leasing_sink("--dev a0 --node-id 1 --int-dscp 0x17"),
            lab.b.leasing_sink(
                "--dev b0 --node-id 2 --int-dscp 0x17 --collector 127.0.0.1 --report-period 10ms",
            ),
        ];
        for (host, dev, dests) in [
            (&lab.a, "a0", "10.9.2.1 fd09:2::1"),
            (&lab.b, "b0", "10.9.1.1 fd09:1::1"),
        ] {
            host.hostint(&format!(
                "source attach --dev {dev} --encap {encapsulation} --max-hops {max_hops}"
            ));
            host.hostint(&format!("source add-dest {dests}"));
        }
        await_that("both hosts know what passes", || {
            is_settled(&lab.a) && is_settled(&lab.b)
        });
        Self {
            lab,
            reports,
            _sinks: sinks,
        }
    }

    /// The latency reports so far, by the destination's IP version.
    pub fn latencies(&self) -> Vec<Value> {
        self.reports.json_lines_of("latency")
    }
}

/// Traffic of datagrams and streams over both IP versions, until `enough` says so; nothing of it is lost or changed.
pub fn carry(lab: &Lab, what: &str, mut enough: impl FnMut() -> bool) {
    let v4 = Load::start(&lab.a, &lab.b, "10.9.1.1", "10.9.2.1");
    let v6 = Load::start(&lab.a, &lab.b, "[fd09:1::1]", "[fd09:2::1]");
    await_that(what, || {
        let carried = [v4.carried(), v6.carried()].concat();
        carried.iter().all(|bytes| *bytes > 4 << 20) && enough()
    });
    for (version, load) in [("IPv4", v4), ("IPv6", v6)] {
        load.end().assert_untouched(&format!("{what}, {version}"));
    }
    for host in [&lab.a, &lab.b] {
        assert_eq!(host.checksum_errors(), 0, "{what}: checksums");
    }
}

fn index_of(host: &Host, dev: &str) -> u64 {
    host.sh(&format!("cat /sys/class/net/{dev}/ifindex"))
        .trim()
        .parse()
        .unwrap()
}

/// A hop that a report tells: the node, and its latency.
pub fn hops_of(report: &Value) -> Vec<(u64, i64)> {
    let all = report["transit"].as_array().cloned().unwrap_or_default();
    let number = |hop: &Value, key: &str| hop[key].as_u64().expect(key);
    let latency = |hop: &Value| {
        let [came, went] = ["ingress_ts_ns", "egress_ts_ns"].map(|key| number(hop, key) as u32);
        i64::from(went.wrapping_sub(came).cast_signed())
    };
    all.iter()
        .map(|hop| (number(hop, "node"), latency(hop)))
        .collect()
}

#[test]
fn the_entry_of_a_router_is_reported_and_payloads_stay_whole() {
    for encapsulation in [
        "over-tcp-udp",
        "extension-udp",
        "vxlan-gpe",
        "int-md --int-dscp 0x17",
    ] {
        let path = Path::begin(encapsulation, 4);
        let lab = &path.lab;
        lab.m.hostint(&format!(
            "transit attach --dev m0,m1 --node-id {HOP} --carriers host-int,vxlan-gpe,int-md --int-dscp 0x17"
        ));
        carry(lab, encapsulation, || {
            lab.m.count("transit", "pushed") > 1_000
        });
        let counters = lab.m.counters("transit");
        for (name, count) in &counters {
            let is_work = ["arrived", "pushed"].contains(&&**name);
            // Connections that began before the hosts knew what passes are not tagged with budget.
            assert!(is_work || *count == 0, "{encapsulation}: {name} {count}");
        }
        assert!(counters["arrived"] >= counters["pushed"], "{encapsulation}");

        // A report arrives a while after its packet.
        let of_source = |reports: Vec<Value>| -> Vec<Value> {
            let ours = reports.into_iter();
            ours.filter(|report| report["source"]["node"] == 1)
                .collect()
        };
        let is_ipv6 = |report: &Value| report["flow"]["dst"].as_str().unwrap().contains(':');
        await_that("both IP versions are reported", || {
            let versions: BTreeSet<bool> =
                of_source(path.latencies()).iter().map(is_ipv6).collect();
            versions.len() == 2
        });
        let reports = of_source(path.latencies());
        let (m0, m1) = (index_of(&lab.m, "m0"), index_of(&lab.m, "m1"));
        for report in &reports {
            let hops = hops_of(report);
            assert_eq!(hops.len(), 1, "{encapsulation}: {report}");
            let (node, latency) = hops[0];
            assert_eq!(node, HOP, "{encapsulation}: {report}");
            let end_to_end = report["latency_ns"].as_i64().unwrap();
            assert!(
                (0..=end_to_end).contains(&latency),
                "{encapsulation}: a part of the path takes no longer than all of it: {report}"
            );
            let hop = &report["transit"][0];
            assert_eq!(
                (&hop["ingress_port"], &hop["egress_port"]),
                (&m0.into(), &m1.into())
            );
        }
        lab.m.hostint("transit detach");
        assert_eq!(
            lab.m.try_hostint("status").status.code(),
            Some(3),
            "nothing is left"
        );
    }
}

#[test]
fn hops_come_and_go_under_load() {
    for encapsulation in ["over-tcp-udp", "vxlan-gpe"] {
        let path = Path::begin(encapsulation, 2);
        let lab = &path.lab;
        let mut rounds = 0;
        carry(lab, encapsulation, || {
            lab.m
                .hostint(&format!("transit attach --dev m0,m1 --node-id {HOP}"));
            // Again, which replaces the programs in place.
            lab.m
                .hostint(&format!("transit attach --dev m1,m0 --node-id {HOP}"));
            await_that("the hop pushes", || lab.m.count("transit", "pushed") > 0);
            lab.m.hostint("transit detach");
            rounds += 1;
            rounds >= 5
        });
        let with_hop = path
            .latencies()
            .iter()
            .filter(|report| !hops_of(report).is_empty())
            .count();
        assert!(with_hop > 0, "{encapsulation}: some packets met the hop");
    }
}

#[test]
fn versions_with_other_maps_take_over_from_each_other() {
    let path = Path::begin("tunnel", 1);
    let lab = &path.lab;
    let attach =
        format!("transit attach --dev m0,m1 --node-id {HOP} --allow 10.9.0.0/16,fd09::/16");
    lab.m.hostint(&attach);
    let (mut rounds, mut counted) = (0, 0);
    carry(lab, "upgrades", || {
        make_other_version(&lab.m);
        // Only one interface is named; the other one is taken over as it is.
        lab.m
            .hostint(&format!("transit attach --dev m0 --node-id {HOP}"));
        let pushed = lab.m.count("transit", "pushed");
        assert!(pushed >= counted, "{pushed} after {counted}");
        counted = pushed;
        let interfaces = &lab.m.figures()["transit"]["interfaces"];
        for at in 0..2 {
            assert_eq!(interfaces[at]["attached"], true, "{interfaces}");
        }
        assert_eq!(interfaces[1]["only_allowed"], true, "{interfaces}");
        // Of links, and of maps.
        assert_eq!(std::fs::read_dir(lab.m.pins()).unwrap().count(), 2);
        rounds += 1;
        rounds >= 3 && counted > 1_000
    });
    lab.m.hostint("transit detach");
    assert!(!lab.m.pins().exists(), "nothing is left");
}

#[test]
fn a_bridge_is_a_hop_too() {
    let lab = Lab::new();
    let (a, m, b) = (&lab.a.ns, &lab.m.ns, &lab.b.ns);
    sh(&format!(
        "ip -n {m} addr flush dev m0; ip -n {m} addr flush dev m1
         ip -n {m} link add br0 type bridge; ip -n {m} link set br0 up
         ip -n {m} link set m0 master br0; ip -n {m} link set m1 master br0
         ip -n {a} addr flush dev a0; ip -n {b} addr flush dev b0
         ip -n {a} addr add 10.9.1.1/16 dev a0; ip -n {b} addr add 10.9.2.1/16 dev b0
         ip -n {a} addr add fd09:1::1/16 dev a0 nodad; ip -n {b} addr add fd09:2::1/16 dev b0 nodad"
    ));
    lab.m
        .hostint(&format!("transit attach --dev m0,m1 --node-id {HOP}"));
    let path = Path::on(lab, "tunnel", 1);
    let lab = &path.lab;
    carry(lab, "a bridge", || {
        lab.m.count("transit", "pushed") > 10_000
    });
    let told = path.latencies();
    let told: Vec<&Value> = told.iter().filter(|at| at["source"]["node"] == 1).collect();
    assert!(!told.is_empty());
    for report in told {
        let [(HOP, latency)] = hops_of(report)[..] else {
            panic!("{report}");
        };
        let end_to_end = report["latency_ns"].as_i64().unwrap();
        assert!((0..=end_to_end).contains(&latency), "{report}");
    }
}

/// The lab with a second router, r, between m and b.
pub fn with_second_router(lab: &Lab) -> Host {
    let r = lab.host("r");
    let (m, b) = (&lab.m.ns, &lab.b.ns);
    sh(&format!(
        "ip -n {b} link del b0
         ip link add m1 netns {m} type veth peer name r0 netns {r}
         ip link add b0 netns {b} type veth peer name r1 netns {r}
         ip -n {m} addr add 10.9.3.1/24 dev m1; ip -n {r} addr add 10.9.3.2/24 dev r0
         ip -n {m} addr add fd09:3::1/64 dev m1 nodad; ip -n {r} addr add fd09:3::2/64 dev r0 nodad
         ip -n {r} addr add 10.9.2.2/24 dev r1; ip -n {b} addr add 10.9.2.1/24 dev b0
         ip -n {r} addr add fd09:2::2/64 dev r1 nodad; ip -n {b} addr add fd09:2::1/64 dev b0 nodad
         ip -n {m} link set m1 up; ip -n {r} link set r0 up
         ip -n {r} link set r1 up; ip -n {b} link set b0 up
         ip netns exec {r} sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
         ip -n {m} route add 10.9.2.0/24 via 10.9.3.2; ip -n {r} route add 10.9.1.0/24 via 10.9.3.1
         ip -n {m} -6 route add fd09:2::/64 via fd09:3::2; ip -n {r} -6 route add fd09:1::/64 via fd09:3::1
         ip -n {b} route add default via 10.9.2.2; ip -n {b} -6 route add default via fd09:2::2",
        r = r.ns
    ));
    r
}

#[test]
fn two_hops_are_told_in_the_order_of_the_path() {
    for encapsulation in ["over-tcp-udp", "vxlan-gpe"] {
        let lab = Lab::new();
        lab.add_ipv6();
        let r = with_second_router(&lab);
        lab.m
            .hostint(&format!("transit attach --dev m0,m1 --node-id {HOP}"));
        r.hostint("transit attach --dev r0,r1 --node-id 10");
        let path = Path::on(lab, encapsulation, 2);
        let lab = &path.lab;
        carry(lab, encapsulation, || r.count("transit", "pushed") > 10_000);
        let told: Vec<Value> = path
            .latencies()
            .into_iter()
            .filter(|report| report["source"]["node"] == 1)
            .collect();
        assert!(!told.is_empty());
        for report in &told {
            // Newest first.
            let [(10, last), (HOP, first)] = hops_of(report)[..] else {
                panic!("{encapsulation}: {report}");
            };
            let end_to_end = report["latency_ns"].as_i64().unwrap();
            assert!(first >= 0 && last >= 0, "{encapsulation}: {report}");
            assert!(first + last <= end_to_end, "{encapsulation}: {report}");
        }
        r.hostint("transit detach");
        lab.m.hostint("transit detach");
    }
}

#[test]
fn the_daemon_keeps_the_hop_attached_and_outlives_nothing() {
    let path = Path::begin("tunnel", 2);
    let lab = &path.lab;
    let config = std::env::temp_dir().join(format!("{}.toml", lab.m.ns));
    let text = "[transit]\ndev = [\"m0\", \"m1\"]\nnode-id = 9\nhttp = \"127.0.0.1\"\n";
    std::fs::write(&config, text).unwrap();
    let line = format!("transit --config {}", config.display());
    let mut daemon = lab.m.start(&line, "transit hop attached to m1");
    let scraped = |page: &str| {
        lab.m
            .sh(&format!("curl -sf http://127.0.0.1:13279/{page} || true"))
    };
    await_that("it is ready", || scraped("readyz").contains("ok"));
    carry(lab, "with a daemon", || {
        lab.m.count("transit", "pushed") > 1_000
    });
    await_that("metrics tell what was pushed", || {
        scraped("metrics").lines().any(|line| {
            line.strip_prefix("hostint_transit_pushed_total ")
                .is_some_and(|count| count.parse::<f64>().unwrap() > 1_000.0)
        })
    });

    let second = lab.m.try_hostint("transit --dev m0 --node-id 9");
    assert_eq!(second.status.code(), Some(1), "a second daemon is refused");
    let why = String::from_utf8(second.stderr).unwrap();
    assert!(why.contains("another hostint transit"), "{why}");

    let other = text.replace("node-id = 9\n", "node-id = 9\nallow = [\"192.0.2.0/24\"]\n");
    std::fs::write(&config, &other).unwrap();
    daemon.signal(Signal::SIGHUP);
    await_that("the file is read again", || {
        lab.m.figures()["transit"]["interfaces"][0]["only_allowed"] == true
    });
    carry(lab, "not allowed", || {
        lab.m.count("transit", "not_allowed") > 1_000
    });

    std::fs::write(&config, "[transit]\ndev = \"m0\"\nnode-id = 4294967295\n").unwrap();
    daemon.signal(Signal::SIGHUP);
    await_that("a mistake is refused", || {
        daemon.stderr().contains("means that a node is unknown")
    });

    let attached = || {
        let figures = lab.m.figures();
        let interfaces = figures["transit"]["interfaces"].as_array().unwrap();
        let attached = interfaces.iter().filter(|at| at["attached"] == true);
        attached.count()
    };
    // Somebody takes the programs off; the daemon puts them back.
    for link in std::fs::read_dir(lab.m.pins().join("links")).unwrap() {
        std::fs::remove_file(link.unwrap().path()).unwrap();
    }
    await_that("they are put back", || {
        daemon.stderr().matches("attached again").count() == 2 && attached() == 2
    });
    daemon.kill();
    assert_eq!(attached(), 2, "a killed daemon leaves the hop attached");
    let before = lab.m.count("transit", "not_allowed");
    carry(lab, "without daemon", || {
        lab.m.count("transit", "not_allowed") > before + 1_000
    });
    let mut again = lab
        .m
        .start("transit --dev m0,m1 --node-id 9", "attached to m1");
    lab.m.hostint("transit detach --dev m0");
    lab.m.hostint("transit detach");
    assert_eq!(again.wait(), Some(0), "nothing is left to look after");
    let said = again.stderr();
    assert!(
        said.contains("because the transit hop was detached"),
        "{said}"
    );
    let none = lab.m.try_hostint("transit detach");
    assert_eq!(none.status.code(), Some(3), "nothing is left to detach");
    std::fs::remove_file(&config).unwrap();
}
