// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Counts tagged packets for this host that come in by an interface where no sink strips them: the sink's host then has
 * a path that its leases know nothing about. It runs at the ingress of all interfaces without a sink, changes nothing,
 * and passes every packet on.
 */
#include "kernel/kernel.h"
#include "sink/astray.h"
#include "sink/settings.h"

char _license[] SEC("license") = "Dual BSD/GPL";

SEC("tc")
int sink_astray(struct __sk_buff *ctx)
{
	const struct sink_settings *set = get_sink_settings();

	if (set && ctx->pkt_type == PACKET_HOST && may_be_tagged(ctx, set))
		count_astray(ctx, set);
	return TCX_NEXT;
}
