/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What both halves keep of leases: at the source of each sink, at the sink of each source. */
#ifndef HOSTINT_LEASE_TABLE_H
#define HOSTINT_LEASE_TABLE_H

/* Source and destination address, IPv4 mapped: the beginning of a flow key. */
struct address_pair {
	__be32 saddr[4];
	__be32 daddr[4];
};

struct address_key {
	__be32 addr[4];
};

/*
 * What a source knows of the sink before a destination. Times are those of the coarse monotonic clock. The
 * kernel half writes wanted_ns only.
 */
struct source_lease {
	__u64 until_ns;  /* tagged until then */
	__u64 wanted_ns; /* last packet that asked for it */
	__u64 answered_ns;
	__u64 instance;
	__s64 clock_offset_ns; /* sink's clock less ours, */
	__u64 clock_error_ns;  /* give or take */
	__u32 rtt_ns;
	__u32 state; /* enum lease_state */
	__u32 sink_node;
	__u32 has_answer;     /* what follows and instance are filled */
	__be32 other_addr[4]; /* duplicate: of the host that had the node id first */
	__u8 encapsulations;
	__u8 tos_value;
	__u8 tos_mask;
	__u8 clock;
	__u16 extension_port; /* host order */
	__u16 mtu;
	__s16 tai_offset_s;
	__u16 software;
	__u32 keep; /* 1: asked for by name, kept without packets */
};

enum lease_state {
	LEASE_ASKING = 0, /* no answer yet */
	LEASE_GRANTED = 1,
	LEASE_SILENT = 2,        /* no answer any more, or for long */
	LEASE_NO_SINK = 3,       /* the host answers, but no sink stands before it */
	LEASE_FORGED = 4,        /* tag wrong: keys differ, or somebody forges */
	LEASE_ENCAPSULATION = 5, /* the sink does not recognise what we send */
	LEASE_MARK = 6,          /* other DSCP mark or port */
	LEASE_OWN_NODE = 7,      /* the sink has our node id */
	LEASE_DUPLICATE = 8,     /* two sinks have this node id */
};

/* What answers made of a lease; wanted_ns and keep are not looked at. */
struct lease_renewal {
	struct address_pair pair;
	struct source_lease lease;
};

enum lease_table_limit {
	RENEWALS = 24, /* in one run of the renewing program */
};

/* To whom a sink granted leases, by source address of the packets; coarse monotonic clock. */
struct sink_grant {
	__u64 until_ns;
	__u32 source_node;
	__u32 zero;
};

#endif
