//! The duties that fail for now: each trouble is logged once, and once more when it is over.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::os::log::{self, Event, Level};

/// The reason of each failing task, as it was logged last.
#[derive(Default)]
pub struct Troubles(BTreeMap<&'static str, String>);

impl Troubles {
    /// Logs a new failure of a task, or the end of one. `what` completes the sentence "cannot …".
    pub fn note(&mut self, what: &'static str, result: Result<()>) {
        match result {
            Ok(()) => {
                if self.0.remove(what).is_some() {
                    log::event(
                        Level::Info,
                        Event::TroubleOver,
                        &[("TASK", &what)],
                        format_args!("can {what} again"),
                    );
                }
            }
            Err(err) => {
                let why = format!("{err:#}");
                if self
                    .0
                    .insert(what, why.clone())
                    .is_none_or(|before| before != why)
                {
                    log::event(
                        Level::Warning,
                        Event::Trouble,
                        &[("TASK", &what), ("REASON", &why)],
                        format_args!("cannot {what}: {why}; trying again"),
                    );
                }
            }
        }
    }
}
