/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The source keeps this about packets that the watchlist asks for: those that it tagged, and why it did not tag others. */
#ifndef HOSTINT_MISSED_H
#define HOSTINT_MISSED_H

enum missed_limit {
	MISSED_REASONS =
		32, /* room for each enum source_counter in front of COUNT_SOURCE_BUDGET: the rest is not counted by pair */
	MISSED_PAIRS = 16384, /* with their classes; the key of zeros has all that found no room */
};

struct missed_key {
	__be32 saddr[4];
	__be32 daddr[4];
	__u32 class; /* the number of the class of the rule that decided; 0: none */
};

/* By enum source_counter. A superpacket counts as its segments. */
struct missed_counts {
	__u64 packets[MISSED_REASONS];
	__u64 bytes[MISSED_REASONS]; /* of IP packets without INT, each segment's headers included */
};

#endif
