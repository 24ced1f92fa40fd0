/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Answers lease questions: the answer is written into the ICMP echo request, which the stack then returns. */
#ifndef HOSTINT_LEASE_ANSWER_H
#define HOSTINT_LEASE_ANSWER_H

#include "kernel/kernel.h"
#include "kernel/device_mtu.h"
#include "lease/write_answer.h"
#include "lease/message.h"
#include "lease/request.h"
#include "packet/layout.h"
#include "packet/put_bytes.h"

/* To be called after an answer. */
static __always_inline void show_grant(bool locked)
{
	struct lease_scratch *l = get_lease_scratch();

	if (!l || !l->begins)
		return;
	l->begins = false;
	change_grants_serial(locked);
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
	if (l->request.icmp_len == sizeof(struct lease_short_echo)) {
		struct lease_short_echo *echo = at;

		if ((void *)(echo + 1) > end)
			return 0;
		l->echo.brief = *echo;
		if (answer_brief())
			*echo = l->echo.brief;
	} else {
		struct lease_echo *echo = at;

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
	if (l->request.icmp_len == sizeof(struct lease_short_echo)) {
		if (!bpf_skb_load_bytes(ctx, l->request.icmp, &l->echo, sizeof(struct lease_short_echo)) &&
		    answer_brief())
			put_bytes(ctx, l->request.icmp, &l->echo, sizeof(struct lease_short_echo));
	} else {
		if (!bpf_skb_load_bytes(ctx, l->request.icmp, &l->echo, sizeof(struct lease_echo)) && answer_full())
			put_bytes(ctx, l->request.icmp, &l->echo, sizeof(struct lease_echo));
	}
	return 0;
}

#endif
