//! The path to a peer as a sentence: which forms of tagged packets it passes.

use crate::model::{Encapsulation, Lease, ProbeForm, Transport, TunnelObstacle, Ways};

const UNATTENDED: &str =
    "no daemon runs on its host, so nothing shows whether its answers pass outside of a tunnel";

/// The form of tagged packets to a peer to which all is well; `None` if there is more to say.
pub fn ready(lease: &Lease) -> Option<String> {
    let form = whole_form(lease)?;
    (sentence(lease) == ready_text(&form)).then_some(form)
}

fn ready_text(form: &str) -> String {
    format!("ready ({form})")
}

/// The forms in use, if none that was tried is missing.
fn whole_form(lease: &Lease) -> Option<String> {
    let proof = &lease.proof;
    let is_open = |transport, form| proof.ways.contains(Ways::of(transport, form));
    let in_options =
        [Transport::Tcp, Transport::Udp].map(|one| is_open(one, Encapsulation::Options));
    let (eaten, open) = eaten_and_open(lease);
    match in_options {
        [true, true] if open.is_empty() => Some(Encapsulation::Options.name().to_owned()),
        [true, true] if eaten.is_empty() => {
            Some(format!("{} and {open}", Encapsulation::Options.name()))
        }
        [false, false] if eaten.is_empty() && !open.is_empty() => {
            (!proof.eaten.contains(ProbeForm::Options)).then_some(open)
        }
        _ => None,
    }
}

/// What is known of a granted lease's path, in a few words, or in a few clauses if a form does not pass.
pub fn sentence(lease: &Lease) -> String {
    let proof = &lease.proof;
    if proof.untold {
        return "this host sends packets of another host, and without a key the sink reports nothing about them to it: packets \
                stay untagged (give both sides the same --lease-key)"
            .to_owned();
    }
    if proof.obstacle == TunnelObstacle::Unattended && proof.ways.is_empty() {
        return format!("{UNATTENDED}: packets stay untagged (start hostint sink there)");
    }
    if proof.proved_ns == 0 && proof.ways.is_empty() {
        return "being proved: nothing is tagged yet".to_owned();
    }
    let whole = whole_form(lease).map(|form| ready_text(&form));
    let path = whole.or_else(|| options(lease));
    let mut clauses = vec![path.unwrap_or_else(|| forms(lease))];
    clauses.extend(length(lease));
    if proof.eaten.contains(ProbeForm::OverUdp) && proof.tos_changed != 0 {
        let sent = lease.answer.map_or(0, |answer| answer.marks.tos_value);
        let arrives = sent ^ proof.tos_changed;
        clauses.push(format!(
            "the path changes DSCP (ToS byte 0x{sent:02x} -> 0x{arrives:02x})"
        ));
    }
    clauses.extend(obstacle(proof.obstacle));
    if proof.distrusted {
        clauses.push("several flows came to nothing, so it is proved again later".to_owned());
    }
    clauses.join("; ")
}

/// A clause about what keeps packets out of tunnels.
fn obstacle(obstacle: TunnelObstacle) -> Option<String> {
    let drops = |direction| {
        format!(
            "a stateful firewall on the path drops packets {direction} whose conversation it did not see begin: no tunnel is used"
        )
    };
    match obstacle {
        TunnelObstacle::None => None,
        TunnelObstacle::Unattended => Some(format!(
            "{UNATTENDED}: no tunnel is used (start hostint sink there)"
        )),
        TunnelObstacle::DropsTo => Some(drops("to it")),
        TunnelObstacle::DropsFrom => {
            Some(drops("from it") + " (a sink on another host in front of it looks the same)")
        }
        TunnelObstacle::DropsBoth => Some(drops("to it and from it")),
        TunnelObstacle::Translates => Some(
            "a router translates packets from it whose conversation it did not see begin: no tunnel is used"
                .to_owned(),
        ),
    }
}

/// The length of the longest packets that pass, if it is less than the sink's host takes.
fn length(lease: &Lease) -> Option<String> {
    let proof = &lease.proof;
    let sink_mtu = lease.answer.map_or(0, |answer| answer.mtu);
    if !(1..sink_mtu).contains(&proof.longest) || proof.ways.is_empty() {
        return None;
    }
    let tcp = |one| proof.ways.contains(Ways::of(Transport::Tcp, one));
    let tcp_note = match Encapsulation::ALL.into_iter().any(tcp) {
        true => "",
        false => {
            ", and TCP stays untagged: a tunnel would hide the MSS from the router that lowers it"
        }
    };
    let longest = proof.longest;
    Some(format!("packets pass up to {longest} bytes{tcp_note}"))
}

/// What is known of options, if some interface uses them.
fn options(lease: &Lease) -> Option<String> {
    let proof = &lease.proof;
    let has = |transport| {
        proof
            .ways
            .contains(Ways::of(transport, Encapsulation::Options))
    };
    let eaten = proof.eaten.contains(ProbeForm::Options);
    let said = match (has(Transport::Tcp), has(Transport::Udp)) {
        (true, true) => "ready (options)",
        (true, false) if eaten => {
            "TCP goes in options; datagrams with options do not arrive, or not on every path, and go without"
        }
        (true, false) => "TCP goes in options; for UDP, the path is being proved",
        (false, true) => {
            "UDP goes in options; segments with options came to nothing, so TCP goes without for a while"
        }
        (false, false) if eaten => {
            "packets with options do not arrive, or not on every path: they go without"
        }
        (false, false) => return None,
    };
    Some(match proof.ways.has(Encapsulation::VxlanGpe) {
        true => format!("{said}; {}", forms(lease)),
        false => said.to_owned(),
    })
}

/// The names of forms beside options that do not arrive, and of those that do.
fn eaten_and_open(lease: &Lease) -> (String, String) {
    let proof = &lease.proof;
    let names = |passes: &dyn Fn(Encapsulation) -> bool| {
        let named = Encapsulation::ALL.into_iter().filter(|one| passes(*one));
        let names: Vec<&str> = named.map(Encapsulation::name).collect();
        names.join(" and ")
    };
    let eaten =
        names(&|one| one != Encapsulation::Options && proof.eaten.contains(ProbeForm::of(one)));
    let open = names(&|one| one != Encapsulation::Options && proof.ways.has(one));
    (eaten, open)
}

/// The forms that pass, after those that do not.
fn forms(lease: &Lease) -> String {
    let (eaten, open) = eaten_and_open(lease);
    match (eaten.is_empty(), open.is_empty()) {
        (true, false) => ready_text(&open),
        (true, true) => "no form of tagging is known to pass: packets stay untagged".to_owned(),
        (false, true) => {
            format!("{eaten} does not arrive, or not on every path: packets stay untagged")
        }
        (false, false) => {
            format!("{eaten} does not arrive, or not on every path; {open} is used")
        }
    }
}

/// A clause about flows that went untagged, if there are any.
pub fn fallen(flows: u64) -> Option<String> {
    match flows {
        0 => None,
        1 => Some("1 flow went untagged because its packets came to nothing".to_owned()),
        _ => Some(format!(
            "{flows} flows went untagged because their packets came to nothing"
        )),
    }
}
