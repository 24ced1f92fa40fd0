/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Chooses the form of a flow's packets by what the lease says passes the path (enum lease_way).
 *
 * A TCP connection takes its form with its SYN and never enters an encapsulation later: a firewall that follows
 * connections drops packets in the middle of one whose beginning it did not see. For the same reason it leaves its
 * encapsulation once, for good. UDP has no beginning that a firewall could miss, so a UDP flow enters and leaves an
 * encapsulation with the lease.
 *
 * With --compat flows are FLOW_MIXED: they begin at any packet, pause without a lease, and superpackets change them to
 * vxlan-gpe.
 */
#ifndef HOSTINT_LEASE_SETTLE_H
#define HOSTINT_LEASE_SETTLE_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/lease_table.h"
#include "hostint/source_flow.h"
#include "int/slots.h"
#include "source/attachment.h"
#include "source/outgoing.h"
#include "watch/chosen_flows.h"

enum {
	UDP_WAYS = 3, /* the bits of UDP in enum lease_way are those of TCP, shifted by this */
};

/* Says whether the lease lets packets of this protocol go in this encapsulation. */
static __always_inline bool is_open(__u32 ways, const struct outgoing_packet *p, __u32 encap)
{
	if (encap == ENCAP_IOAM)
		return p->at.family == 6 && ways & WAY_IOAM;
	if (encap == ENCAP_OPTIONS)
		return !p->at_xdp && ways & (is_tcp(p) ? WAY_TCP_OPTION : WAY_UDP_OPTION);
	if (encap == ENCAP_INT_MD)
		return !is_tcp(p) && ways & WAY_UDP_INT_MD;
	return ways >> (encap - 1 + (is_tcp(p) ? 0 : UDP_WAYS)) & 1;
}

static __always_inline __u8 choose_form(__u32 ways, const struct outgoing_packet *p)
{
	if (!p->at_xdp && encapsulation != ENCAP_TUNNEL && is_open(ways, p, encapsulation))
		return encapsulation;
	if (!p->at_xdp && is_open(ways, p, ENCAP_VXLAN_GPE))
		return ENCAP_VXLAN_GPE;
	return is_open(ways, p, ENCAP_EXTENSION_UDP) ? ENCAP_EXTENSION_UDP : FLOW_UNTAGGED;
}

static __always_inline void go_untagged(struct outgoing_packet *p, enum flow_left left)
{
	p->form = FLOW_UNTAGGED;
	p->left = left;
}

static __always_inline void settle_without_lease(struct outgoing_packet *p)
{
	p->reason = COUNT_SOURCE_NO_LEASE;
	if (is_own_form(p->form) && is_tcp(p)) {
		go_untagged(p, LEFT_NO_LEASE);
		p->reason = COUNT_SOURCE_LEFT;
	}
}

static __always_inline void settle_tcp(struct outgoing_packet *p, __u32 ways, bool proved)
{
	if (p->form == FLOW_UNTAGGED)
		return;
	if (p->form != FLOW_UNDECIDED) {
		if (!is_own_form(p->form) || !is_open(ways, p, p->form))
			go_untagged(p, LEFT_NO_WAY);
		return;
	}
	if (!(p->l4.tcp.flags & TCP_SYN)) {
		go_untagged(p, LEFT_BEGAN_BEFORE);
		return;
	}
	if (ways || proved) {
		p->form = choose_form(ways, p);
		p->left = p->form == FLOW_UNTAGGED ? LEFT_NO_WAY : LEFT_NOT;
	}
	if (!is_own_form(p->form))
		p->reason = COUNT_SOURCE_UNPROVED;
}

static __always_inline void settle_udp(struct outgoing_packet *p, __u32 ways)
{
	bool was_tagged = is_own_form(p->form);

	if (was_tagged && is_open(ways, p, p->form))
		return;
	p->form = choose_form(ways, p);
	if (is_own_form(p->form))
		return;
	p->form = FLOW_UNDECIDED;
	p->reason = was_tagged ? COUNT_SOURCE_LEFT : COUNT_SOURCE_UNPROVED;
}

/*
 * To firewalls, packets with IOAM are those of the same conversation as packets without. So TCP in ioam, too, may enter it
 * and leave it with the lease, but for connections in another form, or whose packets came to nothing in it.
 */
static __always_inline bool may_enter_ioam(const struct outgoing_packet *p, __u32 ways)
{
	return encapsulation == ENCAP_IOAM && !p->at_xdp && is_open(ways, p, ENCAP_IOAM) &&
	       (p->form == FLOW_UNDECIDED || p->form == ENCAP_IOAM ||
		(p->form == FLOW_UNTAGGED && p->left != LEFT_GUARD));
}

/*
 * A stack that does not know the option skips it, and addresses, ports and sequence numbers are as without it. So flows
 * enter it and leave it with the lease, at any packet.
 */
static __always_inline void settle_in_options(struct outgoing_packet *p, __u32 ways, __u32 asked_shift)
{
	if (asked_shift && !p->watching.always && is_left_out(asked_shift, &p->key)) {
		p->reason = COUNT_SOURCE_BUDGET;
		p->form = FLOW_UNDECIDED;
		return;
	}
	if (is_open(ways, p, ENCAP_OPTIONS)) {
		p->form = ENCAP_OPTIONS;
		p->left = LEFT_NOT;
		return;
	}
	p->reason = is_own_form(p->form) ? COUNT_SOURCE_LEFT : COUNT_SOURCE_UNPROVED;
	p->form = FLOW_UNDECIDED;
}

static __always_inline void settle_with_lease(struct outgoing_packet *p, __u32 ways, bool proved, __u32 asked_shift)
{
	if (encapsulation == ENCAP_OPTIONS) {
		settle_in_options(p, ways, asked_shift);
	} else if (full_checksum) {
		if (p->form == FLOW_UNDECIDED || (p->form == FLOW_UNTAGGED && p->left == LEFT_BEGAN_BEFORE))
			p->form = FLOW_MIXED;
	} else if (may_enter_ioam(p, ways)) {
		p->form = ENCAP_IOAM;
		p->left = LEFT_NOT;
	} else if (is_tcp(p)) {
		settle_tcp(p, ways, proved);
	} else {
		settle_udp(p, ways);
	}
}

#endif
