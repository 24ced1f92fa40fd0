//! One flow on several CPUs at once loses no count and uses no sequence number twice.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Instant;

use hostint::datapath::abi::{sink_counter, source_counter};
use hostint_testing::frame::{Frame, UDP};
use hostint_testing::int_block::Block;
use hostint_testing::model::{Encapsulation, Key};
use hostint_testing::packets::{key, udp};
use hostint_testing::programs::Shared;
use hostint_testing::programs::sink::{Sink, Sizes, latencies, settings};
use hostint_testing::programs::source::{Hook, Options, Source};
use hostint_testing::source_cases::stamp_of;
use hostint_testing::stream::{MS, SECOND, SEQUENCE_AT, Stream, TIMEOUT, packet, sink_with};

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    /// Each CPU has numbers of its own, so that most come out of order and are taken under the lock. Those in order, whose sums
    /// need atomics, are in home_cpu.rs.
    #[test]
    fn several_cpus_with_numbers_out_of_order_lose_no_count() {
        several_cpus_on_one_flow(true);
        several_cpus_on_one_flow(false);
    }

    /// The longest time without an arrival. After a second the sink may take numbers far behind for a new numbering.
    #[derive(Default)]
    struct Silence {
        newest_ns: AtomicU64,
        longest_ns: AtomicU64,
    }

    impl Silence {
        fn arrival(&self, now_ns: u64) {
            let before_ns = self.newest_ns.fetch_max(now_ns, Ordering::Relaxed);
            let passed_ns = now_ns.saturating_sub(before_ns);
            self.longest_ns.fetch_max(passed_ns, Ordering::Relaxed);
        }
    }

    fn several_cpus_on_one_flow(atomics: bool) {
        // Some of the emulator's guests stand still for seconds while one thread is ahead of the others.
        let ran = (0..20).any(|_| several_cpus_without_a_silence(atomics));
        assert!(ran, "this machine stands still again and again");
    }

    /// Returns false if the machine stood still too long to tell.
    fn several_cpus_without_a_silence(atomics: bool) -> bool {
        const THREADS: u32 = 4;
        const PACKETS: u32 = 40_000;
        let sink = sink_with(3_600 * SECOND, atomics);
        let (silence, begun) = (Silence::default(), Instant::now());
        let mut first = Stream::new(&sink, TIMEOUT);
        first.run(1, 0);
        let program = Shared(sink.program());
        let start = Barrier::new(THREADS as usize);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (program, start, silence) = (&program, &start, &silence);
                scope.spawn(move || {
                    let mut frame = packet();
                    start.wait();
                    for number in (2..=PACKETS).filter(|n| n % THREADS == thread) {
                        frame[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&number.to_be_bytes());
                        program.run(&frame);
                        silence.arrival(begun.elapsed().as_nanos() as u64);
                    }
                });
            }
        });
        if silence.longest_ns.into_inner() > SECOND / 2 {
            return false;
        }
        let flow = sink.flow(&key(UDP)).unwrap();
        let sent_len = packet().len() as u64 - 14 - 36;
        assert_eq!(flow.packets, u64::from(PACKETS), "packets");
        assert_eq!(flow.bytes, flow.packets * sent_len, "bytes");
        let slots = sink.fine_slots(&flow).expect("slots were free");
        assert_eq!(slots.count.iter().sum::<u32>(), PACKETS, "latencies");
        assert_eq!(flow.histogram, [0; 32], "each is counted once");
        assert_eq!(flow.duplicates, 0, "no number came twice");
        assert_eq!(flow.restarts, 0, "nothing began anew");
        for _ in 0..2 {
            sink.jump(3_601 * SECOND as i64);
            sink.sweep(&[key(UDP)]);
        }
        let flow = sink.flow(&key(UDP)).unwrap();
        assert_eq!(flow.lost - flow.recovered, 0, "no number is missing");
        assert_eq!(
            flow.awaited,
            flow.declared.iter().map(|w| w.count_ones()).sum::<u32>()
        );
        let events = sink.events();
        assert_eq!(
            latencies(&events).len(),
            1,
            "the flow is new once, and no period is over"
        );
        let stripped = sink.counters()[sink_counter::COUNT_SINK_RECEIVED.0 as usize];
        let bytes = u64::from(PACKETS) * packet().len() as u64;
        assert_eq!(stripped, (u64::from(PACKETS), bytes), "stripped");
        assert_eq!(
            sink.count(sink_counter::COUNT_SINK_REORDERED),
            flow.reordered,
            "reordered"
        );
        assert_eq!(
            sink.count(sink_counter::COUNT_SINK_RECOVERED),
            flow.recovered,
            "recovered"
        );
        assert_eq!(sink.count(sink_counter::COUNT_SINK_LOST), flow.lost, "lost");
        true
    }

    #[test]
    fn several_cpus_on_a_flow_with_holes_lose_no_count() {
        // As above: after a silence, numbers far behind may be a new numbering.
        let ran = (0..20).any(|_| several_cpus_past_holes_without_a_silence());
        assert!(ran, "this machine stands still again and again");
    }

    /// The CPUs take the next number in turn, so that nearly all numbers arrive in order, and never all of them.
    fn several_cpus_past_holes_without_a_silence() -> bool {
        const THREADS: u32 = 2;
        const NUMBERS: u32 = 100_000;
        const HOLE_IN: u32 = 40;
        // Periods end all the time, by arrivals and by sweeps.
        let sink = sink_with(MS, true);
        let (silence, begun) = (Silence::default(), Instant::now());
        let mut first = Stream::new(&sink, MS);
        first.run(1, 0);
        let (program, next) = (Shared(sink.program()), AtomicU32::new(2));
        let start = Barrier::new(THREADS as usize + 1);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                let (program, next, start, silence) = (&program, &next, &start, &silence);
                scope.spawn(move || {
                    let mut frame = packet();
                    start.wait();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number > NUMBERS {
                            break;
                        }
                        if number % HOLE_IN != 0 || number == NUMBERS {
                            let wire = number.to_be_bytes();
                            frame[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&wire);
                            program.run(&frame);
                            silence.arrival(begun.elapsed().as_nanos() as u64);
                        }
                    }
                });
            }
            start.wait();
            while next.load(Ordering::Relaxed) <= NUMBERS {
                sink.sweep(&[key(UDP)]);
            }
        });
        if silence.longest_ns.into_inner() > SECOND / 2 {
            return false;
        }
        for _ in 0..3 {
            sink.jump(2 * MS as i64);
            sink.sweep(&[key(UDP)]);
        }
        let flow = sink.flow(&key(UDP)).unwrap();
        let holes = NUMBERS / HOLE_IN - 1;
        assert_eq!(flow.packets, u64::from(NUMBERS - holes), "packets");
        let sent_len = packet().len() as u64 - 14 - 36;
        assert_eq!(flow.bytes, flow.packets * sent_len, "bytes");
        let slots = sink.fine_slots(&flow).expect("slots were free");
        assert_eq!(
            slots.count.iter().sum::<u32>(),
            NUMBERS - holes,
            "latencies"
        );
        assert_eq!(
            flow.lost - flow.recovered,
            u64::from(holes),
            "lost for good"
        );
        assert_eq!(flow.head, NUMBERS, "newest number");
        assert_eq!((flow.duplicates, flow.restarts), (0, 0), "neither happened");
        let missing = Vec::from_iter((NUMBERS - 255..NUMBERS).filter(|n| n % HOLE_IN == 0));
        for number in &missing {
            let bit = flow.declared[(number >> 6) as usize % 4] >> (number & 63) & 1;
            assert_eq!(bit, 1, "number {number} is lost");
        }
        assert_eq!(flow.awaited as usize, missing.len(), "and no other one");
        true
    }

    #[test]
    fn a_flow_that_begins_on_several_cpus_at_once_is_one_flow() {
        const THREADS: u32 = 2;
        const FLOWS: u16 = 10_000;
        let sizes = Sizes {
            flows: FLOWS.into(),
            fine: FLOWS.into(),
            ..Sizes::default()
        };
        let sink = Sink::load_sized(&settings(), sizes);
        let program = Shared(sink.program());
        let ready = AtomicU32::new(0);
        thread::scope(|scope| {
            for number in 1..=THREADS {
                let (program, ready) = (&program, &ready);
                scope.spawn(move || {
                    for port in 0..FLOWS {
                        let frame = Frame::ethernet().ipv4().udp().ports(port, 5001);
                        let frame = frame.tagged(Block::hostint().sequence(number)).bytes();
                        // A barrier that sleeps would wake one thread after the other.
                        ready.fetch_add(1, Ordering::SeqCst);
                        while ready.load(Ordering::SeqCst) < THREADS * (u32::from(port) + 1) {
                            thread::yield_now();
                        }
                        program.run(&frame);
                    }
                });
            }
        });
        let flows = u64::from(FLOWS);
        assert_eq!(sink.flows() as u64, flows, "flows in the table");
        let new = sink.count(sink_counter::COUNT_SINK_FLOW_NEW);
        assert_eq!(new, flows, "new flows");
        assert_eq!(latencies(&sink.events()).len() as u64, flows, "told of");
        let free = sink.take_free_slots();
        assert!(free.is_empty(), "{} slots belong to no flow", free.len());
        let mut indices = HashSet::new();
        for port in 0..FLOWS {
            let key = Key {
                sport: port,
                ..key(UDP)
            };
            let flow = sink.flow(&key).unwrap();
            assert_eq!(flow.packets, u64::from(THREADS), "packets of flow {port}");
            let slots = sink.fine_slots(&flow).expect("slots were free");
            assert_eq!(slots.count.iter().sum::<u32>(), THREADS, "latencies");
            assert!(
                indices.insert(flow.fine_slots),
                "two flows have the same slots"
            );
        }
    }

    #[test]
    fn several_cpus_on_one_flow_use_each_number_once() {
        const THREADS: usize = 4;
        const PACKETS: usize = 20_000;
        let source = Source::load(&Options::default());
        let program = Shared(source.program(Hook::Tc));
        let start = Barrier::new(THREADS);
        let numbers = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let frame = udp().bytes();
                    start.wait();
                    let mut own = Vec::with_capacity(PACKETS);
                    for _ in 0..PACKETS {
                        let ran = program.run(&frame);
                        own.push(stamp_of(&ran.bytes, Encapsulation::OverTcpUdp).sequence);
                    }
                    assert!(own.is_sorted(), "each CPU's numbers grow");
                    numbers.lock().unwrap().extend(own);
                });
            }
        });
        let numbers: HashSet<u32> = numbers.into_inner().unwrap().into_iter().collect();
        let total = (THREADS * PACKETS) as u32;
        assert_eq!(numbers, (1..=total).collect(), "every number once");
        let (tagged, new) = (
            source.counters()[source_counter::COUNT_SOURCE_TAGGED.0 as usize],
            source.counters()[source_counter::COUNT_SOURCE_FLOW_NEW.0 as usize],
        );
        let bytes = udp().bytes().len() as u64;
        assert_eq!(
            tagged,
            (u64::from(total), u64::from(total) * bytes),
            "all are counted"
        );
        assert_eq!(new.0, 1, "one flow");
    }
}
