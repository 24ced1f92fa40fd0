//! Events of the kernel half become reports, and reports leave.

use std::time::Instant;

use crate::config::{Compat, SinkConfig};
use crate::datapath::events;
use crate::datapath::sweeper::Sweeper;
use crate::model::{ClockState, SinkEvent, SummaryEvent};
use crate::os::clock;
use crate::report::{Builder, Emitter};

/// The way of an event to the collectors.
pub struct SinkReports {
    builder: Builder,
    pub emitter: Emitter,
    pub events_read: u64,
    pub events_malformed: u64,
}

impl SinkReports {
    pub fn new(config: &SinkConfig, emitter: Emitter) -> Self {
        Self {
            builder: builder(config),
            emitter,
            events_read: 0,
            events_malformed: 0,
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
    pub fn change(&mut self, config: &SinkConfig, emitter: Emitter) {
        let before = std::mem::replace(&mut self.emitter, emitter);
        self.emitter.inherit(before);
        self.builder = Builder {
            clock: self.builder.clock,
            ..builder(config)
        };
    }

    /// Reports tell by which clock packets were stamped.
    pub fn set_clock(&mut self, clock: Option<ClockState>) {
        self.builder.clock = clock;
    }

    /// Reports the totals of flows.
    pub fn summarize(&mut self, summaries: &[SummaryEvent], now_ns: u64) {
        for event in summaries {
            let summary = self.builder.summary(event, now_ns);
            self.emitter.emit(summary);
        }
    }
}

fn builder(config: &SinkConfig) -> Builder {
    Builder {
        sink_node: config.node_id,
        node_id_word: config.node_id_word,
        host_int: config.compat == Some(Compat::HostInt),
        clock: None,
    }
}
