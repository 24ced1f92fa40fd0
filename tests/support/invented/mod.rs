//! An invented data centre, and what a collector would know of each ten seconds of it: slots as the verdict judges them.

mod draws;
mod ends;
mod evidence;
mod harm;
mod latency;
mod network;
mod pairs;
mod pcap;
mod telling;
mod weather;
mod world;

pub use draws::Draws;
pub use evidence::ClockReports;
pub use harm::{Harm, HostHarm};
pub use network::{InventedCell, InventedHost, InventedNetwork, Shape, Strand, WAYS};
pub use pcap::{CAPTURE_HEAD, capture};
pub use telling::{CLASS_PORTS, InventedDatagram, InventedReports, flow};
pub use world::{InventedClock, InventedWorld, SLOT_NS, SLOT_S};
