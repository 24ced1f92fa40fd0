//! The IPFIX engine's messages, read by a plain decoder, by tshark, by nfdump and by pmacct.

mod decoder;
mod flow_collectors;
mod listeners;
mod messages;
mod outages;
mod parcels;
mod records;
mod wireshark;
