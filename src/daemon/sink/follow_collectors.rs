//! Keeps the emitter's collectors those that their names stand for now, and says which of them answer.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::state::SinkDaemon;
use crate::daemon::collectors::Collectors;
use crate::daemon::duty::Duty;
use crate::daemon::lookups::Lookups;
use crate::model::{CollectorState, CollectorStatus};
use crate::os::clock;
use crate::os::log::{self, Event, Level};
use crate::os::wait::Wait;
use crate::report::CollectorNews;

/// The duty to probe collectors, and to follow the names that reports are spread over.
#[derive(Default)]
pub struct FollowCollectors {
    /// `None` unless reports are spread over names.
    lookups: Option<Lookups>,
    /// The plan's collectors, as they were seen last.
    known: Option<Collectors>,
}

impl Duty<SinkDaemon> for FollowCollectors {
    fn task(&self) -> &'static str {
        "follow the collectors"
    }

    fn wakes<'a>(&'a self, daemon: &'a SinkDaemon, wait: &mut Wait<'a>) {
        daemon.reports.emitter.wakes(wait);
        self.lookups.iter().for_each(|lookups| lookups.wakes(wait));
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, now: Instant) -> Result<()> {
        let (collectors, emitter) = (&mut daemon.plan.collectors, &mut daemon.reports.emitter);
        for news in emitter.probe(now) {
            say(&news);
        }
        if self.known.as_ref() != Some(&*collectors) {
            self.look_up(collectors, now);
        }
        let Some(lookups) = &mut self.lookups else {
            return Ok(());
        };
        let changed = lookups.step(now);
        if !changed.is_empty() {
            collectors.rename(&changed);
            self.known = Some(collectors.clone());
            emitter.set_collectors(collectors.addresses());
        }
        Ok(())
    }
}

impl FollowCollectors {
    fn look_up(&mut self, collectors: &Collectors, now: Instant) {
        let names = collectors.names();
        if collectors.spreads() && !names.is_empty() {
            self.lookups
                .get_or_insert_with(Lookups::start)
                .set(names, now);
        } else {
            self.lookups = None;
        }
        self.known = Some(collectors.clone());
    }
}

/// The duty to show the collectors to `hostint status`.
pub struct ShowCollectors;

impl Duty<SinkDaemon> for ShowCollectors {
    fn task(&self) -> &'static str {
        "show the collectors"
    }

    fn period(&self, _daemon: &SinkDaemon) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, now: Instant) -> Result<()> {
        let emitter = &daemon.reports.emitter;
        let now_ns = clock::realtime_ns();
        let collectors: Vec<_> = emitter
            .standings(now)
            .into_iter()
            .map(|standing| CollectorStatus {
                address: standing.collector,
                state: standing.state.name(),
                since_ns: now_ns.saturating_sub(standing.since.as_nanos() as u64),
                sent: standing.sent,
                lost: standing.lost,
                doubtful: standing.doubtful,
                queue_percent: standing.queue_percent,
            })
            .collect();
        daemon
            .sink
            .collectors
            .write(emitter.spreads(), &collectors)
            .context("cannot write to the map of collectors")
    }
}

fn say(news: &CollectorNews) {
    let CollectorNews {
        collector,
        doubtful,
        ..
    } = news;
    let fields: [(&str, &dyn std::fmt::Display); 2] =
        [("COLLECTOR", collector), ("DOUBTFUL", doubtful)];
    let doubts = match doubtful {
        0 => String::new(),
        1 => "; 1 report that was sent to it meanwhile may be lost".to_owned(),
        _ => format!("; {doubtful} reports that were sent to it meanwhile may be lost"),
    };
    match (news.before, news.state) {
        (CollectorState::Answers, CollectorState::Silent) => log::event(
            Level::Warning,
            Event::CollectorSilent,
            &fields,
            format_args!("collector {collector} is silent: others get its reports{doubts}"),
        ),
        (_, CollectorState::Silent) => log::event(
            Level::Warning,
            Event::CollectorSilent,
            &fields,
            format_args!("collector {collector} is not there: others get its reports"),
        ),
        (CollectorState::Silent, CollectorState::Answers) => log::event(
            Level::Info,
            Event::CollectorAnswers,
            &fields,
            format_args!("collector {collector} answers again{doubts}"),
        ),
        (CollectorState::Silent, CollectorState::Unprobed) => log::event(
            Level::Info,
            Event::CollectorAnswers,
            &fields,
            format_args!(
                "collector {collector} is no longer known to be silent: it gets reports again"
            ),
        ),
        _ if news.restarted => {
            log::info(format_args!("collector {collector} was restarted{doubts}"))
        }
        _ => {}
    }
}
