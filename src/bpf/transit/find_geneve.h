/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the metadata stack of INT v2.1 (MD) in an option of Geneve, in front of the packet in the tunnel. */
#ifndef HOSTINT_TRANSIT_FIND_GENEVE_H
#define HOSTINT_TRANSIT_FIND_GENEVE_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "int/geneve_option.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "transit/find_md.h"
#include "transit/passing.h"
#include "transit/verdicts.h"

enum {
	GENEVE_OPTIONS_READ = 8,
	GENEVE_FRONT = UDP_LEN + GENEVE_HEAD_LEN,
};

/* Leaves the offset of INT's option behind the L4 header; 0: there is none. Returns false if it may lie beyond `end`. */
static __always_inline bool find_int_option(void *data, void *end, __u32 l4, __u32 options_end, __u32 *found)
{
	__u32 at = GENEVE_FRONT;

	*found = 0;
#pragma unroll
	for (int i = 0; i < GENEVE_OPTIONS_READ; i++) {
		struct geneve_option *option = at_offset(data, l4 + at);

		if (at + sizeof(*option) > options_end)
			return true;
		if ((void *)(option + 1) > end)
			return false;
		if (option->option_class == bpf_htons(GENEVE_INT_CLASS)) {
			*found = at;
			return true;
		}
		at += sizeof(*option) + (option->words & GENEVE_OPTION_WORDS) * 4;
	}
	return true;
}

/* Returns TRANSIT_NO_INT for Geneve without INT, and for other versions of Geneve. */
static __always_inline enum transit_find find_geneve(void *data, void *end, struct passing_packet *p)
{
	struct {
		struct udphdr udp;
		struct geneve_head geneve;
	} *head = at_offset(data, p->at.l4);
	__u32 header_len = p->at.l4 - p->at.l3, options_end, udp_len, at;
	struct geneve_option *option;
	enum int_verdict verdict;
	struct int_md_head *h;

	if ((void *)(head + 1) > end)
		return p->frame_len > (__u64)(end - data) ? TRANSIT_SHORT : TRANSIT_NO_INT;
	if (head->geneve.words & ~GENEVE_WORDS)
		return TRANSIT_NO_INT;
	udp_len = bpf_ntohs(head->udp.len);
	options_end = GENEVE_FRONT + head->geneve.words * 4;
	if (!find_int_option(data, end, p->at.l4, options_end, &at))
		return p->frame_len > (__u64)(end - data) ? TRANSIT_SHORT : TRANSIT_NO_INT;
	if (!at)
		return TRANSIT_NO_INT;
	h = at_offset(data, p->at.l4 + at);
	option = (void *)h;
	if ((void *)(h + 1) > end)
		return short_or_truncated(p, data, end);
	if (p->at.fragment)
		return refuse_passing(p, COUNT_TRANSIT_FRAGMENT);
	verdict = check_geneve_int(option);
	if (verdict != INT_VALID)
		return refuse_verdict(p, verdict);
	if (at + sizeof(*option) + option->words * 4 > options_end || udp_len < options_end ||
	    p->at.ip_len != header_len + udp_len || p->at.ip_len > p->frame_len - p->at.l3)
		return refuse_passing(p, COUNT_TRANSIT_BAD_LENGTH);
	p->l4_len = at;
	p->is_full = option->words + h->hop_words > GENEVE_OPTION_WORDS ||
		     options_end + h->hop_words * 4 > GENEVE_FRONT + GENEVE_MOST_OPTIONS;
	p->is_geneve = true;
	p->is_unnumbered = true;
	return take_instructions(data, end, h, option->words, p);
}

#endif
