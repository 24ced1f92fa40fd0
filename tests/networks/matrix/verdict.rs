//! Whether traffic of a kind was harmed in some time, compared with a time without hostint in the same network.

use std::time::Duration;

use hostint_testing::mixed::{Kind, Log, Outcome, Sample};

pub type Span = (Duration, Duration);

/// The first retransmission timeout of TCP.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Where the network changes: the first two of a connection.
const TWO_TIMEOUTS: Duration = Duration::from_secs(3);
/// What a machine that does much else may add.
const SLACK: Duration = Duration::from_millis(500);
/// Where the network changes, datagrams may be lost for this time.
const LONGEST_LOSS: Duration = Duration::from_secs(2);

fn whole(samples: &[Sample]) -> usize {
    let whole = samples.iter().filter(|one| one.outcome == Outcome::Whole);
    whole.count()
}

fn lost(samples: &[Sample]) -> Vec<&Sample> {
    let lost = |one: &&Sample| matches!(one.outcome, Outcome::Lost(_));
    samples.iter().filter(lost).collect()
}

fn longest(samples: &[Sample]) -> Duration {
    let lasted = samples.iter().map(|one| one.lasted);
    lasted.max().unwrap_or_default()
}

/// What is wrong with traffic of this kind. None: nothing is.
pub fn judge(
    log: &Log,
    kind: Kind,
    (without, with): (Span, Span),
    is_change: bool,
    loses: bool,
) -> Option<String> {
    let of = |span: Span| log.samples(kind, span.0, span.1);
    let (before, now) = (of(without), of(with));
    for one in &now {
        if let Outcome::Changed(what) = &one.outcome {
            return Some(what.clone());
        }
    }
    let arrived = |span: Span| log.arrived(kind, span.0, span.1);
    let is_stream = matches!(kind, Kind::Upload | Kind::Download);
    if !is_stream && whole(&before) == 0 {
        if !kind.may_be_forbidden() {
            return Some("does not pass without hostint".into());
        }
        let count = arrived(with).0;
        // When the rule begins, some have arrived.
        let is_wrong = count > 0 && arrived(without).0 == 0 && !is_change;
        return is_wrong.then(|| format!("{count} arrived that the network forbids"));
    }
    // A rule that begins leaves some of it alone, be it here or without hostint.
    if kind.may_be_forbidden() && is_change {
        return None;
    }
    let strangers = &arrived(with).1 - &arrived(without).1;
    if !strangers.is_empty() && !is_stream {
        return Some(format!("came from {strangers:?}"));
    }
    if kind.may_be_forbidden() && !lost(&before).is_empty() {
        return None;
    }
    let lost = lost(&now);
    if loses && lost.len() <= 2 {
        return None;
    }
    if let Some(first) = lost.first() {
        let last = lost.last().unwrap_or(first);
        let is_short = last.at - first.at < LONGEST_LOSS;
        if !(is_change && kind.is_udp() && is_short) {
            let Outcome::Lost(why) = &first.outcome else {
                return None;
            };
            let after = (first.at - with.0).as_millis();
            return Some(format!(
                "{} of {} lost, the first after {after} ms and {:?}: {why}",
                lost.len(),
                now.len(),
                first.lasted
            ));
        }
    }
    let allowed = if is_change { TWO_TIMEOUTS } else { TIMEOUT };
    let lag = log.longest_lag(with.0, with.1);
    let limit = longest(&before) + allowed + SLACK + lag;
    let stall = longest(&now);
    (stall > limit).then(|| {
        let one = now.iter().max_by_key(|one| one.lasted);
        let after = one.map_or(0, |one| (one.at - with.0).as_millis());
        format!(
            "waited for {stall:?}, {after} ms after the event began (without hostint {:?})",
            longest(&before)
        )
    })
}
