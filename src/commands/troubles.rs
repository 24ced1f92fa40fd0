//! What a daemon cannot do for now.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::os::log::{self, Event, Level};

/// What does not work for now is said once, and tried again: packets are stripped meanwhile.
#[derive(Default)]
pub struct Troubles(BTreeMap<&'static str, String>);

impl Troubles {
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
