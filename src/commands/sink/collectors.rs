//! The sink's collectors: what their names mean, and whether they are there.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::commands::lookups::Lookups;
use crate::config::{ConfigError, MAX_SPREAD, SinkConfig};
use crate::datapath::sink::Sink;
use crate::model::{CollectorState, CollectorStatus, REPORT_PORT};
use crate::os::log::{self, Event, Level};
use crate::os::{clock, resolve};
use crate::report::{CollectorNews, Emitter};

/// What `--collector` names, as far as is known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Collectors {
    spread: bool,
    listed: Vec<Listed>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Listed {
    /// `None`: its address is.
    name: Option<String>,
    port: u16,
    addresses: Vec<IpAddr>,
}

impl Collectors {
    /// # Errors
    /// If a name is not found.
    pub fn find(config: &SinkConfig) -> Result<Self> {
        let listed = config.collectors.iter().map(|text| find(text));
        Ok(Self {
            spread: config.spread,
            listed: listed.collect::<Result<_>>()?,
        })
    }

    /// One of each name, or with `--spread` all. IPv4 comes first: with both, a host would have two shares.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        let mut found = Vec::new();
        for listed in &self.listed {
            let v4 = listed.addresses.iter().any(IpAddr::is_ipv4);
            let mut usable = listed.addresses.iter().filter(|ip| ip.is_ipv4() == v4);
            let taken: Vec<_> = match self.spread {
                true => usable.collect(),
                false => usable.next().into_iter().collect(),
            };
            found.extend(
                taken
                    .into_iter()
                    .map(|ip| SocketAddr::new(*ip, listed.port)),
            );
        }
        if self.spread && found.len() > MAX_SPREAD {
            // The same ones at all sinks.
            found.sort_unstable();
            found.dedup();
            let all = found.len();
            found.truncate(MAX_SPREAD);
            if all > MAX_SPREAD {
                log::warning(format_args!(
                    "{all} collectors: reports are spread over the {MAX_SPREAD} lowest addresses of them"
                ));
            }
        }
        found
    }

    fn names(&self) -> BTreeMap<String, Vec<IpAddr>> {
        let listed = self.listed.iter();
        let named = listed.filter_map(|one| Some((one.name.clone()?, one.addresses.clone())));
        named.collect()
    }

    fn rename(&mut self, changed: &BTreeMap<String, Vec<IpAddr>>) {
        for listed in &mut self.listed {
            let now = listed.name.as_ref().and_then(|name| changed.get(name));
            if let Some(now) = now {
                listed.addresses.clone_from(now);
            }
        }
    }
}

fn find(text: &str) -> Result<Listed> {
    let found = resolve::name_and_port(text, REPORT_PORT).and_then(|(host, port)| {
        let (name, addresses) = match host.parse::<IpAddr>() {
            Ok(address) => (None, vec![address]),
            Err(_) => (Some(host.to_owned()), resolve::some_addresses(host)?),
        };
        Ok(Listed {
            name,
            port,
            addresses,
        })
    });
    found.map_err(|err| match err.kind() {
        io::ErrorKind::InvalidInput => {
            ConfigError::one(format!("cannot use collector {text}: {err}")).into()
        }
        _ => anyhow::Error::new(err).context(format!("cannot find collector {text}")),
    })
}

/// Keeps an emitter's collectors those that names mean now, and tells how they are.
#[derive(Default)]
pub struct Following {
    /// Where reports are spread over names.
    lookups: Option<Lookups>,
    /// As of the plan.
    known: Option<Collectors>,
}

impl Following {
    /// To be called every few ms.
    pub fn step(&mut self, plan: &mut Collectors, emitter: &mut Emitter) {
        let now = Instant::now();
        for news in emitter.probe(now) {
            tell(&news);
        }
        if self.known.as_ref() != Some(&*plan) {
            let names = plan.names();
            self.lookups = match plan.spread && !names.is_empty() {
                true => Some(self.lookups.take().unwrap_or_else(Lookups::start)),
                false => None,
            };
            if let Some(lookups) = &mut self.lookups {
                lookups.set(names, now);
            }
            self.known = Some(plan.clone());
        }
        let Some(lookups) = &mut self.lookups else {
            return;
        };
        let changed = lookups.step(now);
        if !changed.is_empty() {
            plan.rename(&changed);
            self.known = Some(plan.clone());
            emitter.set_collectors(plan.addresses());
        }
    }
}

/// Shows them to `hostint status`; to be called every second.
pub fn show(sink: &Sink, emitter: &Emitter) -> Result<()> {
    let now_ns = clock::realtime_ns();
    let standings = emitter.standings(Instant::now()).into_iter();
    let collectors: Vec<_> = standings
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
    let written = sink.collectors.write(emitter.spreads(), &collectors);
    written.context("cannot show the collectors")
}

fn tell(news: &CollectorNews) {
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
                "nobody says any more that collector {collector} is not there: it gets reports again"
            ),
        ),
        _ if news.restarted => log::info(format_args!("collector {collector} began anew{doubts}")),
        _ => {}
    }
}
