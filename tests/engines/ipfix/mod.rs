//! The IPFIX engine: its messages against a plain reader of the RFC, and against tshark, nfdump and pmacct.

mod decoder;
mod flow_collectors;
mod listeners;
mod messages;
mod outages;
mod parcels;
mod records;
mod wireshark;
