//! The quickest packets of each source node, in the map that the sink's program writes.

use std::io;
use std::time::{Duration, Instant};

use crate::datapath::abi::{MINIMA_NODES, sink_minima, sink_minima_shape};
use crate::datapath::kernel::maps::Map;
use crate::model::NodeId;

/// Sub-windows that the table keeps of each node.
const WINDOWS: u64 = sink_minima_shape::MINIMA_WINDOWS.0 as u64;

/// The longest time from a packet's arrival to when the table no longer shows it.
const SHOWN: Duration = Duration::from_nanos((WINDOWS + 1) << sink_minima_shape::MINIMA_SHIFT.0);

/// Whether the table may have something to show: to read it takes milliseconds, which an idle sink need not spend.
#[derive(Default)]
pub struct MinimaNews {
    packets: Option<u64>,
    grown: Option<Instant>,
}

impl MinimaNews {
    /// `packets` is the number of those that the sink has received.
    pub fn may_have(&mut self, packets: u64, now: Instant) -> bool {
        if self.packets.replace(packets) != Some(packets) {
            self.grown = Some(now);
        }
        self.grown.is_some_and(|grown| now <= grown + SHOWN)
    }
}

/// The kernel's table of minima.
pub struct MinimaTable(Map<u32, sink_minima>);

/// The quickest packet of a sub-window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SinkMinimum {
    pub source_node: NodeId,
    /// Since the Unix epoch, by this host's clock.
    pub arrived_ns: u64,
    /// The low 32 bits of the difference of both clocks' stamps.
    pub latency_ns: i32,
}

impl MinimaTable {
    pub fn of(map: Map<u32, sink_minima>) -> Self {
        Self(map)
    }

    /// Shows the quickest packet of each sub-window that is over at `now_ns`, by this host's clock, and that is not
    /// older than the table keeps.
    pub fn for_each(&self, now_ns: u64, mut visit: impl FnMut(SinkMinimum)) -> io::Result<()> {
        let window = |ns: u64| ns >> sink_minima_shape::MINIMA_SHIFT.0;
        let now = window(now_ns);
        self.0.for_each_locked(MINIMA_NODES, |_, minima| {
            for (arrived_ns, latency_ns) in minima.arrived_ns.into_iter().zip(minima.latency_ns) {
                let age = now.checked_sub(window(arrived_ns));
                if age.is_some_and(|age| (1..=WINDOWS).contains(&age)) {
                    visit(SinkMinimum {
                        source_node: NodeId(minima.source_node),
                        arrived_ns,
                        latency_ns,
                    });
                }
            }
        })
    }
}
