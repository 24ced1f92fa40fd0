//! The node id of this host, which all its roles share.

use anyhow::{Context, Result};

use super::advice::{Usage, surroundings};
use super::{derived_node, node_seed};
use crate::datapath::host::settings_status;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::sink_links;
use crate::datapath::source::source_links;
use crate::datapath::transit::transit_links;
use crate::model::{HostNode, NodeId};

/// The node of the roles that are attached already.
///
/// # Errors
/// If what is pinned cannot be read.
pub fn of_roles(pins: &Pins) -> Result<Option<HostNode>> {
    let attached = sink_links::is_attached(pins).context("cannot look for the sink")?
        || source_links::is_loaded(pins)
        || transit_links::is_loaded(pins);
    if !attached {
        return Ok(None);
    }
    let node = settings_status::node(pins).context("cannot read the node id")?;
    Ok(node.filter(|node| node.id != NodeId(0)))
}

/// The id that is given, else that of the roles that are attached already, else that of the environment, else the one that is
/// derived.
///
/// # Errors
/// If there is none of them.
pub fn choose(pins: Option<&Pins>, given: Option<NodeId>) -> Result<HostNode> {
    if let Some(given) = given {
        return Ok(HostNode::given(given));
    }
    match pins.map(of_roles).transpose()?.flatten() {
        Some(node) => Ok(node),
        None => derive(),
    }
}

/// The same for a role that, if other roles are attached, has to have their id.
///
/// # Errors
/// If another id is given, or there is none.
pub fn join(pins: &Pins, given: Option<NodeId>, others: bool) -> Result<HostNode> {
    let known = of_roles(pins)?.filter(|_| others);
    match (given, known) {
        (Some(given), Some(known)) if given != known.id => Err(Usage(format!(
            "node id {given} differs from this host's, which is {}: a host has one node id (try to leave --node-id out)",
            known.id
        ))
        .into()),
        (_, Some(known)) => Ok(known),
        (given, None) => choose(Some(pins), given),
    }
}

/// The id of the environment, else the one that is derived from the machine id.
///
/// # Errors
/// If the machine has none.
pub fn derive() -> Result<HostNode> {
    if let Some(id) = node_seed::id() {
        return Ok(HostNode::given(id));
    }
    let node = derived_node::find().map_err(|err| {
        let show = surroundings().show(derived_node::MACHINE_ID);
        let or = show.map(|show| format!(", or NODE_NAME in the environment, or {show}"));
        Usage(format!(
            "no node id given, and none can be derived: {err:#} (try --node-id 2{})",
            or.unwrap_or_default()
        ))
    })?;
    Ok(HostNode::derived(node))
}
