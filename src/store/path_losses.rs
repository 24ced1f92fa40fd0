//! The losses of a pair's packets by segment. Each is stored with one of the paths that have the segment, and is shown with
//! all of them: the packets of a pair are counted together, whatever path they take.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use super::path_ids::{FIRST_QUEUE, all_packets_of};
use super::path_sums::PathSums;
use super::period::RollUpTable;
use super::plan::Horizons;
use super::rows::places_of_one;
use super::sums::Sums;
use crate::model::{
    NodeId, NodePort, Path, PathFigures, Segment, SegmentFigures, SegmentKind, SegmentLoss,
    SegmentTimes, Span,
};

/// What losses are known of.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum LossPlace {
    Whole,
    Wire(NodePort, NodePort),
    /// All of a node, whichever interfaces packets come and go by.
    Hop(NodeId),
    Queue(NodePort),
}

impl LossPlace {
    /// `None` for what is in front of the path or behind it.
    fn of(segment: &Segment) -> Option<Self> {
        match segment.kind {
            SegmentKind::Wire | SegmentKind::Guest => Some(Self::Wire(segment.from, segment.to)),
            SegmentKind::Hop => Some(Self::Hop(segment.from.node)),
            SegmentKind::Queue => Some(Self::Queue(segment.from)),
            SegmentKind::Buffer | SegmentKind::Stack | SegmentKind::Read | SegmentKind::Answer => {
                None
            }
        }
    }
}

/// The loss in a row of a roll-up. `None`: nothing was counted, or more packets came out than in.
pub fn of(row: &Sums) -> Option<SegmentLoss> {
    let counted = &row.measured;
    let is_known = counted.summaries > 0 && counted.lost >= counted.recovered;
    is_known.then(|| SegmentLoss {
        packets: counted.packets,
        lost: counted.missing(),
    })
}

/// Joins the losses of all paths of the pair.
pub fn join(
    conn: &Connection,
    paths: &mut [PathFigures],
    of_pair: &[(i64, Path)],
    span: Span,
) -> rusqlite::Result<()> {
    let segments = Horizons::read(conn, RollUpTable::Segment)?.of_one(span);
    let counted = |id: i64| (RollUpTable::Segment, all_packets_of(id));
    // Hosts begin to count at different times: parts are shown of the periods of which the whole is known, if it is of any.
    let mut known = HashSet::new();
    for (id, _) in of_pair {
        places_of_one(conn, counted(*id), &segments, |begin_ns, row| {
            if row.of(0).and_then(of).is_some() {
                known.insert(begin_ns);
            }
        })?;
    }
    join_sums(paths, of_pair, |id| {
        let mut sums = PathSums::default();
        places_of_one(conn, counted(id), &segments, |begin_ns, row| {
            if known.is_empty() || known.contains(&begin_ns) {
                sums.merge(row);
            }
        })?;
        Ok(sums)
    })
}

/// Gives each path the losses of its segments. `ways` are all paths of the pair, and `read` reads all packets of one.
fn join_sums(
    paths: &mut [PathFigures],
    ways: &[(i64, Path)],
    read: impl Fn(i64) -> rusqlite::Result<PathSums>,
) -> rusqlite::Result<()> {
    let known = sums_by_place(ways, read)?;
    let loss = |at| known.get(&at).and_then(of);
    for path in paths {
        path.whole.loss = loss(LossPlace::Whole);
        let mut reported = HashSet::new();
        for one in &mut path.segments {
            // A host that packets pass twice in a row, as it has a guest between, tells of both times together.
            let at = LossPlace::of(&one.segment).filter(|at| reported.insert(*at));
            one.times.loss = at.and_then(loss);
        }
        for hop in path.path.hops.clone() {
            let at = NodePort {
                node: hop.node,
                port: hop.egress_port,
            };
            if let Some(lost) = loss(LossPlace::Queue(at)) {
                set_queue_loss(&mut path.queues, at, lost);
            }
        }
    }
    Ok(())
}

/// All packets of a pair by place, whichever of its paths they took.
fn sums_by_place(
    ways: &[(i64, Path)],
    read: impl Fn(i64) -> rusqlite::Result<PathSums>,
) -> rusqlite::Result<HashMap<LossPlace, Sums>> {
    let mut known: HashMap<LossPlace, Sums> = HashMap::new();
    for (id, path) in ways {
        let sums = read(*id)?;
        let mut add = |at, place| {
            if let Some(row) = sums.of(place) {
                known.entry(at).or_default().merge(row);
            }
        };
        add(LossPlace::Whole, 0);
        for (place, segment) in (1..).zip(path.segments()) {
            if let Some(at) = LossPlace::of(&segment) {
                add(at, place);
            }
        }
        for (place, hop) in (FIRST_QUEUE..).zip(&path.hops) {
            let port = NodePort {
                node: hop.node,
                port: hop.egress_port,
            };
            add(LossPlace::Queue(port), place);
        }
    }
    Ok(known)
}

fn set_queue_loss(queues: &mut Vec<SegmentFigures>, at: NodePort, lost: SegmentLoss) {
    match queues.iter_mut().find(|queue| queue.segment.from == at) {
        Some(queue) => queue.times.loss = Some(lost),
        // Its losses are known, and how long packets wait is not.
        None => queues.push(SegmentFigures {
            segment: Segment {
                kind: SegmentKind::Queue,
                from: at,
                to: at,
            },
            times: SegmentTimes {
                loss: Some(lost),
                ..SegmentTimes::default()
            },
            share: None,
            unseen_hops: None,
            queue_depth: None,
        }),
    }
}
