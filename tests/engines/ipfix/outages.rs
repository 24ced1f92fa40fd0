//! When the network or the flow collector goes away, all reports over TCP arrive afterwards.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use hostint::engines::Engine;
use hostint::engines::ipfix::{Ipfix, MessageTransport};
use hostint_testing::collecting::Collecting;
use hostint_testing::netns::{Lab, await_that};
use hostint_testing::places;

use super::decoder::{Session, Sums};
use super::listeners::{TcpCollector, datagrams};
use super::parcels::*;

const COLLECTOR: &str = "10.9.2.1:4739";

fn long() -> bool {
    std::env::var_os("HOSTINT_LONG").is_some()
}

/// How many reports are sent while all is well; a twentieth of it during an outage.
pub fn reports() -> u64 {
    if long() { 1_000_000 } else { 10_000 }
}

/// So long the link is cut at least.
fn outage() -> Duration {
    Duration::from_secs(if long() { 60 } else { 0 })
}

/// These need root.
mod root {
    use super::*;

    #[test]
    fn by_tcp_all_reports_are_there_after_the_network_and_the_collector_were_away() {
        let lab = Lab::new();
        let listen = |reads: &[usize]| lab.b.enter(|| TcpCollector::start(COLLECTOR, reads));
        let first = listen(&[]);
        let mut collecting = lab.a.enter(|| {
            let flags = ["--ipfix", "10.9.2.1", "--ipfix-interval", "200ms"];
            let room = ["--queue", "1G"];
            Collecting::start_with(
                lab.a.command(places::hostint(), &[]),
                &[flags.as_slice(), &room].concat(),
            )
        });
        lab.a.enter(|| {
            collecting.send(reports());
            collecting.await_delivery("ipfix");
        });

        // What is written is lost on the way, for a while.
        lab.drop_packets("ip daddr 10.9.2.1 ip length > 100");
        lab.a.enter(|| collecting.send(reports() / 20));
        await_that("packets are lost", || {
            lab.m.counted_by_nft("table ip lab").0 > 0
        });
        assert!(lab.dropped() > 0);
        lab.a.enter(|| collecting.await_delivery("ipfix"));

        // The link is cut: nothing gets through at all.
        lab.m.sh("ip link set m1 down");
        let begin = Instant::now();
        lab.a.enter(|| {
            collecting.send(reports() / 20);
            collecting.await_status("it complains", |status| {
                begin.elapsed() >= outage() && status["engines"][0]["trouble"].is_string()
            });
        });
        lab.m.sh("ip link set m1 up");
        lab.a.enter(|| collecting.await_delivery("ipfix"));

        // The collector ends, and the next one goes away twice.
        let mut sessions = first.sessions();
        drop(first);
        lab.a.enter(|| {
            collecting.send(reports() / 20);
            collecting.await_status("it complains", |status| {
                let trouble = status["engines"][0]["trouble"].as_str();
                trouble.is_some_and(|why| why.contains("Connection refused"))
            });
        });
        // It goes away within the templates.
        let second = listen(&[100, 300]);
        lab.a.enter(|| {
            collecting.await_delivery("ipfix");
            collecting.send(reports());
            collecting.await_delivery("ipfix");
        });
        sessions.extend(second.sessions());

        let sums = Sums::of(sessions.iter().flat_map(|session| &session.flows));
        let sent = &collecting.sent;
        assert_eq!(sums.reports, sent.reports);
        assert_eq!(
            (sums.delays, sums.dropped),
            (sent.latency_reports, sent.lost)
        );
        let off_by = sums.delay_us.abs_diff(sent.latency_ns as u64 / 1000);
        assert!(off_by <= sums.records / 2 + 1, "{off_by} us off: {sums:?}");
        let status = lab.a.enter(|| collecting.engine("ipfix"));
        assert_eq!(status["waiting"], 0, "{status}");
        assert!(status["retries"].as_u64() >= Some(4), "{status}");
        println!("{sums:?} of {sent:?}");
    }

    #[test]
    fn by_udp_what_is_lost_shows_in_sequence_numbers() {
        let lab = Lab::new();
        let address: SocketAddr = COLLECTOR.parse().unwrap();
        let socket = lab.b.enter(|| UdpSocket::bind(address).unwrap());
        let mut engine = Ipfix::new(settings(address, MessageTransport::Udp));
        let mut deliver = |number: u64| {
            let entries = (0..100).map(|n| {
                let mut flow = flow4();
                flow.sport = n as u16;
                entry(number * 100 + n, latency(flow, 1000), TIME_NS)
            });
            let parcel = parcel(number, entries.collect());
            lab.a.enter(|| engine.deliver(&parcel).unwrap());
        };
        let mut session = Session::default();
        let mut came = |flows: usize, missing: u32| {
            await_that("they come", || {
                for message in datagrams(&socket) {
                    session.read(&message);
                }
                session.flows.len() == flows
            });
            assert_eq!(session.missing, missing);
        };
        deliver(1);
        came(100, 0);
        lab.drop_packets("udp dport 4739");
        deliver(2);
        assert!(lab.dropped() > 0);
        deliver(3);
        // Two records are those of the exporting process.
        came(200, 102);
    }
}
