//! Events of the kernel half become reports, and reports leave.

use std::collections::VecDeque;
use std::time::Instant;

use crate::config::{Compat, SinkConfig};
use crate::datapath::sink::events;
use crate::datapath::sink::sweeper::Sweeper;
use crate::model::{ClockState, NodeId, SinkEvent, SummaryEvent};
use crate::os::clock;
use crate::report::{Builder, Emitter};

/// The way of an event to the collectors.
pub struct SinkReports {
    builder: Builder,
    pub emitter: Emitter,
    pub events_read: u64,
    pub events_malformed: u64,
    pub summaries_sent: u64,
    /// Summaries that are sent in the next turns of the loop, so that no collector has to take them all at once.
    waiting: VecDeque<SummaryEvent>,
}

/// Summaries that are sent in a turn of the loop, besides a share of those that wait.
const AT_ONCE: usize = 4;
/// The turns in which those that wait are sent.
const TURNS: usize = 100;

impl SinkReports {
    pub fn new(config: &SinkConfig, node: NodeId, emitter: Emitter) -> Self {
        Self {
            builder: builder(config, node),
            emitter,
            events_read: 0,
            events_malformed: 0,
            summaries_sent: 0,
            waiting: VecDeque::new(),
        }
    }

    /// Takes an event from the ring. A gap is no news yet: whether its packets are lost shows when the flow's loss
    /// period ends, which `flows` waits for.
    pub fn take(&mut self, bytes: &[u8], flows: &mut Sweeper) {
        self.events_read += 1;
        match events::decode(bytes) {
            Some(SinkEvent::Gap(flow)) => flows.expect_loss(&flow, Instant::now()),
            Some(event) => match self.builder.build(&event, clock::realtime_ns()) {
                Some(observation) => self.emitter.emit(observation),
                None => self.events_malformed += 1,
            },
            None => self.events_malformed += 1,
        }
    }

    /// Goes on with other settings. What the emitter before had to send, the new one sends.
    pub fn change(&mut self, config: &SinkConfig, node: NodeId, emitter: Emitter) {
        let before = std::mem::replace(&mut self.emitter, emitter);
        self.emitter.inherit(before);
        self.builder = Builder {
            clock: self.builder.clock,
            ..builder(config, node)
        };
    }

    /// Reports tell by which clock packets were stamped.
    pub fn set_clock(&mut self, clock: Option<ClockState>) {
        self.builder.clock = clock;
    }

    /// Takes totals that are to be reported in the next turns.
    pub fn summarize(&mut self, summaries: Vec<SummaryEvent>) {
        self.waiting.extend(summaries);
    }

    /// True while totals wait.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Reports some of the totals that wait.
    pub fn report_some(&mut self, now_ns: u64) {
        self.report(AT_ONCE.max(self.waiting.len() / TURNS), now_ns);
    }

    /// Reports all totals that wait.
    pub fn report_all(&mut self, now_ns: u64) {
        self.report(self.waiting.len(), now_ns);
    }

    fn report(&mut self, most: usize, now_ns: u64) {
        let count = most.min(self.waiting.len());
        for event in self.waiting.drain(..count) {
            for part in self.builder.summary(&event, now_ns) {
                self.emitter.emit(part);
                self.summaries_sent += 1;
            }
        }
    }
}

fn builder(config: &SinkConfig, node: NodeId) -> Builder {
    Builder {
        sink_node: node,
        node_id_word: config.node_id_word,
        packet_headers: config.packet_headers,
        host_int: config.compat == Some(Compat::HostInt),
        clock: None,
    }
}
