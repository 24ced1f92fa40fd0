//! How a transit hop fills in TCP option 114.

use std::time::Duration;

use clap::Args;

use super::duration::TimeSpan;
use super::heading::MEASURING;
use super::link_speed::LinkSpeed;
use super::mistake::{Fault, fault};

const DEFAULT_HOLD: Duration = Duration::from_millis(1);
const SHORTEST_HOLD: Duration = Duration::from_micros(100);
const LONGEST_HOLD: Duration = Duration::from_secs(1);

/// Options for option 114.
#[derive(Args, Clone, Debug, Default)]
pub struct OptionHopOptions {
    /// Fill the same values into all segments of this time, the worst of the time before, from 100us to 1s (tcp-int)
    /// [default: 1ms]
    #[arg(long, help_heading = MEASURING, value_name = "TIME")]
    pub hold: Option<TimeSpan>,

    /// Speed of the links at these interfaces, with M or G for bits a second: free bandwidth is that of links from 10G on
    /// (tcp-int) [default: as the devices say]
    #[arg(long, help_heading = MEASURING, value_name = "SPEED")]
    pub link_speed: Option<LinkSpeed>,
}

/// How a hop fills it in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OptionHop {
    /// Nanoseconds for which values are held.
    pub hold_ns: u64,
    /// The links' speed; `None`: as the devices say.
    pub link_mbit: Option<u32>,
}

impl OptionHopOptions {
    /// Returns the settings of a hop that fills the option in, if this is one.
    pub(super) fn check(&self, is_filled: bool, faults: &mut Vec<Fault>) -> Option<OptionHop> {
        let given = [
            (self.hold.is_some(), "hold"),
            (self.link_speed.is_some(), "link-speed"),
        ];
        for (_, key) in given.into_iter().filter(|(is_given, _)| *is_given) {
            if !is_filled {
                faults.push(fault(
                    &[key],
                    "it is for TCP option 114, which this hop does not fill in (try --carriers host-int,vxlan-gpe,tcp-int)",
                ));
            }
        }
        let hold = self.hold.map_or(DEFAULT_HOLD, |hold| hold.0);
        if !(SHORTEST_HOLD..=LONGEST_HOLD).contains(&hold) {
            faults.push(fault(
                &["hold"],
                format!(
                    "{} is not from 100us to 1s (try --hold 1ms)",
                    TimeSpan(hold)
                ),
            ));
        }
        is_filled.then(|| OptionHop {
            hold_ns: TimeSpan(hold).as_ns(),
            link_mbit: self.link_speed.map(|speed| speed.0),
        })
    }
}
