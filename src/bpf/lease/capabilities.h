/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Says what this sink can read, and what the daemon on its host does. */
#ifndef HOSTINT_LEASE_CAPABILITIES_H
#define HOSTINT_LEASE_CAPABILITIES_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/lease.h"
#include "hostint/lease_table.h"
#include "kernel/clock.h"
#include "kernel/single_value.h"
#include "sink/grants.h"

/* Until when a daemon on this host reads and echoes TCP option 114 (coarse monotonic clock). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} sink_option_114 SEC(".maps");

static __always_inline bool takes_option_114(void)
{
	const __u64 *until_ns = single_value(&sink_option_114);

	return until_ns && coarse_ns() < *until_ns;
}

/* A daemon that has ended neither sees how the clock is steered nor sends strays. */
static __always_inline bool has_daemon(const struct host_settings *host)
{
	return coarse_ns() < host->told_until_ns;
}

static __always_inline __u32 capabilities(const struct sink_settings *set, const struct host_settings *host,
					  const struct sink_grant *grant)
{
	bool stacks = !grant || grant->no_stacks_s <= coarse_ns() / NS_PER_S;

	return (stacks ? CAPABLE_STACKS | CAPABLE_PATH_ITEMS : 0) |
	       (set->flags & SINK_OVER_TCP_UDP ? CAPABLE_OVER_TCP_UDP : 0) |
	       (set->flags & SINK_EXTENSION_UDP ? CAPABLE_EXTENSION_UDP : 0) |
	       (set->flags & SINK_VXLAN_GPE ? CAPABLE_VXLAN_GPE : 0) | (set->flags & SINK_IOAM ? CAPABLE_IOAM : 0) |
	       (takes_option_114() ? CAPABLE_OPTION_114 : 0) |
	       (set->flags & SINK_INT_MD ? CAPABLE_INT_MD | CAPABLE_INT_MX : 0) |
	       (set->flags & SINK_OPTIONS ? CAPABLE_OPTIONS : 0) |
	       (set->flags & SINK_SEGMENTS ? CAPABLE_UDP_SUPERPACKETS : 0) |
	       (host->sends_strays && has_daemon(host) ? CAPABLE_STRAYS : 0);
}

#endif
