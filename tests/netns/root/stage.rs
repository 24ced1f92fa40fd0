//! Superpackets are segmented by a pair of staging interfaces, or are not sent at all.

use std::path::Path;

use hostint_testing::netns::{Host, Lab, pins_below};
use nix::sys::socket::{setsockopt, sockopt};
use serde_json::Value;

use crate::exchange::{exchange_tcp, exchange_udp, noise};

/// A veth with XDP holds 256 packets: TCP may have no more on their way.
fn lab() -> Lab {
    let lab = Lab::new();
    for host in [&lab.a, &lab.b] {
        host.sh("sysctl -qw net.ipv4.tcp_rmem='4096 65536 131072'");
    }
    lab
}

/// What `ip` says of each interface.
fn links(host: &Host) -> Vec<Value> {
    serde_json::from_str(&host.sh("ip -d -j link")).unwrap()
}

fn link(host: &Host, dev: &str) -> Value {
    let mut all = links(host).into_iter();
    all.find(|link| link["ifname"] == dev).unwrap()
}

/// Names and indexes of the interfaces that hostint made.
fn staging(host: &Host) -> Vec<(String, u64)> {
    let all = links(host).into_iter();
    let mut found: Vec<_> = all
        .map(|link| {
            let name = link["ifname"].as_str().unwrap().to_owned();
            (name, link["ifindex"].as_u64().unwrap())
        })
        .filter(|(name, _)| name.starts_with("hi"))
        .collect();
    found.sort();
    found
}

fn own_pins(host: &Host) -> Vec<String> {
    let id = host.enter(hostint::os::netns::id).unwrap();
    pins_below(&Path::new("/sys/fs/bpf/hostint").join(id.to_string()))
}

#[test]
fn bulk_tcp_is_tagged_segment_by_segment() {
    for (name, flags, offload) in [
        ("over-tcp-udp", "--encap over-tcp-udp", "on"),
        ("finished checksums", "--encap over-tcp-udp", "off"),
        ("extension-udp", "--encap extension-udp", "on"),
        ("vxlan-gpe", "--encap vxlan-gpe", "on"),
        ("through clsact", "--no-tcx", "on"),
        (
            "for Host-INT",
            "--encap extension-udp --compat host-int",
            "on",
        ),
    ] {
        let lab = lab();
        lab.a.sh(&format!("ethtool -K a0 tx {offload} >/dev/null"));
        let _sinks = lab.tag(&format!("--superpackets stage {flags}"));
        let len = 8_000_000;
        exchange_tcp(&lab.a, &lab.b, 7000, len);
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        exchange_udp(&from, &to, 100, 1300);

        let tagged = lab.a.count("source", "tagged");
        let data_segments = len as u64 / 1460;
        assert!(tagged > data_segments, "{name}: {tagged} tagged");
        for untagged in ["superpacket", "too_long", "may_fragment", "encapsulated"] {
            assert_eq!(lab.a.count("source", untagged), 0, "{name}: {untagged}");
        }
        if offload == "on" {
            assert!(lab.a.count("source", "staged") > 0, "{name}");
        }
        assert_eq!(lab.b.count("sink", "received"), tagged, "{name}");
        assert_eq!(lab.b.count("sink", "lost"), 0, "{name}");
        let errors = lab.a.checksum_errors() + lab.b.checksum_errors();
        assert_eq!(errors, 0, "{name}");

        let a0 = link(&lab.a, "a0")["ifindex"].clone();
        let status = lab.b.status();
        for flow in status["sink"]["flows"].as_array().unwrap() {
            assert_eq!(flow["source_port"], a0, "{name}: {flow}");
        }
    }
}

#[test]
fn udp_superpackets_are_tagged_one_by_one() {
    let lab = lab();
    let _sinks = lab.tag("--superpackets stage");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    // So short that no router fragments them: superpackets that are longer than the MTU have no DF.
    setsockopt(&from, sockopt::UdpGsoSegment, &500).unwrap();
    let sent = noise(1, 19_800);
    let (mut arrived, mut datagram) = (Vec::new(), [0; 2_000]);
    from.send_to(&sent, to.local_addr().unwrap()).unwrap();
    for _ in 0..40 {
        let len = to.recv(&mut datagram).unwrap();
        arrived.extend_from_slice(&datagram[..len]);
    }
    assert!(sent == arrived);
    assert_eq!(lab.a.count("source", "staged"), 1);
    assert_eq!(lab.a.count("source", "tagged"), 40);
    assert_eq!(lab.b.count("sink", "received"), 40);
    assert_eq!(lab.b.checksum_errors(), 0);
}

#[test]
fn the_pair_sends_nothing_of_its_own_and_has_no_addresses() {
    let lab = lab();
    let _sinks = lab.tag("--superpackets stage");
    let pair = staging(&lab.a);
    let a0 = &link(&lab.a, "a0")["ifindex"];
    assert_eq!(
        [pair[0].0.clone(), pair[1].0.clone()],
        [format!("hi{a0}a"), format!("hi{a0}b")]
    );
    exchange_tcp(&lab.a, &lab.b, 7000, 100_000);
    for (dev, _) in &pair {
        let ipv6 = format!("cat /proc/sys/net/ipv6/conf/{dev}/disable_ipv6");
        assert_eq!(lab.a.sh(&ipv6).trim(), "1", "{dev}");
        assert_eq!(lab.a.sh(&format!("ip -o addr show dev {dev}")), "", "{dev}");
        assert_eq!(
            lab.a.sh(&format!("ip -o route show dev {dev}")),
            "",
            "{dev}"
        );
    }
}

#[test]
fn the_mtu_is_followed_behind_the_pair() {
    let lab = lab();
    let _sinks = lab.tag("--superpackets stage");
    for mtu in [1500, 1400, 1500] {
        lab.a.sh(&format!("ip link set a0 mtu {mtu}"));
        let before = lab.a.count("source", "tagged");
        exchange_tcp(&lab.a, &lab.b, 7000 + mtu, 1_000_000);
        let tagged = lab.a.count("source", "tagged") - before;
        assert!(tagged > 690, "MTU {mtu}: {tagged} tagged");
        assert_eq!(lab.a.count("source", "too_long"), 0, "MTU {mtu}");
    }
}

#[test]
fn another_attach_uses_the_pair_again_and_another_way_removes_it() {
    let lab = lab();
    let _sinks = lab.tag("--superpackets stage");
    let pair = staging(&lab.a);
    assert_eq!(pair.len(), 2);
    lab.a
        .hostint("source attach --dev a0 --superpackets stage --encap extension-udp");
    assert_eq!(staging(&lab.a), pair);
    exchange_tcp(&lab.a, &lab.b, 7000, 1_000_000);
    let tagged = lab.a.count("source", "tagged");
    assert!(tagged > 690, "{tagged}");
    assert_eq!(lab.b.count("sink", "received"), tagged);

    lab.a
        .hostint("source attach --dev a0 --encap over-tcp-udp --superpackets skip");
    assert_eq!(staging(&lab.a), []);
    let stages = |host| own_pins(host).iter().any(|pin| pin.contains("stage"));
    assert!(!stages(&lab.a));
    exchange_tcp(&lab.a, &lab.b, 7001, 1_000_000);
    assert!(lab.a.count("source", "superpacket") > 0);
}

#[test]
fn detach_leaves_no_interface_no_pin_and_no_limit_behind() {
    for (name, flags) in [
        ("stage", "--superpackets stage"),
        ("stage by clsact", "--superpackets stage --no-tcx"),
        ("no-gso", "--superpackets no-gso"),
    ] {
        let lab = lab();
        let before = links(&lab.a).len();
        let limit = link(&lab.a, "a0")["gso_max_segs"].clone();
        lab.a.hostint(&format!(
            "source attach --dev a0 --force --node-id 1 {flags}"
        ));
        assert_ne!(own_pins(&lab.a), Vec::<String>::new(), "{name}");
        let way = &lab.a.status()["source"]["attachments"][0]["superpackets"];
        assert!(flags.split(' ').any(|word| word == *way), "{name}: {way}");
        lab.a.hostint("source detach");
        assert_eq!(links(&lab.a).len(), before, "{name}");
        assert_eq!(link(&lab.a, "a0")["gso_max_segs"], limit, "{name}");
        assert_eq!(own_pins(&lab.a), Vec::<String>::new(), "{name}");
        exchange_tcp(&lab.a, &lab.b, 7000, 1_000_000);
    }
}

#[test]
fn the_pair_of_an_interface_that_is_gone_goes_with_detach() {
    let lab = lab();
    let other = "--force --node-id 1 --superpackets stage";
    lab.a
        .sh("ip link add x0 type veth peer name x1; ip link set x0 up; ip link set x1 up");
    lab.a
        .hostint(&format!("source attach --dev x0 --dev a0 {other}"));
    assert_eq!(staging(&lab.a).len(), 4);
    lab.a.sh("ip link del x0");
    lab.a.hostint("source detach");
    assert_eq!(staging(&lab.a), []);
    assert_eq!(own_pins(&lab.a), Vec::<String>::new());
}

#[test]
fn an_attach_that_fails_leaves_no_pair_behind() {
    let lab = lab();
    let a0 = &link(&lab.a, "a0")["ifindex"];
    // Another's interface has the name.
    lab.a.sh(&format!("ip link add hi{a0}b type bridge"));
    let flags = "source attach --dev a0 --force --node-id 1 --superpackets stage";
    let output = lab.a.try_hostint(flags);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let names = format!("the staging pair hi{a0}a, hi{a0}b: File exists");
    assert!(said.contains(&names), "{said}");
    assert_eq!(staging(&lab.a).len(), 1);
    assert_eq!(own_pins(&lab.a), Vec::<String>::new());
}

#[test]
fn no_gso_lowers_the_limit_and_gives_it_back() {
    let lab = lab();
    let limit = || link(&lab.a, "a0")["gso_max_segs"].as_u64().unwrap();
    lab.a.sh("ip link set a0 gso_max_segs 40");
    let _sinks = lab.tag("--superpackets no-gso");
    assert_eq!(limit(), 1);
    exchange_tcp(&lab.a, &lab.b, 7000, 1_000_000);
    let tagged = lab.a.count("source", "tagged");
    assert!(tagged > 690, "{tagged}");
    assert_eq!(lab.a.count("source", "superpacket"), 0);
    assert_eq!(lab.b.count("sink", "received"), tagged);

    let output = lab
        .a
        .try_hostint("source attach --dev a0 --encap over-tcp-udp --superpackets no-gso");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("a0 is sent no superpackets"), "{said}");
    assert_eq!(limit(), 1);
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    assert_eq!(limit(), 40, "another way gives it back");

    lab.a
        .hostint("source attach --dev a0 --encap over-tcp-udp --superpackets no-gso");
    lab.a.hostint("source detach");
    assert_eq!(limit(), 40, "detach gives it back");

    lab.a
        .hostint("source attach --dev a0 --encap over-tcp-udp --superpackets no-gso");
    lab.a.sh("ip link set a0 gso_max_segs 7");
    lab.a.hostint("source detach");
    assert_eq!(limit(), 7, "what somebody else set stays");
}
