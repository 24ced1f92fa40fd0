//! What it takes to read from memory that no cache holds. A packet of one of many flows waits for its bucket in the flow table and
//! then for its record, as a load here waits for the one before it.

use std::hint::black_box;
use std::time::Instant;

use nix::sys::prctl;

/// Loads that are timed in a round.
const LOADS: u32 = 300_000;

/// A cache line; its first word is the index of the next one.
type Line = [u64; 8];

/// Lines in one circle, which leaves no order that a cache foresees. There are a power of two of them.
fn circle(bytes: usize) -> Vec<Line> {
    let lines = (bytes / size_of::<Line>()) as u64;
    let next = |line: u64| (line.wrapping_mul(0x5851_f42d_4c95_7f2d) + 0xb504_f32d) & (lines - 1);
    (0..lines).map(|line| [next(line); 8]).collect()
}

/// Prints ns of a load from memory of these sizes. The kernel's tables have pages of 4 KiB, so this memory has them, too.
pub fn print(sizes_mb: &[usize]) {
    prctl::set_thp_disable(true).expect("a process may give up huge pages");
    for mb in sizes_mb {
        let lines = circle(mb << 20);
        let mut at = 0;
        let mut round = || {
            let begun = Instant::now();
            for _ in 0..LOADS {
                at = lines[at as usize][0];
            }
            black_box(at);
            begun.elapsed().as_nanos() as f64 / f64::from(LOADS)
        };
        let figures = Vec::from_iter((0..=crate::rounds::ROUNDS).map(|_| round()));
        let words = format!("load that waits for the one before it, of {mb} MB");
        println!(
            "  {words:<70} {:>8.1}",
            crate::rounds::median(figures[1..].to_vec())
        );
    }
    // Programs that are started later inherit it.
    prctl::set_thp_disable(false).expect("a process may have huge pages again");
}
