//! What each counter tells about packets that were not tagged, not stripped or not measured, and what to do.

use serde::{Deserialize, Serialize};

/// What something keeps from working.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// Packets that are watched go out without INT.
    Tagging,
    /// Packets with INT are not stripped here.
    Stripping,
    /// Packets are stripped, but nobody learns of it.
    Measuring,
}

/// How much something matters; the worst first.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing works until it is changed.
    Stopped,
    /// Packets of applications were dropped.
    Dropped,
    /// Packets were not tagged, stripped or measured that could be.
    Missed,
    /// As designed, or somebody else's fault.
    Note,
}

/// A counter that is worth words.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub counter: &'static str,
    pub topic: Topic,
    pub severity: Severity,
    /// One of what is counted,
    pub noun: &'static str,
    /// and what is the matter with it, of one or of many.
    pub what: &'static str,
    pub advice: &'static str,
}

macro_rules! rows {
    ($($counter:literal $topic:ident $severity:ident $noun:literal $what:literal $advice:literal,)*) => {
        &[$(Row {
            counter: $counter,
            topic: Topic::$topic,
            severity: Severity::$severity,
            noun: $noun,
            what: $what,
            advice: $advice,
        },)*]
    };
}

/// Of the source, and of its program for answers.
pub const SOURCE: &[Row] = rows! {
    "too_long" Tagging Missed "packet" "too long" "clamp the MSS, lower the route's MTU, or raise the interface's MTU",
    "superpacket" Tagging Missed "segment" "in superpackets that were left alone" "attach with --superpackets encap (TCP), encap-all or stage (UDP too)",
    "no_lease" Tagging Missed "packet" "to a host without a lease" "the peers above say why; start hostint sink there, or use add-dest --static for a sink of Host-INT",
    "lease_full" Tagging Missed "packet" "without room to ask for a lease" "watch fewer hosts",
    "table_full" Tagging Missed "packet" "for whose flow the table has no room" "attach with a larger --max-flows, or a shorter --idle-flow-timeout",
    "no_checksum_state" Tagging Missed "packet" "whose checksum may be unfinished, which this kernel does not tell" "attach with --encap extension-udp, or use Linux 6.2 or newer",
    "cannot_resize" Tagging Missed "packet" "that the kernel refused to make room in" "see whether memory is short (dmesg)",
    "undone" Tagging Missed "packet" "restored, because the header could not be written" "see whether memory is short (dmesg)",
    "dropped" Tagging Dropped "packet" "dropped, because neither tagging nor restoring worked" "see whether memory is short (dmesg); detach the source if it goes on",
    "ip_options" Tagging Missed "packet" "with IP options in vxlan-gpe, or behind too many IPv6 extension headers" "for IP options attach with --superpackets stage; else nothing",
    "vlan" Tagging Missed "packet" "with more than two VLAN tags" "attach to a VLAN interface above, which sees fewer",
    "fragment" Tagging Note "fragment" "never tagged" "let the sender keep to the MTU",
    "may_fragment" Tagging Note "packet" "that a router might fragment (long, without DF)" "nothing, or have the sender set DF (IP_PMTUDISC_DO)",
    "has_int" Tagging Note "packet" "with INT already, or to the port that announces it" "see whether another source tags before this one",
    "group_address" Tagging Note "packet" "to a group, which are never tagged" "leave groups out of the destinations",
    "malformed" Tagging Note "packet" "with headers shorter than they claim" "see who sends them (tcpdump)",
    "icmp_too_short" Tagging Note "ICMP error" "with too short a quote to be translated" "if connections stall, lower the route's MTU by the room for INT",
    "icmp_mtu_too_small" Tagging Note "ICMP error" "with an MTU that has no room for INT" "see which router states it (tcpdump icmp); leave hosts behind it out of the destinations",
    "peer_cannot_write" Tagging Missed "answer" "that the kernel let nobody change (an MSS to be clamped, an ICMP error to be translated)" "see whether memory is short (dmesg)",
};

/// Of the sink.
pub const SINK: &[Row] = rows! {
    "not_allowed" Stripping Missed "packet" "tagged by a host without a lease, passed on with INT" "for sources with --static, and of Host-INT, start the sink with --allow PREFIX; else compare --lease-key",
    "dropped_tagged" Stripping Dropped "packet" "with INT dropped, as --drop-tagged asks" "start the sink without --drop-tagged to have them stripped",
    "broken" Stripping Dropped "packet" "dropped, because stripping failed half-way" "see whether memory is short (dmesg); detach the sink if it goes on",
    "cannot_resize" Stripping Missed "packet" "that the kernel refused to shorten" "see whether memory is short (dmesg)",
    "fragment" Stripping Missed "fragment" "with INT, because something on the way fragments" "lower --mtu at the source, or raise the MTU on the way",
    "truncated" Stripping Missed "packet" "too short for the INT announced" "see who sends to the extension port (tcpdump)",
    "bad_shim" Stripping Missed "packet" "with INT of another kind" "see what tags them; hostint-wire(7) says what is recognised",
    "bad_version" Stripping Missed "packet" "with INT of another version or hop count" "see what tags them; hostint-wire(7) says what is recognised",
    "bad_bitmap" Stripping Missed "packet" "with other INT instructions" "see what tags them; hostint-wire(7) says what is recognised",
    "bad_length" Stripping Missed "packet" "with lengths that disagree with INT" "see what changes packets on the way (a firewall, a proxy)",
    "bad_protocol" Stripping Missed "packet" "with INT around neither TCP nor UDP" "see what tags them; hostint-wire(7) says what is recognised",
    "bad_inner" Stripping Missed "packet" "in vxlan-gpe with other addresses inside than outside" "see whether there is NAT on the way, or a VXLAN-GPE tunnel of somebody else",
    "ip_options" Stripping Missed "packet" "marked, behind too many IPv6 extension headers" "nothing, hostint's source does not tag such packets",
    "foreign_mark" Stripping Note "packet" "with the mark, but without INT" "nothing; if there are many, choose another --dscp-value on both sides",
    "lease_forged" Stripping Missed "lease question" "with a wrong tag" "give all hosts the same --lease-key; else somebody forges",
    "lease_full" Stripping Missed "lease question" "not answered for lack of room" "see who asks from so many addresses; a --lease-key keeps strangers out",
    "untracked" Measuring Missed "packet" "stripped but not measured for lack of room in the flow table" "start the sink with a larger --max-flows, or a shorter --idle-flow-timeout",
    "bad_segment" Measuring Missed "segment" "stripped but not measured, because a superpacket hid which is which" "use --hook xdp at the sink, or --superpackets stage at the source",
    "new_flow_limited" Measuring Missed "packet" "of too many new flows, stripped but not measured" "start the sink with a larger --max-new-flows if those flows are yours",
    "report_limited" Measuring Missed "report" "not made because there were too many" "start the sink with a larger --max-reports, or --report-period",
    "event_lost" Measuring Missed "event" "lost because the daemon was slow or gone" "keep hostint sink running; if it is, start it with a longer --report-period",
    "nic_none" Measuring Note "packet" "stamped by the kernel, because the network card told no time" "see whether the card stamps all packets (hwstamp_ctl), or leave out --nic-timestamps",
    "nic_off" Measuring Note "packet" "stamped by the kernel, because the network card's clock is not the host's" "run phc2sys, or leave out --nic-timestamps",
};

/// Of the sink's daemon.
pub const DAEMON: &[Row] = rows! {
    "reports_lost" Measuring Missed "report" "not sent" "see whether there is a way to the collector (ip route get), and a firewall",
    "log_lost" Measuring Missed "log line" "not written" "see whether the disk is full",
    "events_malformed" Measuring Missed "event" "without a meaning to the daemon" "start the daemon again, which loads programs of its own version",
    "leases_refused" Tagging Missed "answer" "to lease questions that made no lease" "the peers above say why",
    "repaired" Stripping Note "program" "taken off by somebody else, and put back" "see what else loads programs on these interfaces",
};

/// Counters that are no reason for anything: work that was done, and other people's packets.
pub const NO_REASON: &[&str] = &[
    "stripped",
    "host_int",
    "lost",
    "recovered",
    "reordered",
    "duplicate",
    "flow_new",
    "flow_restarted",
    "event_sent",
    "lease_granted",
    "lease_closing",
    "nic_stamped",
    "tagged",
    "unwatched",
    "excluded",
    "not_sampled",
    "other_protocol",
    "encapsulated",
    "staged",
    "report",
    "mss_clamped",
    "icmp_translated",
    "events_read",
    "reports_sent",
    "report_datagrams_sent",
    "report_datagrams_lost",
    "log_written",
    "flows_expired",
    "source_flows_expired",
    "sweeps",
    "sweep_cpu_ns",
    "pid",
    "started_ns",
    "alive_ns",
    "leases_asked",
    "leases_answered",
    "lease_cpu_ns",
    "control_answered",
    "control_refused",
];
