/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The programs that time packets through the host and the user half exchange these settings, times and counts. */
#ifndef HOSTINT_PASSAGE_H
#define HOSTINT_PASSAGE_H

enum hop_limit {
	HOP_DEVICES = 4096,        /* interfaces whose packets are timed */
	HOP_PASSAGES = 512,        /* distributions of times */
	HOP_LOCAL_PACKETS = 16384, /* on their way to a socket at a time */
	HOP_SLOTS = 864,           /* FINE_SLOTS */
	HOP_FLOW_WORDS = 10,
	/*
	 * The low bits of the time that a packet carries say that it is timed, and from where. Each network namespace
	 * has marks of its own: one for times of arrival, and that with the highest bit changed for times of departure.
	 */
	HOP_MARK_MASK = 63,
	HOP_MARK_DEPARTED = 32,
};

enum hop_setting {
	HOP_BY_RULES = 1,     /* the watchlist decides; without it all forwarded packets are timed */
	HOP_RULES_OF_DEV = 2, /* one of the rules tests the interface by which packets leave */
	HOP_LOCAL = 4,        /* packets for this host are timed, too */
};

/* An interface whose packets are timed. */
enum hop_device {
	HOP_DEVICE = 1,
	/*
	 * It is stacked on another one of them, as a VLAN is on its card and a bridge on its ports: its packets come by that
	 * one before, and leave by it in the end. They are counted there.
	 */
	HOP_STACKED = 2,
};

struct hop_settings {
	__u64 until_ns;             /* no packet is stamped after this time of the monotonic clock */
	__u64 step_ns;              /* a flow whose time changed by this is reported at once; 0: never */
	__u64 hold_ns;              /* but not again within this time */
	__u64 new_flow_interval_ns; /* as in token_rate, for each CPU */
	__u64 new_flow_burst_ns;
	__u32 netns;   /* inode of the network namespace of the interfaces */
	__u32 mark;    /* of times of arrival */
	__u32 flags;   /* enum hop_setting */
	__u32 tunnels; /* a bit for each kind whose packets are known by the flow inside */
	__be16 extension_port;
	__u16 zero[3];
};

/* Where a time ends. */
enum hop_end {
	HOP_QUEUED = 0, /* at TC egress, in front of the queue */
	HOP_SENT = 1,   /* behind the queue, when the driver gets the packet */
};

/* Where a time begins. */
enum hop_start {
	HOP_ARRIVED = 0,  /* at TC ingress */
	HOP_DEPARTED = 1, /* when the packet left its sender, a TCP socket on this machine */
};

/* Stands for all sockets of the host, where a packet leaves by no interface. Its low 16 bits are no interface's, either. */
enum hop_interface {
	HOP_SOCKETS = 0xffffffff,
};

struct hop_passage {
	__u32 in_ifindex;
	__u32 out_ifindex;
	__u32 end;   /* enum hop_end */
	__u32 start; /* enum hop_start */
};

/* The times of all packets of a passage, on one CPU. A superpacket counts as its segments. */
struct hop_times {
	__u64 packets;
	__u64 sum_ns;
	__u32 min_ns;
	__u32 max_ns;
	__u64 count[HOP_SLOTS]; /* as in struct fine_slots */
};

/* Why a flow is reported at once. */
enum hop_news {
	HOP_NEW = 1,
	HOP_OTHER_PORTS = 2, /* it came or left by another interface than it reported last */
	HOP_STEP = 4,        /* its time is another than it reported last */
};

enum hop_flow_flag {
	HOP_FROM_SENDER = 1, /* its times begin at its sender */
};

enum hop_event_kind {
	EVENT_HOP = 16,
};

/* A forwarded flow. */
struct hop_key {
	/* A struct flow_key: as its packets leave, but without INT and inside of a tunnel; no VLAN ids. */
	__u32 flow[HOP_FLOW_WORDS];
	__u32 tunnel;    /* enum tunnel_kind */
	__u32 tunnel_id; /* VNI or TEID */
};

/* What is known of it. All counts are those since the first packet that was timed. */
struct hop_flow {
	__u64 packets; /* segments, too */
	__u64 bytes;
	__u64 first_ns; /* monotonic clock */
	__u64 last_ns;
	__u64 told_ns; /* when it was reported at once */
	__u64 sum_ns;  /* of the times of its packets */
	__u32 in_ifindex;
	__u32 out_ifindex;
	__u32 last_hop_ns; /* the time of the last packet */
	__u32 told_hop_ns; /* the time that was reported at once */
	__u32 max_hop_ns;
	__u32 flags; /* enum hop_flow_flag */
	/* A struct flow_key; all zeros: the same as the flow's. Of packets in a tunnel, the flow around them. */
	__u32 before_nat[HOP_FLOW_WORDS];
};

/* News of a flow; what follows is read from the table. */
struct hop_event {
	__u32 kind; /* EVENT_HOP */
	__u32 news; /* enum hop_news */
	struct hop_key key;
	struct hop_flow flow;
};

/* Each enumerator is the index of a per-CPU counter. */
enum hop_counter {
	COUNT_HOP_STAMPED,       /* got a stamp on arrival */
	COUNT_HOP_HAS_DEPARTURE, /* carry their sender's departure time, which got the mark */
	COUNT_HOP_OTHER_CLOCK,   /* carry a time of another clock, which is left to them */
	COUNT_HOP_NOT_FORWARDED, /* for this host, for a group, or without a route */
	COUNT_HOP_UNWATCHED,     /* left alone by the rules */
	COUNT_HOP_CLOCK,         /* of NTP or PTP, whose receivers measure themselves */
	COUNT_HOP_UNREAD,        /* not IP, fragments, or headers that cannot be read */
	COUNT_HOP_REFUSED,       /* the kernel takes no stamp */
	COUNT_HOP_FLOW_LIMITED,  /* of new flows beyond the limit */
	COUNT_HOP_TIMES_FULL,    /* no room for the passage's distribution */
	COUNT_HOP_EVENT_LOST,    /* the ring was full */
	COUNT_HOP_LOCAL,         /* not forwarded, and timed where a socket takes them */
	COUNT_HOP_MAX,
};

#endif
