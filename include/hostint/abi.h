/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the kernel half and the user half exchange: keys, values, events, counters, limits. */
#ifndef HOSTINT_ABI_H
#define HOSTINT_ABI_H

enum hostint_limit {
#ifdef NEXT_ABI
	ABI_VERSION = 99,
#else
	ABI_VERSION = 3, /* of what is pinned; another one's maps are not touched, but read */
#endif
	MAX_EDGES = 16,       /* latency bucket edges */
	HISTOGRAM_SLOTS = 32, /* slot n > 0 holds latencies in [2^(n-1), 2^n) ns; slot 0 all <= 0 */
	WINDOW_WORDS = 4,     /* 256 sequence numbers can be told apart behind the newest one */
	MAX_REPORT_PORTS = 8, /* UDP ports whose traffic is never tagged */
	DEV_NAME_SIZE = 16,   /* of an interface, NUL-terminated */
	SWEEP_KEYS = 64,      /* flow keys in one run of the sweep program */
	COUNTER_SLOTS = 64,   /* of each role: room for counters to come */
};

/*
 * Addresses and ports are in network byte order, everything else in host order. IPv4 addresses are mapped
 * ones (::ffff:a.b.c.d). layers: protocol | inner VLAN id << 8 | outer VLAN id << 20; a single tag is the
 * inner one.
 */
struct flow_key {
	__be32 saddr[4];
	__be32 daddr[4];
	__be16 sport;
	__be16 dport;
	__u32 layers;
};

/* One per host: what its source and its sink share. */
struct host_settings {
	__s64 clock_offset_ns; /* add to the kernel clock that the programs read: ns since the Unix epoch */
	__u32 node_id;
	__u32 report_port_count;
	__be16 report_port[MAX_REPORT_PORTS];
	__u32 clock_source;       /* enum clock_source */
	__u32 clock_synchronised; /* 1: the kernel believes it */
	__u64 lease_key[2];       /* SipHash key of lease messages; 0: none, they are only checked for damage */
	__u64 instance;           /* which host this is, should two have one node id */
	__s32 tai_offset_s;
	__u32 has_lease_key;
};

enum clock_source {
	CLOCK_UNKNOWN = 0,
	CLOCK_TAI = 1,
	CLOCK_REALTIME_OFFSET = 2, /* the monotonic clock, and the offset to the time since the Unix epoch */
};

enum sink_flag {
	SINK_OVER_TCP_UDP = 1,  /* recognise INT over TCP/UDP, marked by DSCP */
	SINK_EXTENSION_UDP = 2, /* recognise INT behind an extra UDP header */
	SINK_DROP_TAGGED = 4,   /* test option: drop what would have been stripped */
	SINK_VXLAN_GPE = 8,     /* recognise INT in VXLAN-GPE */
	SINK_STRICT = 16,       /* drop what is tagged by a host that is not allowed to */
	SINK_CLOSING = 32,      /* about to be detached: no leases any more */
};

/* One token each interval_ns, saved up for burst_ns at most. */
struct token_rate {
	__u64 interval_ns;
	__u64 burst_ns;
};

/* When the bucket would be full but for what was taken: later than now by what is missing. */
struct token_buckets {
	__u64 new_flows_ns;
	__u64 reports_ns;
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
	__u32 report_bytes;         /* that a report costs at most; a flow earns them by its packets. 0: no limit */
	/* Token buckets: ns between two, and how many ns may be saved up; 0: no limit. */
	struct token_rate new_flows_source; /* of one source address */
	struct token_rate new_flows_total;
	struct token_rate reports_source;
	struct token_rate reports_total;
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
	ENCAP_VXLAN_GPE = 3,
};

/* What becomes of superpackets (GSO), which a device or the kernel splits behind the hook. */
enum superpackets {
	SUPER_SKIP = 0,      /* untagged, counted in segments */
	SUPER_ENCAP = 1,     /* TCP in vxlan-gpe, whose header is repeated in each segment */
	SUPER_ENCAP_ALL = 2, /* UDP too */
	SUPER_STAGE = 3,     /* segmented by another interface first, then tagged one by one */
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
	__u32 superpackets;
	__u32 stage_ifindex; /* the staging interface, 0: none */
	__u32 compat;        /* 1: full checksums as Host-INT expects them */
	__u32 gso_max_segs;  /* no-gso: of the interface before; else 0 */
	__u32 clsact_made;   /* 1: the interface had no clsact qdisc before */
	__u32 mss_clamp;     /* 1: answers are made to suit a stack that does not know of INT */
	__u8 dev[DEV_NAME_SIZE];
};

struct source_flow {
	struct bpf_spin_lock lock;
	__u32 sequence;
	__u64 created_ns; /* epoch */
	__u64 last_ns;
	__u32 encapsulated; /* 1: a superpacket was sent, so that all packets go in vxlan-gpe now, on one path */
	__u32 path_mtu;     /* longest packet, INT included, on a path too narrow to tell the stack of; 0: no limit */
	__u64 leased_ns;    /* tagged until then (coarse monotonic clock) without asking the lease */
};

/* State of a flow at the sink. A packet in order is accounted for by atomics, everything else under the lock. */
struct sink_flow {
	struct bpf_spin_lock lock;
	__u32 first;   /* oldest sequence number expected */
	__u32 head;    /* newest sequence number seen; with awaited it changes at once */
	__u32 awaited; /* bits set in all three bitmaps; top bit: a packet is being accounted for under the lock */
	/* What every packet reads or writes comes first: it shares few cache lines. */
	__u64 first_ns; /* 0: not in use yet */
	__u64 last_ns;
	__u64 gap_ns; /* begin of the present loss period, 0: nothing is awaited */
	__u64 report_ns;
	__u64 bucket_ns;
	__u64 packets;
	__u64 bytes; /* IP total length as the application sent it */
	__u64 lost;  /* numbers declared lost, */
	__s64 latency_sum_ns;
	__s32 latency_min_ns;
	__s32 latency_max_ns;
	__s32 latency_last_ns;
	__s32 latency_smooth_ns; /* moving average, weight 1/8: what buckets are judged by */
	__u32 source_node;
	__u16 source_port;
	__u8 bucket;
	__u8 encapsulation;
	__u32 ifindex;
	__s32 first_latency_ns; /* of the packet that arrived at first_ns */
	__u32 histogram[HISTOGRAM_SLOTS];
	/* Numbers not seen yet, by how long they are missing; bit = number % 256.
	 * fresh: since gap_ns or later; aging: before gap_ns; declared: counted as lost. */
	__u64 fresh[WINDOW_WORDS];
	__u64 aging[WINDOW_WORDS];
	__u64 declared[WINDOW_WORDS];
	__u64 fresh_hole_ns; /* arrival before the first hole of the period */
	__u64 aging_hole_ns;
	__u64 lost_hole_ns; /* losses not yet reported: arrival before the first, */
	__u32 lost_first;   /* its number, */
	__u32 lost_count;   /* how many */
	__u64 recovered;    /* of those lost so many came after all */
	__u64 reordered;    /* behind a newer number, recovered ones included */
	__u64 duplicates;
	__u64 late;     /* recovered or duplicate: too far behind to be told apart, counted as recovered */
	__u32 restarts; /* numbering began anew */
	__u32 reports;
	__u64 allowed_ns;   /* stripped until then (coarse monotonic clock) without asking who is allowed */
	__u64 earned_bytes; /* of IP packets as they came, INT included: what reports are paid with */
	__u32 announced;    /* 1: its first report went out */
	__u32 zero;
#ifdef NEXT_ABI
	__u64 to_come;
#endif
};

/* What a walk over a flow table is to look for. */
struct walk_request {
	__u64 now_ns;
	__u64 idle_ns;
	__u64 loss_timeout_ns;
	__u64 summary_ns; /* flows with a packet since then are summarised; 0: none */
	__u32 slice;      /* flows before a pause */
	__u32 seen;
};

struct walk_record {
	struct flow_key key;
	__u32 finding;
};

enum walk_finding {
	WALK_PAUSE = 0, /* the slice is done */
	WALK_IDLE = 1,
	WALK_LOSS = 2, /* a loss period that nobody ended, or a loss that was not told yet */
	WALK_SUMMARY = 3,
};

enum walk {
	WALK_SINK = 0,
	WALK_SOURCE = 1,
	WALKS = 2,
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
	__u8 l4_len; /* bytes of l4 that are filled: 8 or 20; IPv6: 0, nothing is quoted */
	__u8 bucket;
	struct flow_key key;
	__u64 now_ns;
	__s32 latency_ns;
	__u32 ifindex;
	__u32 source_node;
	__u32 sequence;
	__u32 ingress_ts; /* low 32 bits of ns since the Unix epoch */
	__u32 egress_ts;
	__u16 ingress_port;
	__u16 egress_port;
	__u32 queue_packets; /* root queue of the source's interface */
	__u32 queue_bytes;
	__u8 ip[20]; /* as received; vxlan-gpe: the inner header */
	__u8 l4[20]; /* as received; extension-udp, vxlan-gpe: the inner header */
	__u8 has_queue;
	__u8 by_nic; /* now_ns is the network card's time */
	__u16 zero;
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

#endif
