//! What is told as lost is what was lost: nothing that arrived, whatever the sink did not track, forgot or missed.
//!
//! HOSTINT_LONG=10000000 for as many packets.

use std::thread;

use hostint::datapath::abi::{sink_counter, sink_settings, token_rate};
use hostint_testing::frame::UDP;
use hostint_testing::model::Key;
use hostint_testing::model::source::age_code;
use hostint_testing::packets::key;
use hostint_testing::programs::Shared;
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::random::{Random, env_number};
use hostint_testing::stream::{
    FLAGS_AT, HOUR, MS, SECOND, SEQUENCE_AT, TIMEOUT, TIMESTAMP_AT, packet,
};

/// Packets in a plain run, and in each round of one.
const PACKETS: u64 = 60_000;
const ROUND: u64 = 3_000;

// Places in a frame without VLAN tags.
const SADDR_AT: usize = 26;
const SPORT_AT: usize = 34;

/// A flow as its source numbers it.
struct Flow {
    key: Key,
    frame: Vec<u8>,
    next: u64,
    created_ns: u64,
    last_ns: u64,
    /// Lost since the numbering began, up to the newest one that arrived.
    lost: u64,
    /// Lost behind it.
    pending: u64,
    record: Option<Record>,
}

/// What the sink may say in the end about the flow's record: at least and at most these losses.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    least: u64,
    most: u64,
    restarted: bool,
}

impl Flow {
    fn new(source: u8, port: u16) -> Self {
        let mut frame = packet();
        let saddr = [10, 0, 9, source];
        frame[SADDR_AT..SADDR_AT + 4].copy_from_slice(&saddr);
        frame[SPORT_AT..SPORT_AT + 2].copy_from_slice(&port.to_be_bytes());
        let mut mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0];
        mapped[12..].copy_from_slice(&saddr);
        let key = Key {
            source: mapped,
            sport: port,
            ..key(UDP)
        };
        Flow {
            key,
            frame,
            next: 0,
            created_ns: 0,
            last_ns: 0,
            lost: 0,
            pending: 0,
            record: None,
        }
    }

    /// The next packet, whether it arrives or not.
    fn send(&mut self, now: u64, source_idle: u64) -> Vec<u8> {
        if self.next == 0 || now - self.last_ns > source_idle {
            self.next = 0;
            self.created_ns = now;
            self.lost = 0;
            self.pending = 0;
            if let Some(record) = &mut self.record {
                record.restarted = true;
            }
        }
        self.next += 1;
        self.last_ns = now;
        let age = match self.next <= 4_096 {
            true => age_code(now - self.created_ns),
            false => 0,
        };
        self.frame[FLAGS_AT] = 0xc0 | age;
        self.frame[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&(self.next as u32).to_be_bytes());
        self.frame[TIMESTAMP_AT..TIMESTAMP_AT + 4].copy_from_slice(&(now as u32).to_be_bytes());
        self.frame.clone()
    }

    /// The packets that were sent meanwhile arrived, but for this many. fresh: the sink may not be sure yet that packets
    /// behind the record's first one did not overtake it untracked.
    fn arrived(&mut self, lost: u64, had_record: bool, has_record: bool, fresh: bool) {
        let lost = lost + std::mem::take(&mut self.pending);
        self.lost += lost;
        match &mut self.record {
            Some(record) if had_record => {
                record.most += lost;
                // Before the first packet of a new numbering the sink may miss some, or not know of any.
                if !std::mem::take(&mut record.restarted) && !fresh {
                    record.least += lost;
                }
            }
            record if has_record => {
                *record = Some(Record {
                    most: self.lost,
                    ..Record::default()
                });
            }
            _ => {}
        }
    }
}

struct Lab {
    sink: Sink,
    settings: sink_settings,
    flows: Vec<Flow>,
    source_idle: u64,
    loss: f64,
    stripped: u64,
    sentence: String,
}

impl Lab {
    fn new(random: &mut Random, seed: u64) -> Self {
        let rate = |interval_ns| token_rate {
            interval_ns,
            burst_ns: SECOND,
        };
        let mut settings = settings();
        settings.loss_timeout_ns = TIMEOUT;
        settings.idle_ns = random.pick(&[2, 10, 120]) * SECOND;
        settings.new_flows_source = rate(random.pick(&[0, 10, 100, 500]) * MS);
        settings.new_flows_total = rate(random.pick(&[0, 10, 100]) * MS);
        let sizes = Sizes {
            flows: random.pick(&[4, 16, 1_024]),
            atomics: random.one_in(2),
            ..Sizes::default()
        };
        let source_idle = random.pick(&[1, 30, 200]) * SECOND;
        let loss = random.pick(&[0.0, 0.0, 0.01, 0.1]);
        let sink = Sink::load_sized(&settings, sizes);
        let sentence = format!(
            "seed {seed}: {sizes:?}, idle after {} and {source_idle}, {loss} lost",
            settings.idle_ns
        );
        settings.started_ns = sink.clock.now_ns();
        sink.set(&settings);
        let flows = (0..40u8).map(|n| Flow::new(n % 5, 1_000 + u16::from(n)));
        Lab {
            sink,
            settings,
            flows: flows.collect(),
            source_idle,
            loss,
            stripped: 0,
            sentence,
        }
    }

    /// Packets of a flow, of which some are lost; on two CPUs at once if there are several.
    fn burst(&mut self, random: &mut Random, which: usize, count: u64) {
        let flow = &mut self.flows[which];
        let now = self.sink.clock.now_ns();
        let mut lost = 0;
        let mut frames = Vec::new();
        for _ in 0..count {
            let restarts = flow.next == 0 || now - flow.last_ns > self.source_idle;
            let frame = flow.send(now, self.source_idle);
            assert!(
                !restarts || frames.is_empty(),
                "only the first one restarts"
            );
            if random.chance(self.loss) {
                lost += 1;
            } else {
                frames.push(frame);
                flow.pending += std::mem::take(&mut lost);
            }
        }
        if frames.is_empty() {
            flow.pending += lost;
            return;
        }
        let inside = std::mem::take(&mut flow.pending);
        self.stripped += frames.len() as u64;
        let had = self.sink.flow(&flow.key).is_some();
        if frames.len() == 1 {
            self.sink.run(&frames[0]);
        } else {
            let program = Shared(self.sink.program());
            thread::scope(|scope| {
                for cpu in 0..2 {
                    let (program, frames) = (&program, &frames);
                    scope.spawn(move || {
                        for frame in frames.iter().skip(cpu).step_by(2) {
                            program.run(frame);
                        }
                    });
                }
            });
        }
        let seen = self.sink.flow(&flow.key);
        let fresh = seen.is_some_and(|seen| now <= seen.began_ns + TIMEOUT);
        flow.arrived(inside, had, seen.is_some(), fresh);
        flow.pending = lost;
    }

    fn pass_time(&mut self, ns: u64) {
        self.sink.jump(ns as i64);
        let keys: Vec<Key> = self.flows.iter().map(|flow| flow.key).collect();
        self.sink.sweep(&keys);
        self.sink.events();
    }

    /// Time in which all losses are declared.
    fn settle(&mut self) {
        for _ in 0..3 {
            self.pass_time(TIMEOUT + 50 * MS);
        }
    }

    fn check(&mut self, which: usize) {
        let flow = &mut self.flows[which];
        let (Some(seen), Some(range)) = (self.sink.flow(&flow.key), flow.record) else {
            return;
        };
        let told = seen.lost - seen.recovered;
        assert!(
            (range.least..=range.most).contains(&told),
            "{}: flow {which} has lost {told}, not {range:?}: {seen:?}",
            self.sentence
        );
    }

    /// As the daemon does with idle records.
    fn expire(&mut self) {
        self.settle();
        let now = self.sink.clock.now_ns();
        for which in 0..self.flows.len() {
            self.check(which);
            let flow = &mut self.flows[which];
            let seen = self.sink.flow(&flow.key);
            if seen.is_some_and(|seen| now - seen.last_ns >= self.settings.idle_ns) {
                self.sink.forget_flow(&flow.key);
                flow.record = None;
            }
        }
    }

    /// Packets arrive while no sink is attached.
    fn detach(&mut self, random: &mut Random) {
        self.settle();
        for _ in 0..random.below(60) {
            let which = random.below(self.flows.len());
            let now = self.sink.clock.now_ns();
            let flow = &mut self.flows[which];
            flow.send(now, self.source_idle);
            // What was lost before is not told of any more.
            let pending = std::mem::take(&mut flow.pending);
            flow.lost += pending;
            if let Some(record) = &mut flow.record {
                record.most += pending;
            }
        }
        if random.one_in(2) {
            for which in 0..self.flows.len() {
                self.check(which);
                self.flows[which].record = None;
            }
            self.sink.forget_flows();
        }
        self.pass_time(TIMEOUT + 100 * MS);
        self.settings.started_ns = self.sink.clock.now_ns();
        self.sink.set(&self.settings);
        // Losses between the last packet before and the first one after may be taken for packets that nobody saw.
        for flow in &mut self.flows {
            if let Some(record) = &mut flow.record {
                record.restarted = true;
            }
        }
    }

    /// As the daemon does when it reads its settings again.
    fn change_idle(&mut self, random: &mut Random) {
        let before = self.settings.idle_ns;
        self.settings.idle_ns = random.pick(&[2, 10, 120]) * SECOND;
        if before < self.settings.idle_ns {
            let known = self.sink.clock.now_ns() - before;
            self.settings.kept_ns = self.settings.kept_ns.max(known);
        }
        self.sink.set(&self.settings);
    }
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn packets_that_overtook_the_first_tracked_one_are_not_lost() {
        // After this time, every other one of 21 packets is tracked, and 10 are not: they came before, or never.
        let cases = [
            ("the others came just before", true, MS, 0),
            ("the others came long before", true, TIMEOUT + 50 * MS, 10),
            ("no flow was refused", false, MS, 10),
        ];
        for (name, refused, wait_ns, lost) in cases {
            let mut settings = settings();
            settings.loss_timeout_ns = TIMEOUT;
            let sink = Sink::load_sized(&settings, Sizes::default());
            let limit = token_rate {
                interval_ns: 2 * SECOND,
                burst_ns: SECOND,
            };
            // Far from its birth, so that frames state no age.
            let mut flow = Flow::new(1, 1_000);
            flow.next = 10_000;
            let sent_ns = sink.clock.now_ns();
            flow.last_ns = sent_ns;
            let frames: Vec<Vec<u8>> = (0..21).map(|_| flow.send(sent_ns, HOUR)).collect();
            if refused {
                settings.new_flows_source = limit;
                sink.set(&settings);
                for frame in frames.iter().skip(1).step_by(2) {
                    sink.run(frame);
                }
                assert!(sink.flow(&flow.key).is_none(), "{name}: untracked");
                settings.new_flows_source = token_rate::default();
                sink.set(&settings);
            }
            sink.jump(wait_ns as i64);
            for frame in frames.iter().step_by(2) {
                sink.run(frame);
            }
            for _ in 0..3 {
                sink.jump((TIMEOUT + 50 * MS) as i64);
                sink.sweep(&[flow.key]);
            }
            let seen = sink.flow(&flow.key).expect("tracked");
            assert_eq!(seen.packets, 11, "{name}: packets");
            assert_eq!(seen.lost - seen.recovered, lost, "{name}: lost");
        }
    }

    #[test]
    fn what_arrived_is_never_lost() {
        let (_, seed) = Random::from_env();
        let packets = env_number("HOSTINT_LONG", PACKETS);
        let mut untracked = 0;
        for round in 0..packets.div_ceil(ROUND) {
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(round);
            let mut random = Random::seeded(seed);
            let mut lab = Lab::new(&mut random, seed);
            while lab.stripped < ROUND {
                let which = random.below(lab.flows.len());
                match random.below(60) {
                    0 => lab.expire(),
                    1 => lab.detach(&mut random),
                    2 => lab.change_idle(&mut random),
                    3..=8 => {
                        let wait = random.pick(&[MS, 100 * MS, SECOND, 3 * SECOND, 15 * SECOND]);
                        lab.pass_time(wait);
                    }
                    9..=20 => {
                        let count = 2 + random.below(40) as u64;
                        lab.burst(&mut random, which, count);
                    }
                    _ => lab.burst(&mut random, which, 1),
                }
            }
            lab.settle();
            for which in 0..lab.flows.len() {
                lab.check(which);
            }
            let count = |which| lab.sink.count(which);
            assert_eq!(
                count(sink_counter::COUNT_SINK_RECEIVED),
                lab.stripped,
                "{}: all that arrived is stripped",
                lab.sentence
            );
            assert_eq!(
                count(sink_counter::COUNT_SINK_DAMAGED),
                0,
                "{}",
                lab.sentence
            );
            untracked += count(sink_counter::COUNT_SINK_NEW_FLOW_LIMITED)
                + count(sink_counter::COUNT_SINK_UNTRACKED);
        }
        assert!(untracked > packets / 100, "{untracked} were not tracked");
    }
}
