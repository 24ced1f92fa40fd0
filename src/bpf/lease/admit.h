/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Decides whether a question is answered, and grants the lease.
 *
 * Where packets pass two sinks, the first one on the path takes INT out and tells what arrives there: the lease is with it.
 * The second one leaves its answer, but permits the sender, because INT in options reaches both. Of two sinks with two keys,
 * the one answers that has the source's.
 */
#ifndef HOSTINT_LEASE_ADMIT_H
#define HOSTINT_LEASE_ADMIT_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/lease.h"
#include "hostint/lease_table.h"
#include "lease/grant.h"
#include "lease/message.h"
#include "lease/request.h"
#include "sink/counters.h"
#include "sink/grants.h"

/* Says whether an echo request begins as a question. */
static __always_inline bool is_question(const struct icmp_echo *icmp, const struct lease_scratch *l, __be32 magic,
					__be32 version)
{
	return icmp->type == l->request.type && !icmp->code && magic == bpf_htonl(LEASE_MAGIC) &&
	       version == bpf_htonl(LEASE_VERSION);
}

/* Counts a question with a wrong tag, and tells its source so. */
static __always_inline void refuse_forged(struct icmp_echo *icmp, __be64 *tag, const struct lease_scratch *l)
{
	count_sink(COUNT_SINK_LEASE_FORGED, 1, l->frame_len);
	mark_forged(icmp, tag);
}

/* Says whether a sink with this one's key has answered. `len` is that of the message without its tag. */
static __always_inline bool has_answer(const void *message, int len, __be64 tag, const struct host_settings *host)
{
	return tag && tag == answer_tag(message, len, host->lease_key);
}

/* Says whether the sink is about to be detached and answers no more; counts the question then. */
static __always_inline bool is_closing(const struct sink_settings *set, const struct lease_scratch *l)
{
	if (!(set->flags & SINK_CLOSING))
		return false;
	count_sink(COUNT_SINK_LEASE_CLOSING, 1, l->frame_len);
	return true;
}

/*
 * Finds the grant of an address, counts the question, and extends the grant unless the sink is astray. Returns NULL if
 * there is none: an astray sink begins no grants, and another one may have no room for it.
 */
static __always_inline struct sink_grant *grant_to(const __be32 *saddr, const struct sink_settings *set,
						   struct lease_scratch *l)
{
	struct sink_grant *grant;

	if (set->flags & SINK_ASTRAY) {
		count_sink(COUNT_SINK_LEASE_ASTRAY, 1, l->frame_len);
		return bpf_map_lookup_elem(&sink_grants, saddr);
	}
	grant = grant_of(saddr);
	if (!grant) {
		count_sink(COUNT_SINK_LEASE_FULL, 1, l->frame_len);
		return NULL;
	}
	l->begins = extend_grant(grant) || l->begins;
	count_sink(COUNT_SINK_LEASE_GRANTED, 1, l->frame_len);
	return grant;
}

#endif
