/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the INT of a packet at either hook, in whichever way it is carried. Each way is verified by itself. */
#ifndef HOSTINT_SINK_FIND_H
#define HOSTINT_SINK_FIND_H

#include "kernel/kernel.h"
#include "sink/datagram_read.h"
#include "sink/ioam_read.h"
#include "sink/read.h"
#include "sink/settings.h"
#include "sink/tagged.h"

__noinline int read_xdp(struct xdp_md *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = tagged();

	if (!set || !p)
		return SINK_NOT_MARKED;
	return read_packet((void *)(long)ctx->data, (void *)(long)ctx->data_end, 0, set, p);
}

__noinline int read_skb(struct __sk_buff *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = tagged();

	if (!set || !p)
		return SINK_NOT_MARKED;
	return read_packet((void *)(long)ctx->data, (void *)(long)ctx->data_end,
			   ctx->vlan_present ? ctx->vlan_tci & 0xfff : 0, set, p);
}

__noinline int read_option_xdp(struct xdp_md *ctx)
{
	struct tagged_packet *p = tagged();

	return p ? read_int_option((void *)(long)ctx->data, (void *)(long)ctx->data_end, p) : SINK_NOT_MARKED;
}

__noinline int read_option_skb(struct __sk_buff *ctx)
{
	struct tagged_packet *p = tagged();

	return p ? read_int_option((void *)(long)ctx->data, (void *)(long)ctx->data_end, p) : SINK_NOT_MARKED;
}

__noinline int read_datagram_xdp(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct tagged_packet *p = tagged();
	struct datagram_option area;

	if (!p || !load_area_xdp(ctx, area_at(data, end, p), &area))
		return SINK_NOT_MARKED;
	return read_datagram_option((void *)(long)ctx->data, (void *)(long)ctx->data_end, &area, p);
}

__noinline int read_datagram_skb(struct __sk_buff *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct tagged_packet *p = tagged();
	struct datagram_option area;

	if (!p || bpf_skb_load_bytes(ctx, area_at(data, end, p), &area, sizeof(area)))
		return SINK_NOT_MARKED;
	return read_datagram_option(data, end, &area, p);
}

static __always_inline int read_any_xdp(struct xdp_md *ctx)
{
	struct tagged_packet *p = tagged();
	int found;

	if (!p)
		return SINK_NOT_MARKED;
	p->no_area = false;
	found = read_xdp(ctx);
	if (found == SINK_BEHIND_DATA) {
		found = read_datagram_xdp(ctx);
		if (found != SINK_NOT_MARKED)
			return found;
		p->no_area = true;
		found = read_xdp(ctx);
	}
	if (found == SINK_IN_OPTION)
		return read_option_xdp(ctx);
	return found == SINK_BEHIND_L4 ? read_behind_l4_xdp(ctx) : found;
}

static __always_inline int read_any_skb(struct __sk_buff *ctx)
{
	struct tagged_packet *p = tagged();
	int found;

	if (!p)
		return SINK_NOT_MARKED;
	p->no_area = false;
	found = read_skb(ctx);
	if (found == SINK_BEHIND_DATA) {
		found = read_datagram_skb(ctx);
		if (found != SINK_NOT_MARKED)
			return found;
		p->no_area = true;
		found = read_skb(ctx);
	}
	if (found == SINK_IN_OPTION)
		return read_option_skb(ctx);
	return found == SINK_BEHIND_L4 ? read_behind_l4_skb(ctx) : found;
}

__noinline int read_ioam_xdp(struct xdp_md *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = tagged();

	if (!set || !p)
		return SINK_NOT_MARKED;
	return read_ioam((void *)(long)ctx->data, (void *)(long)ctx->data_end, 0, set, p);
}

__noinline int read_ioam_skb(struct __sk_buff *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = tagged();

	if (!set || !p)
		return SINK_NOT_MARKED;
	return read_ioam((void *)(long)ctx->data, (void *)(long)ctx->data_end,
			 ctx->vlan_present ? ctx->vlan_tci & 0xfff : 0, set, p);
}

static __always_inline int find_int_xdp(struct xdp_md *ctx)
{
	int found = SINK_NOT_MARKED;

	if (may_have_ioam((void *)(long)ctx->data, (void *)(long)ctx->data_end))
		found = read_ioam_xdp(ctx);
	return found == SINK_NOT_MARKED ? read_any_xdp(ctx) : found;
}

static __always_inline int find_int_skb(struct __sk_buff *ctx)
{
	int found = SINK_NOT_MARKED;

	if (may_have_ioam((void *)(long)ctx->data, (void *)(long)ctx->data_end))
		found = read_ioam_skb(ctx);
	return found == SINK_NOT_MARKED ? read_any_skb(ctx) : found;
}

__noinline int take_hops_xdp(struct xdp_md *ctx)
{
	struct tagged_packet *p = tagged();

	return p && take_any_entries((void *)(long)ctx->data, (void *)(long)ctx->data_end, p);
}

__noinline int take_hops_skb(struct __sk_buff *ctx)
{
	struct tagged_packet *p = tagged();

	return p && take_any_entries((void *)(long)ctx->data, (void *)(long)ctx->data_end, p);
}

#endif
