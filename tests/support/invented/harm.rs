//! What an incident changes in a slot.

use super::InventedNetwork;

/// A share of the packets waits, for this long on average.
pub type Wait = (f64, f64);

#[derive(Clone, Default)]
pub struct HostHarm {
    /// Of the packets that are lost at its links, the share that it drops itself and reports, as source and as sink.
    pub own_drops: [f64; 2],
    /// Packets of others that it drops, as source and as sink.
    pub other_drops: [u64; 2],
    pub queue_ns: f64,
    pub read_ns: f64,
    pub answer_ns: f64,
    pub receiver_limited: f64,
    /// By how much its clock was set, and how much of that the collector knows.
    pub clock_ns: i64,
    pub clock_known_ns: i64,
    pub clock_set: bool,
    /// This share of its packets is not measured.
    pub uncovered: f64,
    /// Its reports do not come; or neither reports nor packets do.
    pub silent: bool,
    pub gone: bool,
    pub restarted: bool,
}

#[derive(Clone, Default)]
pub struct Harm {
    /// By cell.
    pub traffic: Vec<f64>,
    pub loss: Vec<f64>,
    /// The parts of flows that have this loss, as bits.
    pub lossy_parts: Vec<u16>,
    pub wait: Vec<Wait>,
    pub longer_ns: Vec<i64>,
    /// Nothing arrives, so that leases end, and packets are sent without a tag.
    pub cut: Vec<bool>,
    /// By link.
    pub link_loss: Vec<f64>,
    pub link_wait: Vec<Wait>,
    pub hosts: Vec<HostHarm>,
    /// Each report is lost with this probability, and what it says comes with the next one.
    pub reports_lost: f64,
}

impl Harm {
    /// No harm.
    pub fn none(network: &InventedNetwork) -> Self {
        let (cells, links) = (network.cells.len(), network.links.len());
        Self {
            traffic: vec![1.0; cells],
            loss: vec![0.0; cells],
            lossy_parts: vec![u16::MAX; cells],
            wait: vec![(0.0, 0.0); cells],
            longer_ns: vec![0; cells],
            cut: vec![false; cells],
            link_loss: vec![0.0; links],
            link_wait: vec![(0.0, 0.0); links],
            hosts: vec![HostHarm::default(); network.hosts.len()],
            reports_lost: 0.0,
        }
    }
}
