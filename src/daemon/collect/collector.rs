//! The state of a collector, which its duties share.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::board::Board;
use super::cluster_pods::ClusterPods;
use super::judging::JudgingThread;
use super::output::{Output, written};
use super::plan::CollectPlan;
use super::readiness::Readiness;
use super::takers::Hub;
use crate::cli::CollectArgs;
use crate::collector::{Reception, ReverseNames};
use crate::daemon::reload::Reload;
use crate::daemon::signs::Signs;
use crate::engines::Engines;
use crate::engines::push::PushCounts;
use crate::os::wait::Wait;

/// The time between two looks whether reports waited long enough.
const LOOK: Duration = Duration::from_millis(100);

/// A collector that receives.
pub struct Collector {
    pub hub: Hub,
    pub judge: JudgingThread,
    pub engines: Engines,
    pub pushed: PushCounts,
    pub board: Arc<Board>,
    pub signs: Signs,
    pub plan: CollectPlan,
    /// `None`: DNS is not asked.
    pub reverse_names: Option<ReverseNames>,
    /// `None`: no API server is asked.
    pub pods: Option<ClusterPods>,
    pub reload: Reload<CollectPlan>,
    pub args: CollectArgs,
    /// Datagrams taken so far.
    pub datagrams: u64,
    pub readiness: Readiness,
}

impl Collector {
    pub fn wants_more(&self) -> bool {
        self.args.count.is_none_or(|count| self.datagrams < count)
    }

    /// Lets the collector wake for datagrams, for reports that wait, and at once if it wants no more.
    pub fn wakes<'a>(&self, reception: &'a Reception, wait: &mut Wait<'a>) {
        wait.on(reception);
        let now = Instant::now();
        if !self.wants_more() {
            wait.until(now);
        } else if self.hub.waits() {
            wait.until(now + LOOK);
        }
    }

    /// Takes the datagrams that are there. Returns false if nothing reads the lines any more.
    pub fn take_datagrams(&mut self, reception: &Reception) -> Result<bool> {
        let Self { hub, args, .. } = self;
        let (mut taken, mut handed_on) = (self.datagrams, Ok(()));
        reception.next(Duration::ZERO, |bytes, arrival| {
            taken += 1;
            handed_on = hub.datagram(bytes, arrival);
            handed_on.is_ok() && args.count.is_none_or(|count| taken < count)
        });
        self.datagrams = taken;
        let released = handed_on.and_then(|()| hub.release_waiting());
        written(released.and_then(|()| hub.flush()))
    }

    /// Hands on the reports that still wait.
    pub fn end(&mut self) -> Result<()> {
        written(self.hub.finish()).map(drop)
    }

    /// The lines' output.
    pub fn output_mut(&mut self) -> &mut Output {
        self.hub.taker.lines.output_mut()
    }
}
