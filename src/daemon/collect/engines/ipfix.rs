//! Makes the IPFIX engine of a collector from its settings.

use crate::config::{IpfixConfig, IpfixTransport};
use crate::engines::ipfix::{Ipfix, Settings, Transport};

pub fn make(config: &IpfixConfig, queue: usize) -> Ipfix {
    Ipfix::new(Settings {
        collector: config.collector.clone(),
        transport: match config.transport {
            IpfixTransport::Tcp => Transport::Tcp,
            IpfixTransport::Udp => Transport::Udp,
        },
        domain: config.domain,
        interval: config.interval.0,
        queue,
    })
}
