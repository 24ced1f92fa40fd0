//! Goes on with what the config file says after a SIGHUP.

use anyhow::Result;

use super::plan::PostcardsPlan;
use super::state::PostcardsDaemon;
use crate::cli::PostcardsArgs;
use crate::config::{File, POSTCARDS, PostcardsOptions, WATCH};
use crate::daemon::duties::{ReadFileAgain, ReadsFile};
use crate::daemon::reload::refuse_changed;

/// The duty to read the config file again after a SIGHUP.
pub fn read_again(args: &PostcardsArgs) -> ReadFileAgain<PostcardsDaemon> {
    let again = args.clone();
    ReadFileAgain::new(args.settings.clone(), move || PostcardsPlan::make(&again))
}

impl ReadsFile for PostcardsDaemon {
    type Plan = PostcardsPlan;
    type Options = PostcardsOptions;
    const TABLES: &'static [&'static str] = &[POSTCARDS, WATCH];

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
        let settled = [
            (new.max_flows != old.max_flows, "max-flows", &*table),
            (new.http != old.http, "http", address),
            (new.drops != old.drops, "drops", choice),
            (new.hops != old.hops, "hops", choice),
            (new.devs != old.devs, "dev", choice),
        ];
        refuse_changed(now.file.as_ref(), |file| &file.postcards, &settled)?;
        self.host
            .set_node(new.node_id, !new.collectors.is_empty())?;
        if let Some(hops) = &mut self.hops {
            hops.set(&now)?;
        }
        if let Some(drops) = &mut self.drops {
            drops.set(&now, &self.names)?;
        }
        self.names.set_places(now.config.places);
        self.pods.set(now.config.pods);
        if now.collectors != self.plan.collectors {
            self.emitter.set_collectors(now.collectors.clone());
        }
        Ok(std::mem::replace(&mut self.plan, now))
    }
}
