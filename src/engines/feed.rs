//! Takes reports where they are decoded, and hands them on to all engines in batches.

use std::sync::Arc;

use super::outlet::Outlet;
use super::parcel::{Batch, Entry, Run};
use crate::model::{Arrival, Report};

/// A batch this long is handed on.
const REPORTS: usize = 1024;
const BYTES: usize = 256 << 10;

/// What the decoder holds. There is one in a run, for it numbers the reports.
pub struct Feed {
    run: Run,
    number: u64,
    outlets: Vec<Outlet>,
    entries: Vec<Entry>,
    bytes: usize,
    class: Option<Arc<str>>,
}

impl Feed {
    pub(super) fn new(run: Run, outlets: Vec<Outlet>) -> Self {
        Self {
            run,
            number: 0,
            outlets,
            entries: Vec::new(),
            bytes: 0,
            class: None,
        }
    }

    /// Takes a report that came in `bytes`, the name of its drop reason, and the class of its flow.
    pub fn take(
        &mut self,
        report: &Report,
        arrival: Option<Arrival>,
        drop_reason: Option<&str>,
        class: Option<&str>,
        bytes: usize,
    ) {
        self.number += 1;
        if self.class.as_deref() != class {
            self.class = class.map(Arc::from);
        }
        self.entries.push(Entry {
            number: self.number,
            report: report.clone(),
            arrival,
            class: self.class.clone(),
            drop_reason: drop_reason.map(Box::from),
        });
        self.bytes += size_of::<Entry>() + bytes;
        if self.entries.len() >= REPORTS || self.bytes >= BYTES {
            self.flush();
        }
    }

    /// Hands on what is there.
    pub fn flush(&mut self) {
        if self.entries.is_empty() {
            return;
        }
        let batch = Arc::new(Batch {
            run: self.run,
            entries: std::mem::take(&mut self.entries),
            bytes: std::mem::take(&mut self.bytes),
        });
        for outlet in &self.outlets {
            outlet.put(&batch);
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.flush();
    }
}
