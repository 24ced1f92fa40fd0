//! What a host drops is told with the kernel's reason and place, counted exactly, and nothing else is.

use std::io::{Read, Write};
use std::net::{SocketAddr, SocketAddrV6, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use hostint::os::netdev;
use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or};
use hostint_testing::random::env_number;
use nix::sys::signal::Signal;
use serde_json::Value;

use super::metrics::get;
use crate::exchange::{exchange_tcp, exchange_udp};

/// A daemon that tells drops of this host.
fn postcards(host: &Host, flags: &str) -> Daemon {
    host.start(
        &format!("postcards --drops --json {flags}"),
        "drops are reported",
    )
}

/// The flows that were told, each by its last line.
fn told(daemon: &Daemon) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for line in daemon.json_lines() {
        if line["kind"] != "host-drop" {
            continue;
        }
        let same = |one: &&mut Value| {
            // Labs of other tests have the same addresses.
            [
                "flow",
                "kernel_reason",
                "in_ifindex",
                "out_ifindex",
                "netns",
            ]
            .iter()
            .all(|key| one[*key] == line[*key])
        };
        match found.iter_mut().find(same) {
            Some(known) => *known = line,
            None => found.push(line),
        }
    }
    found
}

/// Ends the daemon, and returns all counts.
fn totals(mut daemon: Daemon) -> Value {
    daemon.totals("drop-totals")
}

/// The sum of packets that were dropped for a reason.
fn packets(totals: &Value, reason: &str) -> u64 {
    let all = totals["reasons"].as_array().unwrap();
    let found = all.iter().filter(|one| one["kernel_reason_name"] == reason);
    // Those that are no loss are a sum of their own.
    found.map(|one| one["packets"].as_u64().unwrap()).sum()
}

/// The sum of packets that were dropped for the flow's reason at its place.
fn packets_at(totals: &Value, flow: &Value) -> u64 {
    let all = totals["places"].as_array().unwrap();
    let same = all.iter().filter(|one| {
        one["place"] == flow["place"] && one["kernel_reason"] == flow["kernel_reason"]
    });
    same.map(|one| one["packets"].as_u64().unwrap()).sum()
}

fn send(from: &UdpSocket, to: &str, count: usize, len: usize) {
    for _ in 0..count {
        from.send_to(&vec![7; len], to).unwrap();
    }
}

/// A cause of drops.
struct Cause {
    sentence: &'static str,
    /// The host that drops: a, m or b.
    host: char,
    /// What is done to that host before.
    setup: &'static str,
    /// Makes a drop this often.
    count: u64,
    make: fn(&Lab, u64),
    reason: &'static str,
    /// The function that drops, as kernels name it; one of them.
    places: &'static [&'static str],
    /// The destination port of the flow.
    port: u16,
    /// The kernel's own counter of such packets, as nstat names it; empty: there is none.
    counter: &'static str,
}

fn udp_from_a(lab: &Lab, to: &str, count: u64) {
    let from = lab.a.udp("10.9.1.1:5000");
    send(&from, to, count as usize, 100);
}

/// A packet with a field that is wrong, sent by a raw socket on a.
fn raw_from_a(lab: &Lab, what: &str, count: u64) {
    lab.a.sh(&format!(
        "python3 -c '
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
a, b = socket.inet_aton(\"10.9.1.1\"), socket.inet_aton(\"10.9.2.1\")
def ip(proto, payload, options=b\"\"):
    first = 0x40 + 5 + len(options) // 4
    return struct.pack(\"!BBHHHBBH4s4s\", first, 0, 20 + len(options) + len(payload), 7, 0, 64, proto, 0, a, b) + options + payload
packets = {{
    \"udp checksum\": ip(17, struct.pack(\"!HHHH\", 5000, 7003, 8 + 20, 0x1234) + b\"x\" * 20),
    \"long udp checksum\": ip(17, struct.pack(\"!HHHH\", 5000, 7003, 8 + 200, 0x1234) + b\"x\" * 200),
    \"tcp checksum\": ip(6, struct.pack(\"!HHIIBBHHH\", 5000, 7004, 1, 1, 0x50, 0x10, 1000, 0x1234, 0)),
    \"protocol\": ip(253, b\"x\" * 20),
    \"options\": ip(17, struct.pack(\"!HHHH\", 5000, 7006, 8 + 20, 0) + b\"x\" * 20, b\"\\1\" * 8),
}}
for i in range({count}):
    s.sendto(packets[\"{what}\"], (\"10.9.2.1\", 0))
'"
    ));
}

const CAUSES: &[Cause] = &[
    Cause {
        sentence: "a closed UDP port",
        host: 'b',
        setup: "",
        count: 10,
        make: |lab, count| udp_from_a(lab, "10.9.2.1:7001", count),
        reason: "NO_SOCKET",
        places: &["__udp4_lib_rcv"],
        port: 7001,
        counter: "UdpNoPorts",
    },
    Cause {
        sentence: "a rule of the firewall, where packets are forwarded",
        host: 'm',
        setup:
            "nft add table ip lab; nft 'add chain ip lab f { type filter hook forward priority 0; }'
            nft add rule ip lab f udp dport 7002 drop",
        count: 20,
        make: |lab, count| udp_from_a(lab, "10.9.2.1:7002", count),
        reason: "NETFILTER_DROP",
        places: &["nft_do_chain", "nf_hook_slow"],
        port: 7002,
        counter: "",
    },
    Cause {
        sentence: "a rule of the sender's own firewall",
        host: 'a',
        setup:
            "nft add table ip lab; nft 'add chain ip lab f { type filter hook output priority 0; }'
            nft add rule ip lab f udp dport 7002 drop",
        count: 20,
        make: |lab, count| {
            let from = lab.a.udp("10.9.1.1:5000");
            for _ in 0..count {
                assert!(from.send_to(b"not allowed", "10.9.2.1:7002").is_err());
            }
        },
        reason: "NETFILTER_DROP",
        places: &["nft_do_chain", "nf_hook_slow"],
        port: 7002,
        counter: "",
    },
    Cause {
        sentence: "a wrong UDP checksum",
        host: 'b',
        setup: "",
        count: 5,
        make: |lab, count| raw_from_a(lab, "udp checksum", count),
        reason: "UDP_CSUM",
        places: &["__udp4_lib_rcv", "udp4_csum_init"],
        port: 7003,
        counter: "UdpInCsumErrors",
    },
    Cause {
        sentence: "a wrong TCP checksum",
        host: 'b',
        setup: "",
        count: 5,
        make: |lab, count| raw_from_a(lab, "tcp checksum", count),
        reason: "TCP_CSUM",
        places: &["tcp_v4_rcv"],
        port: 7004,
        counter: "TcpInCsumErrors",
    },
    Cause {
        sentence: "a TTL that ends at the router",
        host: 'm',
        setup: "",
        count: 7,
        make: |lab, count| {
            let from = lab.a.udp("10.9.1.1:5000");
            from.set_ttl(1).unwrap();
            send(&from, "10.9.2.1:7005", count as usize, 100);
        },
        reason: "IP_INHDR",
        places: &["ip_forward"],
        port: 7005,
        counter: "IpInHdrErrors",
    },
    Cause {
        sentence: "IP options, to a closed port",
        host: 'b',
        setup: "",
        count: 4,
        make: |lab, count| raw_from_a(lab, "options", count),
        reason: "NO_SOCKET",
        places: &["__udp4_lib_rcv"],
        port: 7006,
        counter: "UdpNoPorts",
    },
    Cause {
        sentence: "a protocol without a receiver",
        host: 'b',
        setup: "",
        count: 4,
        make: |lab, count| raw_from_a(lab, "protocol", count),
        reason: "IP_NOPROTO",
        places: &["ip_protocol_deliver_rcu", "ip_local_deliver_finish"],
        port: 0,
        counter: "IpInUnknownProtos",
    },
    Cause {
        sentence: "no route from the router",
        host: 'm',
        setup: "",
        count: 6,
        make: |lab, count| udp_from_a(lab, "10.99.0.1:7007", count),
        reason: "IP_INNOROUTES",
        places: &["ip_error", "ip_rcv_finish_core"],
        port: 7007,
        counter: "IpExtInNoRoutes",
    },
    Cause {
        sentence: "a path filter that packets come from the wrong side of",
        host: 'm',
        setup: "sysctl -qw net.ipv4.conf.all.rp_filter=1 net.ipv4.conf.m0.rp_filter=1
            ip route add 10.9.1.1/32 dev m1",
        count: 6,
        make: |lab, count| udp_from_a(lab, "10.9.2.1:7008", count),
        reason: "IP_RPFILTER",
        places: &["ip_rcv_finish_core"],
        port: 7008,
        counter: "TcpExtIPReversePathFilter",
    },
    Cause {
        sentence: "a neighbour that does not answer",
        host: 'm',
        setup: "",
        count: 3,
        make: |lab, count| udp_from_a(lab, "10.9.2.77:7009", count),
        reason: "NEIGH_FAILED",
        places: &[
            "arp_error_report",
            "neigh_probe",
            "neigh_invalidate",
            "__neigh_event_send",
        ],
        port: 7009,
        counter: "",
    },
    Cause {
        sentence: "a queue with no room",
        host: 'm',
        setup: "tc qdisc add dev m1 root handle 1: tbf rate 8kbit burst 2000 limit 1000",
        count: 40,
        make: |lab, count| {
            // Each is longer than the queue.
            let from = lab.a.udp("10.9.1.1:5000");
            send(&from, "10.9.2.1:7010", count as usize, 972);
        },
        reason: "QDISC_DROP",
        places: &["__dev_queue_xmit", "__dev_xmit_skb"],
        port: 7010,
        counter: "",
    },
    Cause {
        sentence: "a packet longer than the router's next link",
        host: 'm',
        setup: "ip link set m1 mtu 1000",
        count: 1,
        make: |lab, count| {
            let from = lab.a.udp("10.9.1.1:5000");
            send(&from, "10.9.2.1:7011", count as usize, 1200);
        },
        reason: "PKT_TOO_BIG",
        places: &["ip_forward"],
        port: 7011,
        counter: "IpFragFails",
    },
    Cause {
        sentence: "a datagram in fragments, to a closed port",
        host: 'b',
        setup: "",
        count: 3,
        make: |lab, count| {
            let from = lab.a.udp("10.9.1.1:5000");
            send(&from, "10.9.2.1:7013", count as usize, 5000);
        },
        reason: "NO_SOCKET",
        places: &["__udp4_lib_rcv"],
        port: 7013,
        counter: "UdpNoPorts",
    },
];

/// The value of one of the kernel's counters; 0 for none.
fn counter(host: &Host, name: &str) -> u64 {
    if name.is_empty() {
        return 0;
    }
    let text = host.sh(&format!("nstat -asz {name}"));
    let mut words = text.split_whitespace().skip_while(|word| *word != name);
    words
        .nth(1)
        .and_then(|word| word.parse().ok())
        .unwrap_or_else(|| panic!("{name}: {text}"))
}

/// Returns what is wrong.
fn check(cause: &Cause) -> Option<String> {
    let lab = Lab::new();
    let (host, router) = match cause.host {
        'a' => (&lab.a, false),
        'm' => (&lab.m, true),
        _ => (&lab.b, false),
    };
    // Neighbours are known before: the first packet to an unknown one may be one too many.
    exchange_udp(
        &lab.a.udp("10.9.1.1:4000"),
        &lab.b.udp("10.9.2.1:4000"),
        3,
        100,
    );
    if !cause.setup.is_empty() {
        host.sh(cause.setup);
    }
    let counted = || counter(host, cause.counter);
    let before = counted();
    let daemon = postcards(host, "--netns own");
    (cause.make)(&lab, cause.count);
    // The counts of the kernel are complete before the daemon ends, but for neighbours, which take seconds.
    let flow = |daemon: &Daemon| -> Option<Value> {
        let all = told(daemon).into_iter();
        let mut ours = all.filter(|one| {
            one["kernel_reason_name"] == cause.reason
                && one["flow"]["dport"] == cause.port
                && one["flow"]["src"] == "10.9.1.1"
        });
        ours.next().filter(|_| ours.next().is_none())
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    let is_complete = || flow(&daemon).is_some_and(|one| one["drop"]["packets"] == cause.count);
    while !is_complete() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let said = format!(
        "{}: {}\n{}",
        cause.sentence,
        daemon.stdout(),
        daemon.stderr()
    );
    let Some(found) = flow(&daemon).filter(|_| is_complete()) else {
        return Some(said);
    };
    let sums = totals(daemon);
    let right = cause.places.contains(&found["place"].as_str()?)
        && (!router || found["in_interface"] == "m0")
        && packets_at(&sums, &found) == cause.count
        && sums["missed"] == 0
        && (cause.counter.is_empty() || counted() - before == cause.count);
    (!right).then(|| format!("{said}{sums}, {}: {}", cause.counter, counted() - before))
}

#[test]
fn every_cause_is_told_with_its_reason_place_and_count() {
    let wrong: Vec<String> = CAUSES.iter().filter_map(check).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A datagram that waits in a socket's buffer has lost its interface and its route; its reader finds the wrong sum.
#[test]
fn a_wrong_sum_that_the_reader_finds_is_of_this_host() {
    type Reading = fn(&UdpSocket);
    let ways: [(&str, Reading); 2] = [
        ("read", read_once),
        ("asked for its length", ask_for_length),
    ];
    for (sentence, read) in ways {
        let lab = Lab::new();
        let reader = lab.b.udp("10.9.2.1:7003");
        reader
            .set_read_timeout(Some(Duration::from_millis(100)))
            .unwrap();
        let daemon = postcards(&lab.b, "--netns own");
        // Sums of short datagrams are looked at before.
        const COUNT: u64 = 7;
        raw_from_a(&lab, "long udp checksum", COUNT);
        let errors = || counter(&lab.b, "UdpInCsumErrors");
        await_that_or(
            || {
                lab.b.enter(|| read(&reader));
                errors() == COUNT
            },
            || format!("{sentence}: {}", errors()),
        );
        let sums = totals(daemon);
        assert_eq!(packets(&sums, "UDP_CSUM"), COUNT, "{sentence}: {sums}");
    }
}

fn read_once(reader: &UdpSocket) {
    let _ = reader.recv(&mut [0; 2000]);
}

fn ask_for_length(reader: &UdpSocket) {
    use std::os::fd::AsRawFd;
    let mut len = 0;
    // SAFETY: the call writes an int.
    unsafe { nix::libc::ioctl(reader.as_raw_fd(), nix::libc::FIONREAD, &raw mut len) };
}

#[test]
fn a_full_socket_buffer_is_told_with_the_socket() {
    let lab = Lab::new();
    let reader = lab.b.enter(|| UdpSocket::bind("10.9.2.1:7012")).unwrap();
    nix::sys::socket::setsockopt(&reader, nix::sys::socket::sockopt::RcvBuf, &5000).unwrap();
    reader.set_nonblocking(true).unwrap();
    let daemon = postcards(&lab.b, "");
    let from = lab.a.udp("10.9.1.1:5000");
    send(&from, "10.9.2.1:7012", 100, 1000);
    await_that("it is told", || {
        told(&daemon).iter().any(|one| one["flow"]["dport"] == 7012)
    });
    let place = told(&daemon)[0]["place"].clone();
    let sums = totals(daemon);
    let mut taken = 0;
    while reader.recv(&mut [0; 2000]).is_ok() {
        taken += 1;
    }
    assert_eq!(packets(&sums, "SOCKET_RCVBUFF"), 100 - taken, "{sums}");
    assert_eq!(counter(&lab.b, "UdpRcvbufErrors"), 100 - taken);
    let places = ["udp_queue_rcv_one_skb", "__udp_enqueue_schedule_skb"];
    assert!(places.contains(&place.as_str().unwrap()), "{place}");
}

#[test]
fn a_burst_is_two_lines_that_sum_to_it() {
    let lab = Lab::new();
    let daemon = postcards(&lab.b, "");
    let from = lab.a.udp("10.9.1.1:5000");
    send(&from, "10.9.2.1:7001", 5000, 100);
    let burst = |daemon: &Daemon| -> Vec<Value> {
        let all = daemon.json_lines().into_iter();
        all.filter(|line| line["flow"]["dport"] == 7001).collect()
    };
    await_that("all are told", || {
        burst(&daemon)
            .last()
            .is_some_and(|line| line["drop"]["packets"] == 5000)
    });
    let found = burst(&daemon);
    assert!(found.len() <= 3, "{found:?}");
    assert_eq!(
        found[0]["drop"]["packets"], 1,
        "the first one is told at once"
    );
    let bytes = found.last().unwrap()["drop"]["bytes"].as_u64().unwrap();
    assert_eq!(bytes, 5000 * (100 + 28));
    assert_eq!(packets(&totals(daemon), "NO_SOCKET"), 5000);
}

#[test]
fn flows_beyond_the_limit_are_counted_by_reason_alone() {
    let lab = Lab::new();
    let daemon = postcards(&lab.b, "--max-new-flows 10");
    let from = lab.a.udp("10.9.1.1:5000");
    for port in 10_000..12_000 {
        from.send_to(b"a port each", ("10.9.2.1", port)).unwrap();
    }
    await_that("all were seen", || !told(&daemon).is_empty());
    let sums = totals(daemon);
    assert_eq!(packets(&sums, "NO_SOCKET"), 2000, "{sums}");
    let limited = sums["flow_limited"].as_u64().unwrap();
    let flows = sums["told"].as_u64().unwrap();
    assert!(limited > 0 && limited + flows >= 2000, "{sums}");
    assert!(flows < 200, "{sums}");
}

#[test]
fn no_more_flows_are_told_than_the_limit_says() {
    let lab = Lab::new();
    let daemon = postcards(&lab.b, "--max-reports 5 --report-period 1h");
    let from = lab.a.udp("10.9.1.1:5000");
    for port in 10_000..10_100 {
        from.send_to(b"a port each", ("10.9.2.1", port)).unwrap();
    }
    await_that("some are told", || !told(&daemon).is_empty());
    let sums = totals(daemon);
    assert_eq!(packets(&sums, "NO_SOCKET"), 100, "{sums}");
    assert!(sums["put_off"].as_u64().unwrap() > 0, "{sums}");
}

#[test]
fn the_flow_before_nat_is_told_too() {
    let lab = Lab::new();
    lab.m.sh(
        "nft add table ip nat; nft 'add chain ip nat post { type nat hook postrouting priority 100; }'
         nft add rule ip nat post oifname m1 masquerade
         tc qdisc add dev m1 root handle 1: tbf rate 8kbit burst 2000 limit 1000",
    );
    let daemon = postcards(&lab.m, "");
    let from = lab.a.udp("10.9.1.1:5000");
    send(&from, "10.9.2.1:7001", 22, 972);
    await_that_or(
        || {
            told(&daemon).iter().any(|one| {
                one["flow"]["src"] == "10.9.2.2"
                    && one["flow_before_nat"]["src"] == "10.9.1.1"
                    && one["flow_before_nat"]["sport"] == 5000
                    && one["flow_before_nat"]["dport"] == 7001
                    && one["in_interface"] == "m0"
                    && one["out_interface"] == "m1"
            })
        },
        || daemon.stdout(),
    );
}

/// What hosts send to all others, who need not want it: name and address services, by IPv4 and IPv6.
fn send_to_groups(lab: &Lab) {
    let link = lab.a.enter(|| netdev::index_of("a0").unwrap());
    let group = SocketAddrV6::new("ff02::fb".parse().unwrap(), 5353, 0, link);
    lab.a
        .udp("[fd09:1::1]:5353")
        .send_to(b"mDNS", group)
        .unwrap();
    let from = lab.a.udp("10.9.1.1:68");
    from.set_broadcast(true).unwrap();
    for to in ["224.0.0.251:5353", "255.255.255.255:67", "10.9.1.255:67"] {
        from.send_to(b"to all", to).unwrap();
    }
}

/// The client ends the connection first, and the end of the server comes to a socket that is closed.
fn close_first(lab: &Lab, port: u16) {
    let to = SocketAddr::from(([10, 9, 2, 1], port));
    let listener = lab.b.enter(|| TcpListener::bind(to)).unwrap();
    let mut client = lab.a.enter(|| TcpStream::connect(to)).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(b"a request").unwrap();
    server.read_exact(&mut [0; 9]).unwrap();
    drop(client);
    assert_eq!(server.read(&mut [0; 9]).unwrap(), 0);
}

/// Seconds by `HOSTINT_LONG`.
#[test]
fn healthy_traffic_drops_nothing() {
    let lab = Lab::new();
    lab.add_ipv6();
    let daemons = [&lab.a, &lab.m, &lab.b].map(|host| postcards(host, ""));
    let end = Instant::now() + Duration::from_secs(env_number("HOSTINT_LONG", 2));
    let mut rounds = 0;
    while rounds == 0 || Instant::now() < end {
        exchange_udp(
            &lab.a.udp("10.9.1.1:5000"),
            &lab.b.udp("10.9.2.1:6000"),
            500,
            1400,
        );
        for round in 0..5 {
            exchange_tcp(&lab.a, &lab.b, 6001 + round, 2 << 20);
        }
        exchange_udp(
            &lab.a.udp("[fd09:1::1]:5000"),
            &lab.b.udp("[fd09:2::1]:6000"),
            500,
            1400,
        );
        close_first(&lab, 6010);
        send_to_groups(&lab);
        rounds += 1;
    }
    for daemon in daemons {
        assert_eq!(told(&daemon), Vec::<Value>::new());
        let sums = totals(daemon);
        let ignored = sums["reasons"].as_array().unwrap();
        assert!(ignored.iter().all(|one| one["ignored"] == true), "{sums}");
    }
    eprintln!("{rounds} rounds: 0 drops told by 3 hosts");
}

#[test]
fn another_namespaces_drops_are_not_told() {
    let lab = Lab::new();
    let (a, b) = (postcards(&lab.a, ""), postcards(&lab.b, ""));
    // The two interfaces have one number, each in its own namespace.
    let number = |host: &Host, name: &str| host.sh(&format!("cat /sys/class/net/{name}/ifindex"));
    assert_eq!(number(&lab.a, "a0"), number(&lab.b, "b0"));
    let all = postcards(&lab.a, "--netns all");
    udp_from_a(&lab, "10.9.2.1:7001", 10);
    let is_it = |one: &Value| one["flow"]["dport"] == 7001 && one["drop"]["packets"] == 10;
    await_that_or(|| told(&b).iter().any(is_it), || b.stdout());
    let netns = told(&b).iter().find(|one| is_it(one)).unwrap()["netns"].clone();
    let is_of_b = |one: &Value| is_it(one) && one["netns"] == netns;
    await_that_or(|| told(&all).iter().any(is_of_b), || all.stdout());
    assert_eq!(packets(&totals(a), "NO_SOCKET"), 0);
    let of_b = told(&all).into_iter().find(is_of_b).unwrap();
    assert!(of_b["in_interface"].is_null(), "{of_b}");
    assert!(of_b["in_ifindex"].as_u64() > Some(0), "{of_b}");
    let sums = totals(all);
    let mut places = sums["places"].as_array().unwrap().iter();
    let place = places.find(|one| one["netns"] == netns).unwrap();
    assert!(place["interface"].is_null(), "{place}");
}

#[test]
fn an_overflow_of_a_listening_socket_is_a_drop_without_packet() {
    let lab = Lab::new();
    let daemon = postcards(&lab.b, "");
    lab.b.sh("sysctl -qw net.ipv4.tcp_syncookies=0");
    let listener = lab.b.enter(|| {
        use nix::sys::socket::*;
        let socket = socket(
            AddressFamily::Inet,
            SockType::Stream,
            SockFlag::empty(),
            None,
        )
        .unwrap();
        bind(
            std::os::fd::AsRawFd::as_raw_fd(&socket),
            &SockaddrIn::new(10, 9, 2, 1, 7002),
        )
        .unwrap();
        listen(&socket, Backlog::new(1).unwrap()).unwrap();
        socket
    });
    lab.a.sh("python3 -c '
import socket, time
l = []
for i in range(20):
    s = socket.socket(); s.setblocking(False)
    try: s.connect((\"10.9.2.1\", 7002))
    except BlockingIOError: pass
    l.append(s)
time.sleep(0.5)
'");
    drop(listener);
    let sums = totals(daemon);
    let all = sums["without_packet"].as_array().unwrap();
    let overflows = all.iter().find(|one| one["counter"] == "ListenOverflows");
    assert!(overflows.unwrap()["count"].as_u64().unwrap() > 0, "{sums}");
}

#[test]
fn places_can_be_left_out_and_reasons_ignored() {
    let lab = Lab::new();
    let daemon = postcards(&lab.b, "--no-places");
    let quiet = postcards(&lab.b, "--ignored-reasons NO_SOCKET");
    udp_from_a(&lab, "10.9.2.1:7001", 10);
    await_that("it is told", || !told(&daemon).is_empty());
    assert!(told(&daemon)[0]["place"].is_null());
    let is_it = |one: &Value| one["kernel_reason_name"] == "NO_SOCKET";
    assert!(!told(&quiet).iter().any(is_it), "{}", quiet.stdout());
    let sums = totals(quiet);
    assert_eq!(packets(&sums, "NO_SOCKET"), 10, "{sums}");
    assert!(sums["ignored"].as_u64().unwrap() >= 10, "{sums}");
}

#[test]
fn once_prints_the_counts_and_ends() {
    let lab = Lab::new();
    // IPv6 begins with multicast to groups without members.
    for host in [&lab.m, &lab.b] {
        host.sh("sysctl -qw net.ipv6.conf.all.disable_ipv6=1");
    }
    let out = lab.b.hostint("postcards --drops --once=100ms");
    assert_eq!(out, "no packets were dropped\n");
    let daemon = lab
        .b
        .start("postcards --drops --once=3s --json", "drops are reported");
    udp_from_a(&lab, "10.9.2.1:7001", 10);
    await_that("it ends", || daemon.stdout().ends_with('\n'));
    let all = daemon.json_lines();
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(packets(&all[0], "NO_SOCKET"), 10);
}

#[test]
fn other_reasons_apply_on_a_reload_and_a_mistake_changes_nothing() {
    let lab = Lab::new();
    let path = std::env::temp_dir().join(format!("{}.toml", lab.b.ns));
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    write("[postcards]\ndrops = \"all\"\n");
    let daemon = lab.b.start(
        &format!("postcards --json --config {}", path.display()),
        "drops are reported",
    );
    let reload = |text: &str, says: &str| {
        write(text);
        daemon.signal(Signal::SIGHUP);
        await_that_or(|| daemon.stderr().contains(says), || daemon.stderr());
    };
    reload(
        "[postcards]\ndrops = \"all\"\nmax-flows = 7\n",
        "all settings stay as they were",
    );
    let from = lab.a.udp("10.9.1.1:5000");
    send(&from, "10.9.2.1:7001", 3, 100);
    let is_told = |port: u16| told(&daemon).iter().any(|one| one["flow"]["dport"] == port);
    await_that("it is told", || is_told(7001));
    reload(
        "[postcards]\ndrops = \"all\"\nignored-reasons = [\"NO_SOCKET\", \"NO_SUCH_REASON\"]\n",
        "applied: [postcards] ignored-reasons",
    );
    assert!(
        daemon
            .stderr()
            .contains("this kernel has no reason NO_SUCH_REASON")
    );
    send(&from, "10.9.2.1:7002", 3, 100);
    let sums = totals(daemon);
    assert_eq!(packets(&sums, "NO_SOCKET"), 6, "{sums}");
    assert!(sums["ignored"].as_u64().unwrap() >= 3, "{sums}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn it_runs_without_root_with_three_capabilities() {
    let lab = Lab::new();
    let setpriv = |kept: &str, line: &str| {
        let binary = lab.b.binary.to_str().unwrap();
        let keep = format!(
            "--reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,{kept} --ambient-caps=-all,{kept} \
             --bounding-set=-all,{kept},+setpcap {binary} {line}"
        );
        let args: Vec<&str> = keep.split_whitespace().collect();
        lab.b.command("setpriv", &args).output().unwrap()
    };
    let line = "postcards --drops --once=200ms";
    let output = setpriv("+bpf,+perfmon,+syslog", line);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let output = setpriv("+bpf,+syslog", line);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("needs CAP_PERFMON"), "{said}");
}

#[test]
fn nothing_stays_behind() {
    let lab = Lab::new();
    let mut daemon = postcards(&lab.b, "");
    daemon.kill();
    assert!(!lab.b.pins().exists(), "pins of postcards");
    // The kernel drops some of its own multicast packets shortly after an interface is up.
    let told = || lab.b.hostint("postcards --drops --once=100ms");
    await_that_or(|| told() == "no packets were dropped\n", told);
}

#[test]
fn metrics_have_the_counts_by_reason_and_place() {
    let lab = Lab::new();
    let line = "postcards --drops --http 127.0.0.1";
    let _daemon = lab.b.start(line, "serving http://127.0.0.1:13278");
    assert_eq!(get(&lab.b, 13278, "/healthz").0, 200);
    udp_from_a(&lab, "10.9.2.1:7001", 10);
    let wanted = [
        "hostint_drops_total{reason=\"NO_SOCKET\",ignored=\"0\"} 10\n",
        "hostint_drop_bytes_total{reason=\"NO_SOCKET\",ignored=\"0\"} 1280\n",
        "hostint_drop_places_total{reason=\"NO_SOCKET\",place=\"__udp4_lib_rcv\",dev=\"b0\",ignored=\"0\"} 10\n",
        "hostint_tracepoint_missed_total 0\n",
    ];
    let metrics = || get(&lab.b, 13278, "/metrics").1;
    await_that_or(
        || {
            let text = metrics();
            wanted.iter().all(|line| text.contains(line))
        },
        metrics,
    );
}
