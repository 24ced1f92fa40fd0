//! A clock that is wrong for a moment is not followed, and one that stays where it was set is.

use hostint::clocks::SteadyWall;

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;
const TRUE: u64 = 20_000 * DAY;

/// Reads once a second, at the true time plus what `wrong` says for each second. Returns the error of each second, whether
/// it is settled, and how often it was set back.
fn read(seconds: u64, wrong: impl Fn(u64) -> i64) -> Vec<(i64, bool, u64)> {
    let mut wall = SteadyWall::default();
    let mut seen = Vec::new();
    for second in 0..seconds {
        let now_ns = TRUE + second * SECOND;
        let wrong_ns = wrong(second) * SECOND as i64;
        let time = wall.read(
            now_ns.saturating_add_signed(wrong_ns),
            77 * SECOND + second * SECOND,
        );
        let error_s = (time.now_ns as i64 - now_ns as i64) / SECOND as i64;
        seen.push((error_s, time.is_settled, time.set_back));
    }
    seen
}

const THREE_DAYS: i64 = 3 * 86_400;

#[test]
fn a_jump_of_some_seconds_is_not_followed() {
    for jump in [THREE_DAYS, -THREE_DAYS, 2_500_000_000, 61] {
        let seen = read(2000, |second| {
            if (1000..1005).contains(&second) {
                jump
            } else {
                0
            }
        });
        assert!(seen.iter().all(|(error_s, ..)| *error_s == 0), "{jump}");
        assert!(
            !seen[1002].1,
            "nothing is old by a clock that was set: {jump}"
        );
        assert!(seen[1999].1 && seen[999].1, "{jump}");
        assert_eq!(seen[1999].2, 0, "{jump}");
    }
}

#[test]
fn a_clock_that_is_set_for_good_is_followed_after_a_minute() {
    for jump in [THREE_DAYS, -THREE_DAYS] {
        let seen = read(3000, |second| if second >= 1000 { jump } else { 0 });
        assert_eq!(seen[1059].0, 0, "{jump}");
        assert_eq!(seen[1060].0, jump, "{jump}");
        assert!(
            !seen[1600].1 && seen[1700].1,
            "and old rows are removed later: {jump}"
        );
        assert_eq!(seen[2999].2, u64::from(jump < 0), "{jump}");
    }
}

#[test]
fn small_steps_and_slewing_are_followed_at_once() {
    let seen = read(4000, |second| (second / 100) as i64);
    for (second, (error_s, ..)) in seen.iter().enumerate() {
        assert_eq!(*error_s, second as i64 / 100);
    }
    assert!(seen[3999].1);
}

#[test]
fn a_process_that_starts_while_the_clock_is_wrong_is_told_when_it_is_right() {
    let seen = read(2000, |second| if second < 5 { THREE_DAYS } else { 0 });
    assert_eq!((seen[4].0, seen[70].0), (THREE_DAYS, 0));
    assert_eq!(seen[1999].2, 1, "what was stored ahead of it is repaired");
    assert!(seen[..600].iter().all(|(_, is_settled, _)| !is_settled));
}
