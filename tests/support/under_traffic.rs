//! Changes while packets run on two threads: each packet that begins after a change follows it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

/// Makes `rounds` changes, numbered from 1 on, while packets run: `packet` runs one and says what became of it, which is to be
/// true after odd changes and false after even ones. What became of packets that ran during a change does not matter.
///
/// # Errors
/// A packet did not follow the last change; the text says which.
pub fn change_under_traffic(
    rounds: u32,
    packet: &(dyn Fn() -> bool + Sync),
    change: impl Fn(u32),
) -> Result<(), String> {
    // Changes are announced before and after.
    let (begun, done) = (AtomicU32::new(0), AtomicU32::new(0));
    let seen = [AtomicU64::new(0), AtomicU64::new(0)];
    let wrong = Mutex::new(None);
    let is_wrong = || wrong.lock().is_ok_and(|wrong| wrong.is_some());
    thread::scope(|scope| {
        for _ in 0..2 {
            let (begun, done, seen, wrong) = (&begun, &done, &seen, &wrong);
            scope.spawn(move || {
                while done.load(Ordering::SeqCst) < rounds {
                    let last = done.load(Ordering::SeqCst);
                    let was = packet();
                    if begun.load(Ordering::SeqCst) != last {
                        continue;
                    }
                    seen[last as usize % 2].fetch_add(1, Ordering::SeqCst);
                    if was != (last % 2 == 1) {
                        let text = format!("after change {last} a packet is {was}");
                        wrong.lock().expect("nobody panics").get_or_insert(text);
                    }
                }
            });
        }
        for round in 1..=rounds {
            let of_state = &seen[round as usize % 2];
            let before = of_state.load(Ordering::SeqCst);
            begun.store(round, Ordering::SeqCst);
            change(round);
            done.store(round, Ordering::SeqCst);
            // Packets run in each state.
            while round < rounds && of_state.load(Ordering::SeqCst) == before && !is_wrong() {
                thread::yield_now();
            }
        }
    });
    match wrong.into_inner().expect("nobody panics") {
        Some(text) => Err(text),
        None => Ok(()),
    }
}
