//! Coverage, and the packets that came by: the datagrams of hosts, and what one costs a collector.

use std::net::Ipv4Addr;

use hostint::collector::ReportHub;
use hostint::model::{Arrival, Classes};
use hostint::store::OpenedStore;
use hostint_testing::random::Random;
use hostint_testing::scratch::Folder;
use hostint_testing::told_simulation::{COVERED, CROSSED, Told};

use super::{HOSTS, cpu, settings};

/// Hosts whose datagrams a collector decodes.
const DECODED_HOSTS: u32 = 100;
const TURNS: u64 = 12;

/// Us of CPU time that a datagram takes: decoded, subtracted, and in the history.
fn cost_of(mut datagrams: impl FnMut(&mut Random) -> Vec<Vec<u8>>) -> f64 {
    let mut random = Random::seeded(1);
    let sent = Vec::from_iter((0..DECODED_HOSTS).map(|_| datagrams(&mut random)));
    let folder = Folder::create();
    let mut kept = settings();
    kept.path = folder.file("told.db");
    let store = OpenedStore::open(kept)
        .unwrap()
        .start(Box::new(|trouble| println!("{trouble}")))
        .unwrap();
    let mut hub = ReportHub::new(Some(store.keeper()), None, Classes::default());
    let before = cpu();
    let (mut turn, mut count) = (0, 0);
    while sent.iter().any(|of_host| turn < of_host.len()) {
        for (host, of_host) in (0_u32..).zip(&sent) {
            let Some(datagram) = of_host.get(turn) else {
                continue;
            };
            // Each host is a node of its own: its id follows the two headers.
            let mut datagram = datagram.clone();
            datagram[16..20].copy_from_slice(&(1000 + host).to_be_bytes());
            let exporter = (Ipv4Addr::from(0x0a80_0000 + host), 40_000).into();
            let received_ns = 1_700_000_000_000_000_000 + 2_000_000_000 * turn as u64;
            let arrival = Arrival {
                exporter,
                received_ns,
            };
            hub.datagram(&datagram, arrival).unwrap();
            count += 1;
        }
        turn += 1;
    }
    hub.flush().unwrap();
    drop((hub, store));
    1e6 * (cpu() - before).as_secs_f64() / f64::from(count)
}

fn line(name: &str, is: Told, said: Told, us: f64) {
    println!(
        "| {name} | {:.2} | {:.2} | {:+.1} % | {:.0} | {:.0} | {:+.1} % | {us:.1} | {:.0} | {:.2} |",
        is.datagrams,
        said.datagrams,
        100.0 * (said.datagrams / is.datagrams - 1.0),
        is.bytes,
        said.bytes,
        100.0 * (said.bytes / is.bytes - 1.0),
        said.mbits() * HOSTS as f64,
        said.datagrams * us * HOSTS as f64 / 1e6,
    );
}

pub fn run() {
    println!(
        "\ntold: coverage, and packets that came by; of a host in a second, and of {HOSTS} such\n"
    );
    println!(
        "| | datagrams | formula | off by | bytes | formula | off by | us of CPU each | Mbit/s in all | cores in all |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for rules in COVERED {
        let us = cost_of(|random| rules.datagrams(TURNS, random));
        let hosts = HOSTS * 30 / u64::from(rules.active + rules.silent);
        line(rules.name, rules.simulate(hosts, 1), rules.formula(), us);
    }
    for rules in CROSSED {
        let us = cost_of(|random| rules.datagrams(TURNS, random));
        // Only the counts are chance, which take the same bytes whatever they are.
        let hosts = HOSTS / u64::from(rules.flows);
        line(rules.name, rules.simulate(hosts, 1), rules.formula(), us);
    }
}
