//! ns that the programs of `--host-times` take at both ends of real traffic: how often each runs for a packet, and how long.

use std::collections::BTreeMap;
use std::time::Duration;

use hostint_testing::netns::{Daemon, Host, Lab, await_that};
use hostint_testing::watched_pair::is_settled;
use libbpf_rs::query::ProgInfoIter;

use crate::programs::Stats;
use crate::senders::{Datagrams, bulk_tcp};

/// IP packets of this length, without INT.
const PACKET: u32 = 1400;
const TIME: Duration = Duration::from_secs(2);

/// What the names of the programs begin with.
const NAMES: &str = "host_";

/// Programs by their id: name, runs and ns so far.
type Programs = BTreeMap<u32, (String, u64, u64)>;

fn programs() -> Programs {
    let all = ProgInfoIter::default().map(|one| {
        let name = one.name.to_string_lossy().into_owned();
        (one.id, (name, one.run_cnt, one.run_time_ns))
    });
    all.filter(|(_, (name, ..))| name.starts_with(NAMES))
        .collect()
}

/// Starts a sink, and tells which programs measure the times in its host.
fn start(host: &Host, dev: &str, node: u32) -> (Daemon, Vec<u32>) {
    let before = programs();
    // Nobody listens there, which costs the programs nothing.
    let flags = format!("sink --dev {dev} --node-id {node} --host-times --collector 127.0.0.1");
    let daemon = host.start(&flags, "waits in this host are reported");
    let loaded = programs().into_keys();
    let ids = loaded.filter(|id| !before.contains_key(id)).collect();
    (daemon, ids)
}

/// Prints what the programs took while `traffic` ran, which says how many packets passed.
fn table(what: &str, hosts: &[(&str, Vec<u32>)], traffic: impl FnOnce() -> f64) {
    let before = programs();
    let packets = traffic();
    let after = programs();
    for (host, ids) in hosts {
        for id in ids {
            let (Some(begin), Some(end)) = (before.get(id), after.get(id)) else {
                continue;
            };
            let (runs, ns) = (end.1 - begin.1, end.2 - begin.2);
            if runs == 0 {
                continue;
            }
            println!(
                "  {what:<6} {host:<8} {:<20} {:>12.3} {:>12.0} {:>14.1}",
                end.0,
                runs as f64 / packets,
                ns as f64 / runs as f64,
                ns as f64 / packets
            );
        }
    }
}

pub fn run() {
    let _stats = Stats::enable();
    let lab = Lab::new();
    for (host, dev, via) in [(&lab.a, "a0", "10.9.1.2"), (&lab.b, "b0", "10.9.2.2")] {
        host.sh(&format!(
            "ip link set {dev} gso_max_segs 1; ip route replace default via {via} mtu {PACKET}"
        ));
    }
    let (_sender, sending) = start(&lab.a, "a0", 1);
    let (_receiver, receiving) = start(&lab.b, "b0", 2);
    lab.a.hostint("source attach --dev a0 --superpackets skip");
    lab.a.hostint("source add-dest 10.9.2.1");
    await_that("what passes is known", || is_settled(&lab.a));
    let hosts = [("sender", sending), ("receiver", receiving)];
    println!(
        "host-times: runs of programs that measure waits inside hosts, one packet is at most {PACKET} bytes; all of a run, as \
         nothing that does nothing is subtracted"
    );
    println!(
        "  {:<6} {:<8} {:<20} {:>12} {:>12} {:>14}",
        "", "", "", "runs/packet", "ns a run", "ns a packet"
    );
    let datagrams = Datagrams::new(&lab.a, &lab.b, PACKET as usize - 28);
    table("UDP", &hosts, || {
        // A quarter of the time is warming up, and counts, too.
        datagrams.rate(TIME) * TIME.as_secs_f64() * 1.25
    });
    table("TCP", &hosts, || {
        let payload = f64::from(PACKET) - 52.0;
        bulk_tcp(&lab.a, &lab.b, TIME) * TIME.as_secs_f64() * 1.25 / payload
    });
    println!();
}
