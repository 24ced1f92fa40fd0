//! Roles that are taken off interfaces.

use std::io;

use anyhow::{Context, Result};

use super::advice::advise;
use super::events;
use crate::datapath::kernel::pins::Pins;

/// A role whose programs work without a daemon.
pub struct PinnedRole {
    /// In the log's events.
    pub name: &'static str,
    /// The words for "cannot ...".
    pub task: &'static str,
    /// Takes the programs off these interfaces, off all if none is named, and returns which they were.
    pub detach: fn(&Pins, &[String]) -> io::Result<Vec<String>>,
}

impl PinnedRole {
    /// Detaches the role from these interfaces, from all if none is named, with the right to change attachments. Returns
    /// which they were.
    pub fn detach(&self, pins: &Pins, devs: &[String]) -> Result<Vec<String>> {
        let _changing = pins.change().map_err(advise).context(self.task)?;
        self.detach_unlocked(pins, devs)
    }

    /// Detaches the role from these interfaces; from none if none is named. The caller holds the right to do that.
    pub fn leave(&self, pins: &Pins, devs: &[String]) -> Result<()> {
        if devs.is_empty() {
            return Ok(());
        }
        self.detach_unlocked(pins, devs).map(drop)
    }

    fn detach_unlocked(&self, pins: &Pins, devs: &[String]) -> Result<Vec<String>> {
        let detached = (self.detach)(pins, devs)
            .map_err(advise)
            .context(self.task)?;
        for dev in &detached {
            events::detached(self.name, dev);
        }
        Ok(detached)
    }
}
