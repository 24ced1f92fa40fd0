//! Cost of a packet by the number of flows that it may belong to, arriving at random; the tables are full.

use crate::frames::{Udp, hardware_address, next_random, udp_frame};
use crate::lab::{Pair, Setup, SinkAt};
use crate::programs::{self, Stats};
use crate::rounds::{Rounds, print_row};
use crate::senders::{raw_socket, send_batch};

const TABLE: u32 = 1_000_000;
const FLOWS: [u32; 6] = [1, 10, 1_000, 10_000, 100_000, TABLE];
const PACKETS: usize = 40_000;
const BATCH: usize = 64;
/// Routed to b, which has no such address and drops it.
const TARGET: [u8; 4] = [10, 9, 3, 1];

/// Flows differ in address and port of the sender.
fn frame(to: [u8; 6], flow: u32) -> Vec<u8> {
    udp_frame(&Udp {
        hardware: to,
        from: 0x0a0a_0000 + flow / 50_000,
        to: u32::from_be_bytes(TARGET),
        ports: (1024 + (flow % 50_000) as u16, 5000),
    })
}

pub fn run() {
    let _stats = Stats::enable();
    let pair = Pair::new(&Setup {
        sink: SinkAt::Xdp,
        source: Some("--idle-flow-timeout 1h"),
        watched: true,
        // A report for each packet of a flow that was silent so long would be measured too.
        sink_flags: "--max-flows 1000000 --report-period 1h --idle-flow-timeout 1h",
        source_flows: TABLE,
        ..Setup::NOTHING
    });
    let (a, m, b) = (&pair.lab.a, &pair.lab.m, &pair.lab.b);
    m.sh("ip route add 10.9.3.0/24 via 10.9.2.1");
    let to = hardware_address(&m.sh("cat /sys/class/net/m0/address"));
    let socket = raw_socket(a, "a0");
    let send = |flows: &mut dyn Iterator<Item = u32>| loop {
        let mut batch: Vec<Vec<u8>> = (&mut *flows)
            .take(BATCH)
            .map(|flow| frame(to, flow))
            .collect();
        if batch.is_empty() {
            return;
        }
        send_batch(&socket, &mut batch);
    };
    send(&mut (0..TABLE));
    let programs = [
        programs::pinned(a, "source-tc", "a0"),
        programs::pinned(b, SinkAt::Xdp.role(), "b0"),
    ];

    let mut state = 0x9e37_79b9_7f4a_7c15;
    let mut sink = 0.0;
    let rounds = Rounds::measure(FLOWS.len() * 2, |index| {
        if index % 2 == 1 {
            return sink;
        }
        let flows = FLOWS[index / 2];
        let figures = programs::measure(programs, || {
            send(&mut (0..PACKETS).map(|_| next_random(&mut state) % flows));
        });
        sink = figures[1];
        figures[0]
    });
    println!(
        "curve: ns for each packet, tables of {TABLE} flows, packets at random of some; target 2 x 1000 flows"
    );
    for (which, role) in ["source", "sink"].into_iter().enumerate() {
        for (case, flows) in FLOWS.iter().enumerate() {
            let index = 2 * case + which;
            let ratio = rounds.ratio(index, 4 + which);
            let name = format!("{role}, {flows} flows");
            print_row(
                &name,
                rounds.median(index),
                "ns",
                Some((ratio, "1000 flows")),
            );
        }
    }
    println!();
}
