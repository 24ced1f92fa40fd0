//! The state of a transit hop: attached programs and counters.

use serde::{Deserialize, Serialize};

use crate::model::CounterStatus;
use crate::model::interned_name::{self, InternedName};

/// The transit hop of a host.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TransitStatus {
    pub interfaces: Vec<TransitInterface>,
    pub counters: Vec<CounterStatus>,
}

/// An interface of a transit hop.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TransitInterface {
    pub dev: String,
    /// False if something else took the programs off, or the interface is gone.
    pub attached: bool,
    /// `tcx` or `clsact`
    #[serde(deserialize_with = "interned_name::one")]
    pub mode: InternedName,
    pub dscp_value: u8,
    pub dscp_mask: u8,
    pub extension_port: u16,
    /// The kinds of INT onto which it pushes. Empty if it does not say.
    #[serde(default, deserialize_with = "interned_name::list")]
    pub carriers: Vec<InternedName>,
    /// The DSCP that marks int-md, and its bits; null if none does.
    pub int_dscp_value: Option<u8>,
    pub int_dscp_mask: Option<u8>,
    /// The UDP port that marks int-md; null if none does.
    pub int_port: Option<u16>,
    /// The fixed limit; null if the interface's MTU is followed.
    pub mtu: Option<u32>,
    /// Only packets of allowed sources get entries.
    pub only_allowed: bool,
    /// The number of arrivals that are remembered.
    pub arrivals_max: u32,
    /// False if superpackets get no entries, because the device would cut them wrongly.
    pub superpackets: bool,
    /// The time for which values of TCP option 114 are held; null if it is not filled in.
    pub hold_ns: Option<u64>,
    /// The speed of the link, of which the option's free bandwidth is a part; null if it is not known.
    pub link_mbit: Option<u32>,
}
