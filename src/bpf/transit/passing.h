/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the packet that the transit hop is working on: where its INT is, and the headers that will be written. */
#ifndef HOSTINT_TRANSIT_PASSING_H
#define HOSTINT_TRANSIT_PASSING_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/wire.h"
#include "kernel/single_value.h"
#include "packet/headers.h"
#include "packet/layout.h"

enum {
	ENTRY_WORDS = 6,      /* of the longest entry of hostint's own carriers */
	MD_ENTRY_WORDS = 31,  /* of INT-MD */
	MD_FILLED_WORDS = 12, /* of those, the ones that may be anything but all ones */
	UNKNOWN_WORD = 0xffffffff,
	MAX_FRONT = IP6_LEN + MAX_OPTIONS_LEN + UDP_LEN + GENEVE_HEAD_LEN + GENEVE_MOST_OPTIONS,
	FRONT_MASK = 0x1ff,
};

struct passing_packet {
	struct layout at;
	struct flow_key key; /* only the addresses, and only if they are looked up */
	__u64 frame_len;
	__u64 left_ns;  /* when it left, since the Unix epoch; only of packets that get an entry, or are counted */
	__u64 identity; /* of the packet among all that pass, whatever the path changes in its headers */
	__u32 reason;   /* enum transit_counter, of a packet whose INT is refused */
	__be32 newest_node;
	__be32 source_node;
	__be32 source_time;  /* low 32 bits of ns since the Unix epoch */
	__u16 inner_l4;      /* vxlan-gpe: offset of the original packet's L4 header */
	__u8 inner_protocol; /* vxlan-gpe: its protocol */
	__u8 l4_len;         /* length of the headers between IP and the block; Geneve: and of options before INT's */
	__u8 head_len;       /* bytes of the block in front of the entries */
	__u8 entry_len;
	__u8 budget;     /* entries that may still be pushed */
	__u16 bitmap;    /* INT-MD: the instructions */
	__u16 option_at; /* tcp-int: offset of option 114 */
	__u8 filled;     /* words of the entry */
	bool had_budget; /* the source left some, so the sink knows what hops write */
	bool is_gpe;
	bool is_md;         /* in Geneve, too */
	bool is_mx;         /* INT-MX: nothing is pushed */
	bool is_sampled;    /* INT-MX: the packet is reported */
	bool is_geneve;     /* INT-MD: in an option of Geneve, whose header stands for the shim */
	bool is_full;       /* INT-MD: the shim's or option's length cannot state one more entry */
	bool is_unnumbered; /* INT-MD of sources that number no packets */
	bool is_padded;     /* INT-MD: the domain asks for words that are not known */
	bool is_summed;     /* vxlan-gpe: the outer UDP header has a checksum */
	bool is_arrival_known;
	bool came_back;                   /* from a guest of this host, which is in the newest entry */
	__be32 entry[MD_ENTRY_WORDS + 1]; /* its end is 0, in INT-MD all ones, if entries are shorter */
	/* The headers up to the newest entry, and the new one. Offsets that the verifier cannot follow stay within. */
	__u8 front[FRONT_MASK + 1 + MD_ENTRY_WORDS * 4 + 4];
};

enum transit_find {
	TRANSIT_NO_INT,
	TRANSIT_SHORT,   /* INT may lie beyond the bytes that can be read */
	TRANSIT_REFUSED, /* for the reason in the packet */
	TRANSIT_FOUND,
};

/* Each CPU works on one packet at a time. kernel/single_value.h says why it is not kept on the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct passing_packet);
} transit_scratch SEC(".maps");

static __always_inline struct passing_packet *passing(void)
{
	return single_value(&transit_scratch);
}

#endif
