//! A million flows fit into a gibibyte: the kernel's tables and the daemon's tally, as hostint-sizing(7) states it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use hostint::model::*;

thread_local! {
    /// Bytes that this thread holds.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// Counts what each thread holds, with what glibc adds to each piece.
struct Counting;

fn hold(layout: Layout, sign: isize) {
    let piece = (layout.size() + 8).next_multiple_of(16).max(32);
    // A thread that ends counts no more.
    let _ = HELD.try_with(|held| held.set(held.get() + sign * piece.cast_signed()));
}

// SAFETY: it does what the system's allocator does.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        hold(layout, 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        hold(layout, -1);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(piece, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const PAGE: &str = include_str!("../../man/hostint-sizing.7");

/// Of the kernel: a hash table's element with its key and its bucket, and an array's with the queue's.
const FLOW_BYTES: usize = 48 + 40 + 616 + 16;
const FINE_BYTES: usize = 4 * FINE_SLOTS + 4;
const FINE_FLOWS: usize = 16_384;

/// Of each flow four slots in powers of two have packets, of those with fine slots sixty.
fn counts(number: u32) -> FlowCounts {
    let slots = if (number as usize) < FINE_FLOWS {
        FlowSlots::fine(&std::array::from_fn(|slot| {
            u32::from((300..360).contains(&slot))
        }))
    } else {
        FlowSlots::coarse(&std::array::from_fn(|slot| {
            u32::from((10..14).contains(&slot))
        }))
    };
    FlowCounts {
        node: NodeId(number % 100),
        packets: 60,
        bytes: 60_000,
        lost: u64::from(number.is_multiple_of(10)),
        first_ns: 1,
        last_ns: 2,
        latency_min_ns: 600,
        latency_max_ns: 9_000,
        latency_sum_ns: 60 * 2_000,
        slots,
        ..FlowCounts::default()
    }
}

fn tally_bytes(flows: u32) -> usize {
    let before = HELD.get();
    let mut tally = Tally::since(0);
    for number in 0..flows {
        let [_, high, middle, low] = number.to_be_bytes();
        let key = FlowKey {
            src: [10, high, middle, low].into(),
            dst: "192.0.2.1".parse().unwrap(),
            sport: 40_000,
            dport: 443,
            protocol: 6,
            vlans: Vlans::NONE,
        };
        tally.look_between(key, counts(number));
    }
    let held = HELD.get() - before;
    assert_eq!(tally.nodes().count(), 100);
    held.cast_unsigned()
}

/// The row of the table for this number of flows: MB of flows, of fine slots, of the daemon, and in all.
fn row(flows: &str) -> Vec<f64> {
    let (_, table) = PAGE
        .split_once("flows@flow table@")
        .expect("the page has this table");
    let line = table.lines().find(|line| line.starts_with(flows));
    let cells = line.expect("the table has this row").split('@').skip(1);
    cells.map(|cell| cell.parse().unwrap()).collect()
}

#[test]
fn a_million_flows_take_a_gibibyte_at_most() {
    // A small table takes memory as flows come, which has sizes in powers of two; a large one is reserved at once.
    for (name, flows, bytes) in [
        ("65,536@", 65_536, FLOW_BYTES.next_power_of_two()),
        ("1,000,000@", 1_000_000, FLOW_BYTES),
    ] {
        let tally = tally_bytes(flows);
        let sizes = [flows as usize * bytes, FINE_FLOWS * FINE_BYTES, tally];
        let all: usize = sizes.iter().sum();
        let stated = row(name);
        for (is, stated) in sizes.iter().chain([&all]).zip(stated) {
            let is = *is as f64 / 1e6;
            assert!(
                (is / stated - 1.0).abs() < 0.1,
                "{name}: {is:.1} MB, and hostint-sizing(7) says {stated}"
            );
        }
        assert!(all <= 1 << 30, "{name}: {all} bytes");
    }
}
