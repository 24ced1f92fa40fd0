//! Makes another plan the one of a sink that runs: all of it, or none.

use anyhow::{Context, Result};

use super::plan::SinkPlan;
use crate::config::{
    ConfigError, HookChoice, SinkConfig, SinkHook, SourceSetup, XdpMode, settle_source,
};
use crate::datapath::kernel::links;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::kernel_half::Sink;
use crate::datapath::sink::sink_links;
use crate::datapath::source::source_links;
use crate::host::advice::advise;
use crate::host::sink::{attach, attach_quietly};
use crate::host::source::reconfigure::{self, reconfigure};
use crate::host::source::rules::set_file_rules;
use crate::os::{log, netdev};

/// The steps that were done, and are undone if one behind them fails.
struct Steps<'a> {
    pins: &'a Pins,
    sink: &'a Sink,
    before: &'a SinkPlan,
    /// The interfaces that the sink was attached to.
    was: Vec<(String, SinkHook)>,
    /// The interfaces that it was attached to since then, perhaps half-way.
    touched: Vec<String>,
    rules: bool,
    settings: bool,
}

/// Gives the new plan to the kernel half, all of it or none. The caller holds the right to change what is attached.
///
/// Interfaces first, then the watchlist, settings, and the programs of sources: if a step fails, those before it are
/// undone. One update each changes the sink's settings and those of the host (node id, report ports, key): atomic for
/// each field, not with each other. A packet meanwhile is stripped as before or as now: programs are replaced in
/// place, none is taken off.
pub fn apply(pins: &Pins, sink: &Sink, now: &SinkPlan, before: &SinkPlan) -> Result<()> {
    refuse(pins, now, before)?;
    let mut steps = Steps {
        pins,
        sink,
        before,
        was: sink_links::attached_devs(pins)?,
        touched: Vec::new(),
        rules: false,
        settings: false,
    };
    steps.all(now).inspect_err(|_| steps.undo())
}

impl Steps<'_> {
    fn all(&mut self, now: &SinkPlan) -> Result<()> {
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
            attach(sink, pins, dev, &now.config)?;
        }
        if now.rules != before.rules {
            self.rules = true;
            set_file_rules(pins, &now.rules)?;
        }
        self.settings = true;
        sink.change(&now.config).context("cannot change settings")?;
        now.name_host(sink).context("cannot change settings")?;
        match changed_sources(pins, now, before)? {
            Some(setup) => reconfigure(pins, &setup, now.node, (&[], false)),
            None => Ok(()),
        }
    }

    /// Logs errors of its own: the caller returns the one that led here.
    fn undo(&mut self) {
        let (pins, sink, before) = (self.pins, self.sink, self.before);
        let mut tried = Vec::new();
        if self.settings {
            tried.push(sink.change(&before.config).map_err(Into::into));
            tried.push(before.name_host(sink));
        }
        if self.rules {
            tried.push(set_file_rules(pins, &before.rules));
        }
        for dev in &self.touched {
            let was = self.was.iter().find(|(name, _)| name == dev);
            tried.push(match was {
                Some((_, hook)) => {
                    let config = SinkConfig {
                        hook: (*hook).into(),
                        ..before.config.clone()
                    };
                    attach_quietly(sink, pins, dev, &config).map(drop)
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

/// The file's settings of attached sources, if they changed. Programs of sources have settings as constants, and are
/// replaced by others in place.
fn changed_sources(pins: &Pins, now: &SinkPlan, before: &SinkPlan) -> Result<Option<SourceSetup>> {
    let (Some(file), Some(old)) = (&now.file, &before.file) else {
        return Ok(None);
    };
    if !file.is_about_sources() || file.source.same_values(&old.source) {
        return Ok(None);
    }
    let attached = source_links::attachments(pins).map_err(advise)?;
    let devs: Vec<String> = attached.into_iter().map(|at| at.dev).collect();
    Ok(Some(settle_source(file, &devs)?))
}

/// Refuses settings that cannot change while a sink runs.
fn refuse(pins: &Pins, now: &SinkPlan, before: &SinkPlan) -> Result<()> {
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
        refuse("max-flows", stays("the flow table has", old.max_flows));
    }
    if new.max_fine_flows != old.max_fine_flows {
        let table = "the table of fine slots has";
        refuse("max-fine-flows", stays(table, old.max_fine_flows));
    }
    if new.control != old.control {
        refuse(
            "control",
            "the socket is bound when the sink starts (try to start it again)".to_owned(),
        );
    }
    if new.host_times != old.host_times {
        let why = "the programs that measure them are attached when the sink starts (try to start it again)";
        refuse("host-times", why.to_owned());
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
    let attached = sink_links::attached_devs(pins).map_err(advise)?;
    let at_xdp = |dev: &String| attached.contains(&(dev.clone(), SinkHook::Xdp));
    for dev in new.devs.iter().filter(|dev| at_xdp(dev)) {
        if new.hook == HookChoice::Xdp && other_mode(dev, new.xdp_mode) {
            refuse(
                "xdp-mode",
                format!(
                    "{dev} is attached in the other XDP mode, which cannot change in place \
                     (try hostint sink detach, then start it again)"
                ),
            );
        }
    }
    if !mistakes.is_empty() {
        return Err(ConfigError(mistakes).into());
    }
    match changed_sources(pins, now, before)? {
        Some(setup) => reconfigure::refuse(pins, &setup, file),
        None => Ok(()),
    }
}

fn stays(table: &str, flows: u32) -> String {
    format!(
        "{table} room for {flows} flows while the sink runs, and cannot grow or shrink (try hostint sink detach, then \
         start it again)"
    )
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
