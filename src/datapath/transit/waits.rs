//! The waits in queues behind the transit hop, which a program of their own measures for as long as it is open.

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use libbpf_rs::Link;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use super::transit_settings::md_mark;
use crate::config::TransitConfig;
use crate::datapath::abi::transit_sent_object::TransitSentSkelBuilder;
use crate::datapath::abi::{wait_key, wait_part, wait_times};
use crate::datapath::kernel::load::{attach, load_object, pin_maps};
use crate::datapath::kernel::map_names::{
    CROSSINGS, HOST_SETTINGS, TRANSIT_ARRIVALS, TRANSIT_DEPARTURES, TRANSIT_GAUGES,
};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::probe::Features;
use crate::model::{
    ANSWER_PLACE, BUFFER_PLACE, LatencyHistogram, LatencyResolution, NodeId, NodePort, Path,
    PathTotals, PlaceTotals, QUEUE_PLACE, ReportedTotals, WITHIN_PLACE,
};
use crate::os::netns;

/// Records that one system call reads. Each has 7 KiB.
const BATCH: usize = 32;

/// A source without packets for this time is forgotten.
const IDLE: Duration = Duration::from_secs(600);

/// The times that a program counts, and what was read of them before.
pub(in crate::datapath) struct WaitTable {
    waits: Map<wait_key, wait_times>,
    reported: ReportedTotals<(u32, u32, u32)>,
}

/// The program, attached, and its counts.
pub struct Waits {
    table: WaitTable,
    /// The program sees packets for as long as this lives.
    _link: Link,
}

impl Waits {
    /// Attaches the program beside a hop that was attached with this configuration.
    ///
    /// # Errors
    /// If the kernel has no such tracepoint, does not describe its types, or refuses the program.
    pub fn attach(pins: &Pins, config: &TransitConfig) -> io::Result<Self> {
        let arrivals = Map::<u32, u64>::open(&pins.map(TRANSIT_ARRIVALS))?;
        let slots = arrivals
            .ok_or_else(|| io::Error::other("no transit hop is attached"))?
            .capacity();
        let mut object = MaybeUninit::uninit();
        let mut open = TransitSentSkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
            constants.have_tai_clock = Features::probe().tai_clock;
            constants.tos_value = config.mark.tos_value();
            constants.tos_mask = config.mark.tos_mask();
            if let Some(mark) = md_mark(config.carriers) {
                constants.md_tos_value = mark.tos_value();
                constants.md_tos_mask = mark.tos_mask();
            }
            constants.extension_port = config.extension_port.to_be();
            constants.arrival_slots = slots;
            constants.sent_netns = netns::inode()?;
            constants.times_options = config.carriers.tcp_int.is_some();
        }
        open.maps
            .transit_departures
            .set_max_entries(slots)
            .map_err(io::Error::other)?;
        open.maps
            .transit_arrivals
            .set_max_entries(slots)
            .map_err(io::Error::other)?;
        let shared = [
            HOST_SETTINGS,
            CROSSINGS,
            TRANSIT_ARRIVALS,
            TRANSIT_DEPARTURES,
            TRANSIT_GAUGES,
        ];
        pin_maps(open.open_object_mut(), pins, &shared)?;
        let skel = load_object(open)?;
        Ok(Self {
            table: WaitTable::new(Map::of(&skel.maps.transit_waits)?),
            _link: attach(&skel.progs.transit_sent)?,
        })
    }

    /// Returns the totals of the queues that had packets since the last call, or shortly before, and forgets those that are
    /// idle at `now_ns`. The queues are those of this node.
    pub fn news(&mut self, node: NodeId, now_ns: u64) -> io::Result<Vec<PathTotals>> {
        self.table.news(node, now_ns)
    }
}

/// Loads the program onto maps of its own and releases it, to find out whether this kernel takes it.
pub fn try_to_load() -> io::Result<()> {
    let mut object = MaybeUninit::uninit();
    let mut open = TransitSentSkelBuilder::default()
        .open(&mut object)
        .map_err(io::Error::other)?;
    for map in [
        &mut open.maps.transit_departures,
        &mut open.maps.transit_arrivals,
    ] {
        map.set_max_entries(1).map_err(io::Error::other)?;
    }
    load_object(open).map(drop)
}

fn id_of(key: &wait_key) -> (u32, u32, u32) {
    (key.source_node, key.ifindex, key.part)
}

impl WaitTable {
    pub(in crate::datapath) fn new(waits: Map<wait_key, wait_times>) -> Self {
        Self {
            waits,
            reported: ReportedTotals::default(),
        }
    }

    /// Returns the totals of what had packets since the last call, or shortly before, and forgets what is idle at `now_ns`.
    pub(in crate::datapath) fn news(
        &mut self,
        node: NodeId,
        now_ns: u64,
    ) -> io::Result<Vec<PathTotals>> {
        let (mut news, mut idle) = (Vec::new(), Vec::new());
        let reported = &mut self.reported;
        self.waits.for_each_in_batches(BATCH, |key, waits| {
            let id = id_of(&key);
            if now_ns.saturating_sub(waits.last_ns) >= IDLE.as_nanos() as u64 {
                idle.push(key);
            } else if reported.take(id, waits.packets) {
                news.push(totals(&key, &waits, node));
            }
        })?;
        for key in idle {
            self.waits.remove(&key)?;
            let id = id_of(&key);
            self.reported.keep(|reported| *reported != id);
        }
        news.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(news)
    }
}

fn totals(key: &wait_key, waits: &wait_times, node: NodeId) -> PathTotals {
    // The least and the greatest wait are not kept: they are the ends of slots.
    let ends = (i64::MIN, i64::MAX);
    let latency = LatencyHistogram::of_fine_slots(&waits.count, ends, waits.sum_ns.into());
    let source = NodeId(key.source_node);
    let at = NodePort {
        node,
        port: key.ifindex as u16,
    };
    let (path, place) = match wait_part(key.part) {
        wait_part::WAIT_TO_BE_READ => (Path::to_application(source, at), WITHIN_PLACE),
        wait_part::WAIT_TO_BE_ANSWERED => (Path::to_application(source, at), ANSWER_PLACE),
        wait_part::WAIT_TO_BE_SENT => (Path::to_queue(source, at), BUFFER_PLACE),
        wait_part::WAIT_IN_STACK => (Path::to_queue(source, at), WITHIN_PLACE),
        _ => (Path::to_queue(source, at), QUEUE_PLACE),
    };
    PathTotals {
        path,
        times: vec![PlaceTotals {
            place,
            epoch_ns: waits.first_ns,
            last_ns: waits.last_ns,
            latency: latency.coarsened(LatencyResolution::Middle),
        }],
    }
}
