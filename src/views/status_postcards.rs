//! The postcards of a host in `hostint status`.

use std::fmt;

use super::collectors_block::CollectorsBlock;
use super::digits::{Grouped, Nanoseconds};
use super::drops::{ReasonText, counted};
use super::moment::moment;
use super::passages::{not_timed, passages};
use super::queues::{not_judged, queues as table_of};
use crate::model::name_pattern::is_pattern;
use crate::model::{
    DropTotals, DropsStatus, HopsStatus, KernelReason, PostcardsStatus, QueuesStatus,
};

/// The reasons and places that are shown unless all are wanted.
const SHOWN: usize = 10;

/// A part of what postcards tell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PostcardsPart {
    Drops,
    Hops,
    Queues,
}

impl PostcardsPart {
    pub const ALL: [Self; 3] = [Self::Drops, Self::Hops, Self::Queues];
}

/// Displays one part, if it is reported.
pub struct PartText<'a> {
    pub status: &'a PostcardsStatus,
    pub part: PostcardsPart,
    pub all: bool,
}

impl fmt::Display for PartText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, part, all } = *self;
        let period_ns = status.report_period_ns;
        let (of_drops, of_hops, of_queues) = (&status.drops, &status.hops, &status.queues);
        match part {
            PostcardsPart::Drops => of_drops
                .as_ref()
                .map(|status| drops(f, status, period_ns, all)),
            PostcardsPart::Hops => of_hops
                .as_ref()
                .map(|status| hops(f, status, period_ns, all)),
            PostcardsPart::Queues => of_queues.as_ref().map(|status| queues(f, status, all)),
        }
        .unwrap_or(Ok(()))
    }
}

pub fn write(f: &mut fmt::Formatter<'_>, postcards: &PostcardsStatus, all: bool) -> fmt::Result {
    writeln!(
        f,
        "postcards: daemon runs (pid {}), since {} UTC",
        postcards.daemon_pid,
        moment(postcards.since_ns)
    )?;
    if postcards.named_links > 0 {
        let links = counted(postcards.named_links as u64, "interface");
        writeln!(f, "  pods and containers behind {links} have names")?;
    }
    let told = CollectorsBlock {
        addresses: &postcards.collectors,
        node: postcards.node_id,
        sent: postcards.reports_sent,
        lost: postcards.reports_lost,
    };
    write!(f, "{told}")?;
    for part in PostcardsPart::ALL {
        let text = PartText {
            status: postcards,
            part,
            all,
        };
        write!(f, "{text}")?;
    }
    Ok(())
}

fn drops(
    f: &mut fmt::Formatter<'_>,
    drops: &DropsStatus,
    period_ns: u64,
    all: bool,
) -> fmt::Result {
    let totals = &drops.totals;
    writeln!(
        f,
        "  drops of {}: {}, {} reported, a flow again after {}",
        match drops.netns {
            "all" => "all network namespaces",
            _ => "this network namespace",
        },
        counted(totals.seen, "packet"),
        counted(totals.told, "flow"),
        Nanoseconds(period_ns.cast_signed())
    )?;
    if !drops.gives_reasons {
        writeln!(
            f,
            "  this kernel gives no reasons (Linux 5.17 does): packets are reported by place, and many of those are no loss"
        )?;
    }
    reasons(f, totals, all)?;
    for one in &totals.without_packet {
        let dev = one.interface.as_deref().map(|dev| format!(" on {dev}"));
        writeln!(
            f,
            "  {:>14}  {:<18} without a packet{}",
            Grouped(one.count),
            one.counter,
            dev.unwrap_or_default()
        )?;
    }
    writeln!(
        f,
        "  flows of drops: {} of at most {}",
        Grouped(drops.flows_total as u64),
        Grouped(drops.flows_max.into())
    )?;
    own_losses(f, totals, all)
}

fn reasons(f: &mut fmt::Formatter<'_>, totals: &DropTotals, all: bool) -> fmt::Result {
    let most = if all { usize::MAX } else { SHOWN };
    for one in totals.reasons.iter().take(most) {
        let text = match one.ignored {
            true => "no loss, not reported".to_owned(),
            false => places_of(totals, &one.reason),
        };
        let line = format!("{:<18} {text}", ReasonText(&one.reason));
        writeln!(
            f,
            "  {:>14}  {}",
            Grouped(one.count.packets),
            line.trim_end()
        )?;
    }
    let more = totals.reasons.len().saturating_sub(most);
    if more > 0 {
        writeln!(f, "  and {} (--all)", counted(more as u64, "other reason"))?;
    }
    Ok(())
}

/// The place with most drops for this reason.
fn places_of(totals: &DropTotals, reason: &KernelReason) -> String {
    let mut same = totals
        .places
        .iter()
        .filter(|one| one.reason == *reason && !one.ignored);
    let Some(first) = same.next() else {
        return String::new();
    };
    let mut text = String::new();
    if let Some(place) = &first.place {
        text += &format!("at {place}");
    }
    if let Some(dev) = &first.interface {
        text += &format!(" on {dev}");
    }
    match same.count() {
        0 => text,
        more => format!("{text}, and {}", counted(more as u64, "other place")),
    }
}

/// What the daemon could not tell.
fn own_losses(f: &mut fmt::Formatter<'_>, totals: &DropTotals, all: bool) -> fmt::Result {
    let own = [
        (
            "flow_limited",
            totals.flow_limited,
            "packets of new flows beyond --max-new-flows, reported by reason alone",
        ),
        (
            "put_off",
            totals.put_off,
            "times that --max-reports put a flow off",
        ),
        (
            "events_lost",
            totals.events_lost,
            "flows reported later, because the ring was full",
        ),
        (
            "places_full",
            totals.places_full,
            "packets counted by reason alone, because there are too many places",
        ),
        (
            "missed",
            totals.missed,
            "drops that the kernel hid, because another one went on on the CPU",
        ),
    ];
    for (name, count, text) in own.into_iter().filter(|(_, count, _)| all || *count > 0) {
        writeln!(f, "  {:>14}  {name:<18} {text}", Grouped(count))?;
    }
    Ok(())
}

fn hops(f: &mut fmt::Formatter<'_>, hops: &HopsStatus, period_ns: u64, all: bool) -> fmt::Result {
    let totals = &hops.totals;
    writeln!(
        f,
        "  hops at {}{}{}: {} timed, {} reported, a flow again after {}",
        hops.devs.join(", "),
        match hops.devs.iter().any(|dev| is_pattern(dev)) {
            true => format!(" ({})", counted(totals.interfaces, "interface")),
            false => String::new(),
        },
        match hops.by_rules {
            true => ", by the watchlist",
            false => "",
        },
        counted(totals.timed(), "packet"),
        counted(totals.told, "line"),
        Nanoseconds(period_ns.cast_signed())
    )?;
    let most = if all { usize::MAX } else { SHOWN };
    let (shown, more) = totals.passages.split_at(totals.passages.len().min(most));
    if !shown.is_empty() {
        for line in passages(shown).to_string().lines() {
            writeln!(f, "    {line}")?;
        }
    }
    if !more.is_empty() {
        let more = counted(more.len() as u64, "other pair");
        writeln!(f, "  and {more} of interfaces (--all)")?;
    }
    writeln!(
        f,
        "  flows of hops: {} of at most {}",
        Grouped(hops.flows_total as u64),
        Grouped(hops.flows_max.into())
    )?;
    let losses = [
        (
            totals.left_out,
            "interfaces that are asked for and cannot be timed",
        ),
        (
            totals.put_back,
            "times that something else took programs off an interface, and they were put back",
        ),
        (totals.put_off, "times that --max-reports put a flow off"),
        (
            totals.events_lost,
            "news reported later, because the ring was full",
        ),
    ];
    let packets = not_timed(totals).map(|(count, text)| (count, format!("packets {text}")));
    let losses = losses.map(|(count, text)| (count, text.to_owned()));
    for (count, text) in packets.into_iter().chain(losses) {
        if all || count > 0 {
            writeln!(f, "  {:>14}  {text}", Grouped(count))?;
        }
    }
    Ok(())
}

fn queues(f: &mut fmt::Formatter<'_>, queues: &QueuesStatus, all: bool) -> fmt::Result {
    let totals = &queues.totals;
    writeln!(
        f,
        "  queues of {}: {}, {} reported",
        queues.devs.join(", "),
        counted(totals.episodes(), "episode"),
        counted(totals.told, "line")
    )?;
    let most = if all { usize::MAX } else { SHOWN };
    let (shown, more) = totals.queues.split_at(totals.queues.len().min(most));
    if !shown.is_empty() {
        for line in table_of(shown).to_string().lines() {
            writeln!(f, "    {line}")?;
        }
    }
    if !more.is_empty() {
        let more = counted(more.len() as u64, "other queue");
        writeln!(f, "  and {more} (--all)")?;
    }
    let packets = not_judged(totals).map(|(count, text)| (count, format!("packets {text}")));
    let losses = [
        (
            totals.put_off,
            "times that --max-reports put an episode off",
        ),
        (
            totals.untold,
            "episodes that were not reported, because there were too many at a time",
        ),
    ];
    let losses = losses.map(|(count, text)| (count, text.to_owned()));
    for (count, text) in packets.into_iter().chain(losses) {
        if all || count > 0 {
            writeln!(f, "  {:>14}  {text}", Grouped(count))?;
        }
    }
    Ok(())
}
