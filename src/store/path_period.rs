//! The paths of ten seconds: their sums, and the times of reported packets that are not in them yet.
//!
//! A report is written down in one place for the path of its pair and that of its flow, and its times are counted later,
//! together with those of others of the same path: each counts in twenty histograms, which are in no cache by then.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::gathered_path::{GatheredPath, PathPackets, TimeSums};
use super::ids::FlowName;
use crate::model::{KnownPath, NumberHash, PassedPath, Path, SampleLog, TimeColumns};

/// The most paths of pairs, and of single flows, that are added up at a time. What is told of more of them is counted as
/// dropped.
const MOST_PATHS: usize = 1 << 14;
const MOST_FLOW_PATHS: usize = 1 << 12;

/// The most numbers of reported paths that are remembered. More are looked up again.
const MOST_NUMBERS: usize = 1 << 15;

/// The least memory of a segment's histogram.
const HEAP_BYTES: usize = 64;

const NONE: u32 = SampleLog::NONE;

/// What the paths of all periods take, and what was told of paths for which there was no room.
#[derive(Debug, Default)]
pub struct PathRoom {
    of_pairs: usize,
    of_flows: usize,
    segments: usize,
    /// The bytes of times that are not counted yet.
    pub logged_bytes: usize,
    pub dropped: u64,
}

/// The sums of ten seconds.
#[derive(Debug)]
pub struct PathPeriod {
    /// A number that no other period has.
    serial: u64,
    begin_ns: u64,
    /// The time when the first of them came.
    since: Instant,
    rows: Vec<GatheredPath>,
    /// The paths, numbered here, and the same by the numbers that reports have them under.
    paths: HashMap<Path, u32>,
    numbers: HashMap<u64, u32, NumberHash>,
    /// The row of the reports of each path, and those of single flows and of all packets.
    reported: Vec<u32>,
    places: HashMap<(PathPackets, u32), u32>,
    log: SampleLog,
}

/// Where the last report of a flow counted: the period, the path, and the row, if there was room for one.
#[derive(Clone, Copy, Debug)]
pub struct FlowPathRow {
    serial: u64,
    path: u32,
    row: u32,
}

impl PathRoom {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.of_pairs + self.of_flows
    }

    /// Returns the approximate memory.
    pub fn bytes(&self) -> usize {
        2 * self.rows() * size_of::<GatheredPath>()
            + self.segments * (size_of::<TimeSums>() + HEAP_BYTES)
            + self.logged_bytes
    }

    fn is_full(&self, of_flow: bool) -> bool {
        match of_flow {
            true => self.of_flows >= MOST_FLOW_PATHS,
            false => self.of_pairs >= MOST_PATHS,
        }
    }

    fn of(&mut self, packets: &PathPackets) -> &mut usize {
        match packets {
            PathPackets::ReportedOf(_) => &mut self.of_flows,
            PathPackets::Reported | PathPackets::All => &mut self.of_pairs,
        }
    }

    /// Gives back what a period took.
    pub fn leave(&mut self, period: &PathPeriod) {
        for row in &period.rows {
            *self.of(&row.packets) -= 1;
            self.segments -= row.places();
        }
        self.logged_bytes -= period.log.bytes();
    }
}

impl PathPeriod {
    pub fn new(serial: u64, begin_ns: u64) -> Self {
        Self {
            serial,
            begin_ns,
            since: Instant::now(),
            rows: Vec::new(),
            paths: HashMap::new(),
            numbers: HashMap::default(),
            reported: Vec::new(),
            places: HashMap::new(),
            log: SampleLog::default(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns how long ago the first of them came.
    pub fn age(&self) -> Duration {
        self.since.elapsed()
    }

    /// Adds the times of a packet to its path, and to that of its flow, if it has one. `last` is where the flow's last
    /// report counted.
    pub fn add(
        &mut self,
        flow: Option<(&FlowName, &mut Option<FlowPathRow>)>,
        passed: PassedPath<'_>,
        room: &mut PathRoom,
    ) {
        let has_room = !room.is_full(false) || flow.is_some() && !room.is_full(true);
        let Some(path) = self.number(passed.path, has_room) else {
            room.dropped += 1 + u64::from(flow.is_some());
            return;
        };
        let mut pair = self.reported.get(path as usize).copied().unwrap_or(NONE);
        if pair == NONE {
            pair = self.make_row(PathPackets::Reported, passed.path, room);
            if let Some(row) = self.reported.get_mut(path as usize) {
                *row = pair;
            }
        }
        let of_flow = match flow {
            Some((name, last)) => self.row_of_flow((name, last), path, passed.path, room),
            None => NONE,
        };
        if (pair, of_flow) != (NONE, NONE) {
            let before = self.log.bytes();
            self.log.push(pair, of_flow, passed.times);
            room.logged_bytes += self.log.bytes() - before;
        }
    }

    fn row_of_flow(
        &mut self,
        (name, last): (&FlowName, &mut Option<FlowPathRow>),
        path: u32,
        named: &Path,
        room: &mut PathRoom,
    ) -> u32 {
        let last_row = last.filter(|last| (last.serial, last.path) == (self.serial, path));
        let row = match last_row {
            Some(last) if last.row != NONE => last.row,
            // There was no room, and there is none now.
            Some(_) if room.is_full(true) => {
                room.dropped += 1;
                NONE
            }
            _ => self.row(PathPackets::ReportedOf(*name), path, named, room),
        };
        *last = Some(FlowPathRow {
            serial: self.serial,
            path,
            row,
        });
        row
    }

    /// Returns the row of all packets of a path, which something else than reports tells of. `None`: there is no room, and
    /// that is counted.
    pub fn of_all(&mut self, path: &Path, room: &mut PathRoom) -> Option<&mut GatheredPath> {
        let number = match self.paths.get(path) {
            Some(number) => Some(*number),
            None => (!room.is_full(false)).then(|| self.new_number(path)),
        };
        let Some(number) = number else {
            room.dropped += 1;
            return None;
        };
        let row = self.row(PathPackets::All, number, path, room);
        let row = self.rows.get_mut(row as usize)?;
        row.samples_reported += 1;
        Some(row)
    }

    /// Returns the number of a path here. It gets one if there is room for rows, and it has none.
    fn number(&mut self, path: &KnownPath, has_room: bool) -> Option<u32> {
        if let Some(number) = self.numbers.get(&path.number()) {
            return Some(*number);
        }
        let number = match self.paths.get(path.path()) {
            Some(number) => *number,
            None if !has_room => return None,
            None => self.new_number(path),
        };
        if self.numbers.len() >= MOST_NUMBERS {
            self.numbers.clear();
        }
        self.numbers.insert(path.number(), number);
        Some(number)
    }

    fn new_number(&mut self, path: &Path) -> u32 {
        let number = self.reported.len() as u32;
        self.paths.insert(path.clone(), number);
        self.reported.push(NONE);
        number
    }

    fn row(&mut self, packets: PathPackets, number: u32, path: &Path, room: &mut PathRoom) -> u32 {
        let place = (packets, number);
        if let Some(row) = self.places.get(&place) {
            return *row;
        }
        let row = self.make_row(packets, path, room);
        if row != NONE {
            self.places.insert(place, row);
        }
        row
    }

    /// Returns the number of a new row. [`NONE`]: there are too many, and that is counted.
    fn make_row(&mut self, packets: PathPackets, path: &Path, room: &mut PathRoom) -> u32 {
        if room.is_full(matches!(packets, PathPackets::ReportedOf(_))) {
            room.dropped += 1;
            return NONE;
        }
        let row = GatheredPath::new(packets, path, self.begin_ns);
        *room.of(&packets) += 1;
        room.segments += row.places();
        self.rows.push(row);
        self.rows.len() as u32 - 1
    }

    /// Counts the reported times that wait, and gives their memory back.
    pub fn count(&mut self, columns: &mut TimeColumns, room: &mut PathRoom) {
        room.logged_bytes -= self.log.bytes();
        self.count_times(columns);
        self.log = SampleLog::default();
    }

    fn count_times(&mut self, columns: &mut TimeColumns) {
        let Self { rows, log, .. } = self;
        log.group();
        for of_path in log.samples().chunk_by(|one, next| one.path == next.path) {
            let path = of_path.first().map_or(NONE, |one| one.path);
            for of_flow in of_path.chunk_by(|one, next| one.flow == next.flow) {
                let flow = of_flow.first().map_or(NONE, |one| one.flow);
                let rows = two_rows(rows, path, flow);
                GatheredPath::count(rows, of_flow, log, columns);
            }
            if let Some(row) = rows.get_mut(path as usize) {
                row.count_columns(columns);
            }
            columns.clear_all();
        }
        self.log.clear();
    }

    /// Returns all sums.
    pub fn into_rows(mut self, columns: &mut TimeColumns) -> Vec<GatheredPath> {
        self.count_times(columns);
        self.rows
    }
}

/// The rows with these two numbers, if there are such.
fn two_rows(rows: &mut [GatheredPath], one: u32, other: u32) -> [Option<&mut GatheredPath>; 2] {
    let (one, other) = (one as usize, other as usize);
    match (one < rows.len(), other < rows.len()) {
        (true, true) => match rows.get_disjoint_mut([one, other]) {
            Ok(both) => both.map(Some),
            Err(_) => [None, None],
        },
        (true, false) => [rows.get_mut(one), None],
        (false, _) => [None, rows.get_mut(other)],
    }
}
