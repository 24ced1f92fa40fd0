//! Makes the IPFIX engine of a collector from its settings.

use crate::config::{IpfixConfig, IpfixTransport};
use crate::engines::ipfix::{Ipfix, IpfixSettings, MessageTransport};

pub fn make(config: &IpfixConfig, queue: usize) -> Ipfix {
    Ipfix::new(IpfixSettings {
        collector: config.collector.clone(),
        transport: match config.transport {
            IpfixTransport::Tcp => MessageTransport::Tcp,
            IpfixTransport::Udp => MessageTransport::Udp,
        },
        domain: config.domain,
        interval: config.interval.0,
        queue,
    })
}
