/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Answers lease questions: the answer is written into the ICMP echo request, which the stack then returns. */
#ifndef HOSTINT_LEASE_ANSWER_H
#define HOSTINT_LEASE_ANSWER_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/lease.h"
#include "hostint/lease_table.h"
#include "kernel/clock.h"
#include "kernel/device_mtu.h"
#include "kernel/host_settings.h"
#include "lease/answer_v2.h"
#include "lease/message.h"
#include "lease/request.h"
#include "packet/layout.h"
#include "packet/put_bytes.h"
#include "sink/settings.h"

/* Returns 1 if the echo request in the scratch holds a question of version 1 and was changed. */
__noinline int answer_version_1(void)
{
	const struct sink_settings *set = get_sink_settings();
	const struct host_settings *host = get_host_settings();
	struct lease_scratch *l = get_lease_scratch();
	const int room = LEASE_ANSWER_LEN + sizeof(__be64);
	struct lease_answer answer = {};
	struct lease_message *m;
	struct sink_grant *grant;
	struct icmp_echo *icmp;
	__u64 sum;

	if (!set || !host || !l)
		return 0;
	icmp = &l->echo.version_1.icmp;
	m = &l->echo.version_1.message;
	if (!is_question(icmp, l, m->question.magic, m->question.version, LEASE_VERSION_1))
		return 0;
	if (m->question_tag !=
	    tag_with_addresses(&m->question, LEASE_QUESTION_LEN, l->request.saddr, l->request.daddr, host->lease_key)) {
		refuse_forged(icmp, &m->answer_tag, l);
		return 1;
	}
	if (is_closing(set, l))
		return 0;
	grant = grant_to(m->question.flow_saddr, LEASE_VERSION_1, set, l);
	if (!grant || set->flags & SINK_ASTRAY)
		return 0;
	grant->source_node = bpf_ntohl(m->question.source_node);
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
	sum = sum_without(icmp, &m->answer, room);
	m->answer = answer;
	m->answer_tag = answer_tag(m, LEASE_MESSAGE_LEN - 8, host->lease_key);
	sum_with(icmp, sum, &m->answer, room);
	return 1;
}

/* Each kind of message has its own check and copy: the verifier believes a comparison with a constant length only. */
__noinline int answer_xdp(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct lease_scratch *l = get_lease_scratch();
	void *at;

	if (!l || !find_request(data, end, &l->request))
		return 0;
	at = at_offset(data, l->request.icmp);
	l->mtu = device_mtu(ctx, 0);
	l->frame_len = end - data;
	if (l->request.icmp_len == sizeof(struct lease_echo)) {
		struct lease_echo *echo = at;

		if ((void *)(echo + 1) > end)
			return 0;
		l->echo.version_1 = *echo;
		if (answer_version_1())
			*echo = l->echo.version_1;
	} else if (l->request.icmp_len == sizeof(struct lease2_short_echo)) {
		struct lease2_short_echo *echo = at;

		if ((void *)(echo + 1) > end)
			return 0;
		l->echo.brief = *echo;
		if (answer_brief())
			*echo = l->echo.brief;
	} else {
		struct lease2_echo *echo = at;

		if ((void *)(echo + 1) > end)
			return 0;
		l->echo.full = *echo;
		if (answer_full())
			*echo = l->echo.full;
	}
	return 0;
}

__noinline int answer_skb(struct __sk_buff *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct lease_scratch *l = get_lease_scratch();

	if (!l || !find_request(data, end, &l->request))
		return 0;
	l->mtu = device_mtu(ctx, 0);
	l->frame_len = ctx->len;
	if (l->request.icmp_len == sizeof(struct lease_echo)) {
		if (!bpf_skb_load_bytes(ctx, l->request.icmp, &l->echo, sizeof(struct lease_echo)) &&
		    answer_version_1())
			put_bytes(ctx, l->request.icmp, &l->echo, sizeof(struct lease_echo));
	} else if (l->request.icmp_len == sizeof(struct lease2_short_echo)) {
		if (!bpf_skb_load_bytes(ctx, l->request.icmp, &l->echo, sizeof(struct lease2_short_echo)) &&
		    answer_brief())
			put_bytes(ctx, l->request.icmp, &l->echo, sizeof(struct lease2_short_echo));
	} else {
		if (!bpf_skb_load_bytes(ctx, l->request.icmp, &l->echo, sizeof(struct lease2_echo)) && answer_full())
			put_bytes(ctx, l->request.icmp, &l->echo, sizeof(struct lease2_echo));
	}
	return 0;
}

#endif
