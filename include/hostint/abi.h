/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kernel half and the user half exchange these keys, values, events and limits. */
#ifndef HOSTINT_ABI_H
#define HOSTINT_ABI_H

enum hostint_limit {
	ABI_VERSION = 4,      /* version of the pinned maps; maps of another version are read but not changed */
	MAX_EDGES = 16,       /* latency bucket edges */
	MAX_REPORT_PORTS = 8, /* UDP ports whose traffic is never tagged */
	DEV_NAME_SIZE = 16,   /* an interface's name, NUL-terminated */
	SWEEP_KEYS = 64,      /* flow keys in one run of the sweep program */
	MAX_HOPS = 8,         /* entries of transit hops in an event */
	MAX_HOP_WORDS = 6,    /* words of an entry */
	COUNTER_SLOTS = 64,   /* in the counter map of each role; unused slots are for future counters */
};

/*
 * Addresses and ports are in network byte order, everything else is in host order. IPv4 addresses are mapped
 * (::ffff:a.b.c.d). layers is protocol | inner VLAN id << 8 | outer VLAN id << 20; a single VLAN tag is the inner one.
 */
struct flow_key {
	__be32 saddr[4];
	__be32 daddr[4];
	__be16 sport;
	__be16 dport;
	__u32 layers;
};

/* The source and the sink of a host share these settings. */
struct host_settings {
	__s64 clock_offset_ns; /* the kernel clock plus this offset gives ns since the Unix epoch */
	__u32 node_id;
	__u32 report_port_count;
	__be16 report_port[MAX_REPORT_PORTS];
	__u32 clock_source;       /* enum clock_source */
	__u32 clock_synchronised; /* 1: the kernel says that its clock is synchronised */
	__u64 lease_key[2];       /* SipHash key of lease messages; 0: no key, the tag only detects damage */
	__u64 instance;           /* identifies the host even if two hosts have the same node id */
	__s32 tai_offset_s;
	__u32 has_lease_key;
	__u64 told_until_ns;                /* until then (coarse monotonic clock) the next two are told to others */
	__u16 clock_steering, sends_strays; /* as in struct lease_answer; 1: a daemon sends strays back */
	__u32 node_origin;                  /* enum node_origin: where node_id comes from */
	__u64 clock_error_ns;               /* as the operator or the time daemon states it; 0: not stated */
	__u64 parts_tried, parts_refused;   /* bits of the kernel's parts that daemons of this host asked for */
	/* One flow in two to the power of this is tagged, so that the budget holds; at most MOST_SHARE_SHIFT. */
	__u32 share_shift;
	__u32 asked_shift; /* lease answers ask sources for this share, as tagged packets that arrive take too much */
	__u32 budget_ppm;  /* CPU time that hostint may take, of that of all CPUs; 0: no budget */
	__u32 spent_ppm;   /* CPU time that it takes, as its daemon estimates it */
	__u32 step_ns;     /* time of the step that costs are counted in, on this machine */
	__u32 zero;
};

enum share_limit {
	MOST_SHARE_SHIFT = 16,
};

enum node_origin {
	NODE_GIVEN = 0,   /* the user gave it; 0.1.0 knows no other */
	NODE_DERIVED = 1, /* it was derived from the machine id */
};

enum sink_flag {
	SINK_OVER_TCP_UDP = 1,  /* recognise INT over TCP/UDP, marked by DSCP */
	SINK_EXTENSION_UDP = 2, /* recognise INT after an extra UDP header */
	SINK_DROP_TAGGED = 4,   /* test option: drop packets that would have been stripped */
	SINK_VXLAN_GPE = 8,     /* recognise INT in VXLAN-GPE */
	SINK_STRICT = 16,       /* drop packets that were tagged by a host that is not allowed to */
	SINK_CLOSING = 32,      /* the sink is about to be detached and grants no more leases */
	SINK_ASTRAY = 64,       /* tagged packets reach this host where no sink strips them: no leases meanwhile */
	SINK_SEGMENTS = 128,    /* every program is in native XDP, where superpackets arrive segment by segment */
	SINK_INT_MD = 256,      /* recognise INT-MD of hostint's sources behind TCP/UDP, marked by a DSCP of its own */
	SINK_IOAM = 512,        /* recognise IOAM in IPv6 hop-by-hop options */
	SINK_OPTIONS = 1024,    /* recognise INT in options of TCP and UDP */
};

/* A token is added every interval_ns (0: no limit); tokens worth at most burst_ns are kept. */
struct token_rate {
	__u64 interval_ns;
	__u64 burst_ns;
};

/* Each time is when a bucket will be full again if no token is taken; an empty one will be full after burst_ns. */
struct token_buckets {
	__u64 new_flows_ns;
	__u64 reports_ns;
	__u64 refused_ns; /* last time that a packet of a new flow was stripped but not tracked */
};

struct sink_settings {
	__u64 report_period_ns;
	__u64 loss_timeout_ns;
	__u64 bucket_hold_ns; /* least time between two latency change events of a flow */
	__u64 started_ns;     /* since the Unix epoch; of flows that began later, the sink has seen every packet */
	__u64 idle_ns;        /* records of flows that are idle for this time may be removed */
	__u64 kept_ns;        /* records of flows that began later were not removed while another idle_ns was set */
	__u32 flags;
	__be16 extension_port;
	__u8 tos_value; /* DSCP mark at its place in the ToS byte */
	__u8 tos_mask;
	__u32 edge_count;           /* thresholds beyond it are never reached */
	__s32 edge_up[MAX_EDGES];   /* a latency at or above it leaves the bucket upwards */
	__s32 edge_down[MAX_EDGES]; /* a latency below it leaves the bucket downwards */
	__u32 report_bytes; /* greatest length of a report, which a flow pays for with its own bytes; 0: no limit */
	struct token_rate new_flows_source; /* for each source address */
	struct token_rate new_flows_total;
	struct token_rate reports_source;
	struct token_rate reports_total;
	__u8 md_tos_value, md_tos_mask,
		zero[6]; /* mark of INT-MD; if there is none, the mask is 0 and no packet has it */
};

/* Identifies a source program by its interface and hook; its value is source_info. */
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
	ENCAP_TUNNEL = 0, /* only as a setting: vxlan-gpe, or extension-udp where that does not pass */
	ENCAP_OVER_TCP_UDP = 1,
	ENCAP_EXTENSION_UDP = 2,
	ENCAP_VXLAN_GPE = 3,
	/* 4 and 5 are forms of flows that are no encapsulation */
	ENCAP_INT_MD = 6,
	ENCAP_IOAM = 7, /* as a setting: where it is not possible, as ENCAP_TUNNEL */
	ENCAP_OPTIONS = 8,
};

/* Superpackets (GSO) are split by the device or the kernel after the hook. This says how they are handled. */
enum superpackets {
	SUPER_SKIP = 0,      /* they stay untagged and are counted in segments */
	SUPER_ENCAP = 1,     /* TCP goes in vxlan-gpe, whose header the split repeats in each segment */
	SUPER_ENCAP_ALL = 2, /* TCP and UDP go in vxlan-gpe */
	SUPER_STAGE = 3,     /* another interface segments them first, then each segment is tagged */
};

/* Records the options with which a source program was attached. */
struct source_info {
	__u64 attached_ns;
	__u32 encapsulation;
	__u32 mtu; /* fixed limit; 0: the interface's MTU is read for every packet */
	__be16 extension_port;
	__u8 tos_value;
	__u8 tos_mask;
	__u32 clsact; /* 0: attached by a link (tcx, XDP); else the filter's handle << 16 | priority */
	__u64 idle_timeout_ns;
	__u32 superpackets;
	__u32 stage_ifindex; /* the staging interface; 0: none */
	__u32 compat;        /* 1: full checksums, as Host-INT expects them */
	__u32 gso_max_segs;  /* the interface's limit before no-gso changed it; else 0 */
	__u32 clsact_made;   /* 1: the clsact qdisc was added for this filter */
	__u32 mss_clamp;     /* 1: the peer program adapts answers to a stack that does not know of INT */
	__u8 dev[DEV_NAME_SIZE];
	__u8 max_hops;      /* transit hops that may push entries, where the sink reads them */
	__u8 without_queue; /* 1: their entries have no queue */
	__u8 zero[2];
	__u8 md_tos_value, md_tos_mask, is_mx, mx_sample; /* mark of INT-MD; a mask of 0: none; and as in int/mark.h */
};

struct latency_event {
	__u32 kind;
	__u8 reasons;
	__u8 encapsulation;
	__u8 l4_len; /* bytes used in l4, 8 or 20; IPv6: 0, the packet is not quoted */
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
	__u32 queue_packets; /* in the root queue of the source's interface */
	__u32 queue_bytes;
	__u8 ip[20]; /* IPv4 header as received; vxlan-gpe: the inner one */
	__u8 l4[20]; /* UDP or TCP header as received; extension-udp, vxlan-gpe: the inner one */
	__u8 has_queue;
	__u8 by_nic; /* 1: now_ns is the network card's time */
	__u16 zero;
};

struct path_event {
	struct latency_event latency; /* its kind is EVENT_PATH */
	__u8 hops;
	__u8 hop_words; /* of each entry */
	__u16 bitmap;   /* its items, as INT v2.1 names them; of INT v0.5, as that does */
	__u8 zero[4];
	__be32 entries[MAX_HOPS][MAX_HOP_WORDS]; /* newest first, as they were on the wire */
};

struct loss_event {
	__u32 kind;
	__u32 ifindex;
	struct flow_key key;
	__u64 hole_ns; /* arrival of the packet before the first lost one */
	__u32 first;   /* first sequence number lost */
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

struct drop_key {
	struct flow_key flow; /* as it was dropped, behind INT, or inside of a tunnel; layers has no VLAN ids */
	__u32 reason;
	__u32 ifindex;
	__u32 netns;
	__u32 tunnel;    /* enum tunnel_kind */
	__u32 tunnel_id; /* VNI or TEID */
	__u32 tagged;    /* 1: the packet has INT */
	__u32 source_node;
};

struct drop_flow {
	__u64 packets; /* all counts are those since the first drop */
	__u64 segments;
	__u64 bytes;
	__u64 first_ns; /* monotonic clock */
	__u64 last_ns;
	__u64 place;
	__u64 cgroup; /* id of the socket's; 0: no socket, or not known */
	__u32 in_ifindex;
	__u32 out_ifindex;
	__u32 age_ns;        /* of the newest packet whose age is known */
	__u32 queue_packets; /* in the root queue of the interface at the first drop */
	__u32 queue_bytes;
	__u32 flags;
	__u32 sequence; /* number of the first packet, or of its first segment, if it has INT */
	__u32 zero;
	struct flow_key before_nat; /* all zeros: the flow's key; of packets in a tunnel, the flow around them */
};

/* The first drop of a flow; what follows is read from the table. */
struct drop_event {
	__u32 kind; /* EVENT_DROP */
	__u32 zero;
	struct drop_key key;
	struct drop_flow flow;
};

#endif
