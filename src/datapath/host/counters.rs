//! The counters of the kernel half and of the daemon: their names, their meaning in words, and their sums.

use std::io;

use crate::datapath::abi::{
    counter, daemon_counter, peer_counter, sink_counter, source_counter, transit_counter,
};
use crate::datapath::kernel::handover::{self, FormerCounts};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;

/// Packets and frame bytes counted for one reason.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Count {
    pub packets: u64,
    pub bytes: u64,
}

/// A counter's name in JSON, and its meaning in words.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CounterMeaning {
    pub index: u32,
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! meanings {
    ($type:ident: $($variant:ident $name:literal $text:literal,)*) => {
        &[$(CounterMeaning { index: $type::$variant.0, name: $name, text: $text },)*]
    };
}

/// The sink's counters.
pub const SINK: &[CounterMeaning] = meanings! { sink_counter:
    COUNT_SINK_RECEIVED "received" "packets with INT, passed on without it",
    COUNT_SINK_DROPPED_TAGGED "dropped_tagged" "tagged packet dropped on demand (--drop-tagged)",
    COUNT_SINK_FOREIGN_MARK "foreign_mark" "DSCP mark or port without INT behind it: passed untouched",
    COUNT_SINK_TRUNCATED "truncated" "too short for the INT that it announces: passed untouched",
    COUNT_SINK_BAD_SHIM "bad_shim" "INT of another kind (type, flags or length): passed untouched",
    COUNT_SINK_BAD_VERSION "bad_version" "INT of another version or hop count: passed untouched",
    COUNT_SINK_BAD_BITMAP "bad_bitmap" "INT with other instructions: passed untouched",
    COUNT_SINK_BAD_LENGTH "bad_length" "IP, UDP or TCP length disagrees with INT: passed untouched",
    COUNT_SINK_BAD_PROTOCOL "bad_protocol" "INT around neither TCP nor UDP: passed untouched",
    COUNT_SINK_BAD_INNER "bad_inner" "vxlan-gpe around a packet of other addresses, or none: passed untouched",
    COUNT_SINK_FRAGMENT "fragment" "marked fragment: passed untouched",
    COUNT_SINK_IP_OPTIONS "ip_options" "marked, behind too many IPv6 extension headers: passed untouched",
    COUNT_SINK_CANNOT_RESIZE "cannot_resize" "kernel refused to shorten the packet: passed untouched",
    COUNT_SINK_BROKEN "broken" "kernel refused half-way: dropped rather than passed on corrupt",
    COUNT_SINK_UNTRACKED "untracked" "stripped but not measured: flow table full (--max-flows)",
    COUNT_SINK_BAD_SEGMENT "bad_segment" "stripped but not measured: not distinguished from its superpacket's other segments",
    COUNT_SINK_HOST_INT "host_int" "stripped packets that an original Host-INT source tagged",
    COUNT_SINK_LOST "lost" "sequence numbers declared lost",
    COUNT_SINK_RECOVERED "recovered" "sequence numbers that arrived after they were declared lost",
    COUNT_SINK_REORDERED "reordered" "packets behind a newer one of their flow",
    COUNT_SINK_DUPLICATE "duplicate" "packets that had arrived before",
    COUNT_SINK_FLOW_NEW "flow_new" "flows seen for the first time",
    COUNT_SINK_FLOW_RESTARTED "flow_restarted" "flows whose numbering restarted",
    COUNT_SINK_EVENT_SENT "event_sent" "events handed to the daemon",
    COUNT_SINK_EVENT_LOST "event_lost" "events lost: ring full, daemon slow or gone",
    COUNT_SINK_NOT_ALLOWED "not_allowed" "tagged by a host without a lease (--allow): passed untouched, or dropped (--strict)",
    COUNT_SINK_NEW_FLOW_LIMITED "new_flow_limited" "stripped but not measured: too many new flows (--max-new-flows)",
    COUNT_SINK_REPORT_LIMITED "report_limited" "reports withheld: too many (--max-reports)",
    COUNT_SINK_LEASE_GRANTED "lease_granted" "lease questions answered",
    COUNT_SINK_LEASE_FORGED "lease_forged" "lease questions with a wrong tag: keys differ, or the questions are forged",
    COUNT_SINK_LEASE_CLOSING "lease_closing" "lease questions not answered before detaching",
    COUNT_SINK_LEASE_FULL "lease_full" "lease questions not answered for lack of room",
    COUNT_SINK_NIC_STAMPED "nic_stamped" "packets stamped by the network card (--nic-timestamps)",
    COUNT_SINK_NIC_NONE "nic_none" "packets stamped by the kernel: the driver gave no time",
    COUNT_SINK_NIC_OFF "nic_off" "packets stamped by the kernel: the card's clock is not the host's (run phc2sys)",
    COUNT_SINK_LEASE_ASTRAY "lease_astray" "lease questions refused: tagged packets reach this host where no sink strips them",
    COUNT_SINK_PROBE "probe" "probes of sources with a lease, dropped here as they should be",
    COUNT_SINK_PROBE_FORGED "probe_forged" "probes dropped: wrong tag, or from a host without a lease",
    COUNT_SINK_FLOW_LATE "flow_late" "flows tracked from a later packet on: the numbers before it are not measured",
    COUNT_SINK_DAMAGED "damaged" "packets with wrong or unknown sequence numbers, counted as the ones that were missing there",
    COUNT_SINK_FLOW_COARSE "flow_coarse" "flows whose quantiles are rough: no fine slots were free (--max-fine-flows)",
    COUNT_SINK_STACK_CHECKSUM "stack_checksum" "packets with transit hops whose L4 checksum fits neither hops that update it nor hops that do not",
    COUNT_SINK_PATH_FULL "path_full" "times of packets over transit hops that are not in the figures of their path: too many paths",
    COUNT_SINK_TRACE_FULL "trace_full" "packets in ioam that passed more routers than there was room for",
    COUNT_SINK_MERGED "merged" "received segments that the kernel handled together with the one in front of them",
};

/// The source's counters.
pub const SOURCE: &[CounterMeaning] = meanings! { source_counter:
    COUNT_SOURCE_TAGGED "tagged" "INT added",
    COUNT_SOURCE_UNWATCHED "unwatched" "no rule of the watchlist matches",
    COUNT_SOURCE_OTHER_PROTOCOL "other_protocol" "not IP, or neither TCP nor UDP",
    COUNT_SOURCE_MALFORMED "malformed" "headers shorter than they claim",
    COUNT_SOURCE_FRAGMENT "fragment" "fragment",
    COUNT_SOURCE_MAY_FRAGMENT "may_fragment" "no DF flag and long: a router might fragment it",
    COUNT_SOURCE_IP_OPTIONS "ip_options" "IP options, which vxlan-gpe would hide, or too many IPv6 extension headers",
    COUNT_SOURCE_VLAN "vlan" "more than two VLAN tags",
    COUNT_SOURCE_TOO_LONG "too_long" "no room below the MTU: lower the route's MSS or MTU, or raise the MTU",
    COUNT_SOURCE_SUPERPACKET "superpacket" "segments in GSO packets that were not tagged (--superpackets)",
    COUNT_SOURCE_ENCAPSULATED "encapsulated" "tagged GSO packets, sent as vxlan-gpe or ioam",
    COUNT_SOURCE_STAGED "staged" "packets sent through the staging interface to be segmented",
    COUNT_SOURCE_REPORT "report" "telemetry reports",
    COUNT_SOURCE_HAS_INT "has_int" "carries INT already, or uses the port that announces it",
    COUNT_SOURCE_GROUP_ADDRESS "group_address" "multicast or broadcast",
    COUNT_SOURCE_TABLE_FULL "table_full" "flow table full",
    COUNT_SOURCE_NO_CHECKSUM_STATE "no_checksum_state" "cannot see whether the checksum is finished",
    COUNT_SOURCE_CANNOT_RESIZE "cannot_resize" "kernel refused to make room",
    COUNT_SOURCE_UNDONE "undone" "header could not be written, packet restored",
    COUNT_SOURCE_DROPPED "dropped" "packet could not be restored and was dropped",
    COUNT_SOURCE_FLOW_NEW "flow_new" "flows tagged for the first time",
    COUNT_SOURCE_NO_LEASE "no_lease" "no sink is known to be alive at the destination (see the peers)",
    COUNT_SOURCE_LEASE_FULL "lease_full" "no lease, and no room to ask for one",
    COUNT_SOURCE_EXCLUDED "excluded" "a rule of the watchlist excludes them",
    COUNT_SOURCE_NOT_SAMPLED "not_sampled" "watched, but not in the rule's sample; counted in segments",
    COUNT_SOURCE_BEGAN_BEFORE_LEASE "began_before_lease" "of connections that are older than hostint here, until they reconnect",
    COUNT_SOURCE_FLOW_BEGAN_BEFORE_LEASE "flow_began_before_lease" "connections that are older than hostint here",
    COUNT_SOURCE_UNPROVED "unproved" "whose path no form of tagging is known to pass",
    COUNT_SOURCE_LEFT "left" "of flows whose other host did not answer for a second, or whose form of tagging no longer passes",
    COUNT_SOURCE_GUARDED "guarded" "untagged as a precaution: tagged packets of their connection seemed to be lost",
    COUNT_SOURCE_SIGNED "signed" "of TCP connections that are signed (TCP-AO, MD5): never tagged",
    COUNT_SOURCE_NO_OPTION "no_option" "in which the sender's stack made no room for an option with INT",
    COUNT_SOURCE_BUDGET "budget" "of flows that the budget leaves out, watched or not; counted in segments",
    COUNT_SOURCE_MERGED "merged" "tagged segments that the kernel handled together with the one in front of them",
};

/// The counters of the source's peer program.
pub const PEER: &[CounterMeaning] = meanings! { peer_counter:
    COUNT_PEER_SEEN "seen" "packets that came in where others are tagged, with INT and without",
    COUNT_PEER_MSS_CLAMPED "mss_clamped" "TCP connections whose MSS was lowered to leave room for INT",
    COUNT_PEER_MSS_SIGNED "mss_signed" "SYNs that are signed (TCP-AO, MD5), whose MSS stays as it is",
    COUNT_PEER_ICMP_TRANSLATED "icmp_translated" "ICMP errors about tagged packets, rewritten for the original packet",
    COUNT_PEER_ICMP_TOO_SHORT "icmp_too_short" "ICMP errors that quote too little of a tagged packet: passed untouched",
    COUNT_PEER_ICMP_MTU_TOO_SMALL "icmp_mtu_too_small" "ICMP errors whose MTU has no room for INT: passed untouched",
    COUNT_PEER_ICMP_REFUSED "icmp_refused" "ICMP errors that refuse the port of the tunnel, not that of the packet in it: passed untouched",
    COUNT_PEER_CANNOT_WRITE "peer_cannot_write" "kernel refused to let an answer be changed: passed untouched",
};

/// The transit hop's counters.
pub const TRANSIT: &[CounterMeaning] = meanings! { transit_counter:
    COUNT_TRANSIT_ARRIVED "arrived" "packets with INT that came in",
    COUNT_TRANSIT_PUSHED "pushed" "packets that left with an entry of this hop",
    COUNT_TRANSIT_NO_ARRIVAL "no_arrival" "entries without the time of arrival: too many packets at once (--max-arrivals)",
    COUNT_TRANSIT_NO_BUDGET "no_budget" "the source lets no more hops push (its --max-hops): passed without entry",
    COUNT_TRANSIT_TOO_LONG "too_long" "no room for an entry below the MTU: passed without entry",
    COUNT_TRANSIT_SUPERPACKET "superpacket" "superpackets that would be cut wrongly, or were merged on the path: passed without entry",
    COUNT_TRANSIT_NOT_ALLOWED "not_allowed" "from a source that is not allowed (--allow): passed untouched",
    COUNT_TRANSIT_OWN_HOP "own_hop" "this node's entry is the newest one already: passed untouched",
    COUNT_TRANSIT_FOREIGN_MARK "foreign_mark" "DSCP mark or port without INT behind it: passed untouched",
    COUNT_TRANSIT_TRUNCATED "truncated" "too short for the INT that it announces: passed untouched",
    COUNT_TRANSIT_BAD_SHIM "bad_shim" "INT of another kind (type, flags or length): passed untouched",
    COUNT_TRANSIT_BAD_VERSION "bad_version" "INT of another version or hop count: passed untouched",
    COUNT_TRANSIT_BAD_BITMAP "bad_bitmap" "INT with other instructions: passed untouched",
    COUNT_TRANSIT_BAD_LENGTH "bad_length" "IP, UDP, TCP or Geneve length disagrees with INT: passed untouched",
    COUNT_TRANSIT_FRAGMENT "fragment" "marked fragment: passed untouched",
    COUNT_TRANSIT_IP_OPTIONS "ip_options" "INT behind IP options or extension headers that hops do not read: passed untouched",
    COUNT_TRANSIT_CANNOT_RESIZE "cannot_resize" "kernel refused to make room: passed without entry",
    COUNT_TRANSIT_UNDONE "undone" "entry could not be written, packet restored",
    COUNT_TRANSIT_DROPPED "dropped" "packet could not be restored and was dropped",
    COUNT_TRANSIT_UNFINISHED "unfinished" "INT-MD behind a header whose checksum the device finishes: passed untouched",
    COUNT_TRANSIT_PADDED "padded" "entries with words of a domain that hostint does not know, all ones",
    COUNT_TRANSIT_OPTION_FILLED "option_filled" "segments whose request of TCP option 114 was filled in",
    COUNT_TRANSIT_OPTION_NO_ARRIVAL "option_no_arrival" "of these, segments whose time in this host is not known (--max-arrivals)",
    COUNT_TRANSIT_OPTION_NO_GAUGE "option_untold" "of these, segments to which neither queue nor free bandwidth is known",
    COUNT_TRANSIT_OPTION_SKIPPED "option_skipped" "requests whose key leaves them to others: passed untouched",
    COUNT_TRANSIT_OPTION_NO_DATA "option_no_data" "TCP option 114 in segments without data, as echoes have it: passed untouched",
    COUNT_TRANSIT_OPTION_MALFORMED "option_malformed" "TCP options that do not fit: passed untouched",
    COUNT_TRANSIT_OPTION_REFUSED "option_refused" "kernel refused to change the option: passed untouched",
    COUNT_TRANSIT_MX_PASSED "mx_passed" "packets in INT-MX that left as they came",
    COUNT_TRANSIT_POSTCARD_SENT "postcard_sent" "of these, packets reported to the daemon",
    COUNT_TRANSIT_POSTCARD_LOST "postcard_lost" "of these, packets that could not be reported to it: it does not run, or they are too many",
    COUNT_TRANSIT_POSTCARD_UNREAD "postcard_unread" "packets that programs of another version reported to the daemon, which it does not understand",
};

/// The daemon's counters.
pub const DAEMON: &[CounterMeaning] = meanings! { daemon_counter:
    DAEMON_EVENTS_READ "events_read" "events read from the ring",
    DAEMON_EVENTS_MALFORMED "events_malformed" "events that make no report",
    DAEMON_REPORTS_SENT "reports_sent" "reports sent",
    DAEMON_REPORTS_LOST "reports_lost" "reports that could not be sent",
    DAEMON_LOG_WRITTEN "log_written" "report log lines written",
    DAEMON_LOG_LOST "log_lost" "report log lines that could not be written",
    DAEMON_FLOWS_EXPIRED "flows_expired" "idle flows removed at the sink",
    DAEMON_SOURCE_FLOWS_EXPIRED "source_flows_expired" "idle flows removed at the source",
    DAEMON_SWEEPS "sweeps" "passes over the flow tables",
    DAEMON_SWEEP_CPU_NS "sweep_cpu_ns" "CPU time of those passes",
    DAEMON_PID "pid" "process",
    DAEMON_STARTED_NS "started_ns" "start, ns since the Unix epoch",
    DAEMON_ALIVE_NS "alive_ns" "last sign of life, ns since the Unix epoch",
    DAEMON_LEASES_ASKED "leases_asked" "lease questions asked",
    DAEMON_LEASES_ANSWERED "leases_answered" "lease questions answered with a lease",
    DAEMON_LEASES_REFUSED "leases_refused" "answers that grant no lease",
    DAEMON_LEASE_CPU_NS "lease_cpu_ns" "CPU time of keeping leases",
    DAEMON_REPAIRED "repaired" "programs attached again after another program removed them",
    DAEMON_CONTROL_ANSWERED "control_answered" "requests at the control socket that were answered",
    DAEMON_CONTROL_REFUSED "control_refused" "requests at the control socket that were refused",
    DAEMON_DATAGRAMS_SENT "report_datagrams_sent" "datagrams with reports sent",
    DAEMON_DATAGRAMS_LOST "report_datagrams_lost" "datagrams with reports that could not be sent",
    DAEMON_SUMMARIES_SENT "summaries_sent" "reports with totals of flows and of groups",
    DAEMON_SUMMARIES_LEFT_OUT "summaries_left_out" "flows' summaries beyond the budget (--max-summaries)",
};

/// Sums a per-CPU counter.
fn read(map: &Map<u32, counter>, index: u32) -> io::Result<Count> {
    let mut sum = Count::default();
    for cpu in map.get_per_cpu(&index)? {
        sum.packets += cpu.packets;
        sum.bytes += cpu.bytes;
    }
    Ok(sum)
}

/// Sums the packets of a per-CPU counter.
pub fn packets(map: &Map<u32, counter>, index: u32) -> io::Result<u64> {
    Ok(read(map, index)?.packets)
}

/// Sums the packets of the counters with these names, as the programs of this version count them; 0 if there is no such map. This
/// takes less time than reading all counters.
pub fn packets_of<const N: usize>(
    pins: &Pins,
    name: &str,
    meanings: &'static [CounterMeaning],
    wanted: [&str; N],
) -> io::Result<[u64; N]> {
    let mut sums = [0; N];
    let Some(map) = Map::<u32, counter>::open(&pins.map(name))? else {
        return Ok(sums);
    };
    for (sum, wanted) in sums.iter_mut().zip(wanted) {
        if let Some(meaning) = meanings.iter().find(|meaning| meaning.name == wanted) {
            *sum = packets(&map, meaning.index)?;
        }
    }
    Ok(sums)
}

/// Returns all counters of a role in the order of `meanings`, with the counts of former versions added, or none if
/// there is no such map.
pub fn read_all(
    pins: &Pins,
    name: &str,
    meanings: &'static [CounterMeaning],
) -> io::Result<Vec<(CounterMeaning, Count)>> {
    let Some(map) = Map::<u32, counter>::open(&pins.map(name))? else {
        return Ok(Vec::new());
    };
    let before = FormerCounts::open(pins)?;
    let others = handover::counted_by_others(pins, name)?;
    meanings
        .iter()
        .map(|meaning| {
            let mut count = read(&map, meaning.index)?;
            let mut more = others
                .get(meaning.index as usize)
                .copied()
                .unwrap_or_default();
            if let Some(before) = &before {
                let earlier = before.get(name, meaning.index)?;
                more.packets += earlier.packets;
                more.bytes += earlier.bytes;
            }
            count.packets += more.packets;
            count.bytes += more.bytes;
            Ok((*meaning, count))
        })
        .collect()
}
