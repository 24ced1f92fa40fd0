//! The mode of INT: hops push their metadata onto packets, or tell a collector of them.

use clap::{Args, ValueEnum};

use super::heading::WIRE_FORMAT;
use super::mistake::{Fault, fault};
use super::source_encapsulation::SourceEncapsulation;
use crate::model::Encapsulation;

/// Transit hops and sink report packets whose number is a multiple of this, unless the user says another one.
const USUAL_SAMPLE: u32 = 64;

/// What transit hops do with packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum IntMode {
    /// INT-MD: they push entries onto packets
    #[default]
    Md,
    /// INT-MX: they change nothing, and report some packets to their collectors
    Mx,
}

/// Options for the mode.
#[derive(Args, Clone, Debug, Default)]
pub struct IntModeOptions {
    /// What transit hops do with packets in int-md: push their entries (md), or leave packets as they are and report some
    /// of them to a collector (mx), where sinks read that; needs --encap int-md [default: md]
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "MODE")]
    pub mode: Option<IntMode>,

    /// With --mode mx: all transit hops and the sink report packets whose number is a multiple of this, a power of two up
    /// to 65536 [default: 64]
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "N")]
    pub mx_sample: Option<u32>,
}

impl IntModeOptions {
    /// For INT-MX the exponent of the sample; `None` for INT-MD.
    pub(super) fn check(
        &self,
        encapsulation: SourceEncapsulation,
        max_hops: u8,
        faults: &mut Vec<Fault>,
    ) -> Option<u8> {
        let is_mx = self.mode == Some(IntMode::Mx);
        if self.mx_sample.is_some() && !is_mx {
            faults.push(fault(
                &["mx-sample"],
                "it is about packets in mode mx, and this source sends none (try --mode mx)",
            ));
        }
        let sample = self.mx_sample.unwrap_or(USUAL_SAMPLE);
        if !sample.is_power_of_two() || sample > 1 << 16 {
            faults.push(fault(
                &["mx-sample"],
                format!("{sample} is no power of two up to 65536 (try --mx-sample {USUAL_SAMPLE})"),
            ));
        }
        if !is_mx {
            return None;
        }
        if encapsulation != Encapsulation::IntMd.into() {
            faults.push(fault(
                &["mode", "encap"],
                "mode mx is one of int-md packets (try --encap int-md --int-dscp 0x17)",
            ));
        }
        if max_hops > 0 {
            faults.push(fault(
                &["mode", "max-hops"],
                "in mode mx no hop pushes anything (leave max-hops out)",
            ));
        }
        u8::try_from(sample.trailing_zeros()).ok()
    }
}
