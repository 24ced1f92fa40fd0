//! For every header field, IP option and kind of packet, the receiving stack sees the same with INT as without.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use hostint_testing::netns::Lab;
use nix::libc;

use crate::exchange::{exchange_tcp_with, noise, set_option, set_option_bytes};

const ENCAPSULATIONS: [&str; 3] = ["over-tcp-udp", "extension-udp", "vxlan-gpe"];

/// A socket option: level, name, value.
type Setting = (i32, i32, Vec<u8>);

#[derive(Clone)]
struct Case {
    name: &'static str,
    /// The sender's over IPv4 and IPv6; none: there is no such packet.
    settings: [Option<Vec<Setting>>; 2],
    len: usize,
    tagged: [bool; 2],
    has_options: bool,
}

/// Extension headers; the kernel sets the first byte. PadN, and an experimental option of 12 bytes.
const PAD: &[u8] = &[0, 0, 1, 4, 0, 0, 0, 0];
const EXPERIMENT: &[u8] = &[0, 1, 0x1e, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// A datagram of this length, tagged over either IP version.
fn plain(name: &'static str, len: usize) -> Case {
    Case {
        name,
        settings: [Some(Vec::new()), Some(Vec::new())],
        len,
        tagged: [true, true],
        has_options: false,
    }
}

/// With a number set that IPv4 and IPv6 have, each at a place of its own.
fn with_number(name: &'static str, number: i32, places: [(i32, i32); 2]) -> Case {
    let set = |(level, option)| Some(vec![(level, option, number.to_ne_bytes().into())]);
    Case {
        settings: places.map(set),
        ..plain(name, 300)
    }
}

fn traffic_class(name: &'static str, byte: u8) -> Case {
    let ipv4 = (libc::IPPROTO_IP, libc::IP_TOS);
    let ipv6 = (libc::IPPROTO_IPV6, libc::IPV6_TCLASS);
    with_number(name, byte.into(), [ipv4, ipv6])
}

fn ipv4_options(name: &'static str, options: &[u8]) -> Case {
    let options = (libc::IPPROTO_IP, libc::IP_OPTIONS, options.to_vec());
    Case {
        settings: [Some(vec![options]), None],
        tagged: [true, false],
        has_options: true,
        ..plain(name, 300)
    }
}

fn ipv6_options(name: &'static str, options: &[(i32, &[u8])]) -> Case {
    let options = options
        .iter()
        .map(|(option, value)| (libc::IPPROTO_IPV6, *option, value.to_vec()));
    Case {
        settings: [None, Some(options.collect())],
        tagged: [false, true],
        has_options: true,
        ..plain(name, 300)
    }
}

/// IPv4 that may be fragmented.
fn without_df(name: &'static str, len: usize, tagged: bool) -> Case {
    let never = libc::IP_PMTUDISC_DONT.to_ne_bytes().into();
    Case {
        settings: [
            Some(vec![(libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, never)]),
            None,
        ],
        tagged: [tagged, false],
        ..plain(name, len)
    }
}

fn cases() -> Vec<Case> {
    vec![
        plain("nothing special", 300),
        plain("no data", 0),
        plain("one byte", 1),
        plain("an odd length", 1301),
        with_number(
            "hops left",
            7,
            [
                (libc::IPPROTO_IP, libc::IP_TTL),
                (libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS),
            ],
        ),
        traffic_class("expedited forwarding", 0xb8),
        traffic_class("ECT(1)", 0x01),
        traffic_class("ECT(0), which becomes CE on the way", 0x02),
        traffic_class("CE", 0x03),
        traffic_class("the mark itself", 0x04),
        traffic_class("all bits of the traffic class", 0xff),
        with_number(
            "no UDP checksum",
            1,
            [
                (libc::SOL_SOCKET, libc::SO_NO_CHECK),
                (libc::IPPROTO_UDP, libc::UDP_NO_CHECK6_TX),
            ],
        ),
        ipv4_options("NOPs", &[1, 1, 1, 1, 1, 1, 1, 0]),
        ipv4_options("router alert", &[0x94, 4, 0, 0]),
        ipv4_options(
            "record route",
            &[7, 15, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ),
        ipv4_options("as many options as there can be", &[1; 40]),
        ipv6_options("hop-by-hop options", &[(libc::IPV6_HOPOPTS, PAD)]),
        ipv6_options("destination options", &[(libc::IPV6_DSTOPTS, PAD)]),
        ipv6_options(
            "hop-by-hop and destination options",
            &[(libc::IPV6_HOPOPTS, EXPERIMENT), (libc::IPV6_DSTOPTS, PAD)],
        ),
        without_df("short and without DF", 300, true),
        without_df("long and without DF", 700, false),
        Case {
            settings: [
                without_df("", 0, false).settings[0].clone(),
                Some(Vec::new()),
            ],
            tagged: [false, false],
            ..plain("fragments", 3000)
        },
    ]
}

const ADDRESSES: [[&str; 2]; 2] = [["10.9.1.1", "10.9.2.1"], ["[fd09:1::1]", "[fd09:2::1]"]];
const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];

/// What reaches the receiver's stack.
#[derive(Debug, PartialEq)]
struct Seen {
    /// From the IPv4 header, or behind those of IPv6.
    packet: Vec<u8>,
    /// What recvmsg says of the IP headers.
    control: Vec<u8>,
}

/// A raw socket, which sees every datagram before UDP does.
fn witness(host: &hostint_testing::netns::Host, ipv6: bool) -> OwnedFd {
    let family = if ipv6 { libc::AF_INET6 } else { libc::AF_INET };
    // SAFETY: no pointers; the result is checked.
    let fd = host.enter(|| unsafe {
        libc::socket(
            family,
            libc::SOCK_RAW | libc::SOCK_CLOEXEC,
            libc::IPPROTO_UDP,
        )
    });
    assert!(fd >= 0);
    // SAFETY: a new descriptor that nobody else owns.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let told: &[(i32, i32)] = if ipv6 {
        &[
            (libc::IPPROTO_IPV6, libc::IPV6_RECVHOPLIMIT),
            (libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS),
            (libc::IPPROTO_IPV6, libc::IPV6_FLOWINFO),
            (libc::IPPROTO_IPV6, libc::IPV6_RECVHOPOPTS),
            (libc::IPPROTO_IPV6, libc::IPV6_RECVDSTOPTS),
        ]
    } else {
        &[
            (libc::IPPROTO_IP, libc::IP_RECVTTL),
            (libc::IPPROTO_IP, libc::IP_RECVTOS),
        ]
    };
    for (level, name) in told {
        set_option(&socket, *level, *name, 1i32);
    }
    let patience = libc::timeval {
        tv_sec: 20,
        tv_usec: 0,
    };
    set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVTIMEO, patience);
    socket
}

fn next(witness: &OwnedFd, ipv6: bool, name: &str) -> Seen {
    let (mut packet, mut control) = (vec![0; 4000], vec![0; 512]);
    let mut iov = libc::iovec {
        iov_base: packet.as_mut_ptr().cast(),
        iov_len: packet.len(),
    };
    // SAFETY: plain data; all zeros is a valid value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut iov;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = control.len() as _;
    // SAFETY: all buffers are valid during the call.
    let len = unsafe { libc::recvmsg(witness.as_raw_fd(), &raw mut message, 0) };
    let err = std::io::Error::last_os_error();
    packet.truncate(usize::try_from(len).unwrap_or_else(|_| panic!("{name}: {err}")));
    control.truncate(message.msg_controllen as usize);
    if !ipv6 {
        // The identification differs, and so does the checksum, which the stack has verified.
        packet[4..6].fill(0);
        packet[10..12].fill(0);
    }
    Seen { packet, control }
}

/// Sends a case's datagrams, and sees them arrive.
struct Probe {
    case: Case,
    family: usize,
    sender: UdpSocket,
}

impl Probe {
    fn all(lab: &Lab) -> Vec<Self> {
        let mut probes = Vec::new();
        for (family, [from, _]) in ADDRESSES.into_iter().enumerate() {
            for case in cases() {
                let Some(settings) = &case.settings[family] else {
                    continue;
                };
                let sender = lab.a.udp(&format!("{from}:{}", 5000 + probes.len()));
                for (level, option, value) in settings {
                    set_option_bytes(&sender, *level, *option, value);
                }
                let probe = Self {
                    case,
                    family,
                    sender,
                };
                probes.push(probe);
            }
        }
        probes
    }

    fn name(&self) -> String {
        format!("{}, {}", self.case.name, FAMILIES[self.family])
    }

    /// An outer header would hide options from the routers.
    fn is_tagged(&self, encap: &str) -> bool {
        self.case.tagged[self.family] && !(encap == "vxlan-gpe" && self.case.has_options)
    }

    /// Sends a datagram, whose data must arrive as they were sent.
    fn send(&self, receivers: &[(UdpSocket, OwnedFd); 2]) -> Seen {
        let (receiver, witness) = &receivers[self.family];
        let sent = noise(7, self.case.len);
        let to = receiver.local_addr().unwrap();
        self.sender.send_to(&sent, to).unwrap();
        let mut data = [0; 4000];
        let (len, _) = receiver
            .recv_from(&mut data)
            .unwrap_or_else(|err| panic!("{}: {err}", self.name()));
        assert!(sent == data[..len], "{}: data came changed", self.name());
        next(witness, self.family == 1, &self.name())
    }
}

#[test]
fn a_datagram_looks_the_same_with_int_and_without() {
    let lab = Lab::new();
    lab.add_ipv6();
    // Checksums are finished, so they can be compared.
    lab.a.sh("ethtool -K a0 tx off >/dev/null");
    lab.m.sh("nft add table inet lab
         nft 'add chain inet lab congest { type filter hook forward priority 0; }'
         nft 'add rule inet lab congest ip ecn ect0 ip ecn set ce'
         nft 'add rule inet lab congest ip6 ecn ect0 ip6 ecn set ce'");
    let probes = Probe::all(&lab);
    let receivers = [0, 1].map(|family| {
        let receiver = lab.b.udp(&format!("{}:6000", ADDRESSES[family][1]));
        (receiver, witness(&lab.b, family == 1))
    });
    let option = libc::UDP_NO_CHECK6_RX;
    set_option(&receivers[1].0, libc::IPPROTO_UDP, option, 1i32);
    let without: Vec<Seen> = probes.iter().map(|probe| probe.send(&receivers)).collect();

    let _a = lab.a.sink("--dev a0 --node-id 1");
    for sink in ["--xdp-mode native", "--xdp-mode generic", "--hook tc"] {
        let _b = lab.b.sink(&format!("--dev b0 --node-id 2 {sink}"));
        for encap in ENCAPSULATIONS {
            lab.a
                .hostint(&format!("source attach --dev a0 --encap {encap}"));
            lab.a.hostint("source add-dest --static 10.9.2.1 fd09:2::1");
            let mut before = lab.a.count("source", "tagged");
            for (probe, without) in probes.iter().zip(&without) {
                let name = format!("{}, {encap}, sink {sink}", probe.name());
                let with = probe.send(&receivers);
                let tagged = lab.a.count("source", "tagged");
                let expected = before + u64::from(probe.is_tagged(encap));
                assert_eq!(tagged, expected, "{name}: are tagged");
                before = tagged;
                assert_eq!(with, *without, "{name}");
            }
        }
        let tagged = lab.a.count("source", "tagged");
        assert_eq!(lab.b.count("sink", "received"), tagged, "{sink}");
        assert_eq!(lab.b.checksum_errors(), 0, "{sink}");
        lab.a.hostint("source detach");
        lab.b.hostint("sink detach");
    }
}

#[test]
fn a_probe_that_dies_on_the_way_tells_its_socket() {
    let lab = Lab::new();
    lab.add_ipv6();
    let _sinks = lab.tag("");
    lab.a.hostint("source add-dest --static fd09:2::1");
    for encap in ENCAPSULATIONS {
        lab.a
            .hostint(&format!("source attach --dev a0 --encap {encap}"));
        for (family, [from, to]) in ADDRESSES.into_iter().enumerate() {
            let socket = lab.a.udp(&format!("{from}:0"));
            socket.connect(format!("{to}:33434")).unwrap();
            for (level, name) in [
                [
                    (libc::IPPROTO_IP, libc::IP_TTL),
                    (libc::IPPROTO_IP, libc::IP_RECVERR),
                ],
                [
                    (libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS),
                    (libc::IPPROTO_IPV6, libc::IPV6_RECVERR),
                ],
            ][family]
            {
                set_option(&socket, level, name, 1i32);
            }
            let before = lab.a.count("source", "tagged");
            socket.send(&noise(1, 60)).unwrap();
            let name = format!("{encap} over {}", FAMILIES[family]);
            assert_eq!(lab.a.count("source", "tagged"), before + 1, "{name}");
            let err = socket.recv(&mut [0; 100]).unwrap_err();
            assert_eq!(err.kind(), ErrorKind::HostUnreachable, "{name}: {err}");
        }
    }
}

#[test]
fn superpackets_find_the_path_mtu() {
    for encap in ENCAPSULATIONS {
        let lab = Lab::new();
        lab.add_ipv6();
        let _sinks = lab.tag(&format!("--encap {encap}"));
        lab.a.hostint("source add-dest --static fd09:2::1");
        // Only the router knows how narrow its link is.
        lab.b
            .sh("ip route replace default via 10.9.2.2 mtu 1300 advmss 1460
             ip -6 route replace default via fd09:2::2 mtu 1280 advmss 1440");
        // IPv6 has no MTU below 1280: then only superpackets can be split so that there is room for INT, and how
        // many packets are none is up to the machine's load.
        for (family, mtu, unmeasured, port) in
            [(0, 1300, 1, 7000), (1, 1400, 1, 7001), (1, 1280, 100, 7002)]
        {
            lab.m.sh(&format!("ip link set m1 mtu {mtu}"));
            let before = lab.a.counters("source");
            let to = format!("{}:{port}", ADDRESSES[family][1]).parse().unwrap();
            exchange_tcp_with(&lab.a, &lab.b, to, 3_000_000);
            let after = lab.a.counters("source");
            let more = |name: &str| after[name] - before[name];
            let name = format!("{encap} over {}, MTU {mtu}", FAMILIES[family]);
            assert!(more("icmp_translated") > 0, "{name}: {after:?}");
            assert!(more("encapsulated") > 0, "{name}: {after:?}");
            let untagged = more("too_long") + more("superpacket") + more("cannot_resize");
            let tagged = more("tagged");
            println!("{name}: {tagged} tagged, {untagged} not");
            assert!(untagged * 100 <= tagged * unmeasured, "{name}: {after:?}");
        }
        assert_eq!(
            lab.a.checksum_errors() + lab.b.checksum_errors(),
            0,
            "{encap}"
        );
    }
}
