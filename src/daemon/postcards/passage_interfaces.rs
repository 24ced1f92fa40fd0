//! The interfaces whose packets are timed: those that are named, and all that patterns name, as they come and go.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::links::HostLinks;
use super::stacks::Stacks;
use crate::datapath::postcards::passages::PassagePrograms;
use crate::model::name_pattern::{covers, is_pattern};
use crate::os::link_events::{LinkEvent, SeenLink};
use crate::os::log::{self, Event, Level};

/// The interfaces that are asked for.
pub struct PassageInterfaces {
    /// Names and patterns.
    asked: Vec<String>,
    /// Those that cannot be timed.
    left_out: BTreeMap<u32, SeenLink>,
    /// Times that programs were put back.
    pub put_back: u64,
}

impl PassageInterfaces {
    /// Attaches the programs to what is here.
    ///
    /// # Errors
    /// If an interface that is named does not exist, or the kernel does not let it be timed.
    pub fn begin(
        asked: &[String],
        links: &HostLinks,
        programs: &mut PassagePrograms,
    ) -> Result<Self> {
        let mut all = Self {
            asked: asked.to_vec(),
            left_out: BTreeMap::new(),
            put_back: 0,
        };
        for name in asked.iter().filter(|name| !is_pattern(name)) {
            let link = links.here().find(|link| link.name == **name);
            let link = link.with_context(|| {
                format!("no interface {name} (try ip link, or a pattern for one that is to come)")
            })?;
            programs.add(link.index)?;
        }
        for link in links.here() {
            all.see(link, programs);
        }
        all.stack(links, programs)?;
        Ok(all)
    }

    /// The number of interfaces that are asked for and cannot be timed.
    pub fn left_out(&self) -> usize {
        self.left_out.len()
    }

    /// Does what an event of the kernel asks for.
    pub fn follow(&mut self, event: &LinkEvent, programs: &mut PassagePrograms) {
        match event {
            LinkEvent::Here(link) => self.see(link, programs),
            LinkEvent::Gone(index) => self.lose(*index, programs),
            LinkEvent::Missed => {}
        }
    }

    /// Sees which interfaces are stacked on others, by which their packets come and leave, too.
    pub fn stack(&self, links: &HostLinks, programs: &mut PassagePrograms) -> Result<()> {
        let stacks = Stacks::of(links);
        let all = links.here().map(|link| link.index);
        let timed: Vec<u32> = all.filter(|index| programs.has(*index)).collect();
        for index in timed {
            let is_stacked = stacks.is_on(index, &|lower| programs.has(lower));
            programs.set_stacked(index, is_stacked)?;
        }
        Ok(())
    }

    /// Attaches the programs to an interface that came, and takes them off one that has another name now.
    fn see(&mut self, link: &SeenLink, programs: &mut PassagePrograms) {
        let is_asked = self.asked.iter().any(|one| covers(one, &link.name));
        match (is_asked, programs.has(link.index)) {
            (true, false) => self.add(link, programs),
            (false, _) => self.lose(link.index, programs),
            (true, true) => {}
        }
    }

    fn lose(&mut self, index: u32, programs: &mut PassagePrograms) {
        self.left_out.remove(&index);
        if programs.has(index) {
            programs.remove(index);
        }
    }

    fn add(&mut self, link: &SeenLink, programs: &mut PassagePrograms) {
        match programs.add(link.index) {
            Ok(()) => {
                self.left_out.remove(&link.index);
                log::debug(|| format!("timing the packets of {}", link.name));
            }
            // It went meanwhile, which the kernel reports.
            Err(err) if err.raw_os_error() == Some(nix::libc::ENODEV) => {}
            Err(err) => {
                if self.left_out.insert(link.index, link.clone()).is_none() {
                    log::warning(format_args!(
                        "cannot time the packets of {}: {err}",
                        link.name
                    ));
                }
            }
        }
    }

    /// Puts back what something else took off, and tries again what could not be timed.
    pub fn look_after(&mut self, links: &HostLinks, programs: &mut PassagePrograms) -> Result<()> {
        for index in programs.wiped()? {
            let Some(link) = links.here().find(|link| link.index == index) else {
                continue;
            };
            self.add(link, programs);
            if programs.has(index) {
                self.put_back += 1;
                log::event(
                    Level::Warning,
                    Event::Repaired,
                    &[("DEV", &link.name), ("ROLE", &"postcards")],
                    format_args!(
                        "the programs of postcards were taken off {}: attached again",
                        link.name
                    ),
                );
            }
        }
        let left_out: Vec<SeenLink> = self.left_out.values().cloned().collect();
        for link in left_out {
            self.add(&link, programs);
        }
        self.stack(links, programs)?;
        Ok(programs.forget_gone()?)
    }
}
