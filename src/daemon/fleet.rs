//! Orders to a fleet on the wire: pings that hosts with one key send each other, and answer by such a ping once they have obeyed.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::host::advice::advise_for;
use crate::model::{FleetOrder, LeaseKey};
use crate::os::echo_requests::{self, EchoRequests, Payload};
use crate::os::icmp;
use crate::os::privileges;
use crate::os::probe_sockets::{Envelope, ProbeSockets};
use crate::wire::lease::order::{self, MAGIC, ORDER_LEN, OrderMessage};

/// Hosts that did not answer are sent the order again after this time.
const AGAIN: Duration = Duration::from_millis(300);
/// The time that they have for an answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// A message that was received, with its addresses.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedOrder {
    pub from: IpAddr,
    pub to: IpAddr,
    pub message: OrderMessage,
}

/// The sockets for orders.
pub struct OrderSockets {
    requests: EchoRequests,
    sockets: ProbeSockets,
}

impl OrderSockets {
    /// # Errors
    /// Without CAP_NET_RAW.
    pub fn open() -> Result<Self> {
        let payload = Payload {
            magic: MAGIC,
            len: ORDER_LEN,
        };
        let open = || -> std::io::Result<Self> {
            Ok(Self {
                requests: EchoRequests::open(&[payload])?,
                sockets: ProbeSockets::open()?,
            })
        };
        open()
            .map_err(|err| advise_for(err, &privileges::LEASES))
            .context("cannot open sockets for orders to the fleet")
    }

    /// Waits until something came, or for this time.
    pub fn wait(&self, longest: Duration) {
        self.requests.wait(longest);
    }

    /// What came from hosts with this key.
    pub fn receive(&self, key: LeaseKey) -> Vec<ReceivedOrder> {
        let mut received = Vec::new();
        // What cannot be received is sent again.
        let _ = self.requests.receive(|request| {
            let (from, to) = (request.from, request.to);
            if let Ok(message) = order::decode(request.payload, from, to, key) {
                received.push(ReceivedOrder { from, to, message });
            }
        });
        received
    }

    /// Says that this host has obeyed.
    pub fn answer(&self, received: &ReceivedOrder, key: LeaseKey) {
        let message = OrderMessage {
            is_answer: true,
            ..received.message
        };
        self.send(&message, (received.to, received.from), key);
    }

    fn send(&self, message: &OrderMessage, (from, to): (IpAddr, IpAddr), key: LeaseKey) {
        let payload = order::encode(message, from, to, key);
        let (protocol, bytes) = echo_requests::request(from, to, &payload);
        let envelope = Envelope {
            source: from,
            dest: to,
            tos: 0,
        };
        // One that cannot be sent is lost.
        let _ = self.sockets.send_ip(&envelope, protocol, &bytes);
    }

    /// Passes an order on to these hosts, and returns those that did not say that they obeyed it.
    pub fn pass_on(&self, order: FleetOrder, peers: &[IpAddr], key: LeaseKey) -> Vec<IpAddr> {
        let message = OrderMessage {
            order,
            is_answer: false,
        };
        let end = Instant::now() + PATIENCE;
        let mut left: BTreeSet<IpAddr> = peers.iter().copied().collect();
        while !left.is_empty() && Instant::now() < end {
            for peer in &left {
                if let Some(own) = icmp::source_address(*peer) {
                    self.send(&message, (own, *peer), key);
                }
            }
            let again = (Instant::now() + AGAIN).min(end);
            while !left.is_empty() && Instant::now() < again {
                self.wait(again.saturating_duration_since(Instant::now()));
                for received in self.receive(key) {
                    if received.message.is_answer && received.message.order == order {
                        left.remove(&received.from);
                    }
                }
            }
        }
        left.into_iter().collect()
    }
}
