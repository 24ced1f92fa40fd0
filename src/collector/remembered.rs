//! Hosts that an earlier run of the collector saw.

use super::exporter::{Exporter, PERIODS};
use super::exporters::Exporters;
use super::freshness::GONE_NS;
use crate::model::{HostSeen, NodeIdentity};

const NS_PER_S: u64 = 1_000_000_000;

impl Exporters {
    /// Remembers hosts that an earlier run saw: those that fell silent are missed by this one, too.
    pub fn remember(&mut self, hosts: &[HostSeen], now_ns: u64) {
        let expected = |host: &&HostSeen| now_ns.saturating_sub(host.last_ns) <= GONE_NS;
        for host in hosts.iter().filter(expected) {
            if self.sums.exporters >= self.limit {
                return;
            }
            let known = Exporter::remembered(host.node, host.last_ns, host.silent_after_ns);
            let address = self.addresses.entry(host.address).or_default();
            let Err(place) = address.place_of(known.key) else {
                continue;
            };
            let period_s = host.silent_after_ns / PERIODS / NS_PER_S;
            if let (Some(node), Some(name)) = (host.node, &host.name) {
                let identity = NodeIdentity {
                    node,
                    period_s: u16::try_from(period_s).unwrap_or(u16::MAX),
                    name: name.clone(),
                    interfaces: host.interfaces.clone(),
                    ..NodeIdentity::default()
                };
                self.identities.learn(host.address, &identity, host.last_ns);
            }
            address.followed.insert(place, known);
            self.sums.exporters += 1;
        }
    }
}
