//! A serial grows after its table was changed and is read before the table is. A flow that remembers what the table said
//! together with the newest number must know the newest table, or it would never look again.

use loom::sync::Arc;
use loom::sync::atomic::Ordering::{Relaxed, SeqCst};
use loom::sync::atomic::{AtomicU32, fence};
use loom::thread;

use super::{Atomic, breaks};

#[derive(Default)]
struct Table {
    /// Whether the entry permits what the flow wants.
    permits: AtomicU32,
    serial: AtomicU32,
}

/// Whether a flow that looks while the entry changes keeps the old answer with the new number.
fn stale(change: Atomic, look: Atomic) -> bool {
    breaks(move || {
        let table = Arc::new(Table::default());
        let changed = Arc::clone(&table);
        let changes = thread::spawn(move || {
            changed.permits.store(1, Relaxed);
            change.change(|| changed.serial.fetch_add(1, Relaxed));
        });
        let serial = table.serial.load(Relaxed);
        if look == Atomic::Fetching {
            fence(SeqCst);
        }
        let permits = table.permits.load(Relaxed);
        changes.join().unwrap();
        serial == table.serial.load(Relaxed) && permits != table.permits.load(Relaxed)
    })
}

#[test]
fn nothing_old_is_remembered_with_a_new_serial() {
    use Atomic::{Fetching, Unordered};
    // Who changes the table, and who looks: change_grants_serial() and find_permission(), renew() and find_form().
    for (sentence, change, look, breaks) in [
        ("as it was: neither is ordered", Unordered, Unordered, true),
        ("the change alone is ordered", Fetching, Unordered, true),
        ("the look alone is ordered", Unordered, Fetching, true),
        ("as it is: both are ordered", Fetching, Fetching, false),
    ] {
        assert_eq!(stale(change, look), breaks, "{sentence}");
    }
}
