//! Leases: when each sink is asked for one, whether its answers grant it, and which forms of packets pass the path.
//!
//! ```text
//! answers ─► verdict ─► lease ─► kernel
//!                │
//!                └─► proof: round of probes ─► verdicts of forms ─► evidence ─► ways
//!                      witness: counts of both ends ──┘
//! ```

mod announced;
mod answers;
mod budget;
mod evidence;
mod falls;
mod form_verdicts;
mod keeper;
mod names;
mod nodes;
mod pace;
mod peer;
mod probing;
mod proof;
mod questions;
mod renewals;
mod replies;
mod reverse;
mod round;
mod sink_clock;
mod strays_back;
mod update;
mod verdict;
mod ways;
mod witness;

pub use evidence::PathEvidence;
pub use keeper::{LeaseKeeper, OutgoingQuestion, PairPlace};
pub use names::{HeardName, NameExchange, OutgoingName, OwnName};
pub use probing::OutgoingProbe;
pub use questions::AskingTime;
pub use update::{AnswerTime, LeaseUpdate};
pub use verdict::{OwnTagging, Tagging};
