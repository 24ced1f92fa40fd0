//! A model of two CPUs with weakly ordered memory, as arm64 has it, which tries every order in which they may see each
//! other's changes: the mark of a busy record and the serials hold with the atomics that the programs use, and break with
//! those whose result is not used. tests/datapath/ordered.rs says which the programs use.

#![cfg(test)]

mod mark;
mod serials;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loom::model::Builder;
use loom::sync::atomic::Ordering::SeqCst;
use loom::sync::atomic::fence;

/// How the eBPF programs change a word that other CPUs look at.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Atomic {
    /// The result is not used: arm64 may let it happen after accesses that follow it, or before those that precede it.
    Unordered,
    /// The result is used (`ordered_or` and its like in kernel/ordered.h): what precedes it has happened, and nothing
    /// that follows it.
    Fetching,
}

impl Atomic {
    /// Makes a change in its order.
    fn change<T>(self, change: impl FnOnce() -> T) -> T {
        if self == Self::Unordered {
            return change();
        }
        fence(SeqCst);
        let result = change();
        fence(SeqCst);
        result
    }
}

/// In one order a thread is interrupted this often at most. Two interruptions are enough for every fault that the cases expect.
const HOLD_UPS: usize = 4;

/// Whether the model says in any order of its accesses that it is broken.
fn breaks(is_broken: impl Fn() -> bool + Sync + Send + 'static) -> bool {
    let found = Arc::new(AtomicBool::new(false));
    let broken = Arc::clone(&found);
    let mut orders = Builder::new();
    orders.preemption_bound = Some(HOLD_UPS);
    let all = AssertUnwindSafe(|| {
        orders.check(move || {
            broken.store(is_broken(), Ordering::Relaxed);
            // The first such order ends the search.
            assert!(!broken.load(Ordering::Relaxed));
        });
    });
    if let Err(panic) = catch_unwind(all) {
        if !found.load(Ordering::Relaxed) {
            resume_unwind(panic);
        }
        return true;
    }
    false
}
