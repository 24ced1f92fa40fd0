//! Drops and hops of packets in VXLAN, Geneve and GTP-U are known by the flow inside, and by the tunnel's own where there is none.

use hostint_testing::frame::Frame;
use hostint_testing::netns::{Daemon, Host, Lab, await_that_or};
use hostint_testing::packets::{tcp, udp, udp6};
use hostint_testing::random::{Random, env_number};
use hostint_testing::scratch::TempFile;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const VXLAN: u16 = 4789;
const VXLAN_OF_OLD: u16 = 8472;
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;

/// The flow of the inner packets that most cases have.
const INNER: &str = "192.0.2.1:40000 > 198.51.100.2:5001";
const INNER6: &str = "2001:db8::1:40000 > 2001:db8:1::2:5001";

/// A datagram to a port, and what it is known by.
struct Case {
    sentence: &'static str,
    port: u16,
    payload: Vec<u8>,
    /// Kind of the tunnel, and inner flow; `None`: by the tunnel's own flow.
    inside: Option<(&'static str, &'static str)>,
}

fn frame(of: Frame) -> Vec<u8> {
    of.bytes()
}

/// The packet alone.
fn ip(of: Frame) -> Vec<u8> {
    of.bytes().split_off(14)
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

fn vxlan(flags: u8, inner: &[u8]) -> Vec<u8> {
    joined(&[&[flags, 0, 0, 0, 0, 0, 42, 0], inner])
}

fn geneve(first: u8, second: u8, kind: u16, options: usize, inner: &[u8]) -> Vec<u8> {
    let kind = kind.to_be_bytes();
    let head = [first, second, kind[0], kind[1], 1, 2, 3, 0];
    joined(&[&head, &vec![0xaa; options], inner])
}

/// The length is not looked at, so it says nothing.
fn gtp(flags: u8, message: u8, more: &[u8], inner: &[u8]) -> Vec<u8> {
    joined(&[&[flags, message, 0, 0, 0xde, 0xad, 0xbe, 0xef], more, inner])
}

/// GTP-U with a PDU session container: a sequence number, N-PDU, the type of the first extension; then 4 bytes of it.
const PSC: [u8; 8] = [0, 1, 0, 0x85, 1, 0x10, 9, 0];

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    let case = |sentence, port, payload, inside| Case { sentence, port, payload, inside };
    let in_vxlan = Some(("vxlan", INNER));
    let in_geneve = Some(("geneve", INNER));
    let in_gtp = Some(("gtp-u", INNER));
    vec![
        case("UDP in VXLAN", VXLAN, vxlan(8, &frame(udp())), in_vxlan),
        case("TCP in VXLAN", VXLAN, vxlan(8, &frame(tcp())), in_vxlan),
        case("VXLAN at Linux's old port", VXLAN_OF_OLD, vxlan(8, &frame(udp())), in_vxlan),
        case("VXLAN with a group policy", VXLAN, vxlan(0x88, &frame(udp())), in_vxlan),
        case("IPv6 in VXLAN", VXLAN, vxlan(8, &frame(udp6())), Some(("vxlan", INNER6))),
        case("a VLAN tag in VXLAN", VXLAN, vxlan(8, &frame(udp().vlan(7))), in_vxlan),
        case("two VLAN tags in VXLAN", VXLAN, vxlan(8, &frame(udp().vlan(7).vlan(8))), in_vxlan),
        case("three VLAN tags in VXLAN", VXLAN, vxlan(8, &frame(udp().vlan(7).vlan(8).vlan(9))), None),
        case("IP options in VXLAN", VXLAN, vxlan(8, &frame(udp().ip_options(8))), in_vxlan),
        case("a first fragment in VXLAN", VXLAN, vxlan(8, &frame(udp().more_fragments())), in_vxlan),
        case("a later fragment in VXLAN", VXLAN, vxlan(8, &frame(udp().fragment_offset(8))), Some(("vxlan", "192.0.2.1:0 > 198.51.100.2:0"))),
        case("ICMP in VXLAN", VXLAN, vxlan(8, &frame(udp().protocol(1))), Some(("vxlan", "192.0.2.1:0 > 198.51.100.2:0"))),
        case("VXLAN without a number", VXLAN, vxlan(0, &frame(udp())), None),
        case("ARP in VXLAN", VXLAN, vxlan(8, &frame(udp().ethertype(0x0806))), None),
        case("a VXLAN header alone", VXLAN, vxlan(8, &[]), None),
        case("a part of a VXLAN header", VXLAN, vec![8, 0, 0], None),
        case("an Ethernet header without IP in VXLAN", VXLAN, vxlan(8, &frame(udp())[..14]), None),
        case("half an IP header in VXLAN", VXLAN, vxlan(8, &frame(udp())[..24]), None),
        case("an IP header that is too short in VXLAN", VXLAN, vxlan(8, &frame(udp().version_ihl(0x44))), None),
        case("IPv5 in VXLAN", VXLAN, vxlan(8, &frame(udp().version_ihl(0x55))), None),
        case("no ports behind IP in VXLAN", VXLAN, vxlan(8, &frame(udp())[..36]), Some(("vxlan", "192.0.2.1:0 > 198.51.100.2:0"))),
        case("VXLAN in VXLAN: the outer one is opened", VXLAN, vxlan(8, &frame(udp().ports(40000, VXLAN).payload_bytes(vxlan(8, &frame(udp()))))), Some(("vxlan", "192.0.2.1:40000 > 198.51.100.2:4789"))),

        case("Ethernet in Geneve", GENEVE, geneve(0, 0, 0x6558, 0, &frame(udp())), in_geneve),
        case("Geneve with options", GENEVE, geneve(3, 0x40, 0x6558, 12, &frame(udp())), in_geneve),
        case("Geneve with as many options as it can have", GENEVE, geneve(63, 0, 0x6558, 252, &frame(udp())), in_geneve),
        case("a VLAN tag in Geneve", GENEVE, geneve(0, 0, 0x6558, 0, &frame(udp().vlan(7))), in_geneve),
        case("IPv4 in Geneve", GENEVE, geneve(0, 0, 0x0800, 0, &ip(udp())), in_geneve),
        case("IPv6 in Geneve", GENEVE, geneve(0, 0, 0x86dd, 0, &ip(udp6())), Some(("geneve", INNER6))),
        case("IPv6 in Geneve that says IPv4", GENEVE, geneve(0, 0, 0x0800, 0, &ip(udp6())), None),
        case("MPLS in Geneve", GENEVE, geneve(0, 0, 0x8847, 0, &ip(udp())), None),
        case("a control message of Geneve", GENEVE, geneve(0, 0x80, 0x6558, 0, &frame(udp())), None),
        case("another version of Geneve", GENEVE, geneve(0x40, 0, 0x6558, 0, &frame(udp())), None),
        case("options beyond the packet", GENEVE, geneve(63, 0, 0x6558, 8, &frame(udp())), None),

        case("GTP-U", GTP_U, gtp(0x30, 255, &[], &ip(udp())), in_gtp),
        case("IPv6 in GTP-U", GTP_U, gtp(0x30, 255, &[], &ip(udp6())), Some(("gtp-u", INNER6))),
        case("GTP-U with a sequence number", GTP_U, gtp(0x32, 255, &[0, 1, 0, 0], &ip(udp())), in_gtp),
        case("a type of extension without its flag", GTP_U, gtp(0x32, 255, &[0, 1, 0, 0x85], &ip(udp())), in_gtp),
        case("a PDU session container", GTP_U, gtp(0x34, 255, &PSC, &ip(udp())), in_gtp),
        case("two extensions", GTP_U, gtp(0x34, 255, &[0, 1, 0, 0x85, 1, 0, 9, 0xc0, 2, 0, 0, 0, 0, 0, 0, 0], &ip(udp())), in_gtp),
        case("no extension behind their flag", GTP_U, gtp(0x34, 255, &[0, 1, 0, 0], &ip(udp())), in_gtp),
        case("four extensions", GTP_U, gtp(0x34, 255, &extensions(4), &ip(udp())), in_gtp),
        case("five extensions", GTP_U, gtp(0x34, 255, &extensions(5), &ip(udp())), None),
        case("an extension without a length", GTP_U, gtp(0x34, 255, &[0, 1, 0, 0x85, 0, 0, 0, 0], &ip(udp())), None),
        case("an extension beyond the packet", GTP_U, gtp(0x34, 255, &[0, 1, 0, 0x85, 255, 0, 0, 0], &ip(udp())), None),
        case("an echo of GTP-U", GTP_U, gtp(0x32, 1, &[0, 1, 0, 0], &ip(udp())), None),
        case("the end of a tunnel", GTP_U, gtp(0x30, 254, &[], &ip(udp())), None),
        case("GTP'", GTP_U, gtp(0x20, 255, &[], &ip(udp())), None),
        case("version 2 of GTP", GTP_U, gtp(0x50, 255, &[], &ip(udp())), None),
        case("Ethernet in GTP-U", GTP_U, gtp(0x30, 255, &[], &frame(udp())), None),
        case("nothing in GTP-U", GTP_U, gtp(0x30, 255, &[], &[]), None),

        case("the same to another port", 4788, vxlan(8, &frame(udp())), None),
    ]
}

/// A sequence number and extensions of 4 bytes.
fn extensions(count: usize) -> Vec<u8> {
    let mut bytes = vec![0, 1, 0, 0x85];
    for number in 1..=count {
        let next = if number == count { 0 } else { 0x85 };
        bytes.extend([1, 0, 0, next]);
    }
    bytes
}

fn flow_text(flow: &Value) -> String {
    let [src, dst] = ["src", "dst"].map(|end| flow[end].as_str().unwrap());
    format!("{src}:{} > {dst}:{}", flow["sport"], flow["dport"])
}

fn drops(host: &Host, flags: &str) -> Daemon {
    host.start(
        &format!("postcards --drops --json --report-period 100ms {flags}"),
        "drops are reported",
    )
}

fn hops(host: &Host, flags: &str) -> Daemon {
    host.start(
        &format!("postcards --hops --dev m0,m1 --json {flags}"),
        "hops are reported",
    )
}

/// What packets are known by: kind of the tunnel, number, and flow; without a tunnel only the flow.
type Known = (String, u64, String);

/// What a line's datagrams are known by, and the port that they came from.
fn known(line: &Value) -> (u64, Known) {
    let flow = flow_text(&line["flow"]);
    let tunnel = &line["tunnel"];
    match tunnel["kind"].as_str() {
        None => (
            line["flow"]["sport"].as_u64().unwrap(),
            (String::new(), 0, flow),
        ),
        Some(kind) => {
            let sport = tunnel["outer"]["sport"].as_u64().unwrap();
            (
                sport,
                (kind.to_owned(), tunnel["id"].as_u64().unwrap(), flow),
            )
        }
    }
}

/// Sends each case from a port of its own, in a tunnel with a number of its own. Returns what is to be told of it.
fn send(lab: &Lab, cases: &[Case], opens: bool) -> Vec<(u64, Known)> {
    let mut expected = Vec::new();
    for (number, case) in (1_u32..).zip(cases) {
        let sport = 20_000 + number as u16;
        let (mut payload, id) = (case.payload.clone(), number | 0x8000_0000);
        let (id, bytes) = match case.port {
            GTP_U => (id, id.to_be_bytes()),
            _ => (number, (number << 8).to_be_bytes()),
        };
        if let Some(place) = payload.get_mut(4..8) {
            place.copy_from_slice(&bytes);
        }
        let from = lab.a.udp(&format!("10.9.1.1:{sport}"));
        from.send_to(&payload, ("10.9.2.1", case.port)).unwrap();
        let known = match case.inside.filter(|_| opens) {
            Some((kind, flow)) => (kind.to_owned(), id.into(), flow.to_owned()),
            None => {
                let flow = format!("10.9.1.1:{sport} > 10.9.2.1:{}", case.port);
                (String::new(), 0, flow)
            }
        };
        expected.push((sport.into(), known));
    }
    expected
}

fn check(cases: &[Case], daemon: &Daemon, kind: &str, expected: &[(u64, Known)]) {
    for (one, case) in expected.iter().zip(cases) {
        let about = || {
            let mut all = daemon.json_lines_of(kind);
            all.retain(|line| known(line).0 == one.0);
            all
        };
        await_that_or(
            || !about().is_empty(),
            || format!("{kind}, {}: {}", case.sentence, daemon.stdout()),
        );
        for line in about() {
            assert_eq!(known(&line), *one, "{kind}, {}: {line}", case.sentence);
        }
    }
}

#[test]
fn drops_and_hops_are_known_by_the_flow_inside() {
    let lab = Lab::new();
    let (forwarded, dropped) = (hops(&lab.m, ""), drops(&lab.b, ""));
    let cases = cases();
    let expected = send(&lab, &cases, true);
    check(&cases, &dropped, "host-drop", &expected);
    check(&cases, &forwarded, "host-hop", &expected);
}

#[test]
fn tunnels_stay_closed_if_they_are_not_asked_for() {
    let lab = Lab::new();
    let (forwarded, dropped) = (hops(&lab.m, "--inner none"), drops(&lab.b, "--inner none"));
    let cases = cases();
    let expected = send(&lab, &cases, false);
    check(&cases, &dropped, "host-drop", &expected);
    check(&cases, &forwarded, "host-hop", &expected);
}

#[test]
fn networks_with_the_same_addresses_are_told_apart() {
    let lab = Lab::new();
    let dropped = drops(&lab.b, "");
    let from = lab.a.udp("10.9.1.1:20000");
    for (number, count) in [(1_u8, 3), (2, 5)] {
        for _ in 0..count {
            let mut payload = vxlan(8, &frame(udp()));
            payload[6] = number;
            from.send_to(&payload, ("10.9.2.1", VXLAN)).unwrap();
        }
    }
    for (number, count) in [(1, 3), (2, 5)] {
        let is_it = |line: &Value| {
            line["tunnel"]["id"] == number && line["drop"]["packets"] == json!(count)
        };
        await_that_or(
            || dropped.json_lines_of("host-drop").iter().any(is_it),
            || format!("network {number}: {}", dropped.stdout()),
        );
    }
}

#[test]
fn a_reload_opens_other_tunnels() {
    let lab = Lab::new();
    let file = TempFile::new(
        "inner.toml",
        "[postcards]\ndrops = \"all\"\ninner = [\"none\"]\n",
    );
    let dropped = lab.b.start(
        &format!("postcards --json --config {}", file.path()),
        "drops are reported",
    );
    let from = lab.a.udp("10.9.1.1:20000");
    let send = |port: u16, payload: &[u8]| from.send_to(payload, ("10.9.2.1", port)).unwrap();
    let is_told = |kind: Value| {
        let all = dropped.json_lines_of("host-drop");
        all.iter().any(|line| line["tunnel"]["kind"] == kind)
    };
    send(VXLAN, &vxlan(8, &frame(udp())));
    await_that_or(|| is_told(Value::Null), || dropped.stdout());
    std::fs::write(
        file.path(),
        "[postcards]\ndrops = \"all\"\ninner = [\"gtp-u\"]\n",
    )
    .unwrap();
    dropped.signal(Signal::SIGHUP);
    let says = "applied: [postcards] inner";
    await_that_or(|| dropped.stderr().contains(says), || dropped.stderr());
    send(VXLAN, &vxlan(8, &frame(udp())));
    send(GTP_U, &gtp(0x34, 255, &PSC, &ip(udp())));
    await_that_or(|| is_told(json!("gtp-u")), || dropped.stdout());
    assert!(!is_told(json!("vxlan")), "{}", dropped.stdout());
}

#[test]
fn later_fragments_of_a_tunnel_are_its_own() {
    let lab = Lab::new();
    // Fragments stay what they are, as nothing here tracks connections.
    lab.drop_packets("ip daddr 10.9.2.1");
    let dropped = drops(&lab.m, "");
    let from = lab.a.udp("10.9.1.1:20000");
    let payload = vxlan(8, &frame(udp().payload(3000)));
    from.send_to(&payload, ("10.9.2.1", VXLAN)).unwrap();
    let known = |line: &Value| {
        (
            line["tunnel"]["kind"].clone(),
            flow_text(&line["flow"]),
            line["drop"]["packets"].clone(),
        )
    };
    let expected = [
        (json!("vxlan"), INNER.to_owned(), json!(1)),
        (Value::Null, "10.9.1.1:0 > 10.9.2.1:0".to_owned(), json!(2)),
    ];
    await_that_or(
        || {
            let all: Vec<_> = dropped
                .json_lines_of("host-drop")
                .iter()
                .map(known)
                .collect();
            expected.iter().all(|one| all.contains(one))
        },
        || dropped.stdout(),
    );
}

/// Hosts with real VXLAN devices, which reach each other inside as 192.168.7.1 and .2.
fn with_vxlan(lab: &Lab) {
    for (host, own, other, address) in [
        (&lab.a, "10.9.1.1", "10.9.2.1", "192.168.7.1"),
        (&lab.b, "10.9.2.1", "10.9.1.1", "192.168.7.2"),
    ] {
        host.sh(&format!(
            "ip link add vx0 type vxlan id 4242 local {own} remote {other} dstport {VXLAN}
             ip addr add {address}/24 dev vx0; ip link set vx0 up"
        ));
    }
}

#[test]
fn rules_test_the_flow_in_real_vxlan() {
    const PACKETS: u64 = 20;
    let lab = Lab::new();
    with_vxlan(&lab);
    let rules = TempFile::new(
        "inner-rules.toml",
        "[[watch]]\nfor = \"postcards\"\nto = \"192.168.7.2\"\nto-port = 7001\n",
    );
    let line = format!(
        "postcards --hops=watched --dev m0,m1 --json --config {}",
        rules.path()
    );
    let mut forwarded = lab.m.start(&line, "hops are reported");
    let from = lab.a.udp("192.168.7.1:5000");
    for (port, count) in [(7001, PACKETS), (7002, 10)] {
        let to = lab.b.udp(&format!("192.168.7.2:{port}"));
        let mut got = [0; 100];
        for _ in 0..count {
            from.send_to(b"inside", to.local_addr().unwrap()).unwrap();
            to.recv(&mut got).unwrap();
        }
    }
    assert_eq!(forwarded.end(), Some(0));
    let told = forwarded.json_lines_of("host-hop");
    let last = told.last().unwrap();
    assert_eq!(
        flow_text(&last["flow"]),
        "192.168.7.1:5000 > 192.168.7.2:7001"
    );
    assert_eq!(last["tunnel"]["kind"], "vxlan", "{last}");
    assert_eq!(last["tunnel"]["id"], 4242, "{last}");
    assert_eq!(last["tunnel"]["outer"]["dst"], "10.9.2.1", "{last}");
    let totals = forwarded.json_lines_of("hop-totals").pop().unwrap();
    assert_eq!(totals["stamped"], PACKETS, "{totals:#}");
    assert!(totals["unwatched"].as_u64().unwrap() >= 10, "{totals:#}");
}

#[test]
fn random_bytes_in_tunnels_are_known_by_something_and_harm_nothing() {
    let lab = Lab::new();
    let dropped = drops(&lab.b, "");
    let mut forwarded = hops(&lab.m, "");
    let from = lab.a.udp("10.9.1.1:20000");
    let (mut random, seed) = Random::from_env();
    let all = cases();
    let count = env_number("HOSTINT_TEST_FRAMES", 2_000);
    for _ in 0..count {
        let case = &all[random.below(all.len())];
        let mut payload = case.payload.clone();
        for _ in 0..random.below(4) {
            if !payload.is_empty() {
                let at = random.below(payload.len());
                payload[at] = random.u8();
            }
        }
        payload.truncate(random.below(payload.len() + 1));
        from.send_to(&payload, ("10.9.2.1", case.port)).unwrap();
    }
    assert_eq!(forwarded.end(), Some(0));
    let totals = forwarded.json_lines_of("hop-totals").pop().unwrap();
    // Errors go back by the other passage.
    let passages = totals["passages"].as_array().unwrap();
    let there = passages.iter().find(|one| one["in_interface"] == "m0");
    assert_eq!(
        there.unwrap()["queued"]["packets"],
        count,
        "seed {seed}: {totals:#}"
    );
    let mut dropped = dropped;
    assert_eq!(dropped.end(), Some(0));
    let totals = dropped.json_lines_of("drop-totals").pop().unwrap();
    let reasons = totals["reasons"].as_array().unwrap();
    let packets = |name: &str| {
        let found = reasons.iter().find(|one| one["kernel_reason_name"] == name);
        found.map_or(0, |one| one["packets"].as_u64().unwrap())
    };
    assert_eq!(packets("NO_SOCKET"), count, "seed {seed}: {totals:#}");
    assert_eq!(totals["no_flow"], 0, "seed {seed}: {totals:#}");
}
