//! Follows the interfaces of this host: those that come are timed, if they are asked for.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::PostcardsDaemon;
use crate::daemon::duty::Duty;
use crate::os::link_events::LinkEvent;
use crate::os::wait::Wait;

/// The kernel tells of interfaces, but not of programs that are taken off.
const LOOK: Duration = Duration::from_secs(1);

/// The duty to do so.
#[derive(Default)]
pub struct FollowInterfaces {
    last_look: Option<Instant>,
}

impl Duty<PostcardsDaemon> for FollowInterfaces {
    fn task(&self) -> &'static str {
        "follow the interfaces of this host"
    }

    fn wakes<'a>(&'a self, daemon: &'a PostcardsDaemon, wait: &mut Wait<'a>) {
        if let Some(last) = self.last_look {
            wait.until(last + LOOK);
        }
        daemon.links.wakes(wait);
        daemon.pods.wakes(wait);
    }

    fn turn(&mut self, daemon: &mut PostcardsDaemon, now: Instant) -> Result<()> {
        let mut news = daemon.links.news()?;
        let looks = self.last_look.is_none_or(|last| now >= last + LOOK);
        if looks {
            self.last_look = Some(now);
            news.extend(daemon.links.unheard()?);
        }
        follow(daemon, &news, looks)?;
        for event in &news {
            if let LinkEvent::Here(link) = event {
                daemon.pods.forget_link(link.index);
                if link.peer_netns.is_some() {
                    daemon.pods.look_soon(now);
                }
            }
        }
        let links = &daemon.links;
        daemon.pods.turn(now, |index| links.find(index).is_some())
    }
}

/// Does what the news ask for: first of all, so that packets of a new interface are timed soon.
fn follow(daemon: &mut PostcardsDaemon, news: &[LinkEvent], looks: bool) -> Result<()> {
    if let Some(hops) = &mut daemon.hops {
        for event in news {
            hops.interfaces.follow(event, &mut hops.programs);
        }
        if !news.is_empty() {
            hops.interfaces.stack(&daemon.links, &mut hops.programs)?;
        }
        if looks {
            hops.interfaces
                .look_after(&daemon.links, &mut hops.programs)?;
        }
    }
    match daemon.queues.as_mut().filter(|_| !news.is_empty()) {
        Some(queues) => queues.follow(&daemon.links),
        None => Ok(()),
    }
}
