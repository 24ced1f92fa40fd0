//! Names of DNS stand in for those that no node tells: asked for rarely, kept within bounds, and never awaited.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use hostint::collector::{Exporters, ReverseNames, decode};
use hostint::model::node_identity::MOST_NAME_BYTES;
use hostint::model::{Arrival, ExporterHealth, NameOrigin, NodeId, NodeIdentity};
use hostint::wire::report_identity;

/// The most addresses that wait for DNS, the one that is being asked for included.
const MOST_WAITING: usize = 65;

/// A collector's exporters, and a resolver that answers when it is told what.
struct Dns {
    exporters: Exporters,
    names: ReverseNames,
    answer: Sender<Option<String>>,
    asked: Receiver<IpAddr>,
}

/// Name, origin, and whether the name is contested.
type Shown = (Option<String>, Option<NameOrigin>, bool);

fn address(last: u8) -> IpAddr {
    [192, 0, 2, last].into()
}

fn name(name: &str, origin: NameOrigin, contested: bool) -> Shown {
    (Some(name.to_owned()), Some(origin), contested)
}

const NAMELESS: Shown = (None, None, false);

impl Dns {
    fn new() -> Self {
        let (answer, answers) = channel();
        let (asking, asked) = channel();
        let names = ReverseNames::start(move |address| {
            asking.send(address).ok()?;
            let name: Option<String> = answers.recv().ok()?;
            Some((name?, Duration::from_secs(300)))
        });
        Self {
            exporters: Exporters::default(),
            names,
            answer,
            asked,
        }
    }

    /// Has a node say that it lives, with a name or an empty one.
    fn lives(&mut self, node: u32, from: u8, name: &str) {
        let identity = NodeIdentity {
            node: NodeId(node),
            period_s: 10,
            name: name.to_owned(),
            ..NodeIdentity::default()
        };
        let mut datagram = Vec::new();
        report_identity::emit(&identity, 1, &mut datagram);
        let arrival = Arrival {
            exporter: (address(from), 5000).into(),
            received_ns: 1,
        };
        let group = decode(&datagram).unwrap();
        self.exporters.received(arrival, &group);
    }

    /// The exporters as they are shown at a time, by address.
    fn show(&mut self, now: Instant) -> Vec<Shown> {
        let mut health = self.exporters.health(1_000, 1);
        self.names.fill_in(&mut health, &self.exporters, now);
        health.sort_by_key(|one| one.exporter);
        let shown = |one: ExporterHealth| (one.name, one.name_origin, one.name_contested);
        health.into_iter().map(shown).collect()
    }

    /// Waits until they are shown like this.
    fn await_shown(&mut self, now: Instant, expected: &[Shown]) {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let shown = self.show(now);
            if shown == expected {
                return;
            }
            assert!(Instant::now() < until, "{shown:?} is not {expected:?}");
            thread::yield_now();
        }
    }

    fn next_asked(&self) -> IpAddr {
        self.asked.recv_timeout(Duration::from_secs(20)).unwrap()
    }
}

#[test]
fn an_address_is_asked_for_again_only_when_its_name_is_old() {
    let mut dns = Dns::new();
    let start = Instant::now();
    let after = |seconds| start + Duration::from_secs(seconds);
    dns.lives(9, 9, "");
    assert_eq!(dns.show(start), [NAMELESS], "nothing waits for DNS");
    assert_eq!(dns.show(start), [NAMELESS]);
    dns.answer.send(Some("web-9".to_owned())).unwrap();
    let web = [name("web-9", NameOrigin::Dns, false)];
    dns.await_shown(start, &web);
    assert_eq!(dns.show(after(299)), web);
    assert_eq!(dns.asked.try_iter().count(), 1, "asked for once");
    assert_eq!(dns.show(after(300)), web, "the old name, meanwhile");
    assert_eq!(dns.next_asked(), address(9));
    dns.answer.send(None).unwrap();
    dns.await_shown(after(300), &[NAMELESS]);
    assert_eq!(dns.show(after(899)), [NAMELESS]);
    assert_eq!(dns.asked.try_iter().count(), 0, "not for ten minutes");
    dns.show(after(900));
    assert_eq!(dns.next_asked(), address(9));
}

#[test]
fn a_name_that_a_node_tells_comes_first() {
    let mut dns = Dns::new();
    let now = Instant::now();
    dns.lives(1, 1, "web-1");
    // the same node at an address from which it tells no name
    dns.lives(1, 2, "");
    dns.lives(2, 3, "");
    // one node at two addresses
    dns.lives(3, 4, "");
    dns.lives(3, 5, "");
    dns.show(now);
    let mut asked = HashSet::new();
    for _ in 0..3 {
        let address = dns.next_asked();
        let name = if address == self::address(3) {
            "web-1"
        } else {
            "web-3"
        };
        dns.answer.send(Some(name.to_owned())).unwrap();
        asked.insert(address);
    }
    let expected = [
        name("web-1", NameOrigin::Told, false),
        NAMELESS,
        name("web-1", NameOrigin::Dns, true),
        name("web-3", NameOrigin::Dns, false),
        name("web-3", NameOrigin::Dns, false),
    ];
    dns.await_shown(now, &expected);
    assert_eq!(asked, [3, 4, 5].map(address).into());
    assert_eq!(dns.asked.try_iter().count(), 0);
}

#[test]
fn questions_and_texts_are_bounded() {
    let mut dns = Dns::new();
    let now = Instant::now();
    for last in 0..=255 {
        dns.lives(u32::from(last) + 1, last, "");
    }
    dns.show(now);
    let first = dns.next_asked();
    dns.show(now);
    let long = "a".repeat(MOST_NAME_BYTES + 1);
    dns.answer.send(Some(long)).unwrap();
    let mut asked = vec![first];
    while asked.len() < MOST_WAITING {
        asked.push(dns.next_asked());
        dns.answer.send(None).unwrap();
    }
    assert!(dns.asked.try_recv().is_err(), "others wait for their turn");
    assert!(dns.show(now).iter().all(|shown| *shown == NAMELESS));
}
