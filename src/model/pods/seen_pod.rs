//! What an API server tells of pods, and what follows for an address.

use std::net::IpAddr;
use std::sync::Arc;

use crate::model::PodName;

/// A pod as the API server has it now.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SeenPod {
    pub uid: String,
    /// Of a static pod: what its cgroups have in the place of the uid.
    pub digest: Option<String>,
    pub name: PodName,
    /// Its own addresses: none of one in its node's network, or that ended.
    pub addresses: Vec<IpAddr>,
    /// The time at which its node took it on.
    pub since_ns: Option<u64>,
}

/// What the API server said.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PodNews {
    /// These pods, and no others.
    Listed(Vec<SeenPod>),
    /// A pod is new, or has changed.
    Seen(Box<SeenPod>),
    /// The pod of this uid is gone.
    Gone(String),
    /// Nothing else has changed.
    Current,
}

/// The time for which a pod had an address, or, without an address, for which there was the pod.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PodPeriod {
    pub address: Option<IpAddr>,
    pub uid: Arc<str>,
    pub name: Arc<PodName>,
    pub since_ns: u64,
    /// The greatest number while it lasts.
    pub until_ns: u64,
}

impl PodPeriod {
    /// The end of a period that lasts.
    pub const OPEN: u64 = u64::MAX;

    pub fn is_open(&self) -> bool {
        self.until_ns == Self::OPEN
    }

    /// Takes a name. Returns the period if it is another one than before.
    pub fn rename(&mut self, name: &Arc<PodName>) -> Option<Self> {
        if self.name == *name {
            return None;
        }
        self.name = Arc::clone(name);
        Some(self.clone())
    }
}
