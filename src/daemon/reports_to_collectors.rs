//! What a daemon shows to the duties that tell collectors of its host.

use anyhow::Result;

use crate::config::IdentitySettings;
use crate::model::{KernelParts, NodeId};
use crate::report::Emitter;

/// A daemon that has collectors.
pub trait ReportsToCollectors {
    fn emitter(&mut self) -> &mut Emitter;

    fn node(&self) -> Result<NodeId>;

    /// True if it has collectors that understand more than Host-INT's.
    fn sends_extended(&self) -> bool;

    /// True if it has its host to itself: no other daemon tells of it.
    fn holds_host(&self) -> bool {
        false
    }

    /// What it tells of its host; `None`: nothing.
    fn identity(&self) -> Option<&IdentitySettings>;

    /// The parts of the kernel that this daemon asked for in vain, and those whose findings it shares.
    fn lacks(&self) -> Result<KernelParts>;
}
