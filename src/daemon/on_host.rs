//! What daemons on a measured host share, whatever their role: sink, source and transit hop.

use std::io;
use std::time::Instant;

use crate::clocks::{OwnClock, Reading, StatedErrors};
use crate::config::{SinkConfig, TimeSpan};
use crate::datapath::daemon_counters::LifeCounts;
use crate::datapath::pins::Pins;
use crate::datapath::shared_settings::SharedSettings;
use crate::datapath::sink::Sink;
use crate::model::ClockState;
use crate::os::clock::{self, ClockPair, Discipline};
use crate::os::log;

use super::leases::LeaseKeeping;

/// The state that duties on a host share.
pub struct HostSide {
    pub pins: Pins,
    /// `None` if leases cannot be kept.
    pub leases: Option<LeaseKeeping>,
    /// The clock that stamps packets, as it was seen last.
    pub clock: Option<ClockState>,
    /// The same clock against the raw clock, in the last minute.
    pub own_clock: OwnClock,
    /// The errors that the time daemon stated for it.
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
            stated_errors: StatedErrors::default(),
            counts: LifeCounts::default(),
            walks_rest_until: Instant::now(),
        }
    }

    /// Takes a reading of the clock that stamps packets. Returns how it is steered.
    pub fn note_clock(&mut self, pair: ClockPair) -> io::Result<Discipline> {
        let discipline = clock::discipline()?;
        self.stated_errors
            .note(pair.raw_ns.into(), discipline.stated_error_us());
        let steps = self.own_clock.steps;
        self.own_clock.note(Reading {
            raw_ns: pair.raw_ns.into(),
            took_ns: pair.took_ns.into(),
            clock_ns: pair.realtime_ns.into(),
            steered_ppb: discipline.steered_ppb,
        });
        if self.own_clock.steps > steps {
            log::info("this host's clock was set: latencies before and after cannot be compared");
        }
        Ok(discipline)
    }
}

/// A daemon on a measured host.
pub trait OnHost {
    fn side(&mut self) -> &mut HostSide;

    fn pins(&self) -> &Pins;

    /// The settings that all programs of the host share.
    fn host(&self) -> &SharedSettings;

    /// The sink that this daemon serves, if it serves one.
    fn sink(&self) -> Option<(&Sink, &SinkConfig)>;

    /// The time after which a flow of the source is forgotten, if no attachment says one.
    fn idle_flow_timeout(&self) -> TimeSpan;
}
