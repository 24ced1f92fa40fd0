//! The duties that daemons on a measured host share.

mod attachments;
mod budget;
mod clock;
mod clock_evidence;
mod config_file;
mod coverage;
mod crossings;
mod host_names;
mod identity;
mod leases;
mod option_room;
mod own_host;
mod rule_names;
mod rules;
mod source_flows;

pub use attachments::LookAfterAttachments;
pub use budget::{HasBudget, KeepBudget};
pub use clock::FollowClock;
pub use clock_evidence::SendClocks;
pub use config_file::{ReadFileAgain, ReadsFile};
pub use coverage::SendCoverage;
pub use crossings::SendCrossings;
pub use host_names::KeepHostNames;
pub use identity::SendIdentity;
pub use leases::KeepLeases;
pub use option_room::MakeOptionRoom;
pub use own_host::FollowHost;
pub use rule_names::{FollowRules, HasRules};
pub use rules::{HasFileRules, SetFileRules};
pub use source_flows::{WalkSourceFlows, rest_of_passes};
