//! The size of the batches in which a collector hands reports on, to its store and to each engine.

const REPORTS: usize = 1024;
const BYTES: usize = 256 << 10;

/// True if a batch of reports, with the bytes that it holds, is handed on without waiting for more.
pub fn is_whole_batch(reports: usize, bytes: usize) -> bool {
    reports >= REPORTS || bytes >= BYTES
}
