/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads INT-MD and INT-MX of hostint's sources: IP | UDP, or the first 20 bytes of TCP | block | rest of the packet. */
#ifndef HOSTINT_SINK_MD_READ_H
#define HOSTINT_SINK_MD_READ_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "int/md_block.h"
#include "int/mx_block.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "packet/l4_front.h"
#include "packet/layout.h"
#include "sink/tagged.h"

static __always_inline bool has_md_tos(const struct sink_settings *set, __u8 tos)
{
	return set->flags & SINK_INT_MD && (tos & set->md_tos_mask) == set->md_tos_value;
}

/* Entries that hops pushed stand behind the head, so what follows it is read from what the source wrote below them. */
static __always_inline void take_md(const struct int_md_head *head, const struct md_source *source,
				    struct tagged_packet *p)
{
	const struct int_md_block *b = source->entry;
	const struct int_md_end *rest = source->rest;

	p->hop_words = head->hop_words;
	p->hop_items = bpf_ntohs(head->bitmap);
	p->had_budget = md_had_budget(head);
	p->facts.encapsulation = ENCAP_INT_MD;
	p->behind_l4 = true;
	p->facts.source_node = bpf_ntohl(b->node_id);
	p->facts.source_port = bpf_ntohs(b->egress_port);
	p->facts.ingress_ts = bpf_ntohl(rest->ts_low);
	p->facts.sequence = bpf_ntohl(rest->sequence);
	p->facts.count = 1;
	p->facts.is_sampled = false;
	p->facts.age_code = bpf_ntohs(head->ds_flags) & GPE_FLOW_AGE;
	p->ingress_port = bpf_ntohs(b->ingress_port);
	p->egress_ts = p->facts.ingress_ts;
	p->by_host_int = 0;
	/* Without a queue, the rest begins with the latency. */
	p->int_check = csum_fold(csum_words(head, INT_MD_HEAD_LEN) + csum_words(&b->node_id, 8) +
				 (source->has_queue ? csum_words(&b->latency, sizeof(b->latency)) : 0) +
				 csum_words(rest, sizeof(*rest)));
	p->dscp = bpf_ntohs(head->original) | 1;
	p->has_queue = source->has_queue;
	p->queue_packets = bpf_ntohl(rest->queue) & 0xffffff;
	p->queue_bytes = 0;
	p->bad_segment = 0;
}

/* A byte that lies beyond `end` is INT-MD's: read_md() says what is wrong. */
static __always_inline bool begins_md(void *data, void *end, const struct tagged_packet *p)
{
	__u8 *type = at_offset(data, p->at.l4 + (p->at.protocol == IPPROTO_UDP ? UDP_LEN : TCP_BASE_LEN));

	return (void *)(type + 1) > end || *type != INT_TYPE;
}

/* A flow in INT-MX counts as one in int-md. */
static __always_inline void take_mx(const struct int_mx_block *b, struct tagged_packet *p)
{
	p->had_budget = true;
	p->facts.encapsulation = ENCAP_INT_MD;
	p->behind_l4 = true;
	p->facts.source_node = bpf_ntohl(b->node_id);
	p->facts.source_port = bpf_ntohs(b->egress_port);
	p->facts.ingress_ts = bpf_ntohl(b->ingress_ts);
	p->facts.sequence = bpf_ntohl(b->sequence);
	p->facts.count = 1;
	p->facts.age_code = bpf_ntohs(b->ds_flags) & INT_MX_FLOW_AGE;
	p->facts.is_sampled = is_mx_sampled(b);
	p->ingress_port = bpf_ntohs(b->ingress_port);
	p->egress_ts = p->facts.ingress_ts;
	p->by_host_int = 0;
	p->int_check = csum_fold(csum_words(b, INT_MX_BLOCK_LEN));
	p->dscp = bpf_ntohs(b->original) | 1;
	p->has_queue = 0;
	p->bad_segment = 0;
}

/* The block is as long as that of over-tcp-udp, so it is taken out in the same way. */
static __always_inline enum sink_read read_mx(__u32 want, const struct int_mx_block *b, struct tagged_packet *p)
{
	enum int_verdict verdict = check_mx_block(b);

	if (verdict != INT_VALID)
		return refuse_block(verdict, p->frame_len);
	if (want < p->l4_len || p->at.ip_len < p->at.l4 - p->at.l3 + want + INT_MX_BLOCK_LEN)
		return refuse(COUNT_SINK_BAD_LENGTH, p->frame_len);
	p->hops = 0;
	p->grown = 0;
	take_mx(b, p);
	p->orig_len = p->at.ip_len - INT_MX_BLOCK_LEN;
	return SINK_TAGGED;
}

static __always_inline enum sink_read read_md(void *data, void *end, struct tagged_packet *p)
{
	__u32 header_len = p->at.l4 - p->at.l3, len;
	__u64 frame_len = p->frame_len;
	struct int_md_head *head;
	enum int_verdict verdict;
	struct md_source source;
	struct l4_front front;

	head = behind_l4(data, end, &p->at, sizeof(*head), &front, &p->l4);
	if (!head)
		return short_or_refuse(data, end, COUNT_SINK_FOREIGN_MARK, frame_len);
	p->l4_len = front.len;
	if (head->type == INT_MX_TYPE) {
		struct int_mx_block *mx = (void *)head;

		if ((void *)(mx + 1) > end)
			return short_or_refuse(data, end, COUNT_SINK_TRUNCATED, frame_len);
		return read_mx(front.stated, mx, p);
	}
	verdict = check_md_block(head);
	if (verdict != INT_VALID)
		return refuse_block(verdict, frame_len);
	if (!find_md_source(head, end, &source))
		return short_or_refuse(data, end, COUNT_SINK_TRUNCATED, frame_len);
	len = 4 + head->length * 4;
	if (front.stated < p->l4_len || p->at.ip_len < header_len + front.stated + len)
		return refuse(COUNT_SINK_BAD_LENGTH, frame_len);
	p->hops = md_pushed(head);
	p->grown = len - INT_BLOCK_LEN;
	p->hops_at = p->at.l4 + p->l4_len + INT_MD_HEAD_LEN;
	take_md(head, &source, p);
	p->orig_len = p->at.ip_len - len;
	return SINK_TAGGED;
}

#endif
