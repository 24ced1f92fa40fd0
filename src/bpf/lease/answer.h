/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Answers lease questions: the answer is written into the ICMP echo request, which the stack then returns. */
#ifndef HOSTINT_LEASE_ANSWER_H
#define HOSTINT_LEASE_ANSWER_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/lease.h"
#include "hostint/lease_table.h"
#include "kernel/clock.h"
#include "kernel/device_mtu.h"
#include "kernel/host_settings.h"
#include "kernel/single_value.h"
#include "lease/request.h"
#include "lease/siphash.h"
#include "packet/checksum.h"
#include "packet/layout.h"
#include "sink/counters.h"
#include "sink/grants.h"
#include "sink/settings.h"

const volatile __u16 software_version = 0; /* major << 8 | minor */

/* Each CPU answers one request at a time. kernel/single_value.h says why it is not kept on the stack. */
struct lease_scratch {
	struct lease_echo echo;
	struct lease_request request;
	__u32 mtu;
	__u64 frame_len;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lease_scratch);
} lease_scratch SEC(".maps");

static __always_inline struct lease_scratch *get_lease_scratch(void)
{
	return single_value(&lease_scratch);
}

static __always_inline __u64 question_tag(const struct lease_question *q, const struct lease_request *r,
					  const __u64 *key)
{
	const __u64 *words = (const __u64 *)q;
	struct siphash s;

	sip_begin(&s, key);
#pragma unroll
	for (int i = 0; i < LEASE_QUESTION_LEN / 8; i++)
		sip_word(&s, words[i]);
	sip_word(&s, (__u64)r->saddr[1] << 32 | r->saddr[0]);
	sip_word(&s, (__u64)r->saddr[3] << 32 | r->saddr[2]);
	sip_word(&s, (__u64)r->daddr[1] << 32 | r->daddr[0]);
	sip_word(&s, (__u64)r->daddr[3] << 32 | r->daddr[2]);
	return sip_end(&s, LEASE_QUESTION_LEN + 32);
}

static __always_inline __u64 answer_tag(const struct lease_message *m, const __u64 *key)
{
	const __u64 *words = (const __u64 *)m;
	struct siphash s;

	sip_begin(&s, key);
#pragma unroll
	for (int i = 0; i < LEASE_MESSAGE_LEN / 8 - 1; i++)
		sip_word(&s, words[i]);
	return sip_end(&s, LEASE_MESSAGE_LEN - 8);
}

static __always_inline bool grant(const struct lease_question *q)
{
	struct sink_grant given = {
		.until_ns = coarse_ns() + GRANT_NS,
		.source_node = bpf_ntohl(q->source_node),
	};

	return !bpf_map_update_elem(&sink_grants, q->flow_saddr, &given, BPF_ANY);
}

/* Keeps the message's checksum as right or wrong as it was. */
static __always_inline void replace_answer(struct lease_echo *e, const struct lease_answer *answer, const __u64 *key)
{
	const int len = LEASE_ANSWER_LEN + 8;
	__u64 sum = (__u64)csum_neg(e->icmp.check) + csum_neg(csum_fold(csum_words(&e->message.answer, len)));

	e->message.answer = *answer;
	e->message.answer_tag = bpf_cpu_to_be64(answer_tag(&e->message, key));
	e->icmp.check = csum_neg(csum_fold(sum + csum_words(&e->message.answer, len)));
}

/* Tells a source that asked with another key why it gets no answer. */
static __always_inline void mark_forged(struct lease_echo *e)
{
	const int len = sizeof(e->message.answer_tag);
	__u64 sum = (__u64)csum_neg(e->icmp.check) + csum_neg(csum_fold(csum_words(&e->message.answer_tag, len)));

	e->message.answer_tag = ~0ULL;
	e->icmp.check = csum_neg(csum_fold(sum + csum_words(&e->message.answer_tag, len)));
}

/* Returns 1 if the echo request in the scratch holds a question and was changed. */
__noinline int answer_question(void)
{
	const struct sink_settings *set = get_sink_settings();
	const struct host_settings *host = get_host_settings();
	struct lease_scratch *l = get_lease_scratch();
	const struct lease_question *q;
	struct lease_answer answer = {};
	struct lease_echo *e;

	if (!set || !host || !l)
		return 0;
	e = &l->echo;
	q = &e->message.question;
	if (e->icmp.type != l->request.type || e->icmp.code || q->magic != bpf_htonl(LEASE_MAGIC) ||
	    q->version != bpf_htonl(LEASE_VERSION_1))
		return 0;
	if (e->message.question_tag != bpf_cpu_to_be64(question_tag(q, &l->request, host->lease_key))) {
		count_sink(COUNT_SINK_LEASE_FORGED, 1, l->frame_len);
		mark_forged(e);
		return 1;
	}
	if (set->flags & SINK_CLOSING) {
		count_sink(COUNT_SINK_LEASE_CLOSING, 1, l->frame_len);
		return 0;
	}
	if (!grant(q)) {
		count_sink(COUNT_SINK_LEASE_FULL, 1, l->frame_len);
		return 0;
	}
	answer.instance = bpf_cpu_to_be64(host->instance);
	answer.node_id = bpf_htonl(host->node_id);
	answer.encapsulations = set->flags & (SINK_OVER_TCP_UDP | SINK_EXTENSION_UDP | SINK_VXLAN_GPE);
	answer.tos_value = set->tos_value;
	answer.tos_mask = set->tos_mask;
	answer.clock = host->clock_source | (host->clock_synchronised ? LEASE_CLOCK_SYNCHRONISED : 0);
	answer.extension_port = set->extension_port;
	answer.mtu = bpf_htons(l->mtu);
	answer.tai_offset_s = bpf_htons(host->tai_offset_s);
	answer.software = bpf_htons(software_version);
	answer.answered_ns = bpf_cpu_to_be64(now_ns(host));
	replace_answer(e, &answer, host->lease_key);
	count_sink(COUNT_SINK_LEASE_GRANTED, 1, l->frame_len);
	return 1;
}

__noinline int answer_xdp(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct lease_scratch *l = get_lease_scratch();
	struct lease_echo *at;

	if (!l || !find_request(data, end, &l->request))
		return 0;
	at = at_offset(data, l->request.icmp);
	if ((void *)(at + 1) > end)
		return 0;
	l->echo = *at;
	l->mtu = device_mtu(ctx, 0);
	l->frame_len = end - data;
	if (answer_question())
		*at = l->echo;
	return 0;
}

__noinline int answer_skb(struct __sk_buff *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct lease_scratch *l = get_lease_scratch();

	if (!l || !find_request(data, end, &l->request) ||
	    bpf_skb_load_bytes(ctx, l->request.icmp, &l->echo, sizeof(l->echo)))
		return 0;
	l->mtu = device_mtu(ctx, 0);
	l->frame_len = ctx->len;
	if (answer_question())
		bpf_skb_store_bytes(ctx, l->request.icmp, &l->echo, sizeof(l->echo), 0);
	return 0;
}

#endif
