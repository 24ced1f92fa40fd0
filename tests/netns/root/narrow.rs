//! TCP with INT passes links that are narrower than the hosts' own, even if no ICMP error comes back.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use hostint_testing::netns::{Host, Lab, await_that};
use nix::sys::socket::{getsockopt, sockopt};

use crate::exchange::noise;

const LEN: usize = 2_000_000;
/// Less than a stalled connection would need to try again a few times, more than any transfer here takes.
const STALL: Duration = Duration::from_secs(15);

/// A pair of hosts, each with a sink and a source that watches the other.
fn tag_both_ways(lab: &Lab, flags: &str) -> [hostint_testing::netns::Daemon; 2] {
    let sinks = [
        lab.a.leasing_sink("--dev a0 --node-id 1"),
        lab.b.leasing_sink("--dev b0 --node-id 2"),
    ];
    for (host, dev, peers) in [
        (&lab.a, "a0", "10.9.2.1 fd09:2::1"),
        (&lab.b, "b0", "10.9.1.1 fd09:1::1"),
    ] {
        host.hostint(&format!("source attach --dev {dev} {flags}"));
        host.hostint(&format!("source add-dest {peers}"));
        await_that("both leases are granted, and their paths proved", || {
            let status = host.figures();
            let leases = status["source"]["peers"].as_array().cloned();
            let leases = leases.unwrap_or_default();
            let proved = |lease: &serde_json::Value| !lease["proved_ago_ns"].is_null();
            leases.len() == 2 && leases.iter().all(proved)
        });
    }
    sinks
}

/// Routers that forward whatever fits, and say nothing about the rest.
fn without_icmp(lab: &Lab) {
    lab.m.sh("nft add table inet lab
         nft 'add chain inet lab quiet { type filter hook output priority 0; }'
         nft 'add rule inet lab quiet icmp type destination-unreachable drop'
         nft 'add rule inet lab quiet icmpv6 type packet-too-big drop'");
}

/// Sends a stream there and back, each in turn; returns the segment sizes that both ends use.
fn transfer(a: &Host, b: &Host, to: SocketAddr, sentence: &str) -> [u32; 2] {
    let listener = b.enter(|| TcpListener::bind(to)).unwrap();
    let data = noise(to.port().into(), LEN);
    let expected = data.clone();
    let echo = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(STALL)).unwrap();
        stream.set_write_timeout(Some(STALL)).unwrap();
        let mut all = vec![0; LEN];
        stream.read_exact(&mut all).map_err(|_| "there")?;
        assert!(all == expected, "the stream came changed");
        stream.write_all(&all).map_err(|_| "back")?;
        let size = getsockopt(&stream, sockopt::TcpMaxSeg).unwrap();
        // Its end says that all has arrived.
        stream.read(&mut [0; 1]).map_err(|_| "back")?;
        Ok::<u32, &str>(size)
    });
    let mut stream = a.enter(|| TcpStream::connect(to)).unwrap();
    stream.set_read_timeout(Some(STALL)).unwrap();
    stream.set_write_timeout(Some(STALL)).unwrap();
    let mut all = vec![0; LEN];
    let done = stream
        .write_all(&data)
        .and_then(|()| stream.read_exact(&mut all));
    let size = getsockopt(&stream, sockopt::TcpMaxSeg).unwrap();
    drop(stream);
    let other = echo.join().unwrap();
    let other = other.unwrap_or_else(|way| panic!("{sentence}: the way {way} stalls"));
    done.unwrap_or_else(|err| panic!("{sentence}: {err}"));
    assert!(all == data, "{sentence}: the stream came back changed");
    [size, other]
}

#[test]
fn tcp_makes_room_for_int_on_a_narrow_path_without_icmp() {
    type Case = (&'static str, &'static str, u32);
    let cases: [Case; 3] = [
        (
            "the receiver's link at 1300",
            "ip link set m1 mtu 1300",
            1300,
        ),
        (
            "the receiver's link at 1400",
            "ip link set m1 mtu 1400",
            1400,
        ),
        ("no narrow link", "true", 1500),
    ];
    for (sentence, narrow, mtu) in cases {
        for (flags, rooms) in [
            ("--encap tunnel", [88, 108]),
            // TCP is not sent over TCP to a sink of this version.
            ("--encap over-tcp-udp --superpackets skip", [88, 108]),
        ] {
            let lab = Lab::new();
            lab.add_ipv6();
            without_icmp(&lab);
            lab.m.sh(narrow);
            lab.b.sh(&format!("ip link set b0 mtu {mtu}"));
            let _sinks = tag_both_ways(&lab, flags);
            let mut connections = 0;
            for (to, headers, room) in [
                ("10.9.2.1:7000", 40 + 12, rooms[0]),
                ("[fd09:2::1]:7000", 60 + 12, rooms[1]),
            ] {
                let sentence = format!("{sentence}, {flags}, {to}");
                // Below 1220 bytes nothing is taken off in IPv6.
                if headers > 60 && mtu - 60 - room < 1220 {
                    continue;
                }
                connections += 1;
                let sizes = transfer(&lab.a, &lab.b, to.parse().unwrap(), &sentence);
                let size = mtu - headers - room;
                // Full probes of a do not pass a link that is narrower than its own: then TCP may go untagged.
                let untagged = mtu < 1500 && sizes[0] == size + room;
                assert!(untagged || sizes[0] == size, "{sentence}: {sizes:?}");
                assert_eq!(sizes[1], size, "{sentence}");
            }
            // b lowered what a announced, once for each connection.
            let clamped = lab.b.count("source", "mss_clamped");
            assert_eq!(clamped, connections, "{sentence}, {flags}");
        }
    }
}

#[test]
fn a_host_without_a_lease_announces_what_it_likes() {
    let lab = Lab::new();
    let _a = lab.a.leasing_sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0 --encap tunnel");
    lab.a.hostint("source add-dest 10.9.2.1");
    await_that("the host is known to have no sink", || {
        lab.a.figures()["source"]["peers"][0]["state"] == "no_sink"
    });
    let to = "10.9.2.1:7000".parse().unwrap();
    assert_eq!(transfer(&lab.a, &lab.b, to, "no sink"), [1448, 1448]);
    assert_eq!(lab.a.count("source", "mss_clamped"), 0);
}

#[test]
fn a_bridge_and_its_port_make_room_once() {
    for tagged_at in [["a0", "br0"], ["br0", "a0"]] {
        let lab = Lab::new();
        lab.a.sh("ip link add br0 type bridge
             ip addr del 10.9.1.1/24 dev a0
             ip link set a0 master br0
             ip addr add 10.9.1.1/24 dev br0
             ip link set br0 up
             ip route add default via 10.9.1.2");
        let _a = lab.a.sink("--dev br0 --node-id 1");
        let _b = lab.b.sink("--dev b0 --node-id 2");
        for dev in tagged_at {
            lab.a
                .hostint(&format!("source attach --dev {dev} --encap vxlan-gpe"));
        }
        lab.a.hostint("source add-dest --static 10.9.2.1");
        let to = "10.9.2.1:7000".parse().unwrap();
        let sentence = format!("{tagged_at:?}");
        let sizes = transfer(&lab.a, &lab.b, to, &sentence);
        assert_eq!(sizes, [1448 - 88, 1448], "{sentence}");
        assert_eq!(lab.a.count("source", "mss_clamped"), 1, "{sentence}");
    }
}

#[test]
fn datagrams_are_measured_on_a_path_narrower_than_its_ends_without_icmp() {
    const MTU: usize = 1400;
    // Where only the router knows, a SYN in a tunnel would hide its MSS from it.
    for (sentence, route, room) in [
        ("the route has the MTU of the path", "mtu 1400", Some(88)),
        ("no host knows the MTU of the path", "", None),
    ] {
        let lab = Lab::new();
        without_icmp(&lab);
        lab.m.sh(&format!("ip link set m1 mtu {MTU}"));
        lab.b.sh(&format!("ip link set b0 mtu {MTU}"));
        lab.a
            .sh(&format!("ip route replace default via 10.9.1.2 {route}"));
        let _sinks = [
            lab.a.leasing_sink("--dev a0 --node-id 1"),
            lab.b.leasing_sink("--dev b0 --node-id 2"),
        ];
        lab.a.hostint("source attach --dev a0 --encap tunnel");
        lab.a.hostint("source add-dest 10.9.2.1");
        await_that("the path is proved", || {
            let ways = &lab.a.figures()["source"]["peers"][0]["ways"];
            ways.as_array().is_some_and(|ways| !ways.is_empty())
        });
        let peer = &lab.a.figures()["source"]["peers"][0];
        assert_eq!(peer["proved_length"], MTU, "{sentence}");
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        to.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        // With the headers of vxlan-gpe, packets of more than 1284 bytes of payload have more than 1400.
        let longest_tagged = MTU - 28 - 88;
        for len in (longest_tagged - 20..=MTU - 28).step_by(4) {
            let sent = noise(len as u64, len);
            from.send_to(&sent, "10.9.2.1:6000").unwrap();
            let mut received = [0; 2000];
            let got = to.recv(&mut received);
            let got =
                got.unwrap_or_else(|err| panic!("{sentence}: {len} bytes do not arrive: {err}"));
            assert!(received[..got] == sent, "{sentence}: {len} bytes");
        }
        let tagged = lab.a.count("source", "tagged");
        assert_eq!(tagged, 6, "{sentence}: those that fit");
        let tcp = "10.9.2.1:7000".parse().unwrap();
        let sizes = transfer(&lab.a, &lab.b, tcp, sentence);
        let size = MTU - 52 - room.unwrap_or_default();
        assert_eq!(sizes[0], size as u32, "{sentence}: room for INT");
        let more = lab.a.count("source", "tagged") - tagged;
        assert_eq!(more > 0, room.is_some(), "{sentence}: segments");
    }
}
