//! The names of the pods and containers behind interfaces, in namespaces and at sockets.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::daemon::side_thread::SideThread;
use crate::datapath::kernel::tasks::TaskWalk;
use crate::host::containers::FoundContainers;
use crate::model::container::is_provisional;
use crate::model::{FlowPassage, HostDrop, PacketPods};
use crate::os::link_events::SeenLink;
use crate::os::{log, netns, rtnetlink, wait::Wait};

/// The pause behind the first look for something new, and the longest one while it stays unknown.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Behind a look the daemon does other things for this multiple of its time.
const SHARE: u32 = 20;
/// The most numbers without a name that are remembered.
const MOST_UNKNOWN: usize = 4096;

/// What is known, and what is looked for.
pub struct PodNames {
    /// Names are reported.
    on: bool,
    netns: u32,
    /// By interface. They stay for what is reported after it went.
    by_link: HashMap<u32, String>,
    found: FoundContainers,
    /// Tells in which network namespace each process is; `None` if the kernel does not.
    tasks: Arc<Option<TaskWalk>>,
    /// The look that is going on: it takes as long as there are processes, and new interfaces do not wait for it.
    looking: Option<SideThread<Look>>,
    /// Interfaces that came since it began.
    came: HashSet<u32>,
    /// Namespaces and cgroups that were asked for and found nowhere: hosts' own, or of containers that are gone.
    unknown: HashSet<u64>,
    next_look: Option<Instant>,
    pause: Duration,
}

/// What a look found. Numbers are only good for that moment, so all are read at once.
struct Look {
    links: Vec<SeenLink>,
    found: FoundContainers,
    took: Duration,
}

impl Look {
    fn begin(tasks: Option<&TaskWalk>, own: u32) -> Result<Self> {
        let began = Instant::now();
        let links = rtnetlink::links()?;
        let mut found = FoundContainers::look()?;
        if let Some(tasks) = tasks {
            name_namespaces(tasks, &mut found, own)?;
        }
        Ok(Self {
            links,
            found,
            took: began.elapsed(),
        })
    }
}

/// Names the network namespaces of processes whose cgroups have names. Where a name is only that of a file, it is replaced.
fn name_namespaces(tasks: &TaskWalk, found: &mut FoundContainers, own: u32) -> io::Result<()> {
    let FoundContainers {
        by_cgroup,
        by_netns,
        ..
    } = found;
    tasks.visit(|cgroup, netns| {
        let Some(name) = by_cgroup.get(&cgroup).filter(|_| netns != own) else {
            return;
        };
        let known = by_netns.get(&netns);
        if known.is_none_or(|known| is_provisional(known)) {
            by_netns.insert(netns, name.clone());
        }
    })
}

impl PodNames {
    pub fn begin(on: bool) -> io::Result<Self> {
        Ok(Self {
            on,
            netns: netns::inode()?,
            by_link: HashMap::new(),
            found: FoundContainers::default(),
            tasks: Arc::new(
                TaskWalk::load()
                    .inspect_err(|err| {
                        log::debug(|| format!("network namespaces without names stay so: {err}"));
                    })
                    .ok(),
            ),
            looking: None,
            came: HashSet::new(),
            unknown: HashSet::new(),
            next_look: Some(Instant::now()),
            pause: FIRST_PAUSE,
        })
    }

    pub fn set(&mut self, on: bool) {
        if on && !self.on {
            self.look_soon(Instant::now());
        }
        self.on = on;
    }

    /// The pods and containers that have names.
    pub fn named_links(&self) -> usize {
        match self.on {
            true => self.by_link.len(),
            false => 0,
        }
    }

    /// Something is new.
    pub fn look_soon(&mut self, now: Instant) {
        self.pause = FIRST_PAUSE;
        let soon = now + FIRST_PAUSE / 5;
        self.next_look = Some(self.next_look.map_or(soon, |next| next.min(soon)));
    }

    /// An interface came under this number, which may have been another's.
    pub fn forget_link(&mut self, index: u32) {
        self.by_link.remove(&index);
        if self.looking.is_some() {
            self.came.insert(index);
        }
    }

    /// Lets the daemon wake for the next look.
    pub fn wakes(&self, wait: &mut Wait<'_>) {
        if let Some(next) = self.next_look.filter(|_| self.on && self.looking.is_none()) {
            wait.until(next);
        }
    }

    /// Begins a look, if it is time, and takes what one found that ended. Interfaces that `is_known` denies are forgotten.
    pub fn turn(&mut self, now: Instant, is_known: impl Fn(u32) -> bool) -> Result<()> {
        if let Some(look) = SideThread::take_result(&mut self.looking) {
            self.take(look.context("cannot look for containers")?, is_known);
        }
        if !self.on || self.looking.is_some() || self.next_look.is_none_or(|next| now < next) {
            return Ok(());
        }
        self.next_look = None;
        self.came.clear();
        let (tasks, own) = (Arc::clone(&self.tasks), self.netns);
        let look = move || Look::begin(tasks.as_ref().as_ref(), own);
        self.looking = Some(SideThread::start("pods", look)?);
        Ok(())
    }

    fn take(&mut self, look: Look, is_known: impl Fn(u32) -> bool) {
        self.by_link.retain(|index, _| is_known(*index));
        self.found = look.found;
        self.unknown.clear();
        let mut waits = false;
        for link in &look.links {
            let Some(peer) = link.peer_netns else {
                continue;
            };
            let known = self.by_link.get(&link.index);
            // What has this number now is looked for by the next look.
            if known.is_some_and(|known| !is_provisional(known)) || self.came.contains(&link.index)
            {
                continue;
            }
            match self.found.by_peer.get(&peer) {
                Some(name) => {
                    waits |= is_provisional(name);
                    self.by_link.insert(link.index, name.clone());
                }
                None => waits = true,
            }
        }
        self.pause_for(look.took, waits);
    }

    /// A container may begin after its network was made: looks again, less and less.
    fn pause_for(&mut self, took: Duration, waits: bool) {
        if waits {
            let next = Instant::now() + self.pause.max(took * SHARE);
            self.next_look = Some(self.next_look.map_or(next, |known| known.min(next)));
            self.pause = LONGEST_PAUSE.min(self.pause * 2);
        }
    }

    pub fn name_hops(&self, hops: &mut [FlowPassage]) {
        if !self.on {
            return;
        }
        for hop in hops {
            hop.pods = PacketPods {
                in_pod: self.behind(hop.in_ifindex),
                out_pod: self.behind(hop.out_ifindex),
                pod: None,
            };
        }
    }

    pub fn name_drops(&mut self, drops: &mut [HostDrop]) {
        if !self.on {
            return;
        }
        for drop in drops {
            // The interfaces of other namespaces have numbers of their own.
            drop.pods = if drop.netns == self.netns {
                PacketPods {
                    in_pod: self.behind(drop.in_ifindex),
                    out_pod: self.behind(drop.out_ifindex),
                    pod: None,
                }
            } else {
                PacketPods::default()
            };
            drop.pods.pod = self.holder(drop);
        }
    }

    fn behind(&self, index: u32) -> Option<String> {
        self.by_link.get(&index).cloned()
    }

    /// The one at whose socket, or in whose network, packets were dropped.
    fn holder(&mut self, drop: &HostDrop) -> Option<String> {
        let foreign = (drop.netns != self.netns).then_some(drop.netns);
        let by_socket = drop.cgroup.and_then(|id| self.found.by_cgroup.get(&id));
        let name = by_socket.or_else(|| self.found.by_netns.get(&foreign?));
        if name.is_some() {
            return name.cloned();
        }
        let asked = [drop.cgroup, foreign.map(u64::from)];
        let is_new = asked.into_iter().flatten().any(|id| self.ask(id));
        if is_new && self.next_look.is_none() {
            self.next_look = Some(Instant::now() + self.pause);
        }
        None
    }

    /// True if the number is asked for the first time since the last look.
    fn ask(&mut self, id: u64) -> bool {
        self.unknown.len() < MOST_UNKNOWN && self.unknown.insert(id)
    }
}
