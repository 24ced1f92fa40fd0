//! What hosts do in time they cannot do on a machine that is far too busy: tests of that are then run again.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A thread that waits for a processor this many times as long as it has one says nothing about the time that anything takes.
const TOO_LONG: u64 = 6;
/// So often a test is tried.
const TRIALS: u32 = 5;

/// The time that this thread ran and that it waited for a processor. None where the kernel does not count that.
fn ran_and_waited_ns() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

/// Works a little now and then, as a daemon does, until the end. Returns true if there was a second in which that took far too
/// long.
fn watch(ended: &AtomicBool) -> bool {
    let mut was_busy = false;
    while !ended.load(Ordering::Relaxed) {
        let Some(before) = ran_and_waited_ns() else {
            return false;
        };
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(1) && !ended.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(10));
            for number in 0..20_000 {
                std::hint::black_box(number);
            }
        }
        was_busy |= ran_and_waited_ns()
            .is_some_and(|(ran, waited)| waited - before.1 > TOO_LONG * (ran - before.0));
    }
    was_busy
}

/// Runs a test, and once more if it fails while the machine is far too busy.
pub fn unless_busy(mut test: impl FnMut()) {
    for trial in 1.. {
        let ended = AtomicBool::new(false);
        let (result, was_busy) = thread::scope(|scope| {
            let watching = scope.spawn(|| watch(&ended));
            let result = catch_unwind(AssertUnwindSafe(&mut test));
            ended.store(true, Ordering::Relaxed);
            (result, watching.join().unwrap_or(false))
        });
        match result {
            Ok(()) => return,
            Err(failure) if !was_busy || trial == TRIALS => resume_unwind(failure),
            Err(_) => println!("the machine was far too busy: once more"),
        }
    }
}
