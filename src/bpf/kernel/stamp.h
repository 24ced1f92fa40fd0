/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Says whether the time that a packet carries is of the monotonic clock. */
#ifndef HOSTINT_KERNEL_STAMP_H
#define HOSTINT_KERNEL_STAMP_H

#include "kernel/kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* Since 6.11, and from 5.18 on. Both say that the packet's stamp is of the monotonic clock. */
struct sk_buff___typed_stamp {
	__u8 tstamp_type : 2;
};

struct sk_buff___mono_stamp {
	__u8 mono_delivery_time : 1;
};

#pragma clang attribute pop

enum stamp_type {
	STAMP_REALTIME = 0, /* or none */
	STAMP_MONOTONIC = 1,
};

static __always_inline bool has_monotonic_stamp(struct sk_buff *skb)
{
	struct sk_buff___typed_stamp *typed = (void *)skb;
	struct sk_buff___mono_stamp *mono = (void *)skb;

	if (bpf_core_field_exists(typed->tstamp_type))
		return BPF_CORE_READ_BITFIELD(typed, tstamp_type) == STAMP_MONOTONIC;
	if (bpf_core_field_exists(mono->mono_delivery_time))
		return BPF_CORE_READ_BITFIELD(mono, mono_delivery_time);
	return false;
}

#endif
