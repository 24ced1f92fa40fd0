//! Whatever the kernel's own counters know of drops, by `nstat`, `ip -s link`, `nft` and `tc`, is told once, and no more.

use hostint_testing::netns::{Host, Lab};
use serde_json::Value;

use crate::exchange::exchange_udp;

/// How often each cause makes a drop.
const COUNT: u64 = 7;

/// A cause of drops, and the kernel's own counter of it.
struct Cause {
    sentence: &'static str,
    /// The host that drops: m or b.
    host: char,
    setup: &'static str,
    make: Make,
    /// One or more reasons, which tell as many packets as the counter.
    reasons: &'static [&'static str],
    counter: Counter,
}

enum Make {
    /// Datagrams from a to this address and port, of this length.
    Udp(&'static str, u16, usize),
    /// Python on a, with `ip` and `udp`, which make a packet of the protocol, and `out`, which sends it as a frame to m.
    Python(&'static str),
}

enum Counter {
    Nstat(&'static str),
    /// A shell command that prints a number, or several ones.
    Command(&'static str),
    /// That of the rule of nftables.
    Rule,
}

use Counter::{Command, Nstat, Rule};
use Make::{Python, Udp};

const TC_QUEUES: &str =
    "tc -s qdisc show dev m1 root | sed -n 's/.*dropped \\([0-9]*\\).*/\\1/p' | head -1";

const CAUSES: &[Cause] = &[
    Cause {
        sentence: "a closed UDP port, by IPv6",
        host: 'b',
        setup: "",
        make: Udp("fd09:2::1", 7101, 100),
        reasons: &["NO_SOCKET"],
        counter: Nstat("Udp6NoPorts"),
    },
    Cause {
        sentence: "a hop limit that ends at the router",
        host: 'm',
        setup: "",
        make: Python(
            "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 1)
for i in range(COUNT): s.sendto(b'x', ('fd09:2::1', 7102))",
        ),
        reasons: &["IP_INHDR"],
        counter: Nstat("Ip6InHdrErrors"),
    },
    Cause {
        sentence: "no route, by IPv6",
        host: 'm',
        setup: "",
        make: Udp("fd99::1", 7103, 100),
        reasons: &["IP_INNOROUTES"],
        counter: Nstat("Ip6InNoRoutes"),
    },
    Cause {
        sentence: "a wrong UDP checksum, by IPv6",
        host: 'b',
        setup: "",
        make: Python(
            "s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, 17)
for i in range(COUNT): s.sendto(struct.pack('!HHHH', 5000, 7104, 28, 0x1234) + b'x' * 20, ('fd09:2::1', 0))",
        ),
        reasons: &["UDP_CSUM"],
        counter: Nstat("Udp6InCsumErrors"),
    },
    Cause {
        sentence: "a wrong checksum of the IP header",
        host: 'm',
        setup: "",
        make: Python(
            "for i in range(COUNT): out(ip(17, udp(7106), sum=0x1234))",
        ),
        reasons: &["IP_CSUM"],
        counter: Nstat("IpExtInCsumErrors"),
    },
    Cause {
        sentence: "an IP header of another version",
        host: 'm',
        setup: "",
        make: Python("for i in range(COUNT): out(b'\\x55' + ip(17, udp(7107))[1:])"),
        reasons: &["IP_INHDR"],
        counter: Nstat("IpInHdrErrors"),
    },
    Cause {
        sentence: "a packet that is shorter than it says",
        host: 'm',
        setup: "",
        make: Python("for i in range(COUNT): out(ip(17, udp(7108), length=400))"),
        reasons: &["PKT_TOO_SMALL"],
        counter: Nstat("IpExtInTruncatedPkts"),
    },
    Cause {
        sentence: "a datagram that is shorter than it says",
        host: 'b',
        setup: "",
        make: Python("for i in range(COUNT): out(ip(17, udp(7109, 200)))"),
        reasons: &["PKT_TOO_SMALL"],
        counter: Nstat("UdpInErrors"),
    },
    Cause {
        sentence: "a wrong ICMP checksum",
        host: 'b',
        setup: "",
        make: Python(
            "for i in range(COUNT): out(ip(1, struct.pack('!BBHHH', 8, 0, 0x1234, 1, i) + b'x' * 20))",
        ),
        reasons: &["ICMP_CSUM"],
        counter: Nstat("IcmpInCsumErrors"),
    },
    Cause {
        sentence: "an interface that forwards nothing",
        host: 'm',
        setup: "sysctl -qw net.ipv4.conf.m0.forwarding=0",
        make: Udp("10.9.2.1", 7110, 100),
        reasons: &["IP_INADDRERRORS"],
        counter: Nstat("IpInAddrErrors"),
    },
    Cause {
        sentence: "fragments whose rest does not come",
        host: 'b',
        setup: "sysctl -qw net.ipv4.ipfrag_time=1",
        make: Python("for i in range(COUNT): out(ip(17, udp(7111, 40), id=i, fragment=0x2000))"),
        reasons: &["FRAG_REASM_TIMEOUT"],
        counter: Nstat("IpReasmFails"),
    },
    Cause {
        sentence: "a protocol of Ethernet that nobody takes",
        host: 'm',
        setup: "",
        make: Python("for i in range(COUNT): out(b'x' * 50, b'\\x88\\xb5')"),
        reasons: &["UNHANDLED_PROTO"],
        counter: Command("cat /sys/class/net/m0/statistics/rx_dropped"),
    },
    Cause {
        sentence: "a policy of IPsec that refuses",
        host: 'm',
        setup: "ip xfrm policy add dir fwd src 10.9.1.0/24 dst 10.9.2.0/24 action block",
        make: Udp("10.9.2.1", 7112, 100),
        reasons: &["XFRM_POLICY"],
        counter: Command("awk '/XfrmInPolBlock|XfrmFwdHdrError/ { print $2 }' /proc/net/xfrm_stat"),
    },
    Cause {
        sentence: "a rule before routing",
        host: 'm',
        setup: "nft 'add table ip lab; add chain ip lab f { type filter hook prerouting priority 0; }'
            nft add rule ip lab f udp dport 7113 counter drop",
        make: Udp("10.9.2.1", 7113, 100),
        reasons: &["NETFILTER_DROP"],
        counter: Rule,
    },
    Cause {
        sentence: "a rule that answers with an error",
        host: 'm',
        setup: "nft 'add table ip lab; add chain ip lab f { type filter hook forward priority 0; }'
            nft add rule ip lab f udp dport 7114 counter reject",
        make: Udp("10.9.2.1", 7114, 100),
        reasons: &["NETFILTER_DROP"],
        counter: Rule,
    },
    Cause {
        sentence: "a rule at an interface's ingress",
        host: 'm',
        setup: "nft 'add table netdev lab; add chain netdev lab f { type filter hook ingress device m0 priority 0; }'
            nft add rule netdev lab f udp dport 7115 counter drop",
        make: Udp("10.9.2.1", 7115, 100),
        reasons: &["NETFILTER_DROP"],
        counter: Rule,
    },
    Cause {
        sentence: "a rule at an interface's egress",
        host: 'm',
        setup: "nft 'add table netdev lab; add chain netdev lab f { type filter hook egress device m1 priority 0; }'
            nft add rule netdev lab f udp dport 7116 counter drop",
        make: Udp("10.9.2.1", 7116, 100),
        reasons: &["NETFILTER_DROP"],
        counter: Rule,
    },
    Cause {
        sentence: "a queue whose inner one has no room",
        host: 'm',
        setup: "tc qdisc add dev m1 root handle 1: tbf rate 8kbit burst 2000 limit 1000000
            tc qdisc add dev m1 parent 1: pfifo limit 2",
        make: Udp("10.9.2.1", 7117, 900),
        reasons: &["QDISC_DROP"],
        counter: Command(TC_QUEUES),
    },
    Cause {
        sentence: "a neighbour that is waited for by more than may wait",
        host: 'm',
        setup: "sysctl -qw net.ipv4.neigh.m1.unres_qlen=2",
        make: Udp("10.9.2.77", 7118, 900),
        reasons: &["NEIGH_QUEUEFULL", "NEIGH_FAILED"],
        // All of them, as no counter tells them from others.
        counter: Command("nstat -asz IpForwDatagrams | awk '/IpForw/ { print $2 }'"),
    },
];

/// What Python on a sends a cause with.
fn python(lab: &Lab, code: &str) {
    let mac = |host: &Host, dev: &str| host.sh(&format!("cat /sys/class/net/{dev}/address"));
    let (to, from) = (mac(&lab.m, "m0"), mac(&lab.a, "a0"));
    let (to, from) = (to.trim(), from.trim());
    lab.a.sh(&format!(
        "python3 - <<'END'
import socket, struct
COUNT = {COUNT}
def total(data):
    s = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while s >> 16: s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff
def ip(proto, payload, sum=None, length=None, id=7, fragment=0):
    head = struct.pack('!BBHHHBBH4s4s', 0x45, 0, length or 20 + len(payload), id, fragment, 64, proto, 0,
        socket.inet_aton('10.9.1.1'), socket.inet_aton('10.9.2.1'))
    return head[:10] + struct.pack('!H', total(head) if sum is None else sum) + head[12:] + payload
def udp(port, length=28): return struct.pack('!HHHH', 5000, port, length, 0) + b'x' * 20
mac = lambda text: bytes(int(one, 16) for one in text.split(':'))
frames = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
frames.bind(('a0', 0))
def out(packet, protocol=b'\\x08\\x00'): frames.send(mac('{to}') + mac('{from}') + protocol + packet)
{code}
END"
    ));
}

fn make(lab: &Lab, make: &Make) {
    match make {
        Udp(to, port, len) => {
            let from = if to.contains(':') {
                "[fd09:1::1]:5000"
            } else {
                "10.9.1.1:5000"
            };
            let from = lab.a.udp(from);
            for _ in 0..COUNT {
                // The one before may have been refused by ICMP.
                let _ = from.send_to(&vec![7; *len], (*to, *port));
            }
        }
        Python(code) => python(lab, code),
    }
}

fn counted(host: &Host, counter: &Counter) -> u64 {
    let text = match counter {
        Nstat(name) => host.sh(&format!(
            "nstat -asz {name} | awk '/^{name} / {{ print $2 }}'"
        )),
        Command(command) => host.sh(command),
        Rule => return host.counted_by_nft("ruleset").0,
    };
    let numbers = text.split_whitespace();
    numbers
        .map(|word| word.parse::<u64>().unwrap_or_else(|_| panic!("{text}")))
        .sum()
}

/// Returns what is wrong.
fn check(cause: &Cause) -> Option<String> {
    let lab = Lab::new();
    lab.add_ipv6();
    let host = if cause.host == 'm' { &lab.m } else { &lab.b };
    // Neighbours are known before.
    for [from, to] in [
        ["10.9.1.1:4000", "10.9.2.1:4000"],
        ["[fd09:1::1]:4000", "[fd09:2::1]:4000"],
    ] {
        exchange_udp(&lab.a.udp(from), &lab.b.udp(to), 3, 100);
    }
    if !cause.setup.is_empty() {
        host.sh(cause.setup);
    }
    let daemon = host.start("postcards --drops --json --netns own", "drops are reported");
    // Hosts send packets of their own while their links come up.
    let before = counted(host, &cause.counter);
    make(&lab, &cause.make);
    let totals = || {
        let output = host.try_hostint("status --json --flows 0");
        let status: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        status["postcards"]["drops"].clone()
    };
    let told = || -> u64 {
        let totals = totals();
        let all = totals["reasons"].as_array().into_iter().flatten();
        let ours = all.filter(|one| {
            let name = one["kernel_reason_name"].as_str().unwrap_or_default();
            cause.reasons.contains(&name) && one["ignored"] == false
        });
        ours.filter_map(|one| one["packets"].as_u64()).sum()
    };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let mut found = (0, 0);
    while std::time::Instant::now() < end {
        found = (told(), counted(host, &cause.counter) - before);
        if found.0 == found.1 && found.0 > 0 && (found.0 >= COUNT || cause.counts_less()) {
            return None;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Some(format!(
        "{}: told and counted: {found:?}\n{:#}\n{}",
        cause.sentence,
        totals(),
        daemon.stderr()
    ))
}

impl Cause {
    /// Some of the packets are let through.
    fn counts_less(&self) -> bool {
        self.reasons == ["QDISC_DROP"]
    }
}

#[test]
fn what_the_kernels_counters_know_is_told_once() {
    let wrong: Vec<String> = CAUSES.iter().filter_map(check).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
