//! SIGHUP to a sink: the file is read again, and all of it applied, or none.

use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};

use super::detach::leave;
use super::plan::Plan;
use crate::cli::SinkArgs;
use crate::commands::reloading::{Changing, Planning, finished, summary};
use crate::commands::{advise, source};
use crate::config::{
    ConfigError, SINK, SOURCE, SinkConfig, SinkHook, SourceSetup, WATCH, XdpMode, settle_source,
};
use crate::datapath::links;
use crate::datapath::pins::Pins;
use crate::datapath::sink::Sink;
use crate::datapath::{sink_links, source_links};
use crate::os::log::{self, Event, Level};
use crate::os::netdev;

/// What goes on beside the daemon's loop.
pub struct Reload {
    args: SinkArgs,
    planning: Planning<Plan>,
    /// Sources stop tagging before an interface is left.
    leaving: Option<JoinHandle<Result<()>>>,
}

impl Reload {
    pub fn new(args: &SinkArgs) -> Self {
        let again = args.clone();
        Self {
            args: args.clone(),
            planning: Planning::new(move || Plan::make(&again)),
            leaving: None,
        }
    }

    /// To be called every few ms: what the file says now, once after each SIGHUP.
    pub fn step(&mut self, pins: &Pins) -> Option<Result<(Plan, Changing)>> {
        if let Some(Err(err)) = finished(&mut self.leaving) {
            log::error(format_args!(
                "cannot detach what the config file no longer names: {err:#}"
            ));
        }
        // One after another: an interface that is being left may be named again.
        self.planning.step(pins, self.leaving.is_none())
    }

    /// Whether a SIGHUP came that is not dealt with yet.
    pub fn goes_on(&self) -> bool {
        self.planning.goes_on()
    }

    /// After a plan was applied: says so, and leaves interfaces that only the plan before names, as
    /// `hostint sink --detach --dev` does.
    pub fn done(&mut self, pins: &Pins, now: &Plan, before: &Plan) {
        let files = (now.file.as_ref(), before.file.as_ref());
        summary(
            files.0,
            files.1,
            &[SINK, SOURCE, WATCH],
            &self.args.settings,
        );
        let gone = before.config.devs.iter();
        let gone: Vec<String> = gone
            .filter(|dev| !now.config.devs.contains(dev))
            .cloned()
            .collect();
        if !gone.is_empty() {
            let pins = pins.clone();
            self.leaving = Some(thread::spawn(move || leave(&pins, &gone)));
        }
    }

    /// Ends what was begun: sources that were told to stop tagging are told to go on.
    pub fn end(&mut self) {
        if let Some(leaving) = self.leaving.take() {
            let _ = leaving.join();
        }
    }
}

/// What is undone if something behind it fails.
struct Done<'a> {
    pins: &'a Pins,
    sink: &'a Sink,
    before: &'a Plan,
    /// Where the sink was attached.
    was: Vec<(String, SinkHook)>,
    /// Where it was attached, perhaps, since then.
    touched: Vec<String>,
    rules: bool,
    settings: bool,
}

/// Makes the new plan the kernel half's, all of it or none; whoever calls holds the right to change what is attached.
///
/// Interfaces first, then the watchlist, settings, and the programs of sources: if a step fails, those before it are
/// undone. One update each changes the sink's settings and those of the host (node id, report ports, key): atomic for
/// each field, not with each other. A packet meanwhile is stripped as before or as now: programs are replaced in
/// place, none is taken off.
pub fn apply(pins: &Pins, sink: &Sink, now: &Plan, before: &Plan) -> Result<()> {
    refuse(pins, now, before)?;
    let mut done = Done {
        pins,
        sink,
        before,
        was: sink_links::attached_devs(pins)?,
        touched: Vec::new(),
        rules: false,
        settings: false,
    };
    done.all(now).inspect_err(|_| done.undo())
}

impl Done<'_> {
    fn all(&mut self, now: &Plan) -> Result<()> {
        let (pins, sink, before) = (self.pins, self.sink, self.before);
        for dev in &now.config.devs {
            let known = before.config.devs.contains(dev);
            let same = now.config.hook == before.config.hook
                && now.config.nic_timestamps == before.config.nic_timestamps;
            if known && same {
                continue;
            }
            // Noted first: half of it may be done when it fails.
            self.touched.push(dev.clone());
            let mode = super::attach(sink, pins, dev, &now.config)
                .with_context(|| format!("cannot attach the sink to {dev}"))?;
            log::event(
                Level::Info,
                Event::Attached,
                &[
                    ("DEV", dev),
                    ("ROLE", &"sink"),
                    ("MODE", &mode),
                    ("NODE_ID", &now.config.node_id),
                ],
                format_args!("sink attached to {dev} ({mode})"),
            );
        }
        if now.rules != before.rules {
            self.rules = true;
            source::set_file_rules(pins, &now.rules)?;
        }
        self.settings = true;
        sink.change(&now.config).context("cannot change settings")?;
        now.name_host(sink).context("cannot change settings")?;
        match changed_sources(pins, now, before)? {
            Some(setup) => source::reconfigure(pins, &setup, now.config.node_id, (&[], false)),
            None => Ok(()),
        }
    }

    /// Errors here are said, not returned: the one that led here is.
    fn undo(&mut self) {
        let (pins, sink, before) = (self.pins, self.sink, self.before);
        let mut tried = Vec::new();
        if self.settings {
            tried.push(sink.change(&before.config).map_err(Into::into));
            tried.push(before.name_host(sink));
        }
        if self.rules {
            tried.push(source::set_file_rules(pins, &before.rules));
        }
        for dev in &self.touched {
            let was = self.was.iter().find(|(name, _)| name == dev);
            tried.push(match was {
                Some((_, hook)) => {
                    let config = SinkConfig {
                        hook: *hook,
                        ..before.config.clone()
                    };
                    super::attach(sink, pins, dev, &config).map(drop)
                }
                None => sink_links::detach(pins, std::slice::from_ref(dev))
                    .map(drop)
                    .map_err(Into::into),
            });
        }
        for err in tried.into_iter().filter_map(Result::err) {
            log::error(format_args!("cannot go back: {err:#}"));
        }
    }
}

/// What the file says of attached sources, if that is something else than before. Their programs have settings as
/// constants, and are replaced by others in place.
fn changed_sources(pins: &Pins, now: &Plan, before: &Plan) -> Result<Option<SourceSetup>> {
    let (Some(file), Some(old)) = (&now.file, &before.file) else {
        return Ok(None);
    };
    if !file.is_about_sources() || file.source.same_values(&old.source) {
        return Ok(None);
    }
    let attached = source_links::attachments(pins).map_err(advise)?;
    let devs: Vec<String> = attached.into_iter().map(|(dev, _, _)| dev).collect();
    Ok(Some(settle_source(file, &devs)?))
}

/// What cannot change while a sink runs.
fn refuse(pins: &Pins, now: &Plan, before: &Plan) -> Result<()> {
    let mut mistakes = Vec::new();
    let (new, old) = (&now.config, &before.config);
    let file = now.file.as_ref();
    let mut refuse = |key: &str, why: String| {
        mistakes.push(file.map_or_else(
            || why.clone().into(),
            |file| file.sink.mistake_at(&file.path, key, why.clone()),
        ));
    };
    if new.max_flows != old.max_flows {
        refuse(
            "max-flows",
            format!(
                "the flow table has room for {} flows while the sink runs, and cannot grow or shrink \
                 (try hostint sink --detach, then start it again)",
                old.max_flows
            ),
        );
    }
    if new.control != old.control {
        refuse(
            "control",
            "the socket is bound when the sink starts (try to start it again)".to_owned(),
        );
    }
    if new.http != old.http {
        refuse(
            "http",
            "the address is bound when the sink starts (try to start it again)".to_owned(),
        );
    }
    for key in new.push.differs(&old.push) {
        refuse(
            key,
            "what is pushed is settled when the sink starts (try to start it again)".to_owned(),
        );
    }
    for dev in new.devs.iter().filter(|dev| old.devs.contains(dev)) {
        if new.hook == SinkHook::Xdp && old.hook == SinkHook::Xdp && other_mode(dev, new.xdp_mode) {
            refuse(
                "xdp-mode",
                format!(
                    "{dev} is attached in the other XDP mode, which cannot change in place \
                     (try hostint sink --detach, then start it again)"
                ),
            );
        }
    }
    if !mistakes.is_empty() {
        return Err(ConfigError(mistakes).into());
    }
    match changed_sources(pins, now, before)? {
        Some(setup) => source::refuse(pins, &setup, file),
        None => Ok(()),
    }
}

fn other_mode(dev: &str, wanted: XdpMode) -> bool {
    let Ok(ifindex) = netdev::index_of(dev) else {
        return false;
    };
    matches!(
        (wanted, links::xdp_mode(ifindex)),
        (XdpMode::Native, Some(links::RunningXdpMode::Generic))
            | (XdpMode::Generic, Some(links::RunningXdpMode::Native))
    )
}
