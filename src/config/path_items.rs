//! The items that the entries of transit hops have.

use clap::{Args, ValueEnum};

use super::heading::TAGGING;
use super::mistake::{Fault, fault};
use super::source_encapsulation::SourceEncapsulation;
use crate::model::Encapsulation;

/// What an entry may have besides node, ports and arrival.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum PathItem {
    /// How long the hop had the packet
    Latency,
    /// Packets in the queue of the interface by which it left
    Queue,
}

/// The items that a source asks hops for: the latency, and the queue unless the user wants more room.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PathItems {
    pub queue: bool,
}

impl Default for PathItems {
    fn default() -> Self {
        Self { queue: true }
    }
}

impl PathItems {
    /// The words on the command line.
    pub fn names(self) -> &'static [&'static str] {
        match self.queue {
            true => &["latency", "queue"],
            false => &["latency"],
        }
    }
}

/// Options for the items.
#[derive(Args, Clone, Debug, Default)]
pub struct PathItemOptions {
    /// What entries of transit hops have in vxlan-gpe and int-md besides node, ports and arrival: latency, or latency,queue.
    /// Without queue, entries have 4 bytes less, and hops push only where the sink's lease says that it reads that [default:
    /// latency,queue]
    #[arg(long, help_heading = TAGGING, value_name = "ITEM", value_delimiter = ',')]
    pub path_items: Vec<PathItem>,
}

impl PathItemOptions {
    pub(super) fn check(
        &self,
        encapsulation: SourceEncapsulation,
        (max_hops, fixed): (u8, bool),
        faults: &mut Vec<Fault>,
    ) -> PathItems {
        if self.path_items.is_empty() {
            return PathItems::default();
        }
        if !self.path_items.contains(&PathItem::Latency) {
            faults.push(fault(
                &["path-items"],
                "entries of transit hops always have the latency (try --path-items latency,queue)",
            ));
        }
        let items = PathItems {
            queue: self.path_items.contains(&PathItem::Queue),
        };
        if max_hops == 0 && !items.queue {
            faults.push(fault(
                &["path-items"],
                "no transit hop may push an entry (try --max-hops 4)",
            ));
        }
        if fixed && !items.queue && encapsulation == Encapsulation::IntMd.into() {
            faults.push(fault(
                &["path-items", "static"],
                "no lease says whether sinks of static destinations read entries without a queue (leave path-items out)",
            ));
        }
        items
    }
}
