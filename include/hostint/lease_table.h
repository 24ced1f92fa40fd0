/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Both halves keep these records of leases: the source one for each sink, the sink one for each source. */
#ifndef HOSTINT_LEASE_TABLE_H
#define HOSTINT_LEASE_TABLE_H

enum lease_shape {
	/* Counts, at the places that lease_slot() says. */
	LEASE_ENCAPSULATIONS = 3,
	LEASE_FORMS =
		4, /* values of enum lease_form with words of their own; FORM_IOAM and FORM_OPTIONS have those of FORM_OVER_UDP */
};

/* A flow key begins with these two addresses; IPv4 is mapped. */
struct address_pair {
	__be32 saddr[4];
	__be32 daddr[4];
};

struct address_key {
	__be32 addr[4];
};

/*
 * The sink tells packets of a flow at most 250 ms late. So from then on, after an answer that counted new packets, each
 * packet that arrives is counted at once. In unseen_turns there is a bit for each turn of 34 ms, of 16 in a circle, in which
 * a packet was tagged since then: if there are many of them, and the sink has counted none, nothing arrives.
 */
enum lease_look {
	LEASE_VOUCH_NS = 1000000000, /* vouched_ns is this time after an answer that counted new packets */
	LEASE_TOLD_NS = 250000000,
	LEASE_TURN_SHIFT = 25, /* a turn is 2^25 ns */
	LEASE_TURNS = 16,
};

/*
 * A source keeps this about the sink in front of a destination. Times are of the coarse monotonic clock. The kernel
 * half only writes wanted_ns.
 */
struct source_lease {
	__u64 until_ns;  /* packets are tagged until then */
	__u64 wanted_ns; /* time of the last packet that needed the lease */
	__u64 answered_ns;
	__u64 instance;
	__s64 clock_ahead_ns; /* the sink's clock less our raw clock at clock_raw_ns, as it is estimated */
	__u64 clock_less_ns;  /* it is less than that by this at most, and more by clock_more_ns */
	__u32 rtt_ns;
	__u32 state; /* enum lease_state */
	__u32 sink_node;
	__u32 has_answer;     /* 1: the fields below and instance are filled */
	__be32 other_addr[4]; /* LEASE_DUPLICATE: address of the host that had the node id first */
	__u16 encapsulations; /* that the sink reads */
	__u8 tos_value;
	__u8 tos_mask;
	__u16 extension_port; /* host order */
	__u16 mtu;
	__s16 tai_offset_s;
	__u16 software;
	__u8 clock;
	__u8 items;       /* 1: the sink reads entries of transit hops without a queue, too */
	__u8 tos_changed; /* bits of the ToS byte that the path changes */
	__u8 keep;        /* 1: requested by a command, kept even without packets */
	__u32 ways;       /* enum lease_way: forms that flows of this pair may have */
	__u32 eaten;      /* bit n: probes of enum lease_form n did not arrive, or not on every path */
	__u64 vouched_ns; /* until then the sink's counts show that tagged packets of this pair arrive */
	__u64 proved_ns;  /* end of the last round of probes; 0: none yet */
	__u16 longest;    /* longest packet, with INT, that probes proved to pass; 0: no limit is known */
	__u8 distrusted;  /* 1: the encapsulation was given up because flows came to nothing; asked again later */
	__u8 untold;      /* 1: without a key, the sink tells this host nothing about packets of this address */
	__u8 stack;       /* entries that the sink reads in a stack, the source's included; 0: just the source's */
	__u8 segments;    /* 1: superpackets of UDP in vxlan-gpe reach the sink segment by segment */
	__u8 obstacle;    /* enum tunnel_obstacle */
	__u8 option_114;  /* 1: a daemon at the sink's host reads and echoes TCP option 114 */
	__u64 clock_more_ns;
	__u64 clock_raw_ns; /* CLOCK_MONOTONIC_RAW of the newest answer; 0: the sink's clock is unknown */
	__u32 clock_drift;  /* ppb: the clocks drift apart by this at most */
	__u32 asked_shift;  /* the sink's budget has room for one flow in two to the power of this */
	__u32 zero;
	/* The kernel half adds to these. */
	__u32 unseen_turns;                 /* see enum lease_look */
	__u64 tagged[LEASE_ENCAPSULATIONS]; /* packets, at the places of lease_slot() */
	__u64 fallen;                       /* flows that the guard untagged */
};

/* What keeps packets to a sink out of tunnels: nothing shows that packets of both directions pass outside of them. */
enum tunnel_obstacle {
	OBSTACLE_NONE = 0,
	OBSTACLE_UNATTENDED = 1, /* no daemon at the sink's host sends strays, and none arrived yet */
	OBSTACLE_DROPS_TO = 2,   /* strays to the sink's host do not arrive */
	OBSTACLE_DROPS_FROM = 3, /* strays from the sink's host do not arrive */
	OBSTACLE_DROPS_BOTH = 4,
	OBSTACLE_TRANSLATES = 5, /* strays from the sink's host arrive from another address */
};

/* A flow takes its form with its first packet, by its protocol and by what the interface is configured to do. */
enum lease_way {
	WAY_TCP_OVER = 1, /* over-tcp-udp */
	WAY_TCP_EXTENSION = 2,
	WAY_TCP_GPE = 4,
	WAY_UDP_OVER = 8,
	WAY_UDP_EXTENSION = 16,
	WAY_UDP_GPE = 32,
	WAY_UDP_INT_MD = 128,
	WAY_IOAM = 256, /* both protocols over IPv6 */
	WAY_TCP_OPTION = 512,
	WAY_UDP_OPTION = 1024,
};

enum lease_state {
	LEASE_ASKING = 0, /* no answer yet */
	LEASE_GRANTED = 1,
	LEASE_SILENT = 2,        /* answers stopped, or none came for a long time */
	LEASE_NO_SINK = 3,       /* the host answers, but there is no sink in front of it */
	LEASE_FORGED = 4,        /* the tag is wrong: keys differ, or the answer is forged */
	LEASE_ENCAPSULATION = 5, /* the sink does not recognise our encapsulation */
	LEASE_MARK = 6,          /* the sink expects another DSCP mark or port */
	LEASE_OWN_NODE = 7,      /* the sink has our node id */
	LEASE_DUPLICATE = 8,     /* two sinks have this node id */
	LEASE_ASTRAY = 9,        /* tagged packets reach the sink's host where no sink strips them */
};

/* Answers changed a lease to this; wanted_ns and keep are ignored. */
struct lease_renewal {
	struct address_pair pair;
	struct source_lease lease;
};

enum lease_table_limit {
	RENEWALS = 16, /* leases in one run of the renewing program */
};

/* A sink keeps this for each address that it granted a lease to; the time is of the coarse monotonic clock. */
struct sink_grant {
	__u64 until_ns;
	__u32 source_node;
	__u32 no_stacks_s; /* in seconds: until then this host is told that the sink reads no stacks */
	/* struct lease_answer says what the fields from here on mean. */
	__u64 round;
	__u64 stripped[LEASE_ENCAPSULATIONS];
	__u64 lost;
	__u64 arrived[LEASE_FORMS][2];
	__u8 tos_changed[LEASE_FORMS];
	__u32 first_form; /* enum lease_form of the probes whose arrivals have the first place */
};

#endif
