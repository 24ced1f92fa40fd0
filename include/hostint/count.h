/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the programs and the daemon count. */
#ifndef HOSTINT_COUNT_H
#define HOSTINT_COUNT_H

struct counter {
	__u64 packets;
	__u64 bytes;
};

/*
 * Index of a per-CPU counter. Bytes are those of the frame (source, sink: as it arrived). Counters are pinned and
 * outlive the version that made them: new ones come last.
 */
enum sink_counter {
	COUNT_SINK_STRIPPED,       /* INT removed, packet handed on as it was sent */
	COUNT_SINK_DROPPED_TAGGED, /* INT found, packet dropped on demand */
	COUNT_SINK_FOREIGN_MARK,   /* DSCP mark or port without an INT header behind it */
	COUNT_SINK_TRUNCATED,      /* too short for the INT header that its port announces */
	COUNT_SINK_BAD_SHIM,       /* INT-like, but shim type, flags or length differ */
	COUNT_SINK_BAD_VERSION,    /* INT version or hop counts differ */
	COUNT_SINK_BAD_BITMAP,     /* instruction bitmap differs */
	COUNT_SINK_BAD_LENGTH,     /* IP, UDP or TCP length disagrees with the INT header */
	COUNT_SINK_BAD_PROTOCOL,   /* extension header around neither TCP nor UDP */
	COUNT_SINK_BAD_INNER,      /* vxlan-gpe around a packet of other addresses, or around none */
	COUNT_SINK_FRAGMENT,       /* marked fragment */
	COUNT_SINK_IP_OPTIONS,     /* marked, behind more IPv6 extension headers than are looked through */
	COUNT_SINK_CANNOT_RESIZE,  /* kernel refused to shorten the packet: passed as it came */
	COUNT_SINK_BROKEN,         /* kernel refused half-way: dropped rather than handed on corrupt */
	COUNT_SINK_UNTRACKED,      /* stripped, but the flow table is full */
	COUNT_SINK_BAD_SEGMENT,    /* stripped, but not told apart from the superpacket's other segments */
	COUNT_SINK_HOST_INT,       /* stripped, tagged by an original Host-INT source */
	COUNT_SINK_LOST,           /* sequence numbers declared lost */
	COUNT_SINK_RECOVERED,      /* sequence numbers declared lost that came after all */
	COUNT_SINK_REORDERED,
	COUNT_SINK_DUPLICATE,
	COUNT_SINK_FLOW_NEW,
	COUNT_SINK_FLOW_RESTARTED,
	COUNT_SINK_EVENT_SENT,
	COUNT_SINK_EVENT_LOST,  /* event ring full */
	COUNT_SINK_NOT_ALLOWED, /* tagged by a host that is not allowed to: passed as it came, or dropped (strict) */
	COUNT_SINK_NEW_FLOW_LIMITED, /* stripped, but there are too many new flows */
	COUNT_SINK_REPORT_LIMITED,   /* news not told: too many reports */
	COUNT_SINK_LEASE_GRANTED,    /* lease questions answered */
	COUNT_SINK_LEASE_FORGED,     /* lease questions whose tag is wrong */
	COUNT_SINK_LEASE_CLOSING,    /* lease questions not answered, because the sink is about to be detached */
	COUNT_SINK_LEASE_FULL,       /* lease questions not answered for lack of room */
	COUNT_SINK_NIC_STAMPED,      /* arrival by the network card's clock */
	COUNT_SINK_NIC_NONE,         /* by the kernel's clock, as the driver gave no time */
	COUNT_SINK_NIC_OFF,          /* by the kernel's clock, as the card's time cannot be */
	COUNT_SINK_MAX,
};

enum source_counter {
	COUNT_SOURCE_TAGGED,
	COUNT_SOURCE_UNWATCHED,      /* TCP/UDP that no rule of the watchlist is about */
	COUNT_SOURCE_OTHER_PROTOCOL, /* not IP, or neither TCP nor UDP */
	COUNT_SOURCE_MALFORMED,      /* headers shorter than they claim */
	COUNT_SOURCE_FRAGMENT,
	COUNT_SOURCE_MAY_FRAGMENT,  /* DF not set and long enough to be fragmented on the way */
	COUNT_SOURCE_IP_OPTIONS,    /* behind more IPv6 extension headers than are looked through */
	COUNT_SOURCE_VLAN,          /* more than two VLAN tags */
	COUNT_SOURCE_TOO_LONG,      /* would exceed the MTU */
	COUNT_SOURCE_SUPERPACKET,   /* GSO packet left alone; counted in segments */
	COUNT_SOURCE_ENCAPSULATED,  /* of those tagged: GSO packets in vxlan-gpe */
	COUNT_SOURCE_STAGED,        /* GSO packet sent through the staging interface */
	COUNT_SOURCE_REPORT,        /* report traffic */
	COUNT_SOURCE_HAS_INT,       /* carries INT already */
	COUNT_SOURCE_GROUP_ADDRESS, /* multicast or broadcast */
	COUNT_SOURCE_TABLE_FULL,
	COUNT_SOURCE_NO_CHECKSUM_STATE, /* cannot see whether the checksum is finished */
	COUNT_SOURCE_CANNOT_RESIZE,     /* kernel refused to make room: went out unchanged */
	COUNT_SOURCE_UNDONE,            /* header could not be written: room given back */
	COUNT_SOURCE_DROPPED,           /* room could not be given back: dropped rather than sent corrupt */
	COUNT_SOURCE_FLOW_NEW,
	COUNT_SOURCE_NO_LEASE,    /* no sink is known to be alive at the destination */
	COUNT_SOURCE_LEASE_FULL,  /* of those: no room to ask for a lease */
	COUNT_SOURCE_EXCLUDED,    /* a rule of the watchlist says so */
	COUNT_SOURCE_NOT_SAMPLED, /* watched, but not all flows or packets are; counted in segments */
	COUNT_SOURCE_MAX,
};

/* What the source's peer program, at the interface's ingress, changed or could not. Frame bytes as arrived. */
enum peer_counter {
	COUNT_PEER_MSS_CLAMPED,     /* SYN of a watched host: its MSS leaves room for INT now */
	COUNT_PEER_ICMP_TRANSLATED, /* ICMP error that quotes a tagged packet: says now what it says of the original */
	COUNT_PEER_ICMP_TOO_SHORT,  /* the quote ends before what the original can be known by */
	COUNT_PEER_ICMP_MTU_TOO_SMALL, /* the MTU stated, less INT, is below what IP allows */
	COUNT_PEER_CANNOT_WRITE,       /* kernel refused to make the packet writable: passed unchanged */
	COUNT_PEER_MAX,
};

/* Counters of the user half, kept where the daemon's end does not lose them. */
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
	DAEMON_ALIVE_NS, /* last sign of life */
	DAEMON_LEASES_ASKED,
	DAEMON_LEASES_ANSWERED,
	DAEMON_LEASES_REFUSED, /* answers that were no lease: forged, mismatched */
	DAEMON_LEASE_CPU_NS,
	DAEMON_REPAIRED,         /* programs put back that somebody else took off */
	DAEMON_CONTROL_ANSWERED, /* requests at the control socket */
	DAEMON_CONTROL_REFUSED,
	DAEMON_DATAGRAMS_SENT, /* with reports; of v2.0, several in one */
	DAEMON_DATAGRAMS_LOST,
	DAEMON_MAX,
};

#endif
