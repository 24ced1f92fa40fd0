//! The share of flows that the budget allows, over a simulated time: it falls when more is spent, rises when there is room, and
//! rests in between.

use std::time::Duration;

use hostint::model::{CpuBudget, HostWork, MOST_SHIFT, Share, Spent};

const SECOND: Duration = Duration::from_secs(1);
const CPUS_NS: u64 = 8_000_000_000;

/// A second's spending, if all flows were measured, in thousandths of a CPU.
fn spent(share: Share, flows: u64, besides: u64) -> Spent {
    Spent {
        leaving: (flows * 1_000_000) >> share.shift,
        arriving: besides * 500_000,
        besides: besides * 500_000,
    }
}

/// Lives through so many seconds. Returns how often the share changed.
fn live(share: &mut Share, budget: &str, seconds: u32, flows: u64, besides: u64) -> u32 {
    let budget: CpuBudget = budget.parse().expect("it is a budget");
    let changes = (0..seconds).filter(|_| {
        let now = spent(*share, flows, besides);
        share.note(budget, now.leaving, now, (SECOND, CPUS_NS))
    });
    changes.count() as u32
}

#[test]
fn the_share_is_what_the_budget_allows() {
    // 1% of 8 CPUs is 80 thousandths of one.
    let cases = [
        ("all fit", "1%", 70, 5, 0),
        ("twice too much", "1%", 150, 0, 1),
        ("three times too much", "1%", 240, 0, 2),
        ("ten times", "1%", 800, 0, 4),
        ("other work leaves half", "1%", 80, 40, 1),
        (
            "other work takes all: flows have a quarter",
            "1%",
            160,
            500,
            3,
        ),
        ("no budget", "off", 100_000, 0, 0),
        (
            "more than any share spares",
            "0.0001%",
            100_000_000,
            0,
            MOST_SHIFT,
        ),
    ];
    for (sentence, budget, flows, besides, shift) in cases {
        let mut share = Share::default();
        live(&mut share, budget, 60, flows, besides);
        assert_eq!(share.shift, shift, "{sentence}");
        let changes = live(&mut share, budget, 600, flows, besides);
        assert_eq!(changes, 0, "{sentence}: it rests");
    }
}

#[test]
fn a_burst_of_two_seconds_changes_nothing_and_room_for_ten_does() {
    let mut share = Share::default();
    assert_eq!(live(&mut share, "1%", 2, 900, 0), 0, "a burst");
    assert_eq!(live(&mut share, "1%", 1, 10, 0), 0, "it is over");
    assert_eq!(live(&mut share, "1%", 2, 900, 0), 0, "another one");
    assert_eq!(live(&mut share, "1%", 1, 900, 0), 1, "it stays");
    assert_eq!(share.shift, 4);
    assert_eq!(live(&mut share, "1%", 9, 10, 0), 0, "room for a while");
    assert_eq!(live(&mut share, "1%", 1, 10, 0), 1, "for ten seconds");
    assert_eq!(share.shift, 3);
    live(&mut share, "1%", 30, 10, 0);
    assert_eq!(share.shift, 0, "one step after another");
}

#[test]
fn a_day_of_waves_stays_within_the_budget() {
    let mut share = Share::default();
    let (mut over, mut changes) = (0, 0);
    for second in 0..86_400u32 {
        let wave = (f64::from(second) / 3_600.0).sin() + 1.01;
        let flows = (wave * 300.0) as u64;
        let now = spent(share, flows, 4);
        over += u32::from(now.ppm(CPUS_NS) > 10_000);
        changes += u32::from(share.note(CpuBudget(10_000), now.leaving, now, (SECOND, CPUS_NS)));
    }
    // A wave takes six hours, and passes each step of the share once up and once down.
    assert!(changes <= 4 * 8, "{changes} changes");
    assert!(over <= 4 * changes, "{over} seconds above the budget");
}

#[test]
fn work_costs_what_its_runs_cost() {
    let before = HostWork {
        tagged: 1_000,
        received: 5,
        ..HostWork::default()
    };
    let now = HostWork {
        tagged: 2_000,
        tagged_flows: 10,
        received: 3,
        seen: 7,
        ..HostWork::default()
    };
    let more = now.since(before);
    assert_eq!((more.tagged, more.tagged_flows), (1_000, 10));
    assert_eq!(more.received, 3, "the counter began anew");
    let at = |step_ns| more.cost(step_ns, 7_000);
    assert!(at(200).leaving == 2 * at(100).leaving);
    assert!(at(200).arriving == 2 * at(100).arriving);
    let alone = HostWork {
        seen: more.received,
        ..more
    };
    let daemons = alone.cost(200, 7_000).besides;
    assert_eq!(daemons, 7_000, "the daemon's own");
    assert!(at(200).besides > daemons, "packets without INT");
}

#[test]
fn budgets_are_percents() {
    let cases = [
        ("2%", Ok(20_000), "2%"),
        ("0.5%", Ok(5_000), "0.5%"),
        ("100%", Ok(1_000_000), "100%"),
        ("off", Ok(0), "off"),
        ("0%", Err(()), ""),
        ("101%", Err(()), ""),
        ("2", Err(()), ""),
        ("much", Err(()), ""),
    ];
    for (text, ppm, shown) in cases {
        let found = text.parse::<CpuBudget>();
        assert_eq!(
            found.as_ref().map(|budget| budget.0).map_err(|_| ()),
            ppm,
            "{text}"
        );
        if let Ok(budget) = found {
            assert_eq!(budget.to_string(), shown);
        }
    }
}
