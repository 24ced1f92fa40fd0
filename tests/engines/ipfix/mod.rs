//! The IPFIX engine: its messages against a plain reader of the RFC, and against tshark, nfdump and pmacct.

#[path = "support/collecting.rs"]
#[allow(dead_code)]
mod collecting;
#[allow(dead_code)]
mod golden;
#[path = "cli/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "support/netns.rs"]
#[allow(dead_code)]
mod netns;
#[path = "support/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "support/synthetic.rs"]
#[allow(dead_code)]
mod synthetic;

#[path = "ipfix/decoder.rs"]
mod decoder;
#[path = "ipfix/flow_collectors.rs"]
mod flow_collectors;
#[path = "ipfix/listeners.rs"]
mod listeners;
#[path = "ipfix/messages.rs"]
mod messages;
#[path = "ipfix/outages.rs"]
mod outages;
#[path = "ipfix/parcels.rs"]
mod parcels;
#[path = "ipfix/records.rs"]
mod records;
#[path = "ipfix/wireshark.rs"]
mod wireshark;
