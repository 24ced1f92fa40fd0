/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Both halves of a transit hop exchange these values. */
#ifndef HOSTINT_TRANSIT_H
#define HOSTINT_TRANSIT_H

enum transit_limit {
	TRANSIT_PREFIXES = 4096,  /* prefixes of sources whose packets get an entry */
	TRANSIT_ARRIVALS = 65536, /* arrivals that are remembered, unless the user says otherwise; a power of two */
	TRANSIT_MOST_ARRIVALS = 1 << 24,
};

/* Records the options with which a transit hop was attached to an interface, whose index is the key. */
struct transit_info {
	__u64 attached_ns;
	__u32 mtu; /* fixed limit; 0: the interface's MTU is read for every packet */
	__be16 extension_port;
	__u8 tos_value;
	__u8 tos_mask;
	__u32 clsact;       /* 1: attached by clsact filters, else by links */
	__u32 clsact_made;  /* 1: the clsact qdisc was added for these filters */
	__u32 arrivals;     /* size of the table */
	__u32 only_allowed; /* 1: only sources in the list of prefixes get entries */
	__u32 cuts_tunnels; /* 1: the device may cut superpackets in tunnels, which then get no entry */
	__u32 zero;
	__u8 dev[16]; /* the interface's name, NUL-terminated */
};

#endif
