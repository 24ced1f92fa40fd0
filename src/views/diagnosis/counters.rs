//! Meaning and advice for each counter of packets that were not tagged, not stripped or not measured.

use crate::model::{ReasonSeverity, ReasonTopic};

/// A counter with meaning and advice.
#[derive(Clone, Copy, Debug)]
pub struct CounterReason {
    pub counter: &'static str,
    pub topic: ReasonTopic,
    pub severity: ReasonSeverity,
    /// The counted thing, in the singular.
    pub noun: &'static str,
    /// The rest of the sentence, which fits singular and plural.
    pub what: &'static str,
    pub advice: &'static str,
}

macro_rules! rows {
    ($($counter:literal $topic:ident $severity:ident $noun:literal $what:literal $advice:literal,)*) => {
        &[$(CounterReason {
            counter: $counter,
            topic: ReasonTopic::$topic,
            severity: ReasonSeverity::$severity,
            noun: $noun,
            what: $what,
            advice: $advice,
        },)*]
    };
}

/// Counters of the source, and of its program for answers.
pub const SOURCE: &[CounterReason] = rows! {
    "too_long" Tagging Missed "packet" "too long" "clamp the MSS, lower the route's MTU, or raise the interface's MTU",
    "superpacket" Tagging Missed "segment" "in superpackets that were left untagged" "attach with --superpackets encap (TCP), encap-all (UDP to sinks in XDP, too) or stage (UDP too)",
    "no_lease" Tagging Missed "packet" "to a host without a lease" "see the state of the peers; start hostint sink there; for a sink of Host-INT attach with --compat host-int and use add-dest --static",
    "lease_full" Tagging Missed "packet" "for which the lease table had no room" "watch fewer hosts",
    "began_before_lease" Tagging Note "packet" "of connections that are older than hostint here" "nothing to do: in tunnels they are measured after a reconnect",
    "unproved" Tagging Missed "packet" "whose path no form of tagging is known to pass" "see the state of the peers; permit UDP to port 4790 between the hosts",
    "left" Tagging Missed "packet" "of flows whose other host did not answer for a second, or whose form of tagging no longer passes" "see the state of the peers; flows are tagged again with the next answer, TCP connections in tunnels after a reconnect",
    "guarded" Tagging Missed "packet" "left untagged as a precaution, because tagged packets of their connections seemed to be lost" "look whether the path loses packets (hostint history why); if it does not, find the device on it that drops tagged packets, or UDP to port 4790, or leave the host out of the destinations",
    "no_option" Tagging Note "packet" "in which the sender's stack made no room for an option with INT" "nothing to do for SYNs and packets of guests; else see whether hostint source runs, and what status says this kernel lacks",
    "signed" Tagging Note "packet" "of TCP connections that are signed (TCP-AO, MD5)" "nothing to do: their signature forbids to make room for INT",
    "table_full" Tagging Missed "packet" "for whose flow the flow table had no room" "attach with a larger --max-flows, or a shorter --idle-flow-timeout",
    "no_checksum_state" Tagging Missed "packet" "whose checksum may be unfinished, which this kernel cannot find out" "attach with --encap extension-udp, or use Linux 6.2 or newer",
    "cannot_resize" Tagging Missed "packet" "that the kernel refused to enlarge" "check whether memory is short (dmesg)",
    "undone" Tagging Missed "packet" "restored, because the INT header could not be written" "check whether memory is short (dmesg)",
    "dropped" Tagging Dropped "packet" "dropped, because neither tagging nor restoring worked" "check whether memory is short (dmesg); detach the source if it continues",
    "ip_options" Tagging Missed "packet" "with IP options in vxlan-gpe or ioam, or behind too many IPv6 extension headers" "for IP options attach with --superpackets stage; otherwise nothing to do",
    "vlan" Tagging Missed "packet" "with more than two VLAN tags" "attach to a VLAN interface above, which sees fewer tags",
    "fragment" Tagging Note "fragment" "never tagged" "have the sender keep to the MTU",
    "may_fragment" Tagging Note "packet" "that a router might fragment (long, without DF)" "nothing to do, or have the sender set DF (IP_PMTUDISC_DO)",
    "has_int" Tagging Note "packet" "already with INT, or to the port that announces INT" "check whether another source tags in front of this one",
    "group_address" Tagging Note "packet" "to a multicast group, never tagged" "leave multicast groups out of the destinations",
    "malformed" Tagging Note "packet" "with headers shorter than their length fields" "find the sender (tcpdump)",
    "icmp_too_short" Tagging Note "ICMP error" "with a quote too short to be translated" "if connections stall, lower the route's MTU by the size of INT",
    "icmp_mtu_too_small" Tagging Note "ICMP error" "with an MTU that leaves no room for INT" "find the router that sends it (tcpdump icmp); leave hosts behind it out of the destinations",
    "icmp_refused" Tagging Note "ICMP error" "that refuses the port of a tunnel" "find the host without a sink, or the firewall, that sends it (tcpdump icmp); permit UDP to port 4790 there",
    "peer_cannot_write" Tagging Missed "answer" "that the kernel did not let hostint change (an MSS to be clamped, an ICMP error to be translated)" "check whether memory is short (dmesg)",
};

/// Counters of the transit hop.
pub const TRANSIT: &[CounterReason] = rows! {
    "too_long" Pushing Missed "packet" "without room for an entry" "raise the interface's MTU, or compare --max-hops of the source with the hops on the path",
    "superpacket" Pushing Missed "superpacket" "that would be cut wrongly, or was merged on the path" "turn tx-udp_tnl-segmentation of the interface off (ethtool -K), then attach again",
    "no_arrival" Pushing Missed "packet" "with an entry that lacks the time of arrival" "attach to the interface by which they arrive, or with a larger --max-arrivals",
    "cannot_resize" Pushing Missed "packet" "that the kernel refused to enlarge" "check whether memory is short (dmesg)",
    "undone" Pushing Missed "packet" "restored, because the entry could not be written" "check whether memory is short (dmesg)",
    "dropped" Pushing Dropped "packet" "dropped, because neither pushing nor restoring worked" "check whether memory is short (dmesg); detach the transit hop if it continues",
    "unfinished" Pushing Missed "packet" "with INT-MD and a checksum that the device finishes" "turn checksum offload off where INT-MD is made on this host (ethtool -K DEV tx off)",
    "not_allowed" Pushing Note "packet" "of a source that is not allowed" "nothing to do, or add its address to --allow",
    "no_budget" Pushing Note "packet" "onto which no more hops may push" "nothing to do, or raise --max-hops at the source",
    "own_hop" Pushing Note "packet" "with an entry of this node already" "nothing to do, or find the host with the same node id",
    "padded" Pushing Note "packet" "whose domain asks for words that hostint does not know" "nothing to do",
    "foreign_mark" Pushing Note "packet" "with the mark but without INT" "nothing to do; if there are many, choose another --dscp-value",
    "truncated" Pushing Note "packet" "too short for the INT that it announces" "find the sender (tcpdump)",
    "bad_shim" Pushing Note "packet" "with INT of another kind" "find the sender (tcpdump)",
    "bad_version" Pushing Note "packet" "with INT of another version or hop count" "find the sender (tcpdump)",
    "bad_bitmap" Pushing Note "packet" "with other INT instructions" "find the sender (tcpdump)",
    "bad_length" Pushing Note "packet" "whose lengths disagree with its INT" "find the sender (tcpdump)",
    "fragment" Pushing Note "fragment" "with the mark" "find the router that fragments packets with INT",
    "ip_options" Pushing Note "packet" "behind IP options or extension headers that hops do not read" "nothing to do",
    "option_refused" Pushing Missed "segment" "whose TCP option 114 the kernel did not let hostint change" "check whether memory is short (dmesg)",
    "option_no_arrival" Pushing Note "segment" "with TCP option 114 whose time in this host is not known" "attach to the interface by which they arrive, or with a larger --max-arrivals",
    "option_untold" Pushing Note "segment" "with TCP option 114 to which neither queue nor free bandwidth is known" "attach to the interface that has the queue, with a qdisc that counts its bytes (fq_codel, tbf, htb), or say --link-speed",
    "postcard_lost" Pushing Note "packet" "in INT-MX that are reported to no collector" "let hostint transit run, and have fewer packets reported (--mx-sample at the source)",
    "postcard_unread" Pushing Note "packet" "in INT-MX that programs of another version report" "start hostint transit run anew, so that programs and daemon are of one version",
    "option_malformed" Pushing Note "segment" "with TCP options that do not fit" "find the sender (tcpdump)",
    "option_no_data" Pushing Note "segment" "with TCP option 114 but without data" "nothing to do: echoes come so",
    "option_skipped" Pushing Note "segment" "whose request is for one hop in many packets" "nothing to do",
};

/// Counters of the sink.
pub const SINK: &[CounterReason] = rows! {
    "not_allowed" Stripping Missed "packet" "tagged by a host without a lease, passed on with INT" "for sources with --static and sources of Host-INT, start the sink with --allow PREFIX; otherwise compare --lease-key",
    "dropped_tagged" Stripping Dropped "packet" "with INT, dropped because of --drop-tagged" "start the sink without --drop-tagged to have them stripped",
    "broken" Stripping Dropped "packet" "dropped, because stripping failed half-way" "check whether memory is short (dmesg); detach the sink if it continues",
    "cannot_resize" Stripping Missed "packet" "that the kernel refused to shorten" "check whether memory is short (dmesg)",
    "fragment" Stripping Missed "fragment" "with INT, because a router on the path fragments" "lower --mtu at the source, or raise the MTU on the path",
    "truncated" Stripping Missed "packet" "too short for the INT header that they announce" "find the sender to the extension port (tcpdump)",
    "bad_shim" Stripping Missed "packet" "with INT of another kind" "find out what tags them; hostint-wire(7) lists the recognised headers",
    "bad_version" Stripping Missed "packet" "with INT of another version or hop count" "find out what tags them; hostint-wire(7) lists the recognised headers",
    "bad_bitmap" Stripping Missed "packet" "with other INT instructions" "find out what tags them; hostint-wire(7) lists the recognised headers",
    "bad_length" Stripping Missed "packet" "with lengths that contradict the INT header" "find out what changes packets on the path (a firewall, a proxy)",
    "bad_protocol" Stripping Missed "packet" "with INT around neither TCP nor UDP" "find out what tags them; hostint-wire(7) lists the recognised headers",
    "bad_inner" Stripping Missed "packet" "in vxlan-gpe with other addresses inside than outside" "check whether there is NAT on the path, or another party's VXLAN-GPE tunnel",
    "ip_options" Stripping Missed "packet" "marked, behind too many IPv6 extension headers" "nothing to do: hostint's source does not tag such packets",
    "foreign_mark" Stripping Note "packet" "with the mark, but without INT" "nothing to do; if there are many, choose another --dscp-value on both sides",
    "lease_forged" Stripping Missed "lease question" "with a wrong authentication tag" "give all hosts the same --lease-key; if they have it, a router translates addresses on the path (NAT), or questions are forged",
    "lease_full" Stripping Missed "lease question" "not answered for lack of room" "find out which hosts ask from that many addresses; a --lease-key keeps strangers out",
    "lease_astray" Stripping Missed "lease question" "refused, because tagged packets reach this host through an interface without a sink" "attach the sink to each interface that packets of the sources come in through",
    "probe_forged" Stripping Note "probe" "with a wrong authentication tag, or from a host without a lease" "give all hosts the same --lease-key; if they have it, probes are forged",
    "untracked" Measuring Missed "packet" "stripped but not measured, because the flow table is full" "start the sink with a larger --max-flows, or a shorter --idle-flow-timeout",
    "bad_segment" Measuring Missed "segment" "stripped but not measured, because a merged superpacket hides their boundaries" "use --hook xdp at the sink, or --superpackets stage at the source",
    "damaged" Measuring Note "packet" "with a wrong or unknown sequence number" "find the device on the path that damages packets",
    "flow_coarse" Measuring Note "flow" "whose quantiles, and those of its pair and class, are only within a factor of 2" "start the sink with a larger --max-fine-flows if flows and pairs need exact quantiles",
    "stack_checksum" Stripping Note "packet" "with transit hops and an L4 checksum that nothing explains" "find the switch that pushes INT and damages checksums; hops are not invited on its path for ten minutes",
    "path_full" Measuring Missed "time" "of packets over transit hops that is not in the figures of its path, because there are too many paths" "nothing to do: reports still have those paths; they are forgotten ten minutes after their last packet",
    "trace_full" Measuring Note "packet" "in ioam that passed more routers than there was room for, of which the last ones are not known" "attach the source with a larger --max-hops",
    "new_flow_limited" Measuring Missed "packet" "of new flows beyond the rate limit, stripped but not measured" "start the sink with a larger --max-new-flows if those flows are yours",
    "report_limited" Measuring Missed "report" "not made because of the rate limit" "start the sink with a larger --max-reports or --report-period",
    "event_lost" Measuring Missed "event" "lost because the daemon was too slow or not running" "keep hostint sink running; if it runs, give it a longer --report-period",
    "nic_none" Measuring Note "packet" "stamped by the kernel, because the network card gave no timestamp" "check that the card stamps all packets (hwstamp_ctl), or leave out --nic-timestamps",
    "nic_off" Measuring Note "packet" "stamped by the kernel, because the network card's clock differs from the host's" "run phc2sys, or leave out --nic-timestamps",
};

/// Counters of the sink's daemon.
pub const DAEMON: &[CounterReason] = rows! {
    "reports_lost" Measuring Missed "report" "not sent" "check the route to the collector (ip route get) and firewalls",
    "log_lost" Measuring Missed "log line" "not written" "check whether the disk is full",
    "events_malformed" Measuring Missed "event" "that the daemon does not understand" "restart the daemon, which loads programs of its own version",
    "leases_refused" Tagging Missed "answer" "to lease questions that granted no lease" "see the state of the peers",
    "repaired" Stripping Note "program" "detached by another process, and attached again" "find out what else attaches programs to these interfaces",
};
