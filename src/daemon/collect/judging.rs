//! The verdict: each ten seconds what came in is judged, on a thread of its own, and what changes is logged and kept.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use anyhow::Result;

use super::board::Board;
use super::event_book::EventBook;
use super::host_events::HostEvents;
use super::past::PastReading;
use super::takers::Hub;
use super::webhook::{self, TellWebhook};
use crate::model::{
    FirstCause, NetworkEvent, NetworkVerdict, NodeId, NodeNames, VerdictSlot, VerdictState,
};
use crate::os::log;
use crate::store::{Store, StoreKeeper};
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
    book: Option<Arc<EventBook>>,
    webhook: Option<TellWebhook>,
    seen: HostEvents,
}

impl Judging {
    pub fn new(history: Option<StoreKeeper>, board: Option<Arc<Board>>) -> Self {
        Self {
            engine: VerdictEngine::default(),
            history,
            board,
            logged: None,
            past: None,
            book: None,
            webhook: None,
            seen: HostEvents::default(),
        }
    }

    /// Compares with what the history has, too.
    pub fn with_past(self, past: Option<PastReading>) -> Self {
        Self { past, ..self }
    }

    /// Takes account of events, and hands changes of the verdict to a webhook.
    pub fn with_events(self, book: Arc<EventBook>, webhook: Option<TellWebhook>) -> Self {
        Self {
            book: Some(book),
            webhook,
            ..self
        }
    }

    /// What was accepted is usual from now on.
    fn accept(&mut self, names: &NodeNames) {
        let accepted = self.book.as_ref().map(|book| book.newly_accepted());
        for event in accepted.unwrap_or_default() {
            let name = |node: NodeId| names.name(node);
            let causes = self.engine.accept(|cause| event.is_of_cause(cause, &name));
            log::info(format_args!(
                "accepted as usual: {causes} causes ({})",
                event.what()
            ));
        }
    }

    fn judge(&mut self, (slot, names): &NamedSlot) {
        let begun = Instant::now();
        let past = self.past.as_mut();
        let book = self.book.as_deref();
        if let Some(known) = past.and_then(|past| past.turn(slot.end_ns, (book, names))) {
            self.engine.know(known);
        }
        self.accept(names);
        let mut verdict = self.engine.slot(slot);
        if let Some(book) = &self.book {
            book.see(&mut verdict, names);
        }
        let called = |node: NodeId| {
            names
                .name(node)
                .map_or_else(|| format!("node {node}"), str::to_owned)
        };
        put_words(&mut verdict, &called);
        self.report_news(&verdict);
        if let Some(board) = &self.board {
            let usual = Arc::new(self.engine.usuals());
            let mut status = board.lock();
            status.usual = usual;
            status.verdict = Some(Box::new(verdict.clone()));
            status.verdict_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        }
        if let Some(history) = &self.history {
            for event in self.seen.of_slot(slot, names) {
                // Without room charts lack a mark.
                let _ = history.see_event(event);
            }
            history.see_verdict(verdict);
        }
    }

    /// Logs a change, and hands it to the webhook. What is silenced is news when the silence ends, and the first verdict is
    /// none if all is well.
    fn report_news(&mut self, verdict: &NetworkVerdict) {
        let now = (verdict.state, verdict.first_cause());
        let is_silenced = verdict.is_silenced();
        let is_news = match &self.logged {
            _ if is_silenced => false,
            Some(logged) => *logged != now,
            None => matches!(now.0, VerdictState::Degraded | VerdictState::Measurement),
        };
        if is_news {
            if let Some(webhook) = &self.webhook {
                webhook(verdict);
            }
            match verdict.state {
                VerdictState::Healthy => log::info(&verdict.text),
                _ => log::warning(&verdict.text),
            }
        }
        if is_news || verdict.state == VerdictState::Healthy {
            self.logged = Some(now);
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

/// Starts to judge what comes in, beside a history and these events of an earlier run.
pub fn of(
    store: Option<&Store>,
    board: &Arc<Board>,
    events: Vec<NetworkEvent>,
    webhook: Option<&str>,
) -> Result<(JudgingThread, Arc<EventBook>)> {
    let keeper = || store.map(Store::keeper);
    let past = store.map(|store| PastReading::of(store.path().to_owned()));
    let book = Arc::new(EventBook::new(events, keeper(), Arc::clone(board)));
    let webhook = webhook.map(|url| webhook::start(url, board)).transpose()?;
    let judge = Judging::new(keeper(), Some(Arc::clone(board))).with_past(past);
    let judge = judge.with_events(Arc::clone(&book), webhook).start()?;
    Ok((judge, book))
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
