//! Follows the interfaces of this host: those that come are timed, if they are asked for.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::PostcardsDaemon;
use crate::daemon::duty::Duty;
use crate::os::link_events::LinkEvent;

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

    fn turn(&mut self, daemon: &mut PostcardsDaemon, now: Instant) -> Result<()> {
        let mut news = daemon.links.news()?;
        let looks = self.last_look.is_none_or(|last| now >= last + LOOK);
        if looks {
            self.last_look = Some(now);
            news.extend(daemon.links.unheard()?);
        }
        for event in &news {
            if let LinkEvent::Here(link) = event {
                daemon.pods.forget_link(link.index);
                if link.peer_netns.is_some() {
                    daemon.pods.look_soon(now);
                }
            }
        }
        let links = &daemon.links;
        daemon.pods.turn(now, |index| links.find(index).is_some())?;
        if let Some(queues) = daemon.queues.as_mut().filter(|_| !news.is_empty()) {
            queues.follow(&daemon.links)?;
        }
        let Some(hops) = &mut daemon.hops else {
            return Ok(());
        };
        for event in &news {
            hops.interfaces.follow(event, &mut hops.programs);
        }
        if !news.is_empty() {
            hops.interfaces.stack(&daemon.links, &mut hops.programs)?;
        }
        match looks {
            true => hops
                .interfaces
                .look_after(&daemon.links, &mut hops.programs),
            false => Ok(()),
        }
    }
}
