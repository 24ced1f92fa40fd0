/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The programs and the daemon keep these counters. */
#ifndef HOSTINT_COUNT_H
#define HOSTINT_COUNT_H

struct counter {
	__u64 packets;
	__u64 bytes;
};

/*
 * Each enumerator is the index of a per-CPU counter. Bytes are those of the frame; at the sink, of the frame as it
 * arrived. Counters are pinned and outlive the version that created them, so new ones are added at the end.
 */
enum sink_counter {
	COUNT_SINK_STRIPPED,       /* INT removed, packet passed on as it was sent */
	COUNT_SINK_DROPPED_TAGGED, /* INT found, packet dropped by the test option */
	COUNT_SINK_FOREIGN_MARK,   /* DSCP mark or port without an INT header */
	COUNT_SINK_TRUNCATED,      /* too short for the INT header that the port announces */
	COUNT_SINK_BAD_SHIM,       /* like INT, but shim type, flags or length differ */
	COUNT_SINK_BAD_VERSION,    /* INT version or hop counts differ */
	COUNT_SINK_BAD_BITMAP,     /* instruction bitmap differs */
	COUNT_SINK_BAD_LENGTH,     /* IP, UDP or TCP length disagrees with the INT header */
	COUNT_SINK_BAD_PROTOCOL,   /* extension header around neither TCP nor UDP */
	COUNT_SINK_BAD_INNER,      /* vxlan-gpe around a packet with other addresses, or around no packet */
	COUNT_SINK_FRAGMENT,       /* marked fragment */
	COUNT_SINK_IP_OPTIONS,     /* marked, after more IPv6 extension headers than are read */
	COUNT_SINK_CANNOT_RESIZE,  /* the kernel refused to shorten the packet: passed on unmodified */
	COUNT_SINK_BROKEN,      /* the kernel refused after a first change: dropped, as the packet would be corrupt */
	COUNT_SINK_UNTRACKED,   /* stripped, but the flow table is full */
	COUNT_SINK_BAD_SEGMENT, /* stripped, but not identified among the superpacket's segments */
	COUNT_SINK_HOST_INT,    /* stripped, tagged by an original Host-INT source; also counted as stripped */
	COUNT_SINK_LOST,        /* sequence numbers declared lost */
	COUNT_SINK_RECOVERED,   /* sequence numbers declared lost that arrived later */
	COUNT_SINK_REORDERED,   /* sequence numbers that arrived after a newer one */
	COUNT_SINK_DUPLICATE,   /* sequence numbers that arrived again */
	COUNT_SINK_FLOW_NEW,
	COUNT_SINK_FLOW_RESTARTED,
	COUNT_SINK_EVENT_SENT,
	COUNT_SINK_EVENT_LOST,  /* the event ring was full */
	COUNT_SINK_NOT_ALLOWED, /* tagged by a host that is not allowed to: passed on unmodified, or dropped (strict) */
	COUNT_SINK_NEW_FLOW_LIMITED, /* stripped, but not tracked, as there are too many new flows */
	COUNT_SINK_REPORT_LIMITED,   /* not reported, as there are too many reports */
	COUNT_SINK_LEASE_GRANTED,    /* lease questions answered */
	COUNT_SINK_LEASE_FORGED,     /* lease questions with a wrong tag */
	COUNT_SINK_LEASE_CLOSING,    /* lease questions not answered, because the sink is about to be detached */
	COUNT_SINK_LEASE_FULL,       /* lease questions not answered, because the table of grants is full */
	COUNT_SINK_NIC_STAMPED,      /* arrival time taken from the network card */
	COUNT_SINK_NIC_NONE,         /* arrival time taken from the kernel, as the driver gave none */
	COUNT_SINK_NIC_OFF,          /* arrival time taken from the kernel, as the card's is impossible */
	COUNT_SINK_MAX,
};

enum source_counter {
	COUNT_SOURCE_TAGGED,
	COUNT_SOURCE_UNWATCHED,      /* TCP or UDP that no rule of the watchlist matches */
	COUNT_SOURCE_OTHER_PROTOCOL, /* not IP, or neither TCP nor UDP */
	COUNT_SOURCE_MALFORMED,      /* headers shorter than they claim */
	COUNT_SOURCE_FRAGMENT,
	COUNT_SOURCE_MAY_FRAGMENT, /* without DF, and long enough to be fragmented on the path */
	COUNT_SOURCE_IP_OPTIONS,   /* more IPv6 extension headers than are read, or options that vxlan-gpe would hide */
	COUNT_SOURCE_VLAN,         /* more than two VLAN tags */
	COUNT_SOURCE_TOO_LONG,     /* would exceed the MTU with INT */
	COUNT_SOURCE_SUPERPACKET,  /* GSO packet left unmodified; counted in segments */
	COUNT_SOURCE_ENCAPSULATED, /* GSO packet tagged in vxlan-gpe; its segments are counted as tagged, too */
	COUNT_SOURCE_STAGED,       /* GSO packet sent through the staging interface */
	COUNT_SOURCE_REPORT,       /* hostint's own reports */
	COUNT_SOURCE_HAS_INT,      /* carries INT already */
	COUNT_SOURCE_GROUP_ADDRESS,     /* multicast or broadcast */
	COUNT_SOURCE_TABLE_FULL,        /* no room for another flow */
	COUNT_SOURCE_NO_CHECKSUM_STATE, /* the checksum's state, or the sum of the payload, cannot be read */
	COUNT_SOURCE_CANNOT_RESIZE,     /* the kernel refused to make room: sent unmodified */
	COUNT_SOURCE_UNDONE,            /* the header could not be written: room removed again, sent unmodified */
	COUNT_SOURCE_DROPPED, /* the room could not be removed again: dropped, as the packet would be corrupt */
	COUNT_SOURCE_FLOW_NEW,
	COUNT_SOURCE_NO_LEASE,    /* no sink is known to be alive in front of the destination */
	COUNT_SOURCE_LEASE_FULL,  /* counted as NO_LEASE, too: no room to ask for a lease */
	COUNT_SOURCE_EXCLUDED,    /* excluded by a rule of the watchlist */
	COUNT_SOURCE_NOT_SAMPLED, /* watched, but not chosen by the rule's sampling; counted in segments */
	COUNT_SOURCE_MAX,
};

/* The source's peer program, at the interface's ingress, counts its changes. Bytes are of the frame as it arrived. */
enum peer_counter {
	COUNT_PEER_MSS_CLAMPED,        /* SYN of a watched host, whose MSS now leaves room for INT */
	COUNT_PEER_ICMP_TRANSLATED,    /* ICMP error about a tagged packet, changed to be about the original */
	COUNT_PEER_ICMP_TOO_SHORT,     /* the quote is too short to find the original */
	COUNT_PEER_ICMP_MTU_TOO_SMALL, /* the stated MTU less INT is below the least that IP allows */
	COUNT_PEER_CANNOT_WRITE,       /* the kernel refused to make the packet writable: passed on unmodified */
	COUNT_PEER_MAX,
};

/* The user half keeps these counters in a pinned map, so that they survive a restart of the daemon. */
enum daemon_counter {
	DAEMON_EVENTS_READ,
	DAEMON_EVENTS_MALFORMED,
	DAEMON_REPORTS_SENT,
	DAEMON_REPORTS_LOST,
	DAEMON_LOG_WRITTEN,
	DAEMON_LOG_LOST,
	DAEMON_FLOWS_EXPIRED,
	DAEMON_SOURCE_FLOWS_EXPIRED,
	DAEMON_SWEEPS,
	DAEMON_SWEEP_CPU_NS,
	DAEMON_PID,
	DAEMON_STARTED_NS,
	DAEMON_ALIVE_NS, /* when the daemon last showed that it runs */
	DAEMON_LEASES_ASKED,
	DAEMON_LEASES_ANSWERED,
	DAEMON_LEASES_REFUSED, /* answers that granted no lease: forged or mismatched */
	DAEMON_LEASE_CPU_NS,
	DAEMON_REPAIRED,         /* programs attached again after another program removed them */
	DAEMON_CONTROL_ANSWERED, /* requests at the control socket that were answered */
	DAEMON_CONTROL_REFUSED,
	DAEMON_DATAGRAMS_SENT, /* datagrams with reports; in format v2.0 several reports share one */
	DAEMON_DATAGRAMS_LOST,
	DAEMON_MAX,
};

#endif
