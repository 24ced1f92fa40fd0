//! Looks after flows that fell silent: ends their loss periods, and forgets them when they stay idle.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use libbpf_rs::libbpf_sys;

use super::abi::{SWEEP_KEYS, bytes_of, flow_key, sink_flow, source_flow};
use super::maps::Map;
use super::sink::Sink;
use crate::model::FlowKey;

/// The sink's flow table and what is due in it.
pub struct Sweeper {
    program: OwnedFd,
    flows: Map<flow_key, sink_flow>,
    loss_timeout: Duration,
    idle_ns: u64,
    due: VecDeque<(Instant, flow_key)>,
}

/// True if something that happened at `last_ns` is `timeout_ns` or more ago.
fn is_over(last_ns: u64, now_ns: u64, timeout_ns: u64) -> bool {
    now_ns.saturating_sub(last_ns) >= timeout_ns
}

impl Sweeper {
    pub fn new(sink: &Sink, loss_timeout: Duration, idle: Duration) -> io::Result<Self> {
        Ok(Self {
            program: sink.sweep.try_clone()?,
            flows: sink.flows.share()?,
            loss_timeout,
            idle_ns: u64::try_from(idle.as_nanos()).unwrap_or(u64::MAX),
            due: VecDeque::new(),
        })
    }

    /// Numbers began to miss in this flow just now.
    pub fn expect_loss(&mut self, flow: &FlowKey, now: Instant) {
        self.due.push_back((now + self.loss_timeout, flow.into()));
    }

    /// Ends the loss periods that are over. What they found comes as events.
    pub fn end_loss_periods(&mut self, now: Instant) -> io::Result<()> {
        let over = self.due.partition_point(|(when, _)| *when <= now);
        let keys: Vec<flow_key> = self.due.drain(..over).map(|(_, key)| key).collect();
        self.sweep(&keys)
    }

    /// Has the kernel half look at these flows.
    fn sweep(&self, keys: &[flow_key]) -> io::Result<()> {
        for chunk in keys.chunks(SWEEP_KEYS) {
            let data: Vec<u8> = chunk.iter().flat_map(bytes_of).copied().collect();
            // SAFETY: plain data; all zeros means no option.
            let mut options: libbpf_sys::bpf_test_run_opts = unsafe { std::mem::zeroed() };
            options.sz = size_of_val(&options) as _;
            options.data_in = data.as_ptr().cast();
            options.data_size_in = data.len() as u32;
            // SAFETY: descriptor, options and the data that they point to are valid during the call.
            let result = unsafe {
                libbpf_sys::bpf_prog_test_run_opts(self.program.as_raw_fd(), &mut options)
            };
            if result < 0 {
                return Err(io::Error::from_raw_os_error(-result));
            }
        }
        Ok(())
    }

    /// Passes over the whole table: removes idle flows and returns how many; ends loss periods whose begin
    /// was not heard of because the ring was full.
    pub fn pass(&mut self, now_ns: u64) -> io::Result<u64> {
        let mut idle = Vec::new();
        let mut forgotten = Vec::new();
        let timeout_ns = self.loss_timeout.as_nanos() as u64;
        self.flows.for_each(|key, flow| {
            let waits = flow.gap_ns != 0 && is_over(flow.gap_ns, now_ns, 2 * timeout_ns);
            if waits || (flow.gap_ns == 0 && flow.lost_count != 0) {
                forgotten.push(key);
            } else if flow.first_ns != 0 && is_over(flow.last_ns, now_ns, self.idle_ns) {
                idle.push(key);
            }
        })?;
        self.sweep(&forgotten)?;
        let mut removed = 0;
        for key in idle {
            // It may have woken up meanwhile.
            if let Some(flow) = self.flows.get(&key)?
                && is_over(flow.last_ns, now_ns, self.idle_ns)
                && self.flows.remove(&key)?
            {
                removed += 1;
            }
        }
        Ok(removed)
    }
}

/// Removes flows from a source's table that are idle for `idle_ns`; returns how many.
pub fn expire_source_flows(
    flows: &Map<flow_key, source_flow>,
    now_ns: u64,
    idle_ns: u64,
) -> io::Result<u64> {
    let mut idle = Vec::new();
    flows.for_each(|key, flow| {
        if flow.last_ns != 0 && is_over(flow.last_ns, now_ns, idle_ns) {
            idle.push(key);
        }
    })?;
    let mut removed = 0;
    for key in idle {
        if let Some(flow) = flows.get(&key)?
            && is_over(flow.last_ns, now_ns, idle_ns)
            && flows.remove(&key)?
        {
            removed += 1;
        }
    }
    Ok(removed)
}
