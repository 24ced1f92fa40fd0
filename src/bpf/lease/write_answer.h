/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes answers: what this sink can read, and what it saw of the asking host's packets. */
#ifndef HOSTINT_LEASE_WRITE_ANSWER_H
#define HOSTINT_LEASE_WRITE_ANSWER_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/lease.h"
#include "hostint/lease_table.h"
#include "kernel/clock.h"
#include "kernel/host_settings.h"
#include "lease/capabilities.h"
#include "lease/admit.h"
#include "lease/message.h"
#include "lease/request.h"
#include "sink/settings.h"

enum {
	DIGESTED_LEN = __builtin_offsetof(struct lease_answer, answered_ns),
};

/* A sink that lost its grants does not know the asking host's node, so this changes then, too. */
static __always_inline __u32 digest_of(const struct lease_answer *answer, __u32 source_node)
{
	const __u64 *words = (const __u64 *)answer;
	__u64 hash = source_node;

#pragma unroll
	for (int i = 0; i < DIGESTED_LEN / 8; i++) {
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return hash;
}

/* Begins the answer in the scratch with all that settings decide. */
static __always_inline void begin_answer(struct lease_scratch *l, const struct sink_settings *set,
					 const struct host_settings *host, const struct sink_grant *grant)
{
	struct lease_answer *answer = &l->answer;

	__builtin_memset(answer, 0, sizeof(*answer));
	answer->instance = bpf_cpu_to_be64(host->instance);
	answer->node_id = bpf_htonl(host->node_id);
	answer->capabilities = bpf_htonl(capabilities(set, host, grant));
	answer->tos_value = set->tos_value;
	answer->tos_mask = set->tos_mask;
	answer->clock = host->clock_source | (host->clock_synchronised ? LEASE_CLOCK_SYNCHRONISED : 0);
	answer->clock_steering = has_daemon(host) ? host->clock_steering : 0;
	answer->extension_port = set->extension_port;
	answer->mtu = bpf_htons(l->mtu);
	answer->tai_offset_s = bpf_htons(host->tai_offset_s);
	answer->software = bpf_htons(software_version);
	answer->digest = bpf_htonl(digest_of(answer, grant ? grant->source_node : 0));
	answer->flags = bpf_htonl((set->flags & SINK_ASTRAY ? LEASE_FLAG_ASTRAY : 0) |
				  (has_daemon(host) ? host->asked_shift << LEASE_SHARE_AT : 0));
	l->now = now_ns(host);
	answer->answered_ns = bpf_cpu_to_be64(l->now);
}

static __always_inline void tell_counts(struct lease_answer *answer, const struct sink_grant *grant)
{
#pragma unroll
	for (int i = 0; i < LEASE_ENCAPSULATIONS; i++)
		answer->stripped[i] = bpf_htonl(grant->stripped[i]);
	answer->lost = bpf_htonl(grant->lost);
}

/* Forgets the probes of the last round when another one is announced. Questions about other pairs announce none. */
static __always_inline void begin_round(struct sink_grant *grant, __u64 round)
{
	if (!round || grant->round == round)
		return;
	__builtin_memset(grant->arrived, 0, sizeof(grant->arrived));
	__builtin_memset(grant->tos_changed, 0, sizeof(grant->tos_changed));
	grant->round = round;
}

static __always_inline void tell_probes(struct lease_answer *answer, const struct sink_grant *grant)
{
#pragma unroll
	for (int i = 0; i < LEASE_FORMS; i++) {
		answer->arrived[i][0] = bpf_cpu_to_be64(grant->arrived[i][0]);
		answer->arrived[i][1] = bpf_cpu_to_be64(grant->arrived[i][1]);
	}
	__builtin_memcpy(answer->tos_changed, grant->tos_changed, sizeof(answer->tos_changed));
}

/* Without a key a host can ask for any address, but is told only about its own packets. */
static __always_inline bool may_be_told(const struct host_settings *host, const struct lease_question *q,
					const struct lease_request *r)
{
	return host->has_lease_key || same_addresses(q->flow_saddr, r->daddr, r->saddr, r->daddr);
}

/* Writes the answer in the scratch into the full message there. It is a step of its own; see kernel/single_value.h. */
__noinline int write_full_answer(void)
{
	const int room = sizeof(struct lease_answer) + sizeof(__be64);
	const struct host_settings *host = get_host_settings();
	struct lease_scratch *l = get_lease_scratch();
	struct lease_message *m;
	__u64 sum;

	if (!host || !l)
		return 0;
	m = &l->echo.full.message;
	sum = sum_without(&l->echo.full.icmp, &m->answer, room);
	m->answer = l->answer;
	m->answer_tag = answer_tag(m, sizeof(*m) - sizeof(m->answer_tag), host->lease_key);
	sum_with(&l->echo.full.icmp, sum, &m->answer, room);
	return 0;
}

__noinline int write_brief_answer(void)
{
	const int room = sizeof(struct lease_short_message) - __builtin_offsetof(struct lease_short_message, flags);
	const struct host_settings *host = get_host_settings();
	struct lease_scratch *l = get_lease_scratch();
	struct lease_short_message *m;
	__u64 sum;

	if (!host || !l)
		return 0;
	m = &l->echo.brief.message;
	sum = sum_without(&l->echo.brief.icmp, &m->flags, room);
	m->flags = l->answer.flags;
	m->digest = l->answer.digest;
	__builtin_memcpy(m->stripped, l->answer.stripped, sizeof(m->stripped));
	m->lost = l->answer.lost;
	m->answered_ns = l->answer.answered_ns;
	m->answer_tag = answer_tag(m, sizeof(*m) - sizeof(m->answer_tag), host->lease_key);
	sum_with(&l->echo.brief.icmp, sum, &m->flags, room);
	return 0;
}

/* Returns 1 if the echo request in the scratch holds a full question and was changed. */
__noinline int answer_full(void)
{
	const struct sink_settings *set = get_sink_settings();
	const struct host_settings *host = get_host_settings();
	struct lease_scratch *l = get_lease_scratch();
	const struct lease_question *q;
	struct lease_message *m;
	struct sink_grant *grant;
	struct icmp_echo *icmp;
	bool astray, answered;

	if (!set || !host || !l)
		return 0;
	icmp = &l->echo.full.icmp;
	m = &l->echo.full.message;
	q = &m->question;
	if (!is_question(icmp, l, q->magic, q->version))
		return 0;
	if (m->question_tag != tag_with_addresses(q, sizeof(*q), l->request.saddr, l->request.daddr, host->lease_key)) {
		if (m->answer.instance)
			return 0;
		refuse_forged(icmp, &m->answer_tag, l);
		return 1;
	}
	if (is_closing(set, l))
		return 0;
	astray = set->flags & SINK_ASTRAY;
	answered = m->answer.instance && has_answer(m, sizeof(*m) - sizeof(m->answer_tag), m->answer_tag, host);
	if (answered && astray)
		return 0;
	grant = grant_to(q->flow_saddr, set, l);
	if (!grant && !astray)
		return 0;
	if (grant && !astray)
		grant->source_node = bpf_ntohl(q->source_node);
	if (answered)
		return 0;
	begin_answer(l, set, host, grant);
	if (!may_be_told(host, q, &l->request)) {
		l->answer.flags |= bpf_htonl(LEASE_FLAG_UNTOLD);
	} else if (grant) {
		if (!astray)
			begin_round(grant, bpf_be64_to_cpu(q->round));
		tell_counts(&l->answer, grant);
		tell_probes(&l->answer, grant);
	}
	write_full_answer();
	return 1;
}

/* Does the same for a short question. */
__noinline int answer_brief(void)
{
	const struct sink_settings *set = get_sink_settings();
	const struct host_settings *host = get_host_settings();
	struct lease_scratch *l = get_lease_scratch();
	struct lease_short_message *m;
	struct sink_grant *grant;
	struct icmp_echo *icmp;
	bool answered;

	if (!set || !host || !l)
		return 0;
	icmp = &l->echo.brief.icmp;
	m = &l->echo.brief.message;
	if (!is_question(icmp, l, m->magic, m->version))
		return 0;
	if (m->question_tag != tag_with_addresses(m, __builtin_offsetof(struct lease_short_message, question_tag),
						  l->request.saddr, l->request.daddr, host->lease_key)) {
		if (m->answered_ns)
			return 0;
		refuse_forged(icmp, &m->answer_tag, l);
		return 1;
	}
	if (is_closing(set, l))
		return 0;
	answered = m->answered_ns && has_answer(m, sizeof(*m) - sizeof(m->answer_tag), m->answer_tag, host);
	if (answered && set->flags & SINK_ASTRAY)
		return 0;
	grant = grant_to(l->request.saddr, set, l);
	if (answered || (!grant && !(set->flags & SINK_ASTRAY)))
		return 0;
	begin_answer(l, set, host, grant);
	if (grant)
		tell_counts(&l->answer, grant);
	write_brief_answer();
	return 1;
}

#endif
