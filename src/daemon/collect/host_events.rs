//! What a collector sees by itself of hosts, as events that charts mark: a restart of hostint, a clock that was set.

use std::collections::HashMap;

use crate::model::{
    EventKind, HostInSlot, NetworkEvent, NodeId, NodeNames, VERDICT_SLOT_NS, VerdictSlot,
};

/// More hosts of a slot are one event: they were upgraded together.
const MOST_SINGLE: usize = 8;
/// The same of the same host is not said again for this time.
const AGAIN_NS: u64 = 600_000_000_000;

/// Says whether a host had an event.
type HasEvent = fn(&HostInSlot) -> bool;

const KINDS: [(EventKind, HasEvent); 2] = [
    (EventKind::Restart, |host| host.restarted),
    (EventKind::ClockStep, |host| host.clock_set),
];

/// When each host had which event last.
#[derive(Debug, Default)]
pub struct HostEvents(HashMap<(NodeId, EventKind), u64>);

impl HostEvents {
    /// The events of a slot.
    pub fn of_slot(&mut self, slot: &VerdictSlot, names: &NodeNames) -> Vec<NetworkEvent> {
        let now_ns = slot.end_ns;
        self.0
            .retain(|_, last_ns| now_ns.saturating_sub(*last_ns) < AGAIN_NS);
        let mut events = Vec::new();
        for (kind, has) in KINDS {
            let hosts = slot.hosts.iter().filter(|(_, host)| has(host));
            let new = hosts.filter(|(node, _)| !self.0.contains_key(&(**node, kind)));
            let nodes: Vec<NodeId> = new.map(|(node, _)| *node).collect();
            self.0
                .extend(nodes.iter().map(|node| ((*node, kind), now_ns)));
            let event = |text, host| NetworkEvent {
                kind,
                time_ns: now_ns - VERDICT_SLOT_NS,
                text,
                host,
                ..NetworkEvent::default()
            };
            if nodes.len() > MOST_SINGLE {
                events.push(event(format!("at {} hosts", nodes.len()), None));
                continue;
            }
            let named = |node: NodeId| names.name(node).map_or(node.to_string(), str::to_owned);
            events.extend(
                nodes
                    .into_iter()
                    .map(|node| event(String::new(), Some(named(node)))),
            );
        }
        events
    }
}
