/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The watchlist is compiled to these tables by the user half, so that the number of rules does not slow packets down.
 * A packet's destination leads to a node. A node tests one more value of the packet, and the value leads to the next
 * node, until a node gives the verdict. No value is tested twice.
 */
#ifndef HOSTINT_WATCH_H
#define HOSTINT_WATCH_H

/* There is room for two lists, numbered by their generation 0 or 1: the one in use, and its successor. */
enum watch_limit {
	WATCH_PREFIXES = 65536, /* in one list: destinations, sources, and shorter prefixes that lead to them */
	WATCH_PROBES = 130,
	WATCH_STEPS = 8, /* greatest number of probes in a search */
	WATCH_TABLES = 4,
	WATCH_NODES = 65536, /* in one list; node 0 is not used */
	WATCH_EDGES = 65536, /* in one list */
	WATCH_PORTS = 65536,
	WATCH_TRAFFIC = 128, /* values of DSCP, for TCP and for UDP */
	WATCH_CLASSES = WATCH_PORTS + WATCH_TRAFFIC,
	WATCH_TEXT_BYTES = 2044,
	WATCH_TEXTS = 4096, /* in one list */
};

/* The kernel's trie takes a prefix in this form. */
struct prefix_key {
	__u32 prefix_len; /* includes the family word: 32 + bits */
	__be32 family;    /* 4 or 6 */
	__be32 addr[4];   /* IPv4 is in the first word, the others are 0 */
};

/* Each role has a table for IPv4; the next number is its table for IPv6. */
enum watch_role {
	WATCH_TO = 0,
	WATCH_FROM = 2,
};

/* The watchlist's tables take a prefix in these forms. what is generation << 16 | role << 8 | bits. */
struct watch_key4 {
	__u32 what;
	__be32 addr;
};

struct watch_key6 {
	__u32 what;
	__be32 addr[4];
};

struct watch_place {
	__u32 number; /* WATCH_TO: the next node; WATCH_FROM: the class of the address, not 0 */
	__u32 flags;  /* WATCH_TO: enum watch_flag */
};

enum watch_flag {
	WATCH_TAG = 1,      /* tagged while a sink is known to be alive */
	WATCH_STATIC = 2,   /* tagged even if no sink answers; in an undecided place: some packet is */
	WATCH_EXCLUDE = 4,  /* excluded by a rule */
	WATCH_MAY = 8,      /* some packet to this address may be tagged */
	WATCH_DECIDED = 16, /* the destination alone decides */
	WATCH_ALWAYS = 32,  /* tagged whatever the budget */
};

enum watch_test {
	WATCH_VERDICT = 0,
	WATCH_BY_FROM = 1,
	WATCH_BY_TRAFFIC = 2,
	WATCH_BY_DEV = 3,
	WATCH_BY_TO_PORT = 4,
	WATCH_BY_FROM_PORT = 5,
	WATCH_TESTS = 6,
};

struct watch_node {
	__u32 other; /* the next node for values without an edge; WATCH_VERDICT: number of the rule's class, 0: none */
	__u16 test;
	__u16 flags;         /* WATCH_VERDICT: enum watch_flag */
	__u32 one_flow_in;   /* WATCH_VERDICT: one flow in this number is tagged */
	__u32 one_packet_in; /* WATCH_VERDICT: one packet in this number is tagged */
};

/* An edge leads from a node to the next one. */
struct watch_edge {
	__u32 node;
	__u32 value; /* class of the value that the node tests; of an interface its index */
};

/* Asks whether an address has a prefix of this length. The longest one is found by halving the lengths in use. */
struct watch_probe {
	__be32 mask[4];
	__u8 len;
	__u8 hit;  /* next probe if there is such a prefix; 0: none */
	__u8 miss; /* next probe if there is none; 0: none */
	__u8 zero;
};

/*
 * A table is searched in this order. Where a longer prefix may exist the table has an entry, too, which holds if none
 * does.
 */
struct watch_search {
	__u32 first;                             /* first probe; 0: the table is empty */
	struct watch_probe probes[WATCH_PROBES]; /* probe 0 is not used */
};

struct watch_state {
	__u32 generation;
	__u32 serial;     /* number of the list, by which the user half tells lists apart */
	__u32 has_always; /* 1: some rule has WATCH_ALWAYS */
	struct watch_search searches[2 * WATCH_TABLES];
};

/* The list can be compiled again from such pieces of the rules' text. */
struct watch_text {
	__u32 len;
	__u8 bytes[WATCH_TEXT_BYTES];
};

#endif
