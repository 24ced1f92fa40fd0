/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Chooses flows and packets where a rule tags only a share of them. */
#ifndef HOSTINT_SOURCE_SAMPLING_H
#define HOSTINT_SOURCE_SAMPLING_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/watch.h"
#include "source/attachment.h"
#include "watch/chosen_flows.h"

static __always_inline bool is_sampled(const struct watch_node *verdict, const struct flow_key *key)
{
	if (!is_chosen_flow(verdict, key))
		return false;
	/* On the staging interface the packet was chosen before. */
	return verdict->one_packet_in <= 1 || redirect_ifindex || !(bpf_get_prandom_u32() % verdict->one_packet_in);
}

#endif
