//! Goes on with what the config file says after a SIGHUP.

use anyhow::{Context, Result};

use super::plan::PostcardsPlan;
use super::queue_cards::{QueueCards, has_times};
use super::state::PostcardsDaemon;
use crate::cli::PostcardsArgs;
use crate::config::{File, POSTCARDS, PostcardsConfig, PostcardsOptions, QUEUE, WATCH};
use crate::daemon::duties::{ReadFileAgain, ReadsFile};
use crate::daemon::reload::refuse_changed;
use crate::report::Emitter;

/// The duty to read the config file again after a SIGHUP.
pub fn read_again(args: &PostcardsArgs) -> ReadFileAgain<PostcardsDaemon> {
    let again = args.clone();
    ReadFileAgain::new(args.settings.clone(), move || PostcardsPlan::make(&again))
}

impl ReadsFile for PostcardsDaemon {
    type Plan = PostcardsPlan;
    type Options = PostcardsOptions;
    const TABLES: &'static [&'static str] = &[POSTCARDS, QUEUE, WATCH];

    fn plan(&self) -> &PostcardsPlan {
        &self.plan
    }

    fn file(plan: &PostcardsPlan) -> Option<&File> {
        plan.file.as_ref()
    }

    /// Goes on with all of the new plan, or none: the program's settings are one value, changed at once. Returns the plan
    /// before.
    fn go_on(&mut self, now: PostcardsPlan) -> Result<PostcardsPlan> {
        let (new, old) = (&now.config, &self.plan.config);
        let table = format!(
            "the table has room for {} flows while postcards run, and cannot grow or shrink (try to start them again)",
            old.max_flows
        );
        let choice = "programs are loaded when postcards start (try to start them again)";
        let address = "the address is bound when postcards start (try to start them again)";
        let has_queues = |config: &PostcardsConfig| !config.queues.is_empty();
        let sees_times = self.queues.as_ref().is_some_and(QueueCards::sees_times);
        let times_anew = has_queues(old) && !sees_times && has_times(&new.queues);
        let times = "packets in queues are timed only if a trigger was a time when postcards started (try to start them again)";
        let settled = [
            (has_queues(new) != has_queues(old), "queue", choice),
            (times_anew, "queue", times),
            (new.max_flows != old.max_flows, "max-flows", &*table),
            (new.http != old.http, "http", address),
            (new.drops != old.drops, "drops", choice),
            (new.hops != old.hops, "hops", choice),
            (new.devs != old.devs, "dev", choice),
            (new.local != old.local, "local", choice),
        ];
        refuse_changed(now.file.as_ref(), |file| &file.postcards, &settled)?;
        let is_formed_anew = new.report_format != old.report_format;
        let formed = is_formed_anew.then(|| Emitter::new(now.destinations()));
        let formed = formed
            .transpose()
            .context("cannot prepare to report to collectors")?;
        self.host
            .set_node(new.node_id, !new.collectors.is_empty())?;
        if let Some(hops) = &mut self.hops {
            hops.set(&now)?;
        }
        if let Some(drops) = &mut self.drops {
            drops.set(&now, &self.names)?;
        }
        if let Some(queues) = &mut self.queues {
            queues.set(&now, &self.links)?;
        }
        self.names.set_places(now.config.places);
        self.pods.set(now.config.pods);
        if let Some(mut emitter) = formed {
            std::mem::swap(&mut self.emitter, &mut emitter);
            self.emitter.inherit(emitter);
        } else if now.collectors != self.plan.collectors {
            self.emitter.set_collectors(now.collectors.clone());
        }
        Ok(std::mem::replace(&mut self.plan, now))
    }
}
