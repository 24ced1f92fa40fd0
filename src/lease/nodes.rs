//! Which host has which node id: two hosts with one would be told apart by nobody.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::model::NodeId;

/// A holder that was not heard of for so long has given its node id up.
const GIVEN_UP_NS: u64 = 3_000_000_000;

struct Holder {
    instance: u64,
    addr: IpAddr,
    heard_ns: u64,
}

/// The holders of node ids.
#[derive(Default)]
pub(super) struct Nodes(HashMap<NodeId, Holder>);

impl Nodes {
    /// A host says that it has this node id. If another one has it: its address.
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
