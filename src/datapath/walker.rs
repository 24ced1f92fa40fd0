//! Walks over a flow table inside the kernel, a slice at a time: only flows that need attention come out.

use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};

use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use super::abi::walk_object::WalkSkelBuilder;
use super::abi::{Abi, flow_key, read_from, walk, walk_finding, walk_record, walk_request};
use super::iterator;
use super::load::{program_fd, with_warnings};
use super::maps::Map;

/// Flows in one slice, which takes a fraction of a millisecond.
const SLICE: u32 = 2048;
/// The most findings of one slice.
const FINDINGS: usize = 256;

/// The loaded programs.
pub struct WalkPrograms {
    sink: OwnedFd,
    source: OwnedFd,
    requests: Map<u32, walk_request>,
}

/// The flows that a walk looks for.
#[derive(Clone, Copy, Debug)]
pub struct WalkQuery {
    pub now_ns: u64,
    /// Flows that are idle for this time.
    pub idle_ns: u64,
    /// The source's flows: the same for TCP connections that are still open.
    pub open_idle_ns: u64,
    /// Flows that have waited for a sequence number for twice this time.
    pub loss_timeout_ns: u64,
    /// Flows with a packet after this time; 0 for none.
    pub summary_ns: u64,
}

/// The flows that a slice found.
#[derive(Debug, Default)]
pub struct WalkFindings {
    pub idle: Vec<flow_key>,
    pub loss: Vec<flow_key>,
    pub summary: Vec<flow_key>,
    /// The number of flows that were looked at.
    pub seen: u32,
    /// The table's end was reached.
    pub end: bool,
}

impl WalkPrograms {
    pub fn load() -> io::Result<Self> {
        let mut object = MaybeUninit::uninit();
        let open = WalkSkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        let skel = with_warnings(|| open.load())?;
        Ok(Self {
            sink: program_fd(&skel.progs.walk_sink_flows)?,
            source: program_fd(&skel.progs.walk_source_flows)?,
            requests: Map::of(&skel.maps.walk_requests)?,
        })
    }

    /// Begins walks over this table, which is the sink's or the source's.
    pub fn over<V: Abi>(&self, flows: &Map<flow_key, V>, which: walk) -> io::Result<Walker> {
        let program = match which {
            walk::WALK_SINK => &self.sink,
            _ => &self.source,
        };
        Ok(Walker {
            link: iterator::link_to_map(program, flows.fd().as_raw_fd())?,
            requests: self.requests.share()?,
            which: which.0,
            place: None,
        })
    }
}

/// A walk over one table.
pub struct Walker {
    link: OwnedFd,
    requests: Map<u32, walk_request>,
    which: u32,
    place: Option<File>,
}

impl Walker {
    /// Goes on where the last slice ended, or begins at the table's beginning.
    pub fn slice(&mut self, wanted: &WalkQuery) -> io::Result<WalkFindings> {
        self.requests.set(
            &self.which,
            &walk_request {
                now_ns: wanted.now_ns,
                idle_ns: wanted.idle_ns,
                open_idle_ns: wanted.open_idle_ns,
                loss_timeout_ns: wanted.loss_timeout_ns,
                summary_ns: wanted.summary_ns,
                slice: SLICE,
                seen: 0,
            },
        )?;
        let place = match &mut self.place {
            Some(place) => place,
            None => self.place.insert(iterator::begin(&self.link)?),
        };
        let mut found = WalkFindings::default();
        let mut bytes = [0; size_of::<walk_record>()];
        while found.idle.len() + found.loss.len() + found.summary.len() < FINDINGS {
            let len = match place.read(&mut bytes) {
                // The kernel looked at a million flows without a finding: the next call goes on.
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => break,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                len => len?,
            };
            let record = bytes.get(..len).and_then(read_from::<walk_record>);
            let Some(record) = record else {
                found.end = true;
                self.place = None;
                break;
            };
            match walk_finding(record.finding) {
                walk_finding::WALK_IDLE => found.idle.push(record.key),
                walk_finding::WALK_LOSS => found.loss.push(record.key),
                walk_finding::WALK_SUMMARY => found.summary.push(record.key),
                _ => break,
            }
        }
        let request = self.requests.get(&self.which)?;
        found.seen = request.map_or(0, |request| request.seen);
        Ok(found)
    }
}
