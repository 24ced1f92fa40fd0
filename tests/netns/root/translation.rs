//! A router translates what one of two hosts sends: conversations that the other one begins stay whole.

use std::net::{SocketAddr, UdpSocket};

use hostint_testing::account::Account;
use hostint_testing::conversation::{Conversation, Server};
use hostint_testing::netns::{Lab, await_that};
use hostint_testing::watched_pair::{is_settled, peers};

const NAT: &str = "nft add table inet path
     nft 'add chain inet path out { type nat hook postrouting priority 100; }'
     nft 'add rule inet path out ip saddr 10.9.1.0/24 ip daddr 10.9.2.0/24 snat ip to 10.9.2.2'
     nft 'add rule inet path out ip6 saddr fd09:1::/64 ip6 daddr fd09:2::/64 snat ip6 to fd09:2::2'";

/// True if a datagram comes back from where it was sent to.
fn is_echoed(asks: &UdpSocket, server: &UdpSocket) -> bool {
    asks.send(b"anybody there?").unwrap();
    let mut buffer = [0; 64];
    let (len, from) = server.recv_from(&mut buffer).unwrap();
    server.send_to(&buffer[..len], from).unwrap();
    asks.recv(&mut buffer).is_ok_and(|len| len == 14)
}

#[test]
fn of_what_the_other_host_sends() {
    // The host behind the router may be a source, too, or a sink alone.
    for is_source in [true, false] {
        let lab = Lab::new();
        lab.add_ipv6();
        lab.m.sh(NAT);
        let _a = lab.a.leasing_sink("--dev a0 --node-id 1");
        let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
        if is_source {
            lab.a.hostint("source attach --dev a0 --encap tunnel");
            lab.a.hostint("source add-dest 10.9.2.1 fd09:2::1");
        }
        lab.b.hostint("source attach --dev b0 --encap tunnel");
        lab.b.hostint("source add-dest 10.9.1.1 fd09:1::1");
        await_that("b's paths are proved", || is_settled(&lab.b));
        await_that("b learns that answers are translated", || {
            let eaten =
                |peer: &serde_json::Value| peer["eaten"] == serde_json::json!(["stray packets"]);
            peers(&lab.b).iter().all(eaten)
        });
        for (family, at_a, at_b) in [
            ("IPv4", "10.9.1.1", "10.9.2.1"),
            ("IPv6", "[fd09:1::1]", "[fd09:2::1]"),
        ] {
            let address =
                |host: &str, port| -> SocketAddr { format!("{host}:{port}").parse().unwrap() };
            let server = Server::start(&lab.a, address(at_a, 7000));
            let mut account = Account::default();
            for n in 0..5 {
                let begun = Conversation::begin(&lab.b, server.address, n << 20, &mut account);
                begun.expect("a connection").exchange(20_000, &mut account);
            }
            assert_eq!(account.whole, 5, "{family}, source {is_source}: {account}");
            let server = lab.a.udp(&address(at_a, 6000).to_string());
            let asks = lab.b.udp(&address(at_b, 5000).to_string());
            asks.connect(address(at_a, 6000)).unwrap();
            assert!(is_echoed(&asks, &server), "{family}, source {is_source}");
        }
        assert_eq!(lab.b.count("source", "tagged"), 0, "nothing is hidden");
        assert!(
            lab.b.count("source", "unproved") > 0,
            "{is_source}: and b says why"
        );
    }
}

/// A sink whose daemon does not run cannot show what a router does to its host's packets.
#[test]
fn of_a_host_whose_daemon_does_not_run_is_not_known() {
    for translates in [true, false] {
        let lab = Lab::new();
        lab.add_ipv6();
        if translates {
            lab.m.sh(NAT);
        }
        lab.a.hostint("sink attach --dev a0 --node-id 1");
        let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
        lab.b.hostint("source attach --dev b0 --encap tunnel");
        lab.b.hostint("source add-dest 10.9.1.1 fd09:1::1");
        await_that("b knows that a has no daemon", || {
            let peers = peers(&lab.b);
            !peers.is_empty() && peers.iter().all(|peer| peer["unattended"] == true)
        });
        await_that("b's paths are proved but for that", || is_settled(&lab.b));
        for (at_a, at_b) in [("10.9.1.1", "10.9.2.1"), ("[fd09:1::1]", "[fd09:2::1]")] {
            let server = lab.a.udp(&format!("{at_a}:6000"));
            let asks = lab.b.udp(&format!("{at_b}:5000"));
            let to: SocketAddr = format!("{at_a}:6000").parse().unwrap();
            asks.connect(to).unwrap();
            assert!(is_echoed(&asks, &server), "{at_a}, translated {translates}");
        }
        assert_eq!(lab.b.count("source", "tagged"), 0, "{translates}: nothing");
        let said = lab.b.hostint("status");
        assert!(said.contains("no daemon runs on its host"), "{said}");
        let _a = lab.a.leasing_sink("--dev a0 --node-id 1");
        await_that("a's daemon shows what routers do", || {
            let peers = peers(&lab.b);
            peers.iter().all(|peer| {
                peer["unattended"] == false
                    && (peer["ways"].as_array().unwrap().is_empty() == translates)
                    && peer["eaten"].as_array().unwrap().is_empty() != translates
            })
        });
    }
}
