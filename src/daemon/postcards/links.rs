//! The interfaces of this network namespace, as they come and go.

use std::collections::{HashMap, VecDeque};
use std::io;

use anyhow::{Context, Result};

use crate::model::{SOCKETS_IFINDEX, SOCKETS_NAME};
use crate::os::link_events::{LinkEvent, LinkEvents, SeenLink};
use crate::os::{log, netns, rtnetlink, wait::Wait};

/// Interfaces that are gone keep their names for what is told of them later, and then make room.
const MOST_GONE: usize = 1024;

/// The interfaces that are here, and those that went last.
pub struct HostLinks {
    netns: u32,
    /// `None` if the kernel does not tell changes.
    events: Option<LinkEvents>,
    here: HashMap<u32, SeenLink>,
    gone: VecDeque<SeenLink>,
}

impl HostLinks {
    pub fn begin() -> Result<Self> {
        let events = LinkEvents::listen()
            .inspect_err(|err| {
                log::warning(format_args!("cannot hear of new interfaces at once: {err}"));
            })
            .ok();
        let mut links = Self {
            netns: netns::inode().context("cannot list interfaces")?,
            events,
            here: HashMap::new(),
            gone: VecDeque::new(),
        };
        links.compare().context("cannot list interfaces")?;
        Ok(links)
    }

    pub fn here(&self) -> impl Iterator<Item = &SeenLink> {
        self.here.values()
    }

    /// Lets the daemon wake for changes.
    pub fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        self.events.iter().for_each(|events| wait.on(events));
    }

    /// The changes since the last call, none of them missed. What the kernel tells of an interface that has the same name
    /// and the same other end as before is none.
    pub fn news(&mut self) -> io::Result<Vec<LinkEvent>> {
        let mut news = Vec::new();
        match &self.events {
            Some(events) => events.take(|event| news.push(event))?,
            None => return Ok(news),
        }
        if news.contains(&LinkEvent::Missed) {
            return self.compare();
        }
        news.retain(|event| match event {
            LinkEvent::Here(link) => self.note(link),
            LinkEvent::Gone(index) => {
                self.forget(*index);
                true
            }
            LinkEvent::Missed => false,
        });
        Ok(news)
    }

    /// The same where the kernel reports no changes.
    pub fn unheard(&mut self) -> io::Result<Vec<LinkEvent>> {
        match self.events {
            Some(_) => Ok(Vec::new()),
            None => self.compare(),
        }
    }

    /// Reads all interfaces. Those that went come first.
    fn compare(&mut self) -> io::Result<Vec<LinkEvent>> {
        let now = rtnetlink::links()?;
        let is_here = |index: &u32| now.iter().any(|link| link.index == *index);
        let gone: Vec<u32> = self
            .here
            .keys()
            .filter(|it| !is_here(it))
            .copied()
            .collect();
        let mut news: Vec<LinkEvent> = gone.iter().copied().map(LinkEvent::Gone).collect();
        for index in gone {
            self.forget(index);
        }
        for link in now {
            if self.note(&link) {
                news.push(LinkEvent::Here(link));
            }
        }
        Ok(news)
    }

    /// Returns true if the interface is new, or changed.
    fn note(&mut self, link: &SeenLink) -> bool {
        // The same number, for instance after a restart of the count, is another interface.
        self.gone.retain(|gone| gone.index != link.index);
        let before = self.here.insert(link.index, link.clone());
        before.as_ref() != Some(link)
    }

    fn forget(&mut self, index: u32) {
        let Some(link) = self.here.remove(&index) else {
            return;
        };
        if self.gone.len() == MOST_GONE {
            self.gone.pop_front();
        }
        self.gone.push_back(link);
    }

    /// The interface with this index, also if it went lately.
    pub fn find(&self, index: u32) -> Option<&SeenLink> {
        let gone = || self.gone.iter().find(|link| link.index == index);
        self.here.get(&index).or_else(gone)
    }

    pub fn name_of(&self, index: u32) -> Option<String> {
        match index {
            SOCKETS_IFINDEX => Some(SOCKETS_NAME.to_owned()),
            _ => self.find(index).map(|link| link.name.clone()),
        }
    }

    /// The name of an interface of that namespace, if it is this one: others have numbers of their own.
    pub fn name_in(&self, netns: u32, index: u32) -> Option<String> {
        (netns == self.netns).then(|| self.name_of(index)).flatten()
    }
}
