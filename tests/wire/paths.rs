//! The times of all packets of a path, told in datagrams, are the times that are read.

use hostint::model::*;
use hostint::wire::report::{NodeNotice, decode};
use hostint::wire::report_path::emit;
use hostint_testing::golden::udp_payload;
use hostint_testing::path_samples::path_totals;
use hostint_testing::random::Random;

/// Bytes of a datagram that every path carries.
const MOST_BYTES: usize = 1232;

fn report(totals: PathTotals) -> PathTotalsReport {
    PathTotalsReport {
        time_s: 1_700_000_000,
        period_ns: 10_000_000_000,
        totals,
    }
}

/// Reads what was told; each datagram has whole segments.
fn read(datagrams: &[Vec<u8>]) -> PathTotals {
    let mut whole: Option<PathTotals> = None;
    for datagram in datagrams {
        assert!(datagram.len() <= MOST_BYTES, "{} bytes", datagram.len());
        let group = decode(datagram).unwrap();
        assert!(group.reports.is_empty(), "it is none of the reports");
        let Some(NodeNotice::Path(told)) = group.notice else {
            panic!("it is times of a path");
        };
        assert_eq!(group.node, Some(told.totals.path.sink.node));
        assert_eq!(
            (told.time_s, told.period_ns),
            (1_700_000_000, 10_000_000_000)
        );
        match &mut whole {
            Some(whole) => {
                assert_eq!(whole.path, told.totals.path);
                whole.times.extend(told.totals.times);
            }
            None => whole = Some(told.totals),
        }
    }
    whole.unwrap()
}

fn read_paths(datagram: &[u8]) -> PathTotalsReport {
    match decode(datagram).unwrap().notice {
        Some(NodeNotice::Path(read)) => read,
        other => panic!("{other:?}"),
    }
}

#[test]
fn totals_that_are_told_are_those_that_are_read() {
    let mut random = Random::seeded(8);
    for hops in 1..=8 {
        let totals = path_totals(hops, |_| {
            let most = 1 << (1 + random.below(24));
            (0..300).map(|_| random.below(most) as i64 - 50).collect()
        });
        let datagrams = emit(&report(totals.clone()));
        assert_eq!(read(&datagrams), totals, "{hops} hops");
    }
}

#[test]
fn the_queue_of_a_hop_is_told_as_the_end_of_a_path() {
    let queue = NodePort {
        node: NodeId(28_673),
        port: 3,
    };
    let path = Path::to_queue(NodeId(1), queue);
    assert_eq!(path.queue(), Some(queue));
    let segments = path.segments();
    assert_eq!(segments.len(), usize::from(QUEUE_PLACE));
    let last = segments[usize::from(QUEUE_PLACE) - 1];
    assert_eq!(
        (last.kind, last.from, last.to),
        (SegmentKind::Queue, queue, queue)
    );
    assert!(last.kind.has_one_clock());
    let mut counts = vec![0; 864];
    (counts[0], counts[63], counts[190]) = (1, 2, 3);
    // 1 of 0 ns, 2 of 63 ns, 3 of 992 to 1007 ns
    let latency = LatencyHistogram::of_fine_slots(&counts, (i64::MIN, i64::MAX), 126 + 3_000);
    assert_eq!(latency.ends(), Some((0, 1_007)));
    assert_eq!((latency.samples(), latency.sum_ns()), (6, 3_126));
    let totals = PathTotals {
        path,
        times: vec![PlaceTotals {
            place: QUEUE_PLACE,
            epoch_ns: 1,
            last_ns: 2,
            latency,
        }],
    };
    assert_eq!(read(&emit(&report(totals.clone()))), totals);
    // Every other path has wires only.
    for hops in 1..=8 {
        let other = path_totals(hops, |_| vec![1]).path;
        assert_eq!(other.queue(), None);
        let mut segments = other.segments().into_iter();
        assert!(segments.all(|segment| segment.kind != SegmentKind::Queue));
    }
}

#[test]
fn times_that_fill_too_many_slots_are_told_in_powers_of_two() {
    // Values in each of the slots, with counts of several bytes.
    let times: Vec<i64> = (0..31)
        .flat_map(|power| (0..8).map(move |step| (1_i64 << power) + (step << power) / 8))
        .collect();
    let mut totals = path_totals(1, |_| times.clone());
    for time in &mut totals.times {
        for _ in 0..45 {
            let again = time.latency.clone();
            time.latency.merge(&again);
        }
    }
    let told = read(&emit(&report(totals.clone())));
    for (told, known) in told.times.iter().zip(&totals.times) {
        let coarse = known.latency.clone().coarsened(LatencyResolution::Coarse);
        assert_eq!(told.latency, coarse);
        assert_eq!(told.latency.samples(), known.latency.samples());
    }
}

#[test]
fn the_bytes_are_those_of_the_manual() {
    let mut totals = path_totals(1, |_| vec![3, 5, 5]);
    totals.times.truncate(1);
    let datagrams = emit(&report(totals));
    let expected = [
        &[8, 0, 0, 0, 0, 0, 0, 0][..],
        &1_700_000_000_u32.to_be_bytes(),
        &[1, 1, 0, 1],
        &10_000_000_000_u64.to_be_bytes(),
        // source, hop, sink
        &[0, 0, 0, 1, 0, 7],
        &[0, 0, 0x70, 1, 0, 2, 0, 3],
        &[0, 0, 0, 2, 0, 8],
        // the whole path
        &[0, 0],
        &1_699_999_000_000_000_000_u64.to_be_bytes(),
        &1_699_999_999_000_000_000_u64.to_be_bytes(),
        &[8, 0],
        &(-1919_i16).to_be_bytes(),
        &1920_i16.to_be_bytes(),
        &[0, 2],
        &3_u64.to_be_bytes(),
        &13_i128.to_be_bytes(),
        &3_i64.to_be_bytes(),
        &5_i64.to_be_bytes(),
        // slots 3 and 5: 1922 behind the first one, and 2 further
        &[0x82, 0x0f, 1, 2, 2],
    ]
    .concat();
    assert_eq!(datagrams, [expected]);
}

#[test]
fn totals_that_were_written_by_hand_are_read_and_written_alike() {
    let bytes = udp_payload("../wire/dissector/path_summary");
    let told = read_paths(&bytes);
    assert_eq!(emit(&told), [bytes]);
    let times = told.totals.times.iter();
    let ends: Vec<_> = times
        .map(|time| (time.place, time.latency.ends()))
        .collect();
    let expected = [(0, (3000, 5000)), (1, (1500, 2500)), (2, (1000, 2000))];
    assert_eq!(ends, expected.map(|(place, ends)| (place, Some(ends))));
}

#[test]
fn damaged_totals_are_refused() {
    let told = emit(&report(path_totals(2, |_| vec![1, 2, 3]))).remove(0);
    assert!(decode(&told).is_ok());
    for length in 12..told.len() {
        assert!(decode(&told[..length]).is_err(), "{length} bytes");
    }
    let with = |at: usize, byte: u8| {
        let mut bytes = told.clone();
        bytes[at] = byte;
        decode(&bytes).map_err(|err| err.to_string())
    };
    // The header, four bytes, the period, the ends, and two hops are in front of the first segment.
    const FIRST: usize = 12 + 4 + 8 + 12 + 16;
    for (at, byte, why) in [
        (
            12,
            2,
            "layout of a path-summary report at offset 12 is 0x2, expected 0x1",
        ),
        (13, 0, "number of transit hops 0, expected 1 to 8"),
        (13, 9, "number of transit hops 9, expected 1 to 8"),
        (FIRST, 6, "place of a segment 6, expected one of the path's"),
        (FIRST + 1, 1, "reserved byte of a segment"),
        (15, 5, "path-summary report of"),
    ] {
        let refused = with(at, byte).unwrap_err();
        assert!(refused.starts_with(why), "{refused}, not {why}");
    }
    let mut random = Random::seeded(81);
    for _ in 0..20_000 {
        let mut bytes = told.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len());
            bytes[at] = random.u8();
        }
        // It is read or refused, whatever is in it.
        let _ = decode(&bytes);
    }
}
