//! The listener: it binds sockets at all addresses for reports, and starts the receiving threads.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::thread;

use super::fifo::DatagramFifo;
use super::receiver::Receiver;
use super::reception::{Reception, ReceptionState};
use super::socket::{ListenError, Socket, open_group};
use crate::model::REPORT_PORT;

/// Returns the wildcard addresses of both families, at the usual report port.
pub fn default_addresses() -> [SocketAddr; 2] {
    [
        (Ipv4Addr::UNSPECIFIED, REPORT_PORT).into(),
        (Ipv6Addr::UNSPECIFIED, REPORT_PORT).into(),
    ]
}

/// Bound UDP sockets: at each address one for each receiving thread.
#[derive(Debug)]
pub struct ReportListener {
    groups: Vec<Vec<Socket>>,
    receivers: usize,
    run: u64,
}

impl ReportListener {
    /// Binds every address once for each receiving thread.
    pub fn bind(addresses: &[SocketAddr], receivers: usize) -> Result<Self, ListenError> {
        let groups = addresses
            .iter()
            .map(|address| open_group(*address, receivers))
            .collect::<Result<_, _>>()?;
        Self::with_groups(groups, receivers)
    }

    /// Binds those of the [`default_addresses`] whose address family this host has.
    pub fn bind_default(receivers: usize) -> Result<Self, ListenError> {
        let mut groups = Vec::new();
        for address in default_addresses() {
            match open_group(address, receivers) {
                Err(err) if err.is_of_family() => {}
                other => groups.push(other?),
            }
        }
        Self::with_groups(groups, receivers)
    }

    fn with_groups(groups: Vec<Vec<Socket>>, receivers: usize) -> Result<Self, ListenError> {
        if groups.is_empty() {
            return Err(ListenError::NoAddress);
        }
        Ok(Self {
            groups,
            receivers: receivers.max(1),
            run: 0,
        })
    }

    /// Sets the number that answers to probes carry, by which sinks notice a restart.
    pub fn with_run(self, run: u64) -> Self {
        Self { run, ..self }
    }

    /// Returns the bound addresses, with the port that the kernel chose where the configured one is 0.
    pub fn local_addresses(&self) -> Vec<SocketAddr> {
        self.groups
            .iter()
            .filter_map(|group| group.first()?.address())
            .collect()
    }

    /// Starts the receiving threads. Datagrams that wait for the decoder take `queue_bytes` of memory at most; `now_ns`
    /// returns nanoseconds since the Unix epoch.
    pub fn start(self, queue_bytes: usize, now_ns: fn() -> u64) -> Result<Reception, ListenError> {
        // Each group has one socket for each thread: the sockets of a thread are a column.
        let columns: Vec<Vec<_>> = (0..self.receivers)
            .map(|receiver| {
                (0..self.groups.len())
                    .map(|group| group * self.receivers + receiver)
                    .collect()
            })
            .collect();
        let sockets: Vec<_> = self.groups.into_iter().flatten().collect();
        let queue = DatagramFifo::new(self.receivers, queue_bytes)?;
        let shared = Arc::new(ReceptionState::new(sockets, queue)?);
        let reception = Reception(shared.clone());
        for (number, sockets) in columns.into_iter().enumerate() {
            let receiver = Receiver {
                shared: shared.clone(),
                sockets,
                run: self.run,
                now_ns,
            };
            let name = format!("receive {number}");
            thread::Builder::new()
                .name(name)
                .spawn(move || receiver.run())?;
        }
        Ok(reception)
    }
}
