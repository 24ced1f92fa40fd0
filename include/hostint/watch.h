/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The watchlist as the user half compiles it, so that a packet's way through it does not depend on the number of
 * rules: its destination leads to a node, a node tests one more value of the packet, and what that is leads on to
 * another node, until one says what becomes of the packet. No value is tested twice.
 */
#ifndef HOSTINT_WATCH_H
#define HOSTINT_WATCH_H

/* Two lists have room: the one in use, by its generation (0 or 1), and the one that is about to follow it. */
enum watch_limit {
	WATCH_PREFIXES = 65536, /* of one list, destinations and sources, and what leads to them */
	WATCH_PROBES = 130,
	WATCH_STEPS = 8, /* a search takes at most */
	WATCH_TABLES = 4,
	WATCH_NODES = 65536, /* of one list; the first one is nobody's */
	WATCH_EDGES = 65536, /* of one list */
	WATCH_PORTS = 65536,
	WATCH_TRAFFIC = 128, /* DSCP, and TCP or not */
	WATCH_CLASSES = WATCH_PORTS + WATCH_TRAFFIC,
	WATCH_TEXT_BYTES = 2044,
	WATCH_TEXTS = 4096, /* of one list */
};

/* Addresses that begin with the same bits. */
struct prefix_key {
	__u32 prefix_len; /* counts the family word too: 32 + bits */
	__be32 family;    /* 4 or 6 */
	__be32 addr[4];   /* IPv4: the first word, the rest is 0 */
};

/* The role of an address; the second table of each is that of IPv6. */
enum watch_role {
	WATCH_TO = 0,
	WATCH_FROM = 2,
};

/* Addresses that begin with the same bits, in the watchlist. what: generation << 16 | role << 8 | bits. */
struct watch_key4 {
	__u32 what;
	__be32 addr;
};

struct watch_key6 {
	__u32 what;
	__be32 addr[4];
};

struct watch_place {
	__u32 number; /* to: the node to go on from; from: the place's class, not 0 */
	__u32 flags;  /* to: enum watch_flag */
};

enum watch_flag {
	WATCH_TAG = 1,
	WATCH_STATIC = 2,   /* tagged whether a sink answers or not */
	WATCH_EXCLUDE = 4,  /* a rule says so */
	WATCH_MAY = 8,      /* a packet that goes there may be tagged */
	WATCH_DECIDED = 16, /* nothing else counts */
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
	__u32 other; /* the node for values that no edge is for */
	__u16 test;
	__u16 flags; /* of a verdict */
	__u32 one_flow_in;
	__u32 one_packet_in;
};

/* Leads from a node to the next one. */
struct watch_edge {
	__u32 node;
	__u32 value; /* class of what the node tests; of interfaces the index */
};

/* Has the address an entry of this length? The longest prefix is found by halving the lengths that there are. */
struct watch_probe {
	__be32 mask[4];
	__u8 len;
	__u8 hit;  /* the probe to go on with if there is one, 0: none, */
	__u8 miss; /* and if there is not */
	__u8 zero;
};

/*
 * How a table is searched. Where a longer prefix may follow there is an entry, too, which says what holds if none
 * does.
 */
struct watch_search {
	__u32 first;                             /* 0: the table is empty */
	struct watch_probe probes[WATCH_PROBES]; /* the first one is nobody's */
};

struct watch_state {
	__u32 generation;
	__u32 serial; /* of the list, for the user half: another one, another number */
	struct watch_search searches[2 * WATCH_TABLES];
};

/* A piece of the rules themselves, from which the list can be compiled again. */
struct watch_text {
	__u32 len;
	__u8 bytes[WATCH_TEXT_BYTES];
};

#endif
