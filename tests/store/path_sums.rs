//! Times of paths wait until many are counted together; what is stored is what counting each report at once gives.

use std::collections::{BTreeMap, BTreeSet};

use hostint::model::crossings::{Crossed, CrossedPlace, PathCrossed};
use hostint::model::*;
use hostint::store::*;
use hostint_testing::path_samples::{PassedWay, two_hops};
use hostint_testing::random::Random;
use rusqlite::Connection;

use crate::disk::*;
use crate::paths::{Known, add_path, sample_of};

/// The flows, and how many of them are tracked: those that come later have no path of their own.
const FLOWS: u16 = 6;
const TRACKED: usize = 4;

/// A row's ten seconds, path, flow (0: of the pair), place, and whether it is of all packets.
type RowName = (u64, Vec<u8>, u16, i64, bool);

#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Row {
    stamped: LatencyHistogram,
    corrected: ClockSums,
    packets: u64,
    lost: u64,
    recovered: u64,
}

/// The sums, counted one by one.
#[derive(Default)]
struct Plain {
    rows: BTreeMap<RowName, Row>,
    tracked: BTreeSet<u16>,
}

impl Plain {
    fn add(&mut self, sample: &PathSample, sport: u16, time_ns: u64) {
        if self.tracked.len() < TRACKED {
            self.tracked.insert(sport);
        }
        let of_flow = self.tracked.contains(&sport).then_some(sport);
        for flow in [Some(0), of_flow].into_iter().flatten() {
            let whole = std::iter::once(Some(&sample.whole));
            let each = whole.chain(sample.segments.iter().map(Option::as_ref));
            for (place, time) in (0..).zip(each) {
                let Some(time) = time else { continue };
                let name = (
                    time_ns - time_ns % (10 * SECOND),
                    sample.path.to_bytes(),
                    flow,
                    place,
                    false,
                );
                let row = self.rows.entry(name).or_default();
                row.stamped.add(time.stamped_ns);
                if let Some(corrected) = time.corrected {
                    let [low_ns, high_ns] = corrected.bound_ns;
                    row.corrected.merge(&ClockSums {
                        packets: 1,
                        latency_ns: corrected.latency_ns,
                        error_ns: corrected.error_ns,
                        less_ns: (corrected.latency_ns - low_ns) as u64,
                        more_ns: (high_ns - corrected.latency_ns) as u64,
                    });
                }
            }
        }
    }

    fn of_all(&mut self, path: &Path, place: i64, time_ns: u64) -> &mut Row {
        let begin_ns = time_ns - time_ns % (10 * SECOND);
        let name = (begin_ns, path.to_bytes(), 0, place, true);
        self.rows.entry(name).or_default()
    }
}

/// The rows of a store: each path has one for ten seconds, which has all of its places.
fn stored(disk: &Disk) -> BTreeMap<RowName, Row> {
    let conn = Connection::open(disk.file()).unwrap();
    let mut rows = BTreeMap::new();
    for table in ["segment_10s", "flow_segment_10s"] {
        let mut all = conn
            .prepare(&format!(
                "SELECT path.way, flow.key, sums.key, sums.places
                 FROM {table} AS sums JOIN path ON path.id = (sums.key & 0x1ffffffff) >> 6
                     LEFT JOIN flow ON flow.id = path.flow"
            ))
            .unwrap();
        let mut all = all.query([]).unwrap();
        while let Some(row) = all.next().unwrap() {
            let way: Vec<u8> = row.get(0).unwrap();
            let flow: Option<Vec<u8>> = row.get(1).unwrap();
            let flow = flow.map_or(0, |key| name_of(&key).unwrap().0.sport);
            let key: i64 = row.get(2).unwrap();
            let begin_ns = (key >> 33) as u64 * 10 * SECOND;
            assert_eq!(key & 0x1f, 0, "no place has a row of its own");
            let places: Vec<u8> = row.get(3).unwrap();
            for (place, sums) in places_in(&places) {
                let name = (begin_ns, way.clone(), flow, place, key & 0x20 != 0);
                assert_eq!(rows.insert(name, sums), None, "each place once");
            }
        }
    }
    rows
}

/// Reads the column of all places: for each its number, what it has, and its times; then clocks, then crossings.
fn places_in(mut bytes: &[u8]) -> Vec<(i64, Row)> {
    let number = |bytes: &mut &[u8]| number_code::take(bytes).unwrap() as u64;
    let mut places = Vec::new();
    while let Some((&[place, has], mut rest)) = bytes.split_first_chunk::<2>() {
        assert_eq!(has & !3, 0);
        let length = number(&mut rest) as usize;
        let (latency, mut rest) = rest.split_at(length);
        let mut row = Row {
            stamped: LatencyHistogram::decode(latency).unwrap(),
            ..Row::default()
        };
        if has & 1 != 0 {
            row.corrected.latency_ns = number_code::take_signed(&mut rest).unwrap() as i64;
            row.corrected.packets = number(&mut rest);
            row.corrected.error_ns = number(&mut rest);
            row.corrected.less_ns = number(&mut rest);
            row.corrected.more_ns = number(&mut rest);
        }
        if has & 2 != 0 {
            let crossings = number(&mut rest);
            assert!(crossings > 0);
            row.packets = number(&mut rest);
            row.lost = number(&mut rest);
            row.recovered = number(&mut rest);
        }
        places.push((place.into(), row));
        bytes = rest;
    }
    places
}

/// The way of a packet, which is one of several, and its times, all of which may be larger than a word.
fn passed(random: &mut Random, sport: u16, number: u32, time_ns: u64) -> (PassedWay, PathSample) {
    let mut way = two_hops();
    way.hops.truncate(1 + random.below(2));
    way.links_ns.truncate(way.hops.len() + 1);
    way.hops[0].stay_ns = random.below(5) as u32 * random.pick(&[1, 1_000, 1_000_000]);
    way.links_ns[0] = random.below(100_000) as u32;
    let known = random.pick(&[Known::All, Known::Ends, Known::Nothing]);
    let mut sample = sample_of(&way, &way.report(number, sport, time_ns), known);
    if random.one_in(4) {
        let wide = random.below(1 << 40) as i64 - (1 << 39);
        sample.segments[0] = Some(SegmentTime {
            stamped_ns: wide,
            corrected: (!random.one_in(3)).then_some(CorrectedLatency {
                latency_ns: wide,
                error_ns: 7,
                bound_ns: [wide - 1, wide + (1 << 33)],
            }),
        });
    }
    (way, sample)
}

fn growth(random: &mut Random, path: &Path) -> PathGrowth {
    let mut latency = LatencyHistogram::default();
    (0..1 + random.below(20)).for_each(|_| latency.add(random.below(10_000) as i64));
    PathGrowth {
        path: path.clone(),
        times: vec![PlaceGrowth {
            place: random.below(path.segment_count() + 1) as u8,
            latency,
            corrected: ClockSums::default(),
        }],
    }
}

#[test]
fn times_that_waited_are_counted_as_if_each_were_at_once() {
    for seed in 1..=8 {
        let mut random = Random::seeded(seed);
        let disk = Disk::new();
        let store = start(StoreSettings {
            most_flows: TRACKED,
            // Little room, so that times do not wait for long; or much of it.
            queue_bytes: if seed % 2 == 0 { 512 << 10 } else { 64 << 20 },
            ..disk.settings()
        });
        let mut keeper = store.keeper();
        let mut plain = Plain::default();
        for number in 0..3_000 {
            let sport = random.below(usize::from(FLOWS)) as u16 + 1;
            // Reports may be late.
            let time_ns = DAY + (u64::from(number) / 60 + random.below(15) as u64) * SECOND;
            let (way, sample) = passed(&mut random, sport, number, time_ns);
            keep(&mut keeper, &way.sample(number, sport, time_ns));
            plain.add(&sample, sport, time_ns);
            let path = sample.path.path().clone();
            add_path(&mut keeper, &sample);
            if random.one_in(20) {
                let growth = growth(&mut random, &path);
                for time in &growth.times {
                    let row = plain.of_all(&path, time.place.into(), time_ns);
                    row.stamped.merge(&time.latency);
                }
                keeper.grow_path(&growth, time_ns);
            }
            if random.one_in(20) {
                let (packets, lost) = (100, random.below(3) as i64);
                let crossed = PathCrossed {
                    path: path.clone(),
                    places: vec![(CrossedPlace::Segment(1), Crossed { packets, lost })],
                    unseen: Vec::new(),
                };
                let row = plain.of_all(&path, 1, time_ns);
                row.packets += packets;
                row.lost += lost.unsigned_abs();
                keeper.cross_path(&crossed, time_ns);
            }
            if random.one_in(50) {
                keeper.flush();
            }
        }
        keeper.flush();
        let counts = store.counts();
        drop((keeper, store));
        assert_eq!(counts.told_drops(), 0, "seed {seed}: there is room");
        let found = stored(&disk);
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            plain.rows.keys().collect::<Vec<_>>(),
            "seed {seed}"
        );
        for (name, row) in &plain.rows {
            assert_eq!(found.get(name), Some(row), "seed {seed}: {name:?}");
        }
    }
}

#[test]
fn a_damaged_row_is_read_up_to_the_damage() {
    let (mut random, seed) = Random::from_env();
    let disk = Disk::new();
    let store = disk.open();
    let mut keeper = store.keeper();
    for number in 0..40 {
        let (way, sample) = passed(&mut random, 1, number, DAY);
        keep(&mut keeper, &way.sample(number, 1, DAY));
        add_path(&mut keeper, &sample);
    }
    drop((keeper, store));
    let pair = PathQuery::Pair {
        source: NodeId(1),
        sink: NodeId(2),
    };
    let conn = Connection::open(disk.file()).unwrap();
    let whole: Vec<(i64, Vec<u8>)> = conn
        .prepare("SELECT key, places FROM segment_10s")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let before = disk.reader().paths(pair, ALWAYS).unwrap();
    let mut put = conn
        .prepare("UPDATE segment_10s SET places = ?2 WHERE key = ?1")
        .unwrap();
    for round in 0..200 {
        for (key, places) in &whole {
            let mut damaged = places.clone();
            damaged.truncate(random.below(places.len() + 1));
            if round % 2 == 1 && !damaged.is_empty() {
                let at = random.below(damaged.len());
                damaged[at] ^= 1 << random.below(8);
            }
            put.execute((key, &damaged)).unwrap();
        }
        if round % 2 == 0 {
            // The whole path comes first, and is there or not.
            for path in disk.reader().paths(pair, ALWAYS).unwrap() {
                let known = before.iter().find(|known| known.path == path.path);
                let known = known.unwrap().whole.samples();
                assert_eq!(path.whole.samples(), known, "seed {seed}");
            }
        }
        // Bits that changed may be numbers that another row could have.
        disk.reader().paths(pair, ALWAYS).unwrap();
        disk.reader()
            .segments(SegmentOrder::P99, ALWAYS, 100)
            .unwrap();
    }
}
