//! What postcards need: the tracepoints of drops and queues, reasons, the names of the kernel's functions, and stamps of packets.

use crate::model::preflight::{Finding, PostcardsFacts};

/// One finding for each fact. What is missing is a failure only where the config file wants postcards.
pub fn judge_postcards(facts: &PostcardsFacts, release: &str) -> Vec<Finding> {
    let mut found = vec![drops(facts, release)];
    if facts.sees_drops {
        found.push(places(facts));
    }
    found.push(hops(facts, release));
    found.push(queues(facts, release));
    found
}

fn drops(facts: &PostcardsFacts, release: &str) -> Finding {
    let lack = |found: String| match facts.wanted {
        true => Finding::fail("drops", found),
        false => Finding::note("drops", found),
    };
    if !facts.sees_drops {
        return lack("the kernel does not describe its tracepoint of drops (kfree_skb)".to_owned())
            .advise("hostint postcards --drops needs a kernel with CONFIG_DEBUG_INFO_BTF=y");
    }
    match &facts.program {
        None => Finding::note("drops", "not tried, because that takes CAP_BPF and CAP_PERFMON")
            .advise("run as root"),
        Some(Err(why)) => lack(format!("the kernel refuses the program that sees drops: {why}"))
            .advise("report this with the kernel's version"),
        Some(Ok(())) if facts.reasons == 0 => Finding::note(
            "drops",
            format!(
                "Linux {release} gives no reasons: packets are told by place, and many of those are no loss"
            ),
        )
        .advise("5.17 or newer gives reasons"),
        Some(Ok(())) => {
            Finding::ok("drops", format!("seen, with {} reasons", facts.reasons))
        }
    }
}

fn places(facts: &PostcardsFacts) -> Finding {
    match facts.names_places {
        true => Finding::ok("drop-places", "functions of the kernel have names"),
        false => Finding::note(
            "drop-places",
            "the kernel hides the addresses of its functions, so places have no names",
        )
        .advise("give CAP_SYSLOG, and see sysctl kernel.kptr_restrict"),
    }
}

/// The file may want drops alone, so what is missing is a note.
fn hops(facts: &PostcardsFacts, release: &str) -> Finding {
    if !facts.carries_stamps {
        return Finding::note(
            "hops",
            format!(
                "Linux {release} does not let packets carry the time of their arrival through the host"
            ),
        )
        .advise("hostint postcards --hops needs 5.18 or newer");
    }
    match &facts.hops {
        None => Finding::note(
            "hops",
            "not tried, because that takes CAP_BPF and CAP_PERFMON",
        )
        .advise("run as root"),
        Some(Err(why)) => Finding::note(
            "hops",
            format!("the kernel refuses the programs that time packets: {why}"),
        )
        .advise("report this with the kernel's version"),
        Some(Ok(())) => Finding::ok("hops", "packets can be timed through the host"),
    }
}

/// As of hops.
fn queues(facts: &PostcardsFacts, release: &str) -> Finding {
    match &facts.queues {
        None => Finding::note(
            "queues",
            "not tried, because that takes CAP_BPF and CAP_PERFMON",
        )
        .advise("run as root"),
        Some(Err(why)) => Finding::note(
            "queues",
            format!("the programs that watch queues do not load: {why}"),
        )
        .advise("hostint postcards --queue needs 5.5 or newer, with CONFIG_DEBUG_INFO_BTF=y"),
        Some(Ok(())) if !facts.times_queues => Finding::note(
            "queues",
            format!(
                "can be watched by bytes; Linux {release} does not tell when packets enter them"
            ),
        )
        .advise("5.15 or newer lets triggers be times"),
        Some(Ok(())) => Finding::ok("queues", "can be watched, by time and by bytes"),
    }
}
