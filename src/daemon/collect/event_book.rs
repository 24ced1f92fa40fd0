//! Events that were posted, as the verdict needs them: changes of late, silences, and what was accepted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::board::Board;
use crate::model::{EventKind, EventRefusal, NetworkEvent, NetworkVerdict, NodeId, NodeNames};
use crate::store::StoreKeeper;

/// Events this old matter no more, but for silences.
pub const OLD_NS: u64 = 7 * 86_400_000_000_000;
/// The most that are remembered: the latest.
const MOST_KNOWN: usize = 1_000;

#[derive(Default)]
struct KnownEvents {
    events: Vec<NetworkEvent>,
    /// Those that the engine does not know yet.
    accepted: Vec<NetworkEvent>,
}

/// All events of late.
pub struct EventBook {
    known: Mutex<KnownEvents>,
    keeper: Option<StoreKeeper>,
    board: Arc<Board>,
}

impl EventBook {
    pub fn new(events: Vec<NetworkEvent>, keeper: Option<StoreKeeper>, board: Arc<Board>) -> Self {
        let posted = events.into_iter().filter(|event| !event.kind.is_seen());
        let known = KnownEvents {
            events: posted.collect(),
            accepted: Vec::new(),
        };
        Self {
            known: Mutex::new(known),
            keeper,
            board,
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownEvents> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an event, or counts that one was refused. Returns false if there is no room.
    pub fn take(&self, posted: Result<NetworkEvent, EventRefusal>) -> bool {
        let event = match posted {
            Ok(event) => event,
            Err(refusal) => {
                *self.board.lock().events_refused.entry(refusal).or_default() += 1;
                return true;
            }
        };
        let has_room = |keeper: &StoreKeeper| keeper.see_event(event.clone());
        if !self.keeper.as_ref().is_none_or(has_room) {
            return false;
        }
        self.board.lock().events += 1;
        let mut known = self.known();
        if event.kind == EventKind::Accept {
            known.accepted.push(event.clone());
        }
        known.events.push(event);
        if known.events.len() > MOST_KNOWN {
            known.events.remove(0);
        }
        true
    }

    /// What was accepted since this was asked last.
    pub fn newly_accepted(&self) -> Vec<NetworkEvent> {
        std::mem::take(&mut self.known().accepted)
    }

    /// All that was accepted of late.
    pub fn accepted(&self) -> Vec<NetworkEvent> {
        let known = self.known();
        let events = known.events.iter();
        events
            .filter(|event| event.kind == EventKind::Accept)
            .cloned()
            .collect()
    }

    /// Adds to a verdict which changes came before its causes, and which of them are silenced; these come last.
    pub fn see(&self, verdict: &mut NetworkVerdict, names: &NodeNames) {
        let mut known = self.known();
        known.events.retain(|event| {
            event
                .until_ns
                .unwrap_or(event.time_ns.saturating_add(OLD_NS))
                > verdict.as_of_ns
        });
        verdict.take_events(&known.events, &|node: NodeId| names.name(node));
    }
}
