//! One flow at a sink: numbers arrive, time passes, and the model follows.

use hostint::datapath::abi::{sink_flow, sink_settings};

use super::frame::{Frame, UDP};
use super::int_block::Block;
use super::model::sequence::Flow;
use super::packets::key;
use super::programs::sink::{Event, Sink, Sizes, losses, settings};

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000 * MS;
pub const HOUR: u64 = 3_600 * SECOND;
pub const TIMEOUT: u64 = 200 * MS;
/// Numbers of the model are 64 bits wide; on the wire they are these modulo 2^32.
pub const BASE: u64 = 1 << 32;

/// Places in the frame of `packet`.
pub const FLAGS_AT: usize = 43;
pub const TIMESTAMP_AT: usize = 62;
pub const SEQUENCE_AT: usize = 70;

pub fn packet() -> Vec<u8> {
    let frame = Frame::ethernet().ipv4().udp().without_udp_checksum();
    frame.payload(18).tagged(Block::hostint()).bytes()
}

pub fn sink_with_timeout(timeout_ns: u64) -> Sink {
    sink_with(timeout_ns, true)
}

pub fn settings_with(timeout_ns: u64) -> sink_settings {
    sink_settings {
        loss_timeout_ns: timeout_ns,
        ..settings()
    }
}

/// atomics: as on kernels that have some that fetch, which take numbers in order without a lock. The verifier walks for a
/// quarter of a second: cases that differ in settings share a sink.
pub fn sink_with(timeout_ns: u64, atomics: bool) -> Sink {
    let sizes = Sizes {
        atomics,
        ..Sizes::default()
    };
    Sink::load_sized(&settings_with(timeout_ns), sizes)
}

/// One flow at a sink and what the model thinks of it.
pub struct Stream<'a> {
    pub sink: &'a Sink,
    pub frame: Vec<u8>,
    pub timeout_ns: u64,
    pub model: Flow,
    pub events: Vec<Event>,
}

impl<'a> Stream<'a> {
    pub fn new(sink: &'a Sink, timeout_ns: u64) -> Self {
        sink.forget_flows();
        sink.events();
        Stream {
            sink,
            frame: packet(),
            timeout_ns,
            model: Flow::new(timeout_ns),
            events: Vec::new(),
        }
    }

    pub fn record(&self) -> sink_flow {
        self.sink.flow(&key(UDP)).expect("the flow was seen")
    }

    /// What the next packets say when they were sent.
    pub fn stamp(&mut self, sent_ns: u64) {
        let wire = (sent_ns as u32).to_be_bytes();
        self.frame[TIMESTAMP_AT..TIMESTAMP_AT + 4].copy_from_slice(&wire);
    }

    pub fn run(&mut self, number: u64, age: u8) {
        self.frame[FLAGS_AT] = 0xc0 | age;
        let wire = (number as u32).to_be_bytes();
        self.frame[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&wire);
        self.sink.run(&self.frame);
    }

    /// The flow's first packet.
    pub fn begin(&mut self, number: u64) {
        self.run(number, 0);
        self.model.begin(number, number, self.record().last_ns);
    }

    pub fn arrive(&mut self, number: u64) {
        self.arrive_with_age(number, 0);
    }

    pub fn arrive_with_age(&mut self, number: u64, age: u8) {
        self.run(number, age);
        self.model.arrive(number, self.record().last_ns);
    }

    /// Without asking the kernel for the time: what is lost in the end does not depend on it.
    pub fn arrive_untimed(&mut self, number: u64) {
        self.run(number, 0);
        self.model.arrive(number, self.model.last_ns());
    }

    pub fn jump(&self, by_ns: u64) {
        self.sink.jump(by_ns as i64);
    }

    /// The program's clock at a sweep is between ours before and ours after it, which are far apart if the machine stands
    /// still: the model sweeps at that end of them which agrees with the record.
    pub fn sweep(&mut self) {
        let mut later = self.model.clone();
        self.model.sweep(self.sink.clock.now_ns());
        self.sink.sweep(&[key(UDP)]);
        later.sweep(self.sink.clock.now_ns());
        let record = self.record();
        self.model.correct_period(record.gap_ns);
        if !self.model.differences(&record).is_empty() {
            later.correct_period(record.gap_ns);
            self.model = later;
        }
    }

    pub fn assert_as_modelled(&self, sentence: &str) {
        let wrong = self.model.differences(&self.record());
        assert!(wrong.is_empty(), "{sentence}: {}", wrong.join("; "));
    }

    pub fn read_events(&mut self) {
        self.events.extend(self.sink.events());
    }

    /// The flow falls silent and the daemon sweeps it until nothing is awaited any more.
    pub fn end(&mut self) -> sink_flow {
        // One sweep believes far numbers or not, two more declare what is missing before them.
        for _ in 0..3 {
            self.jump(self.timeout_ns + SECOND / 10);
            self.sink.sweep(&[key(UDP)]);
        }
        self.read_events();
        self.record()
    }

    /// As `end`, for streams whose times the model does not know: it believes what the sink believes.
    fn end_untimed(&mut self) -> sink_flow {
        let flow = self.end();
        if flow.head != self.model.head() as u32 {
            self.model.believe_far();
        }
        flow
    }

    /// What a user reads when the flow has ended is what happened.
    pub fn assert_truth(&mut self, sentence: &str) {
        let flow = self.end_untimed();
        let truth = self.model.true_loss();
        assert_eq!(
            flow.lost - flow.recovered,
            truth,
            "{sentence}: lost for good"
        );
        assert_eq!(
            flow.reordered, self.model.reordered,
            "{sentence}: reordered"
        );
        assert_eq!(
            flow.duplicates, self.model.duplicates,
            "{sentence}: duplicates"
        );
        assert_eq!(
            flow.late, self.model.late,
            "{sentence}: too late to be told apart"
        );
        assert_eq!(flow.packets, self.model.packets, "{sentence}: packets");
        assert_eq!(
            u64::from(flow.restarts),
            self.model.restarts,
            "{sentence}: restarts"
        );
        let told: u64 = losses(&self.events)
            .iter()
            .map(|l| u64::from(l.count))
            .sum();
        assert_eq!(told, flow.lost, "{sentence}: losses told of");
        assert_eq!(
            (flow.gap_ns, flow.lost_count),
            (0, 0),
            "{sentence}: nothing is left to tell"
        );
    }

    /// Where packets keep their order, the number that a loss event begins with never came.
    pub fn assert_losses_begin_at_holes(&self, sentence: &str) {
        let came = self.model.came();
        for loss in losses(&self.events) {
            assert!(
                !came.contains(&loss.first),
                "{sentence}: {} came",
                loss.first
            );
            assert!(
                loss.count > 0,
                "{sentence}: nothing is lost at {}",
                loss.first
            );
        }
    }
}
