//! The time of a packet in a capture is judged by those around it: what a wrong clock made moves nothing.

use hostint::collector::stamps::StampJudge;

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3600 * SECOND;
const DAY: u64 = 24 * HOUR;
/// The host's clock, and the beginning of captures.
const NOW: u64 = 20_500 * DAY;
const BEGIN: u64 = 20_000 * DAY;
const IN_2106: u64 = 0xffff_fff0 * SECOND;

/// The times that are taken, and how many were wrong.
fn judged(stamps: &[u64], is_live: bool) -> (Vec<u64>, u64) {
    let mut judge = StampJudge::new(is_live, || NOW);
    let mut times = Vec::new();
    let mut take = |judge: &mut StampJudge<usize>| {
        while let Some(one) = judge.next_judged() {
            assert_eq!(one.item, times.len(), "in their order");
            times.push(one.time_ns);
        }
    };
    for (place, stamp) in stamps.iter().enumerate() {
        judge.push(*stamp, place);
        take(&mut judge);
    }
    judge.end();
    take(&mut judge);
    assert_eq!(times.len(), stamps.len());
    (times, judge.wrong())
}

fn every_second(count: u64) -> Vec<u64> {
    (0..count).map(|n| BEGIN + n * SECOND).collect()
}

#[test]
fn wrong_clocks_are_outvoted() {
    type Change = fn(&mut Vec<u64>);
    let cases: [(&str, Change, u64); 12] = [
        ("the 51st of 100 in 2106", |s| s[50] = IN_2106, 1),
        ("the first in 2106", |s| s[0] = IN_2106, 1),
        ("the last in 2106", |s| s[99] = IN_2106, 1),
        ("the 51st two days ahead", |s| s[50] += 2 * DAY, 1),
        ("the first two days ahead", |s| s[0] += 2 * DAY, 1),
        ("the last two days ahead", |s| s[99] += 2 * DAY, 1),
        (
            "the last two of them",
            |s| s[98..].iter_mut().for_each(|ns| *ns += 2 * DAY),
            2,
        ),
        ("the 51st in 1970", |s| s[50] = 5 * SECOND, 1),
        ("the first in 1970", |s| s[0] = 5 * SECOND, 1),
        ("one without a time", |s| s[50] = 0, 1),
        (
            "a clock that is ahead for 20",
            |s| s[40..60].iter_mut().for_each(|ns| *ns += 3 * DAY),
            20,
        ),
        (
            "40 in 2106",
            |s| s[60..].iter_mut().for_each(|ns| *ns = IN_2106),
            40,
        ),
    ];
    for (sentence, change, wrong) in cases {
        let mut stamps = every_second(100);
        let (least, most) = (stamps[0], stamps[99]);
        change(&mut stamps);
        let (times, counted) = judged(&stamps, false);
        assert_eq!(counted, wrong, "{sentence}");
        for (time, stamp) in times.iter().zip(&stamps) {
            assert!((least..=most).contains(time), "{sentence}: {time}");
            let was_right = (least..=most).contains(stamp);
            assert!(!was_right || time == stamp, "{sentence}: right ones stay");
        }
    }
}

#[test]
fn what_a_right_clock_can_make_stays() {
    let days = [0, 3].map(|day| every_second(40).into_iter().map(move |ns| ns + day * DAY));
    let cases: [(&str, Vec<u64>); 8] = [
        ("one packet", vec![BEGIN]),
        ("all of them in 2106", vec![IN_2106; 50]),
        ("none has a time", vec![0; 50]),
        ("captures of two days", days.into_iter().flatten().collect()),
        (
            "one packet in two hours",
            (0..60).map(|n| BEGIN + 2 * n * HOUR).collect(),
        ),
        (
            "packets of four processors",
            (0..400).map(|n| BEGIN + (n ^ 3) * SECOND / 1000).collect(),
        ),
        ("a clock that is set back by 5 minutes", {
            let mut stamps = every_second(900);
            stamps[300..].iter_mut().for_each(|ns| *ns -= 300 * SECOND);
            stamps
        }),
        (
            "a long one",
            (0..5000).map(|n| BEGIN + n * SECOND).collect(),
        ),
    ];
    for (sentence, stamps) in cases {
        assert_eq!(judged(&stamps, false), (stamps.clone(), 0), "{sentence}");
    }
}

#[test]
fn a_wrong_one_in_a_long_capture_is_found_wherever_it_is() {
    for place in [0, 255, 256, 511, 512, 513, 1999] {
        let mut stamps = every_second(2000);
        stamps[place] += 2 * DAY;
        let (times, wrong) = judged(&stamps, false);
        assert_eq!(wrong, 1, "at {place}");
        let right = every_second(2000);
        assert!(times[place].abs_diff(right[place]) <= SECOND, "at {place}");
    }
}

#[test]
fn a_live_stream_waits_only_for_what_is_doubtful() {
    let mut judge = StampJudge::new(true, || NOW);
    let mut push = |stamp: u64| {
        judge.push(stamp, ());
        std::iter::from_fn(|| judge.next_judged().map(|one| one.time_ns)).collect::<Vec<_>>()
    };
    for n in 0..20 {
        assert_eq!(push(BEGIN + n * SECOND), [BEGIN + n * SECOND]);
    }
    assert!(
        push(BEGIN + 2 * DAY).is_empty(),
        "it is far from the others"
    );
    let later: Vec<u64> = (20..30).flat_map(|n| push(BEGIN + n * SECOND)).collect();
    let expected: Vec<u64> = (20..30).map(|n| BEGIN + n * SECOND).collect();
    assert_eq!(later[0], BEGIN + 19 * SECOND);
    assert_eq!(later[1..], expected[..later.len() - 1]);
    assert!(later.len() >= 8);
}
