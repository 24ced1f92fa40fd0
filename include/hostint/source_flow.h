/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The source keeps this record of each flow. */
#ifndef HOSTINT_SOURCE_FLOW_H
#define HOSTINT_SOURCE_FLOW_H

/* A flow takes its form with its first packet; later it may only become untagged. */
enum flow_form {
	FLOW_UNDECIDED = 0,
	/* 1 to 3, and 6 to 8: enum encapsulation, for all of the flow's packets */
	FLOW_MIXED = 4, /* for static destinations, and for Host-INT: superpackets change it to vxlan-gpe */
	FLOW_UNTAGGED = 5,
};

/* Says why a flow is untagged. */
enum flow_left {
	LEFT_NOT = 0,
	LEFT_BEGAN_BEFORE = 1, /* it began before there was a lease, or before this source was attached */
	LEFT_NO_WAY = 2,       /* its form does not pass the path, or no longer */
	LEFT_NO_LEASE = 3,     /* the lease ended */
	LEFT_GUARD = 4,        /* its tagged packets came to nothing */
	LEFT_SUPERPACKET = 5,  /* it sent a superpacket, which its form cannot carry */
};

enum {
	SOURCE_FLOW_SIZE =
		104, /* in a hash table, a record fills three cache lines with its key, and lies alike in all */
};

/* Times in units of 2^20 ns, of the coarse monotonic clock, wrap. */
struct source_flow {
	struct bpf_spin_lock lock;
	__u32 sequence;
	__u64 created_ns; /* since the Unix epoch */
	__u64 last_ns;    /* of flows that are untagged: when the lease was last looked up */
	__u64 leased_ns; /* until then (coarse monotonic clock) the form holds, if leases_serial is that of all leases */
	__u8 form;       /* enum flow_form */
	__u8 left;       /* enum flow_left */
	__u8 repeats;    /* guard: repetitions of the same TCP data in a row */
	__u8 stalled;    /* guard: 1: the connection has stalled, and plain_to says up to where it went on untagged */
	__u32 path_mtu;  /* longest packet, with INT, on a path whose MTU the stack must not be told; 0: no limit */
	__u32 told;      /* sequence when it was last added to the lease's counts */
	__u32 tcp_end;   /* guard: end of the newest TCP data, SYN or FIN sent */
	__u32 tcp_end_at;      /* guard: time at which tcp_end last grew, in 2^20 ns */
	__u32 plain_to;        /* guard: end of the TCP data that had been sent at the last stall */
	__u32 repeated;        /* guard: TCP sequence number of the last repetition; before the first one, of the SYN */
	__u8 superpacket;      /* 1: the flow sent one; FLOW_MIXED changes to vxlan-gpe, and staged flows stay staged */
	__u8 open;             /* 1: a TCP connection in a form of its own, of which neither FIN nor RST was sent */
	__u8 counted;          /* 1: counted as a flow that began before its lease */
	__u8 stack;            /* most entries in a stack, the source's included; 0: the sink demands Host-INT's word */
	__u32 longest;         /* as of the lease when it was last looked up; 0: no limit is known */
	__u32 counted_to;      /* sequence when it was last added to the packets of its pair and class */
	__u32 uncounted_bytes; /* as in struct missed_counts, of the tagged packets since then */
	__u32 leases_serial;
	__u32 zero[6];
};

#endif
