//! Routers translate addresses of each form of packets: hosts with leases notice it and tag nothing; where a user has packets tagged
//! anyway, datagrams with INT behind their UDP header come whole and are counted; and so is what the other host begins.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use hostint_testing::account::Account;
use hostint_testing::conversation::{Conversation, Server};
use hostint_testing::datagrams::{Echo, Flows};
use hostint_testing::netns::{Host, Lab, await_that, await_that_or};
use hostint_testing::watched_pair::{is_settled, peers};

/// A neighbour is known, or will not be, after this time.
const PATIENCE: Duration = Duration::from_secs(60);

const INT_DSCP: &str = "--int-dscp 0x17";

/// What m does to packets from a to b.
struct Router {
    name: &'static str,
    rule: &'static str,
    /// Where a sends to.
    to: [&'static str; 2],
    /// Where packets come from at b, over IPv4.
    from: &'static str,
}

const A: [&str; 2] = ["10.9.1.1", "[fd09:1::1]"];
const B: [&str; 2] = ["10.9.2.1", "[fd09:2::1]"];

const PLAIN: Router = Router {
    name: "no translation",
    rule: "",
    to: B,
    from: "10.9.1.1",
};
const MASQUERADES: Router = Router {
    name: "masquerade",
    rule: "add chain inet path out { type nat hook postrouting priority 100; }
           add rule inet path out oifname m1 masquerade",
    to: B,
    from: "10.9.2.2",
};
const FORWARDS: Router = Router {
    name: "dnat",
    rule: "add chain inet path in { type nat hook prerouting priority -100; }
           add rule inet path in ip daddr 10.9.8.1 dnat ip to 10.9.2.1
           add rule inet path in ip6 daddr fd09:8::1 dnat ip6 to fd09:2::1",
    to: ["10.9.8.1", "[fd09:8::1]"],
    from: "10.9.1.1",
};
const CHANGES_PREFIXES: Router = Router {
    name: "other prefixes",
    rule: "add chain inet path out { type nat hook postrouting priority 100; }
           add rule inet path out ip saddr 10.9.1.0/24 snat ip prefix to 10.9.7.0/24
           add rule inet path out ip6 saddr fd09:1::/64 snat ip6 prefix to fd09:7::/64",
    to: B,
    from: "10.9.7.1",
};

impl Router {
    fn lab(&self) -> Lab {
        let lab = Lab::new();
        lab.make_room();
        lab.add_ipv6();
        for (host, via) in [(&lab.a, "fd09:1::2"), (&lab.b, "fd09:2::2")] {
            host.sh(&format!(
                "ip -6 route replace default via {via} mtu 1340 advmss 1280"
            ));
        }
        self.begin(&lab);
        lab
    }

    /// From now on m translates.
    fn begin(&self, lab: &Lab) {
        let rules = format!("add table inet path\n{}", self.rule);
        lab.m.sh(&format!("nft -f - <<'END'\n{rules}\nEND"));
    }

    /// The addresses that a watches.
    fn watched(&self) -> String {
        self.to.join(" ").replace(['[', ']'], "")
    }
}

fn address(host: &str, port: u16) -> SocketAddr {
    format!("{host}:{port}").parse().expect("an address")
}

/// The hosts of an exchange with their addresses, and what the first one takes for those of the other.
struct Ends<'a> {
    from: (&'a Host, [&'static str; 2]),
    to: (&'a Host, [&'static str; 2]),
    taken_for: [&'static str; 2],
}

impl Ends<'_> {
    /// Connections, and the answers to them, come whole.
    fn connect(&self, what: &str) {
        for (family, name) in ["IPv4", "IPv6"].into_iter().enumerate() {
            let mut account = Account::default();
            let server = Server::start(self.to.0, address(self.to.1[family], 7000));
            for seed in 0..3 {
                let at = address(self.taken_for[family], 7000);
                let begun = Conversation::begin(self.from.0, at, seed, &mut account);
                let mut open = begun.unwrap_or_else(|| panic!("{what}, {name}: {account}"));
                open.exchange(100_000, &mut account);
            }
            account.add(server.take_account());
            whole(&account, &format!("connections, {what}, {name}"));
        }
    }

    /// Datagrams, and their echoes, come whole.
    fn send(&self, what: &str) {
        for (family, name) in ["IPv4", "IPv6"].into_iter().enumerate() {
            let mut echo = Echo::start(self.to.0, address(self.to.1[family], 6100));
            echo.address = address(self.taken_for[family], 6100);
            let flows = Flows::new(self.from.0, self.from.1[family], 4);
            let account = flows.without_loss().exchange(&echo, 50);
            whole(&account, &format!("datagrams, {what}, {name}"));
        }
        for host in [self.from.0, self.to.0] {
            assert_eq!(host.checksum_errors(), 0, "{what}: checksums");
        }
    }
}

fn whole(account: &Account, what: &str) {
    assert_eq!(account.whole, account.transfers, "{what}: {account}");
    assert_eq!(account.foreign_bytes, 0, "{what}: {account}");
}

/// Connections and datagrams both come whole.
fn exchange(
    from: (&Host, [&'static str; 2]),
    to: (&Host, [&'static str; 2]),
    taken_for: [&'static str; 2],
    what: &str,
) {
    let ends = Ends {
        from,
        to,
        taken_for,
    };
    ends.connect(what);
    ends.send(what);
}

#[test]
fn hosts_with_leases_tag_nothing_through_a_router_that_translates() {
    // A question that arrives from elsewhere is answered so for all forms.
    for (router, forms) in [
        (
            MASQUERADES,
            &["vxlan-gpe", "int-md --int-dscp 0x17", "ioam"][..],
        ),
        (FORWARDS, &["int-md --int-dscp 0x17"]),
        (CHANGES_PREFIXES, &["ioam"]),
    ] {
        for form in forms {
            let what = format!("{}, {form}", router.name);
            let lab = router.lab();
            let _a = lab.a.leasing_sink("--dev a0 --node-id 1");
            let _b = lab
                .b
                .leasing_sink(&format!("--dev b0 --node-id 2 {INT_DSCP}"));
            lab.a
                .hostint(&format!("source attach --dev a0 --encap {form}"));
            lab.a
                .hostint(&format!("source add-dest {}", router.watched()));
            await_that_or(
                || {
                    let peers = peers(&lab.a);
                    peers.len() == 2 && peers.iter().all(|peer| peer["state"] == "forged")
                },
                || format!("{what}: {:?}", peers(&lab.a)),
            );
            exchange((&lab.a, A), (&lab.b, B), router.to, &what);
            assert_eq!(lab.a.count("source", "tagged"), 0, "{what}");
            assert!(lab.a.count("source", "no_lease") > 0, "{what}: is told");
            let said = lab.a.hostint("status");
            assert!(said.contains("NAT on the path"), "{what}: and why: {said}");
        }
    }
}

#[test]
fn datagrams_are_counted_where_a_user_has_packets_tagged_anyway() {
    const FORMS: [&str; 3] = [
        "over-tcp-udp",
        "int-md --int-dscp 0x17",
        "int-md --int-dscp 0x17 --mode mx --mx-sample 1",
    ];
    for (router, forms) in [
        (MASQUERADES, &FORMS[..]),
        (FORWARDS, &FORMS[1..2]),
        (CHANGES_PREFIXES, &FORMS[2..]),
    ] {
        for form in forms {
            let what = format!("{}, {form}", router.name);
            let lab = router.lab();
            let _b = lab.b.sink(&format!("--dev b0 --node-id 2 {INT_DSCP}"));
            lab.m.hostint(&format!(
                "transit attach --dev m0,m1 --node-id 9 --carriers host-int,int-md {INT_DSCP}"
            ));
            lab.a.hostint(&format!(
                "source attach --dev a0 --node-id 1 --force --encap {form}"
            ));
            lab.a
                .hostint(&format!("source add-dest --static {}", router.watched()));
            // Neighbours are known before the first burst, which their queues would not hold.
            for (host, to) in [(&lab.m, B), (&lab.a, ["10.9.1.2", "[fd09:1::2]"])] {
                for to in to.map(|to| address(to, 9)) {
                    let _ = host.enter(|| TcpStream::connect_timeout(&to, PATIENCE));
                }
            }
            let ends = Ends {
                from: (&lab.a, A),
                to: (&lab.b, B),
                taken_for: router.to,
            };
            // Routers that follow connections take INT behind TCP's header for data, and reset some.
            ends.send(&what);
            let tagged = lab.a.count("source", "tagged");
            assert_eq!(tagged, 2 * 4 * 50, "{what}");
            assert_eq!(lab.b.count("sink", "received"), tagged, "{what}");
            for reason in ["lost", "duplicate", "damaged", "bad_length"] {
                assert_eq!(lab.b.count("sink", reason), 0, "{what}: {reason}");
            }
            if form.contains("mx") {
                assert_eq!(lab.m.count("transit", "mx_passed"), tagged, "{what}");
            }
            assert_eq!(lab.m.count("transit", "no_arrival"), 0, "{what}");
            assert_eq!(lab.m.count("transit", "dropped"), 0, "{what}");
            // The flow is the one that arrives.
            let status = lab.b.status();
            let flows = status["sink"]["flows"].as_array().expect("a list");
            let datagrams = flows.iter().filter(|flow| flow["flow"]["dport"] == 6100);
            let mut from: Vec<_> = datagrams.map(|flow| &flow["flow"]["src"]).collect();
            from.retain(|address| !address.as_str().expect("text").contains(':'));
            assert_eq!(from.len(), 4, "{what}: {status}");
            assert!(
                from.iter().all(|one| **one == router.from),
                "{what}: {from:?}"
            );
        }
    }
}

/// m translates what a sends to b, but for answers: b is the source.
#[test]
fn what_the_other_host_begins_is_counted() {
    // Connections go untagged where int-md is for datagrams alone.
    for (form, least) in [("int-md --int-dscp 0x17", 400), ("ioam", 250)] {
        let lab = MASQUERADES.lab();
        let _a = lab
            .a
            .leasing_sink(&format!("--dev a0 --node-id 1 {INT_DSCP}"));
        let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
        lab.b
            .hostint(&format!("source attach --dev b0 --encap {form}"));
        lab.b.hostint("source add-dest 10.9.1.1 fd09:1::1");
        await_that("b's paths are proved", || is_settled(&lab.b));
        exchange((&lab.b, B), (&lab.a, A), A, form);
        let tagged = lab.b.count("source", "tagged");
        assert!(tagged >= least, "{form}: {tagged} {:?}", peers(&lab.b));
        assert_eq!(lab.a.count("sink", "received"), tagged, "{form}");
        assert_eq!(lab.a.count("sink", "lost"), 0, "{form}");
    }
}

/// Until the lease ends packets are tagged that the sink knows nothing of: hosts skip the options.
#[test]
fn a_rule_that_begins_harms_no_packet_in_ioam() {
    let lab = PLAIN.lab();
    let _a = lab.a.leasing_sink("--dev a0 --node-id 1");
    let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
    lab.a.hostint("source attach --dev a0 --encap ioam");
    lab.a.hostint("source add-dest fd09:2::1");
    await_that("a's paths are proved", || is_settled(&lab.a));
    exchange((&lab.a, A), (&lab.b, B), B, "before");
    let stripped = lab.b.count("sink", "received");
    assert!(stripped > 250, "{stripped}");
    MASQUERADES.begin(&lab);
    exchange((&lab.a, A), (&lab.b, B), B, "as it begins");
    assert!(lab.b.count("sink", "not_allowed") > 0, "the sink says so");
    assert_eq!(lab.b.count("sink", "lost"), 0, "and nothing is lost");
    await_that("and a notices", || peers(&lab.a)[0]["state"] == "forged");
    exchange((&lab.a, A), (&lab.b, B), B, "afterwards");
}
