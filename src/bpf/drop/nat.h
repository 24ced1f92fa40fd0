/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the flow before NAT: the connection that a packet belongs to has both. */
#ifndef HOSTINT_DROP_NAT_H
#define HOSTINT_DROP_NAT_H

#include "kernel/kernel.h"
#include "hostint/abi.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

union nf_inet_addr {
	__u32 all[4];
};

union nf_conntrack_man_proto {
	__be16 all;
};

struct nf_conntrack_man {
	union nf_inet_addr u3;
	union nf_conntrack_man_proto u;
	__u16 l3num;
};

struct nf_conntrack_tuple {
	struct nf_conntrack_man src;
	struct {
		union nf_inet_addr u3;
		union {
			__be16 all;
		} u;
		__u8 protonum;
	} dst;
};

struct nf_conntrack_tuple_hash {
	struct nf_conntrack_tuple tuple;
};

struct nf_conn {
	struct nf_conntrack_tuple_hash tuplehash[2];
};

#pragma clang attribute pop

enum nf_direction {
	NF_STATE = 7, /* the bits of _nfct that are no part of the address */
	NF_RELATED = 1,
	NF_REPLY = 3, /* this state, and those above it, are of packets to the end that began the connection */
	NF_RELATED_REPLY = 4,
	NF_IPV4 = 2,
};

static __always_inline void tracked_address(__be32 *to, const union nf_inet_addr *from, bool is_ipv4)
{
	if (is_ipv4) {
		to[0] = to[1] = 0;
		to[2] = bpf_htonl(0xffff);
		to[3] = from->all[0];
	} else {
		__builtin_memcpy(to, from->all, 16);
	}
}

/* Flows of one protocol. */
static __always_inline bool is_same_flow(const struct flow_key *a, const struct flow_key *b)
{
	for (int i = 0; i < 4; i++)
		if (a->saddr[i] != b->saddr[i] || a->daddr[i] != b->daddr[i])
			return false;
	return a->sport == b->sport && a->dport == b->dport;
}

/*
 * The flow as the end that began the connection knows it, in the direction of this packet. Errors that are only related
 * to a connection are left out, and a connection that is the header in front of INT: to `outer_port`, if that is not 0.
 * Leaves `before` as it is if there was no NAT, or connection tracking was not there when
 * the program was loaded.
 */
static __always_inline void find_before_nat(struct sk_buff *skb, const struct flow_key *key, __be16 outer_port,
					    struct flow_key *before)
{
	unsigned long tracked = skb->_nfct;
	struct nf_conn *connection = (struct nf_conn *)(tracked & ~(unsigned long)NF_STATE);
	__u32 state = tracked & NF_STATE;
	struct flow_key found = { .layers = key->layers };
	union nf_inet_addr src = {}, dst = {};
	__be16 sport, dport;
	bool is_ipv4;

	if (!connection || state == NF_RELATED || state == NF_RELATED_REPLY)
		return;
	BPF_CORE_READ_INTO(&src, connection, tuplehash[0].tuple.src.u3);
	BPF_CORE_READ_INTO(&dst, connection, tuplehash[0].tuple.dst.u3);
	sport = BPF_CORE_READ(connection, tuplehash[0].tuple.src.u.all);
	dport = BPF_CORE_READ(connection, tuplehash[0].tuple.dst.u.all);
	is_ipv4 = BPF_CORE_READ(connection, tuplehash[0].tuple.src.l3num) == NF_IPV4;
	if (state >= NF_REPLY) {
		tracked_address(found.saddr, &dst, is_ipv4);
		tracked_address(found.daddr, &src, is_ipv4);
		found.sport = dport;
		found.dport = sport;
	} else {
		tracked_address(found.saddr, &src, is_ipv4);
		tracked_address(found.daddr, &dst, is_ipv4);
		found.sport = sport;
		found.dport = dport;
	}
	if (outer_port && found.dport == outer_port)
		return;
	/* A packet without ports, such as a later fragment or an ICMP message, has none before NAT either. */
	if (!key->sport && !key->dport)
		found.sport = found.dport = 0;
	if (!is_same_flow(&found, key))
		*before = found;
}

#endif
