//! The collectors of a daemon: their names, and the addresses that these have.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};

use anyhow::Result;

use crate::config::{ConfigError, MAX_SPREAD};
use crate::model::REPORT_PORT;
use crate::os::{log, resolve};

/// The collectors that `--collector` names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Collectors {
    spread: bool,
    listed: Vec<NamedCollector>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct NamedCollector {
    /// `None`: the address was given.
    name: Option<String>,
    port: u16,
    addresses: Vec<IpAddr>,
}

impl Collectors {
    /// # Errors
    /// If a name is not found.
    pub fn find(listed: &[String], spread: bool) -> Result<Self> {
        let listed = listed.iter().map(|text| find(text));
        Ok(Self {
            spread,
            listed: listed.collect::<Result<_>>()?,
        })
    }

    /// The addresses that get reports: one of each name, or with `--spread` all. Of a name with addresses of both
    /// families only IPv4 counts: else a host would get two shares.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        let mut found = Vec::new();
        for listed in &self.listed {
            let v4 = listed.addresses.iter().any(IpAddr::is_ipv4);
            let most = if self.spread { usize::MAX } else { 1 };
            found.extend(
                listed
                    .addresses
                    .iter()
                    .filter(|ip| ip.is_ipv4() == v4)
                    .take(most)
                    .map(|ip| SocketAddr::new(*ip, listed.port)),
            );
        }
        if self.spread && found.len() > MAX_SPREAD {
            // All sinks choose the same ones.
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

    pub fn spreads(&self) -> bool {
        self.spread
    }

    /// The names, with their addresses.
    pub fn names(&self) -> BTreeMap<String, Vec<IpAddr>> {
        self.listed
            .iter()
            .filter_map(|listed| Some((listed.name.clone()?, listed.addresses.clone())))
            .collect()
    }

    /// Gives names other addresses.
    pub fn rename(&mut self, changed: &BTreeMap<String, Vec<IpAddr>>) {
        for listed in &mut self.listed {
            let now = listed.name.as_ref().and_then(|name| changed.get(name));
            if let Some(now) = now {
                listed.addresses.clone_from(now);
            }
        }
    }
}

fn find(text: &str) -> Result<NamedCollector> {
    let found = resolve::name_and_port(text, REPORT_PORT).and_then(|(host, port)| {
        let (name, addresses) = match host.parse::<IpAddr>() {
            Ok(address) => (None, vec![address]),
            Err(_) => (Some(host.to_owned()), resolve::some_addresses(host)?),
        };
        Ok(NamedCollector {
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
