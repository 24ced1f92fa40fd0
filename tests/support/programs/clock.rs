//! The clock that the kernel programs read, moved at will, so that no test sleeps.

use std::cell::Cell;
use std::sync::LazyLock;

use hostint::datapath::abi::{host_settings, hostint_limit};
use hostint::datapath::kernel::probe::Features;
use libbpf_rs::MapCore;
use nix::time::{ClockId, clock_gettime};

use super::{get, set};

/// 2023-11-14 22:13:20 UTC.
pub const START_NS: u64 = 1_700_000_000_000_000_000;
pub const NODE: u32 = 7;

/// The programs' clock plus an offset that programs take from the host settings.
pub struct Clock {
    offset_ns: Cell<i64>,
}

fn kernel_ns() -> i64 {
    static CLOCK: LazyLock<ClockId> = LazyLock::new(|| {
        if Features::probe().tai_clock {
            ClockId::CLOCK_TAI
        } else {
            ClockId::CLOCK_MONOTONIC
        }
    });
    let time = clock_gettime(*CLOCK).expect("every kernel has it");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}

impl Clock {
    /// A clock that begins at `START_NS`, and the settings that make it so.
    pub fn start(map: &impl MapCore, report_ports: &[u16]) -> Self {
        let mut settings = host_settings {
            clock_offset_ns: START_NS as i64 - kernel_ns(),
            node_id: NODE,
            report_port_count: report_ports.len() as u32,
            report_port: [0; hostint_limit::MAX_REPORT_PORTS.0 as usize],
            ..host_settings::default()
        };
        for (slot, port) in settings.report_port.iter_mut().zip(report_ports) {
            *slot = port.to_be();
        }
        set(map, &[0; 4], &settings);
        Clock {
            offset_ns: Cell::new(settings.clock_offset_ns),
        }
    }

    pub fn now_ns(&self) -> u64 {
        (kernel_ns() + self.offset_ns.get()) as u64
    }

    /// Moves the clock; the map is that of the host settings.
    pub fn jump(&self, map: &impl MapCore, by_ns: i64) {
        let mut settings: host_settings = get(map, &[0; 4]).expect("set at start");
        settings.clock_offset_ns += by_ns;
        self.offset_ns.set(settings.clock_offset_ns);
        set(map, &[0; 4], &settings);
    }
}

fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock).expect("every kernel has it");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// The clock that leases count by; the programs' own reading may be older by a tick.
pub fn monotonic_ns() -> u64 {
    clock_ns(ClockId::CLOCK_MONOTONIC)
}

pub fn coarse_ns() -> u64 {
    clock_ns(ClockId::CLOCK_MONOTONIC_COARSE)
}
