//! What daemons on a measured host share, whatever their role: sink, source and transit hop.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU32;
use std::time::Instant;

use crate::clocks::{OwnClock, Reading, StatedErrors};
use crate::config::{SinkConfig, TimeSpan};
use crate::datapath::host::daemon_counters::LifeCounts;
use crate::datapath::host::shared_settings::SharedSettings;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::kernel_half::Sink;
use crate::model::{ClockState, NodeId};
use crate::os::clock::{self, ClockPair, Discipline};
use crate::os::clock_alarm::ClockAlarm;
use crate::os::log;
use crate::os::wait::Wait;

use super::leases::LeaseKeeping;

/// The clock is not read again more often than this because it was set meanwhile.
const MOST_SETS: usize = 4;

/// The state that duties on a host share.
pub struct HostSide {
    pub pins: Pins,
    /// `None` if leases cannot be kept.
    pub leases: Option<LeaseKeeping>,
    /// The clock that stamps packets, as it was seen last.
    pub clock: Option<ClockState>,
    /// The same clock against the raw clock, in the last minute.
    pub own_clock: OwnClock,
    /// `None` if the kernel has none: readings show a second later that the clock was set.
    clock_alarm: Option<ClockAlarm>,
    /// The clock was set since its newest reading.
    clock_rang: bool,
    /// Collectors do not know yet that the clock was set.
    pub is_set_unreported: bool,
    /// The errors that were stated for it.
    pub stated_errors: StatedErrors,
    pub counts: LifeCounts,
    /// No walk over a flow table goes on before this time.
    pub walks_rest_until: Instant,
}

impl HostSide {
    pub fn new(pins: Pins, leases: Option<LeaseKeeping>) -> Self {
        Self {
            pins,
            leases,
            clock: None,
            own_clock: OwnClock::default(),
            clock_alarm: ClockAlarm::new().ok(),
            clock_rang: false,
            is_set_unreported: false,
            stated_errors: StatedErrors::default(),
            counts: LifeCounts::default(),
            walks_rest_until: Instant::now(),
        }
    }

    /// True if the clock was set since its newest reading.
    pub fn clock_is_set(&mut self) -> bool {
        self.clock_rings();
        self.clock_rang
    }

    /// Lets the daemon wake when the clock is set.
    pub fn wakes_for_clock<'a>(&'a self, wait: &mut Wait<'a>) {
        if let Some(alarm) = &self.clock_alarm {
            wait.on(alarm);
        }
    }

    /// True if the clock was set since this was asked last.
    fn clock_rings(&mut self) -> bool {
        let rings = self.clock_alarm.as_ref().is_some_and(ClockAlarm::was_set);
        self.clock_rang |= rings;
        rings
    }

    /// Takes a reading of the clock that stamps packets, and its error in ns if the operator states one. Returns how it is
    /// steered.
    fn note_clock(
        &mut self,
        pair: ClockPair,
        operator: Option<NonZeroU32>,
    ) -> io::Result<Discipline> {
        let discipline = clock::discipline()?;
        self.stated_errors
            .note(pair.raw_ns.into(), discipline.stated_error_ns(operator));
        let steps = self.own_clock.steps;
        let was_set = std::mem::take(&mut self.clock_rang);
        self.own_clock.note(Reading {
            raw_ns: pair.raw_ns.into(),
            took_ns: pair.took_ns.into(),
            clock_ns: pair.realtime_ns.into(),
            steered_ppb: discipline.steered_ppb,
            is_after_set: was_set,
        });
        self.is_set_unreported |= was_set;
        if self.own_clock.steps > steps {
            log::info("this host's clock was set: latencies before and after cannot be compared");
        }
        Ok(discipline)
    }
}

/// A daemon on a measured host.
pub trait OnHost {
    fn side(&self) -> &HostSide;

    fn side_mut(&mut self) -> &mut HostSide;

    fn pins(&self) -> &Pins;

    /// The settings that all programs of the host share.
    fn host(&self) -> &SharedSettings;

    /// The sink that this daemon serves, if it serves one.
    fn sink(&self) -> Option<(&Sink, &SinkConfig)>;

    /// The names that the user gave nodes.
    fn given_names(&self) -> Option<&BTreeMap<NodeId, String>> {
        None
    }

    /// The error of this host's clock in ns, if its operator states one.
    fn clock_error_ns(&self) -> Option<NonZeroU32>;

    /// Reads the clock that stamps packets. Returns how it is steered. If the clock is set meanwhile, it is read again, so
    /// that the reading is one from before or after.
    fn note_clock(&mut self) -> io::Result<Discipline> {
        self.side_mut().clock_is_set();
        let mut pair = self.host().read_clock()?;
        for _ in 0..MOST_SETS {
            if !self.side_mut().clock_rings() {
                break;
            }
            pair = self.host().read_clock()?;
        }
        let operator = self.clock_error_ns();
        self.side_mut().note_clock(pair, operator)
    }

    /// The time after which a flow of the source is forgotten, if no attachment says one.
    fn idle_flow_timeout(&self) -> TimeSpan;
}
