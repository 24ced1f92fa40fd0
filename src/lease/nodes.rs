//! The holders of node ids: two hosts with the same id could not be told apart.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::model::NodeId;

/// A holder that did not answer for this time has given its node id up.
const GIVEN_UP_NS: u64 = 3_000_000_000;

struct Holder {
    instance: u64,
    addr: IpAddr,
    heard_ns: u64,
}

/// The holders of node ids.
#[derive(Default)]
pub(super) struct NodeHolders(HashMap<NodeId, Holder>);

impl NodeHolders {
    /// Records that a host has this node id. If another host has it, returns that host's address as the error.
    pub(super) fn claim(
        &mut self,
        node: NodeId,
        instance: u64,
        addr: IpAddr,
        now_ns: u64,
    ) -> Result<(), IpAddr> {
        let holder = self.0.entry(node).or_insert(Holder {
            instance,
            addr,
            heard_ns: now_ns,
        });
        let same = holder.instance == instance || holder.addr == addr;
        if !same && now_ns.saturating_sub(holder.heard_ns) < GIVEN_UP_NS {
            return Err(holder.addr);
        }
        if holder.instance != instance {
            holder.addr = addr;
        }
        holder.instance = instance;
        holder.heard_ns = now_ns;
        Ok(())
    }
}
