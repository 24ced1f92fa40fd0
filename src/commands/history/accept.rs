//! `hostint history accept`: what there is now is usual, or is not alerted for a time.

use std::net::{IpAddr, SocketAddr};

use anyhow::Result;

use crate::cli::AcceptArgs;
use crate::config::{COLLECT_HTTP_PORT, ConfigError, File, PageUrl};
use crate::daemon::collect::posting::post;
use crate::model::{EventKind, NetworkEvent};
use crate::os::{clock, log, resolve};

pub fn run(args: &AcceptArgs) -> Result<()> {
    let file = File::check(&args.config)?;
    let config = file.collect.options.clone().check();
    let config = config.map_err(|faults| {
        let path = args.config.display().to_string();
        ConfigError(file.collect.locate(Some(&path), |_| None, faults))
    })?;
    let shown = args.config.display();
    let lacks = |key: &str| {
        let why = format!("{shown}: [collect] has no {key}, by which the collector is asked");
        ConfigError::one(why)
    };
    let page = match &args.history.url {
        Some(url) => url.clone(),
        None => {
            let http = config.http.ok_or_else(|| lacks("http"))?;
            let address = reachable(resolve::socket_address(&http, COLLECT_HTTP_PORT)?);
            PageUrl(format!("http://{address}"))
        }
    };
    let token = config
        .events_token
        .ok_or_else(|| lacks("events-token-file"))?;
    let event = event_of(args, clock::realtime_ns());
    post(&page, &token.0, &event)?;
    log::info(match event.kind {
        EventKind::Silence => "silenced; hostint history verdict shows until when",
        _ => "accepted: the next verdict takes it as usual",
    });
    Ok(())
}

fn event_of(args: &AcceptArgs, now_ns: u64) -> NetworkEvent {
    let (host, labels) = match args
        .place
        .as_deref()
        .map(|place| (place, place.split_once('=')))
    {
        Some((_, Some((label, value)))) => (None, [(label.to_owned(), value.to_owned())].into()),
        Some((host, None)) => (Some(host.to_owned()), Default::default()),
        None => Default::default(),
    };
    NetworkEvent {
        kind: match args.time {
            Some(_) => EventKind::Silence,
            None => EventKind::Accept,
        },
        time_ns: now_ns,
        until_ns: args.time.map(|time| now_ns.saturating_add(time.as_ns())),
        text: args.text.clone().unwrap_or_default(),
        host,
        to: args.to.clone(),
        labels,
    }
}

/// An address that stands for all of this host is reached at this host.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => IpAddr::from([127, 0, 0, 1]),
            IpAddr::V6(_) => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
        });
    }
    address
}
