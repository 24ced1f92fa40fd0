/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Guards TCP connections against a path that eats their tagged packets, which no probe may have shown.
 *
 * A segment without new data repeats an earlier one. If the connection makes no progress either, it stalls: the repetition
 * goes untagged, so a wrong suspicion costs a few measurements, and a right one costs the connection one retransmission
 * timeout. New data goes tagged again. TCP's own acknowledgements show whether it arrives: a connection repeats what comes
 * first of what is not acknowledged. If it stalls again before any byte was acknowledged that only went tagged, it stays
 * untagged for life.
 *
 * A repeated SYN goes untagged at once, and its connection stays so for life: firewalls that follow connections have seen
 * it begin then, and would drop acknowledgements of data that they did not see. For the same reason a connection without
 * progress since its second retransmission timeout stays untagged: the answers may be what the network drops. Neither is a
 * sign against the path, unless nothing of the pair arrives.
 *
 * Flows of mixed form have no guard: nothing proved their path.
 */
#ifndef HOSTINT_LEASE_GUARD_H
#define HOSTINT_LEASE_GUARD_H

#include "kernel/kernel.h"
#include "hostint/lease_table.h"
#include "hostint/source_flow.h"
#include "int/slots.h"
#include "lease/pairs.h"
#include "source/flow_begin.h"
#include "source/flow_table.h"
#include "source/outgoing.h"

enum {
	STUCK_REPEATS = 3,                     /* repetitions of the same data in a row */
	STUCK_TIME = 150000000 >> GUARD_SHIFT, /* since the newest data; the shortest timeout of Linux is 200 ms */
	MOST_REPEATS = 255,
	NO_SOCKET = -1, /* its timeouts are not known */
	HOPELESS_TIMEOUTS = 2,
	HOPELESS_TIME = 600000000 >> GUARD_SHIFT, /* since the newest data: the second timeout ends after it */
};

/*
 * The flow stays untagged, and what was tagged since the lease was last told about it is told. Says in the lease that the
 * flow fell if that is a sign against its form.
 */
static __always_inline void give_up(struct source_flow *f, struct source_lease *lease, bool fell)
{
	__u32 untold = f->sequence - f->told, place = lease_slot(f->form, IPPROTO_TCP);

	f->form = FLOW_UNTAGGED;
	f->left = LEFT_GUARD;
	f->open = 0;
	if (!lease)
		return;
	if (fell)
		__sync_fetch_and_add(&lease->fallen, 1);
	if ((__s32)untold > 0)
		add_packets_at(lease->tagged, place, untold);
	f->told = f->sequence;
}

/* Says whether the connection makes no progress, now that it repeats a segment. */
static __always_inline bool is_stuck(const struct outgoing_packet *p, struct source_flow *f, __u32 now)
{
	__u32 seq = bpf_ntohl(p->l4.tcp.seq);

	if (seq != f->repeated)
		f->repeats = 0;
	f->repeated = seq;
	if (f->repeats < MOST_REPEATS)
		f->repeats++;
	return p->timeouts > 0 || f->repeats >= STUCK_REPEATS || now - f->tcp_end_at >= STUCK_TIME;
}

/* Says whether the network must see the rest of a stuck connection as it is. */
static __always_inline bool is_hopeless(const struct outgoing_packet *p, const struct source_flow *f, __u32 now)
{
	if (p->l4.tcp.flags & TCP_SYN)
		return true;
	return p->timeouts == NO_SOCKET ? now - f->tcp_end_at >= HOPELESS_TIME : p->timeouts >= HOPELESS_TIMEOUTS;
}

/* Says whether none of what went tagged since the last stall was acknowledged, now that the connection stalls again. */
static __always_inline bool is_second_stall(const struct outgoing_packet *p, const struct source_flow *f)
{
	return f->stalled && f->plain_to != f->tcp_end && (__s32)(bpf_ntohl(p->l4.tcp.seq) - f->plain_to) <= 0;
}

/* Decides about a packet that repeats a segment. Returns 0 if it goes untagged, and leaves the flow's fate in its record. */
__noinline int judge_flow(void)
{
	struct outgoing_packet *p = outgoing();
	struct source_lease *lease;
	struct source_flow *f;
	__u32 now;

	if (!p)
		return 0;
	f = bpf_map_lookup_elem(&source_flows, &p->key);
	if (!f)
		return 0;
	now = p->now_ns >> GUARD_SHIFT;
	if (!is_stuck(p, f, now))
		return 1;
	if (is_hopeless(p, f, now) || is_second_stall(p, f)) {
		lease = bpf_map_lookup_elem(&source_leases, &p->key);
		/* Does nothing of the pair arrive? */
		give_up(f, lease, !lease || p->now_ns >= lease->vouched_ns);
		return 0;
	}
	/* What was sent so far is repeated untagged, and so is acknowledged whether or not tagged packets arrive. */
	f->stalled = 1;
	f->plain_to = f->tcp_end;
	return 0;
}

/* Keep-alives and probes of a closed window are a single byte, or none, that was sent before. */
static __always_inline bool looks_like_probe(const struct outgoing_packet *p, __u32 len)
{
	return len == 1 && !(p->l4.tcp.flags & (TCP_SYN | TCP_FIN));
}

/* Returns how often the packet's retransmission timer fired since the last progress, or NO_SOCKET. ctx may be NULL. */
static __always_inline __s32 timeouts_of(struct __sk_buff *ctx)
{
	struct bpf_sock *sk = ctx ? (void *)ctx->sk : NULL;
	struct bpf_tcp_sock *tcp;

	if (!sk)
		return NO_SOCKET;
	sk = bpf_sk_fullsock(sk);
	if (!sk)
		return NO_SOCKET;
	tcp = bpf_tcp_sock(sk);
	return tcp ? tcp->icsk_retransmits : NO_SOCKET;
}

/* The connection of the packet in the scratch stays untagged for life. */
static __always_inline void stay_plain(struct outgoing_packet *p)
{
	p->form = FLOW_UNTAGGED;
	p->left = LEFT_GUARD;
}

/*
 * Says whether a packet without a record is a SYN that was sent before: untagged, because nothing else leaves no record.
 * The SYNs of guests are not known so.
 */
static __always_inline bool is_repeated_syn(struct __sk_buff *ctx, const struct outgoing_packet *p)
{
	return is_tcp(p) && is_own_form(p->form) && p->l4.tcp.flags & TCP_SYN && timeouts_of(ctx) > 0;
}

/* Returns false if the packet of this known flow goes untagged. ctx is NULL at XDP, which sees no sockets. */
static __always_inline bool passes_guard(struct __sk_buff *ctx, struct outgoing_packet *p, struct source_flow *f)
{
	__u32 len, end;

	if (!is_tcp(p) || p->form == FLOW_MIXED)
		return true;
	len = tcp_len(p);
	end = bpf_ntohl(p->l4.tcp.seq) + len;
	p->repeats = false;
	p->timeouts = 0;
	if (p->l4.tcp.flags & (TCP_FIN | TCP_RST))
		f->open = 0;
	if (len && !(p->l4.tcp.flags & TCP_RST)) {
		if ((__s32)(end - f->tcp_end) > 0) {
			f->tcp_end = end;
			f->tcp_end_at = p->now_ns >> GUARD_SHIFT;
			f->repeats = 0;
		} else {
			/* What a flow begins with was noted already; a SYN is new all the same, unless its timer fired. */
			p->timeouts = timeouts_of(ctx);
			p->repeats = p->timeouts > 0 || !(p->begins || looks_like_probe(p, len));
		}
	}
	return !p->repeats || judge_flow();
}

#endif
