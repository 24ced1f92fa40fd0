//! The error of a host's clock, as its operator states it.

use std::num::NonZeroU32;
use std::time::Duration;

use clap::Args;

use super::duration::TimeSpan;
use super::heading::MEASURING;
use super::mistake::{Fault, fault};

/// A greater error says nothing that packets would not.
const MOST: Duration = Duration::from_secs(1);

/// The option to state it, which sink and source share.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct ClockErrorOption {
    /// This host's clock is off by no more than this while the kernel says that it is synchronised, such as 2us
    /// [default: what its time daemon reports to the kernel]
    #[arg(long, help_heading = MEASURING, value_name = "TIME")]
    pub clock_error: Option<TimeSpan>,
}

impl ClockErrorOption {
    /// The error in nanoseconds; `None`: the operator states none.
    pub(super) fn check(self, faults: &mut Vec<Fault>) -> Option<NonZeroU32> {
        let error = self.clock_error?;
        let whole_ns = u32::try_from(error.as_ns()).ok().and_then(NonZeroU32::new);
        let stated = whole_ns.filter(|_| error.0 <= MOST);
        if stated.is_none() {
            faults.push(fault(
                &["clock-error"],
                format!("a clock that is off by at most {error} (expected 1ns to 1s, such as 2us)"),
            ));
        }
        stated
    }
}
