//! At the source's host TCP leaves room for INT, and ICMP errors about tagged packets find their sockets.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};

use hostint_testing::netns::{Lab, await_that, with_form};
use hostint_testing::watched_pair;
use nix::sys::socket::{getsockopt, setsockopt, sockopt};

use crate::exchange::exchange_tcp;

/// Every TCP segment a packet of its own, and full ones: nobody tells TCP to leave room.
fn whole_segments(lab: &Lab) {
    lab.a.sh("ip link set a0 gso_max_segs 1");
    lab.b.sh("ip link set b0 gso_max_segs 1");
}

#[test]
fn tcp_leaves_room_for_int_by_itself() {
    for (flags, sink_at_a, clamped) in [
        ("--encap over-tcp-udp", true, true),
        // Then the checksum of what comes from b is still to be finished when it comes to a.
        ("--encap over-tcp-udp", false, true),
        ("--encap extension-udp", true, true),
        ("--encap extension-udp --no-tcx", false, true),
        ("--no-mss-clamp", true, false),
    ] {
        let lab = Lab::new();
        whole_segments(&lab);
        let _a = sink_at_a.then(|| lab.a.sink("--dev a0 --node-id 1"));
        let _b = lab.b.sink("--dev b0 --node-id 2");
        lab.a.hostint(&format!(
            "source attach --dev a0 --force --node-id 1 {}",
            with_form(flags)
        ));
        lab.a.hostint("source add-dest --static 10.9.2.1");
        exchange_tcp(&lab.a, &lab.b, 7000, 400_000);
        let (tagged, too_long) = (
            lab.a.count("source", "tagged"),
            lab.a.count("source", "too_long"),
        );
        assert_eq!(
            too_long == 0,
            clamped,
            "{flags}: {too_long} packets without room"
        );
        if clamped {
            assert_eq!(lab.a.count("source", "mss_clamped"), 1, "{flags}");
            assert!(tagged > 280, "{flags}: {tagged} tagged");
        }
        assert_eq!(lab.b.count("sink", "received"), tagged, "{flags}");
        assert_eq!(
            lab.a.checksum_errors() + lab.b.checksum_errors(),
            0,
            "{flags}"
        );
    }
}

#[test]
fn tcp_finds_the_path_mtu_with_int() {
    for (flags, mtu) in [
        ("--encap over-tcp-udp", 1400 - 36),
        ("--encap extension-udp", 1400 - 44),
        ("--encap extension-udp --no-tcx", 1400 - 44),
    ] {
        let lab = Lab::new();
        whole_segments(&lab);
        // Only the router knows how narrow its link is.
        lab.m.sh("ip link set m1 mtu 1400");
        lab.b
            .sh("ip route replace default via 10.9.2.2 mtu 1300 advmss 1460");
        let _sinks = lab.tag(flags);
        exchange_tcp(&lab.a, &lab.b, 7000, 400_000);
        let route = lab.a.sh("ip route get 10.9.2.1");
        assert!(route.contains(&format!(" mtu {mtu}")), "{flags}: {route}");
        assert!(lab.a.count("source", "icmp_translated") > 0, "{flags}");
        assert_eq!(lab.a.count("source", "too_long"), 0, "{flags}");
        assert!(lab.b.count("sink", "received") > 280, "{flags}");
    }
}

/// The router answers packets to b that match this with an ICMP error.
fn refuse(lab: &Lab, packets: &str, error: &str) {
    lab.m.sh(&format!(
        "nft add table ip lab
         nft 'add chain ip lab refuse {{ type filter hook forward priority 0; }}'
         nft 'add rule ip lab refuse ip daddr 10.9.2.1 {packets} reject with icmp type {error}'"
    ));
}

#[test]
fn an_error_about_a_tagged_datagram_finds_its_socket() {
    for (encap, error, kind) in [
        (
            "over-tcp-udp",
            "port-unreachable",
            ErrorKind::ConnectionRefused,
        ),
        (
            "extension-udp",
            "host-unreachable",
            ErrorKind::HostUnreachable,
        ),
        ("vxlan-gpe", "host-unreachable", ErrorKind::HostUnreachable),
    ] {
        let lab = Lab::new();
        let _sinks = lab.tag(&format!("--encap {encap}"));
        refuse(&lab, "", error);
        let socket = lab.a.udp("10.9.1.1:5000");
        setsockopt(&socket, sockopt::Ipv4RecvErr, &true).unwrap();
        socket.connect("10.9.2.1:6000").unwrap();
        socket.send(b"anybody there?").unwrap();
        assert_eq!(lab.a.count("source", "tagged"), 1, "{encap}");
        let refused = socket.recv(&mut [0; 16]).unwrap_err();
        assert_eq!(refused.kind(), kind, "{encap}");
    }
}

#[test]
fn connections_and_datagrams_are_not_refused_by_what_refuses_their_tunnel() {
    let lab = Lab::new();
    let _daemons = watched_pair::start_with(&lab, "--encap tunnel");
    await_that("the paths are proved", || {
        watched_pair::is_settled(&lab.a) && watched_pair::is_settled(&lab.b)
    });
    refuse(&lab, "udp dport 4790", "port-unreachable");
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:7000")).unwrap();
    let datagrams = lab.a.udp("10.9.1.1:5000");
    datagrams.connect("10.9.2.1:6000").unwrap();
    datagrams.send(b"in a tunnel").unwrap();
    // The SYN is repeated outside of the tunnel.
    let stream = lab.a.enter(|| TcpStream::connect("10.9.2.1:7000"));
    stream.expect("the connection is not refused");
    listener.accept().unwrap();
    assert!(datagrams.take_error().unwrap().is_none(), "of datagrams");
    let refused = lab.a.count("source", "icmp_refused");
    assert!(refused >= 2, "the tunnel was refused {refused} times");
}

/// What a may send to b in a segment, as it learns when they connect: timestamps take 12 bytes.
fn segment_len(lab: &Lab) -> u32 {
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:7000")).unwrap();
    let stream = lab.a.enter(|| TcpStream::connect("10.9.2.1:7000")).unwrap();
    drop(listener.accept().unwrap());
    getsockopt(&stream, sockopt::TcpMaxSeg).unwrap()
}

#[test]
fn the_mss_is_clamped_while_a_source_is_attached_that_wants_it() {
    for flags in ["", "--no-tcx"] {
        let lab = Lab::new();
        let _a = lab.a.sink("--dev a0 --node-id 1");
        let _b = lab.b.sink("--dev b0 --node-id 2");
        assert_eq!(segment_len(&lab), 1448, "{flags}: before");
        for (more, len) in [
            ("", 1448 - 88),
            ("--superpackets skip --encap over-tcp-udp", 1448 - 36),
            ("--superpackets skip --encap extension-udp", 1448 - 44),
            ("--encap vxlan-gpe --superpackets stage", 1448 - 88),
            ("--superpackets stage --encap over-tcp-udp", 1448 - 36),
            ("--superpackets no-gso --encap over-tcp-udp", 1448 - 36),
            ("--encap extension-udp --superpackets stage", 1448 - 44),
            ("--no-mss-clamp", 1448),
            (
                "--superpackets skip --encap over-tcp-udp --mtu 1400",
                1348 - 36,
            ),
        ] {
            lab.a.hostint(&format!(
                "source attach --dev a0 {flags} {}",
                with_form(more)
            ));
            lab.a.hostint("source add-dest --static 10.9.2.1");
            assert_eq!(segment_len(&lab), len, "{flags} {more}");
        }
        lab.a.hostint("source detach");
        assert_eq!(segment_len(&lab), 1448, "{flags}: detached");
        assert!(lab.a.status()["source"].is_null(), "{flags}: nothing stays");
        lab.a.hostint(&format!(
            "source attach --dev a0 {} --hook tc-ingress",
            with_form(flags)
        ));
        lab.a.hostint("source add-dest --static 10.9.2.1");
        assert_eq!(segment_len(&lab), 1448, "{flags}: on a guest's veth");
    }
}
