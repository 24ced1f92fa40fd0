/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the kernel half and the user half exchange: keys, values, events, counters, limits. */
#ifndef HOSTINT_ABI_H
#define HOSTINT_ABI_H

enum hostint_limit {
	MAX_EDGES = 16,       /* latency bucket edges */
	HISTOGRAM_SLOTS = 32, /* slot n > 0 holds latencies in [2^(n-1), 2^n) ns; slot 0 all <= 0 */
	WINDOW_WORDS = 4,     /* 256 sequence numbers can be told apart behind the newest one */
	MAX_REPORT_PORTS = 8, /* UDP ports whose traffic is never tagged */
	DEST_NAME_SIZE = 64,  /* name under which a destination was added, NUL-terminated */
	SWEEP_KEYS = 64,      /* flow keys in one run of the sweep program */
};

/* Addresses and ports are in network byte order, everything else in host order. */
struct flow_key {
	__be32 saddr;
	__be32 daddr;
	__be16 sport;
	__be16 dport;
	__u8 protocol;
	__u8 zero[3];
};

/* One per host: what its source and its sink share. */
struct host_settings {
	__s64 clock_offset_ns; /* add to the kernel clock that the programs read: ns since the Unix epoch */
	__u32 node_id;
	__u32 report_port_count;
	__be16 report_port[MAX_REPORT_PORTS];
};

enum sink_flag {
	SINK_OVER_TCP_UDP = 1,  /* recognise INT over TCP/UDP, marked by DSCP */
	SINK_EXTENSION_UDP = 2, /* recognise INT behind an extra UDP header */
	SINK_DROP_TAGGED = 4,   /* test option: drop what would have been stripped */
};

struct sink_settings {
	__u64 report_period_ns;
	__u64 loss_timeout_ns;
	__u64 bucket_hold_ns; /* least time between two latency change events of a flow */
	__u64 started_ns;     /* epoch; flows born later were seen from their first packet on */
	__u32 flags;
	__be16 extension_port;
	__u8 tos_value; /* DSCP mark, already shifted to its place in the ToS byte */
	__u8 tos_mask;
	__u32 edge_count;           /* thresholds beyond are never reached */
	__s32 edge_up[MAX_EDGES];   /* a latency at or above leaves the bucket upwards */
	__s32 edge_down[MAX_EDGES]; /* a latency below leaves the bucket downwards */
	__u32 zero;
};

/* What a source program was attached with; key: source_key. */
struct source_key {
	__u32 ifindex;
	__u32 hook;
};

enum source_hook {
	HOOK_TC_EGRESS = 1,
	HOOK_TC_INGRESS = 2,
	HOOK_XDP = 3,
};

enum encapsulation {
	ENCAP_OVER_TCP_UDP = 1,
	ENCAP_EXTENSION_UDP = 2,
};

struct source_info {
	__u64 attached_ns;
	__u32 encapsulation;
	__u32 mtu; /* fixed limit; 0: the interface's own MTU is asked for every packet */
	__be16 extension_port;
	__u8 tos_value;
	__u8 tos_mask;
	__u32 clsact; /* 0: own link (tcx, XDP); else the filter's handle << 16 | priority */
	__u64 idle_timeout_ns;
};

/* IPv4 destination prefixes of the watchlist. */
struct dest_key {
	__u32 prefix_len;
	__be32 addr;
};

struct dest_value {
	__u8 name[DEST_NAME_SIZE];
};

struct source_flow {
	struct bpf_spin_lock lock;
	__u32 sequence;
	__u64 created_ns; /* epoch */
	__u64 last_ns;
};

/* State of a flow at the sink. Changed only under its lock. */
struct sink_flow {
	struct bpf_spin_lock lock;
	__u32 head;    /* newest sequence number seen */
	__u32 first;   /* oldest sequence number expected */
	__u32 awaited; /* bits set in all three bitmaps */
	/* Numbers not seen yet, by how long they are missing; bit = number % 256.
	 * fresh: since gap_ns or later; aging: before gap_ns; declared: counted as lost. */
	__u64 fresh[WINDOW_WORDS];
	__u64 aging[WINDOW_WORDS];
	__u64 declared[WINDOW_WORDS];
	__u64 gap_ns;        /* begin of the present loss period, 0: nothing is awaited */
	__u64 fresh_hole_ns; /* arrival before the first hole of the period */
	__u64 aging_hole_ns;
	__u64 lost_hole_ns; /* losses not yet reported: arrival before the first, */
	__u32 lost_first;   /* its number, */
	__u32 lost_count;   /* how many */
	__u64 first_ns;     /* 0: not in use yet */
	__u64 last_ns;
	__u64 report_ns;
	__u64 bucket_ns;
	__u64 packets;
	__u64 bytes;     /* IP total length as the application sent it */
	__u64 lost;      /* numbers declared lost, */
	__u64 recovered; /* of which so many came after all */
	__u64 reordered; /* behind a newer number, recovered ones included */
	__u64 duplicates;
	__u64 late; /* recovered or duplicate: too far behind to be told apart, counted as recovered */
	__s64 latency_sum_ns;
	__s32 latency_min_ns;
	__s32 latency_max_ns;
	__s32 latency_last_ns;
	__u32 restarts; /* numbering began anew */
	__u32 source_node;
	__u16 source_port;
	__u8 bucket;
	__u8 encapsulation;
	__u32 ifindex;
	__s32 latency_smooth_ns; /* moving average, weight 1/8: what buckets are judged by */
	__s32 first_latency_ns;  /* of the packet that arrived at first_ns */
	__u32 zero;
	__u32 histogram[HISTOGRAM_SLOTS];
};

enum event_kind {
	EVENT_LATENCY = 1,
	EVENT_LOSS = 2,
	EVENT_GAP = 3, /* numbers began to miss: sweep this flow when the loss timeout is over */
};

enum event_reason {
	REASON_NEW_FLOW = 1,
	REASON_BUCKET = 2,
	REASON_PERIOD = 4,
};

struct latency_event {
	__u32 kind;
	__u8 reasons;
	__u8 encapsulation;
	__u8 l4_len; /* bytes of l4 that are filled: 8 or 20 */
	__u8 bucket;
	struct flow_key key;
	__u64 now_ns;
	__s32 latency_ns;
	__u32 ifindex;
	__u8 ip[20]; /* as received */
	__u8 l4[20]; /* as received; extension-udp: the inner header */
	__u8 int_block[36];
	__u32 zero;
};

struct loss_event {
	__u32 kind;
	__u32 ifindex;
	struct flow_key key;
	__u64 hole_ns; /* arrival of the packet before the first lost one */
	__u32 first;   /* first number lost */
	__u32 count;
	__u32 source_node;
	__u16 source_port;
	__u16 zero;
};

struct gap_event {
	__u32 kind;
	__u32 zero;
	struct flow_key key;
};

struct counter {
	__u64 packets;
	__u64 bytes;
};

/* Index of a per-CPU counter. Bytes are those of the frame (source, sink: as it arrived). */
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
	COUNT_SINK_FRAGMENT,       /* marked fragment */
	COUNT_SINK_IP_OPTIONS,     /* marked, with IPv4 options */
	COUNT_SINK_CANNOT_RESIZE,  /* kernel refused to shorten the packet */
	COUNT_SINK_UNTRACKED,      /* stripped, but the flow table is full */
	COUNT_SINK_HOST_INT,       /* stripped, tagged by an original Host-INT source */
	COUNT_SINK_LOST,           /* sequence numbers declared lost */
	COUNT_SINK_RECOVERED,      /* sequence numbers declared lost that came after all */
	COUNT_SINK_REORDERED,
	COUNT_SINK_DUPLICATE,
	COUNT_SINK_FLOW_NEW,
	COUNT_SINK_FLOW_RESTARTED,
	COUNT_SINK_EVENT_SENT,
	COUNT_SINK_EVENT_LOST, /* event ring full */
	COUNT_SINK_MAX,
};

enum source_counter {
	COUNT_SOURCE_TAGGED,
	COUNT_SOURCE_UNWATCHED,      /* IPv4 TCP/UDP to a destination that is not on the list */
	COUNT_SOURCE_OTHER_PROTOCOL, /* not IPv4, or neither TCP nor UDP */
	COUNT_SOURCE_MALFORMED,      /* headers shorter than they claim */
	COUNT_SOURCE_FRAGMENT,
	COUNT_SOURCE_MAY_FRAGMENT, /* DF not set and long enough to be fragmented on the way */
	COUNT_SOURCE_IP_OPTIONS,
	COUNT_SOURCE_VLAN,
	COUNT_SOURCE_TOO_LONG,      /* would exceed the MTU */
	COUNT_SOURCE_SUPERPACKET,   /* GSO packet; counted in segments */
	COUNT_SOURCE_REPORT,        /* report traffic */
	COUNT_SOURCE_HAS_INT,       /* carries INT already */
	COUNT_SOURCE_GROUP_ADDRESS, /* multicast or broadcast */
	COUNT_SOURCE_TABLE_FULL,
	COUNT_SOURCE_NO_CHECKSUM_STATE, /* cannot see whether the checksum is finished */
	COUNT_SOURCE_CANNOT_RESIZE,     /* kernel refused to make room: went out unchanged */
	COUNT_SOURCE_UNDONE,            /* header could not be written: room given back */
	COUNT_SOURCE_DROPPED,           /* room could not be given back: dropped rather than sent corrupt */
	COUNT_SOURCE_FLOW_NEW,
	COUNT_SOURCE_MAX,
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
	DAEMON_MAX,
};

#endif
