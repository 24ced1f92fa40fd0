//! TCP option 114 of the connections in a capture, as text.

use std::fmt;

use super::digits::{Grouped, Nanoseconds};
use super::drops::counted;
use super::tcp::HopState;
use crate::model::{CapturedConnection, WorstHop};

/// Displays `tcp 192.0.2.1:40000 > 198.51.100.2:5201  12 requests, 12 samples of 40 echoes  worst hop 1 in 12: ...`.
pub struct CapturedLine<'a>(pub &'a CapturedConnection);

impl fmt::Display for CapturedLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reported = self.0;
        write!(
            f,
            "{}  {}",
            reported.flow,
            counted(reported.requests, "request")
        )?;
        if reported.filled > 0 {
            write!(f, " ({} filled in)", Grouped(reported.filled))?;
        }
        let (samples, echoes) = (
            counted(reported.samples, "sample"),
            counted_echoes(reported.echoes),
        );
        write!(f, ", {samples} of {echoes}")?;
        for hop in &reported.hops {
            let samples = Grouped(hop.samples);
            write!(
                f,
                "  worst hop {} in {samples}: {}",
                hop.hop,
                ReportedHop(&hop.worst)
            )?;
        }
        match (&reported.worst_echo, &reported.worst_filled) {
            // Echoes whose requests the capture lacks.
            (Some(worst), _) if reported.hops.is_empty() => {
                write!(f, "  echoed hop {}: {}", worst.hop, ReportedHop(worst))
            }
            (None, Some(worst)) => {
                write!(
                    f,
                    "  filled in by hop {}: {}",
                    worst.hop,
                    ReportedHop(worst)
                )
            }
            _ => Ok(()),
        }
    }
}

fn counted_echoes(echoes: u64) -> String {
    match echoes {
        1 => "1 echo".to_owned(),
        echoes => format!("{} echoes", Grouped(echoes)),
    }
}

/// Displays `queue of 40,960 bytes of 10 Gbit/s, 12.3 ms in all hops`.
struct ReportedHop<'a>(&'a WorstHop);

impl fmt::Display for ReportedHop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", HopState(self.0))?;
        if let Some(gbit_s) = self.0.link_gbit_s {
            write!(f, " at {gbit_s} Gbit/s")?;
        }
        let latency = Nanoseconds(self.0.latency_ns.cast_signed());
        write!(f, ", {latency} in all hops")
    }
}
