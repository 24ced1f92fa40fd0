//! The verdict: each ten seconds what came in is judged, on a thread of its own, and what changes is logged and kept.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::board::Board;
use super::past::PastReading;
use super::takers::Hub;
use crate::model::{FirstCause, NodeId, NodeNames, VerdictSlot, VerdictState};
use crate::os::log;
use crate::store::StoreKeeper;
use crate::verdict::VerdictEngine;
use crate::views::verdict::put_words;

/// Slots that wait. One more is left out: the thread hangs.
const MOST_WAITING: usize = 6;

/// A slot, and the names of nodes at that time.
type NamedSlot = (VerdictSlot, NodeNames);

/// Judges slots, one after the other.
pub struct Judging {
    engine: VerdictEngine,
    history: Option<StoreKeeper>,
    board: Option<Arc<Board>>,
    /// What was logged last.
    logged: Option<(VerdictState, FirstCause)>,
    past: Option<PastReading>,
}

impl Judging {
    pub fn new(history: Option<StoreKeeper>, board: Option<Arc<Board>>) -> Self {
        Self {
            engine: VerdictEngine::default(),
            history,
            board,
            logged: None,
            past: None,
        }
    }

    /// Compares with what the history has, too.
    pub fn with_past(self, past: Option<PastReading>) -> Self {
        Self { past, ..self }
    }

    fn judge(&mut self, (slot, names): &NamedSlot) {
        let begun = Instant::now();
        let past = self.past.as_mut();
        if let Some(known) = past.and_then(|past| past.turn(slot.end_ns)) {
            self.engine.know(known);
        }
        let mut verdict = self.engine.slot(slot);
        let called = |node: NodeId| {
            names
                .name(node)
                .map_or_else(|| format!("node {node}"), str::to_owned)
        };
        put_words(&mut verdict, &called);
        let now = (verdict.state, verdict.first_cause());
        // The first one is no news if all is well.
        let is_news = match &self.logged {
            Some(logged) => *logged != now,
            None => matches!(now.0, VerdictState::Degraded | VerdictState::Measurement),
        };
        if is_news {
            match verdict.state {
                VerdictState::Healthy => log::info(&verdict.text),
                _ => log::warning(&verdict.text),
            }
        }
        if is_news || verdict.state == VerdictState::Healthy {
            self.logged = Some(now);
        }
        if let Some(board) = &self.board {
            let mut status = board.lock();
            status.verdict = Some(Box::new(verdict.clone()));
            status.verdict_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        }
        if let Some(history) = &self.history {
            history.see_verdict(verdict);
        }
    }

    /// Judges on a thread of its own from now on.
    pub fn start(mut self) -> io::Result<JudgingThread> {
        let (slots, waiting): (SyncSender<NamedSlot>, Receiver<_>) = sync_channel(MOST_WAITING);
        let thread = thread::Builder::new().name("verdict".to_owned());
        let thread = thread.spawn(move || {
            for slot in waiting {
                self.judge(&slot);
            }
        })?;
        Ok(JudgingThread {
            slots: Some(slots),
            thread: Some(thread),
        })
    }

    /// Judges a slot that is over at this time: reports of a file tell the time.
    pub fn judge_due(&mut self, hub: &mut Hub, now_ns: u64) {
        if !hub.ledgers.slot.is_due(now_ns) {
            return;
        }
        let exporters = hub.ledgers.exporters.health(usize::MAX, now_ns);
        let named = exporters.iter().filter(|one| !one.name_contested);
        let names = named.filter_map(|one| one.node.zip(one.name.clone()));
        let names = names.collect();
        let slot = hub.ledgers.take_slot(now_ns, &exporters).0;
        self.judge(&(slot, names));
    }
}

/// The thread that judges.
pub struct JudgingThread {
    slots: Option<SyncSender<NamedSlot>>,
    thread: Option<JoinHandle<()>>,
}

impl JudgingThread {
    /// Hands on a slot. A thread that hangs misses it; it holds nothing up.
    pub fn judge(&self, slot: VerdictSlot, names: NodeNames) {
        if let Some(slots) = &self.slots {
            let _ = slots.try_send((slot, names));
        }
    }
}

impl Drop for JudgingThread {
    fn drop(&mut self) {
        self.slots = None;
        if let Some(thread) = self.thread.take() {
            // It says itself why it ended.
            let _ = thread.join();
        }
    }
}
