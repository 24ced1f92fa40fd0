//! IPFIX over TCP on loopback: CPU time of the engine's thread, and bytes on the wire, by reports of a flow in a parcel.

use std::io::Read;
use std::net::TcpListener;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use hostint::engines::ipfix::{Ipfix, IpfixSettings, MessageTransport};
use hostint::engines::{Engine, FedBatch, Parcel, RunId};
use hostint_testing::fed_reports::numbered;
use hostint_testing::synthetic::Synthetic;
use nix::time::{ClockId, clock_gettime};

/// As many as a parcel has at most.
const REPORTS: usize = 32 << 10;
const PARCELS: u64 = 20;
const TIME_NS: u64 = 1_800_000_000_000_000_000;

pub fn run() {
    println!("reports of a flow   ns per report   bytes per report");
    for per_flow in [1, 10, 100] {
        let (ns, bytes) = measure(REPORTS / per_flow);
        println!("{per_flow:>17} {ns:>15.0} {bytes:>18.1}");
    }
}

fn measure(flows: usize) -> (f64, f64) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let collector = listener.local_addr().unwrap();
    let (came, counts) = channel();
    thread::spawn(move || discard(&listener, &came));
    let mut engine = Ipfix::new(IpfixSettings {
        collector: collector.to_string(),
        transport: MessageTransport::Tcp,
        domain: 0,
        interval: Duration::from_secs(10),
        queue: 64 << 20,
    });
    let mut synthetic = Synthetic::new(1, 100, flows);
    let (mut cpu, mut bytes) = (Duration::ZERO, 0);
    for number in 1..=PARCELS {
        let parcel = parcel(&mut synthetic, number, flows);
        let before = thread_time();
        engine.deliver(&parcel).unwrap();
        cpu += thread_time() - before;
        bytes += counts.recv().unwrap();
    }
    let reports = (PARCELS * REPORTS as u64) as f64;
    (cpu.as_nanos() as f64 / reports, bytes as f64 / reports)
}

fn thread_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .unwrap()
        .into()
}

fn parcel(synthetic: &mut Synthetic, number: u64, flows: usize) -> Parcel {
    let entries = (0..REPORTS).map(|n| {
        let sample = synthetic.report(n % flows, TIME_NS + n as u64);
        let number = (number - 1) * REPORTS as u64 + n as u64 + 1;
        numbered(number, sample.report, Some(sample.arrival))
    });
    let batch = FedBatch {
        run: RunId(1),
        entries: entries.collect(),
        bytes: 100 * REPORTS,
    };
    Parcel::of(number, batch)
}

/// A collector that counts bytes, by connection.
fn discard(listener: &TcpListener, came: &Sender<usize>) {
    let mut buffer = vec![0; 1 << 20];
    while let Ok((mut stream, _)) = listener.accept() {
        let mut count = 0;
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            count += length;
        }
        if came.send(count).is_err() {
            return;
        }
    }
}
