//! Both hosts of a lab with the default settings, each watching the other one.

use serde_json::Value;

use crate::netns::{Daemon, Host, Lab};

/// Sinks that grant leases, and sources, which keep asking even without packets.
pub fn start(lab: &Lab) -> [Daemon; 2] {
    start_with(lab, "")
}

/// The same with these flags of both sources.
pub fn start_with(lab: &Lab, flags: &str) -> [Daemon; 2] {
    [
        (&lab.a, "a0", 1, "10.9.2.1 fd09:2::1"),
        (&lab.b, "b0", 2, "10.9.1.1 fd09:1::1"),
    ]
    .map(|(host, dev, node, dests)| {
        let daemon = host.leasing_sink(&format!("--dev {dev} --node-id {node}"));
        host.hostint(&format!("source attach --dev {dev} {flags}"));
        host.hostint(&format!("source add-dest {dests}"));
        daemon
    })
}

/// The sinks that a host asks for leases, as its status shows them.
pub fn peers(host: &Host) -> Vec<Value> {
    let figures = host.figures();
    figures["source"]["peers"].as_array().unwrap().clone()
}

/// Nothing is asked or proved any more about any destination.
pub fn is_settled(host: &Host) -> bool {
    let peers = peers(host);
    let is_open = |peer: &Value| {
        let is_proved = !peer["proved_ago_ns"].is_null() || peer["ways"][0] == "unproved";
        peer["state"] == "asking" || (peer["state"] == "granted" && !is_proved)
    };
    !peers.is_empty() && !peers.iter().any(is_open)
}
