/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the settings that the source and the sink of a host share. */
#ifndef HOSTINT_KERNEL_HOST_SETTINGS_H
#define HOSTINT_KERNEL_HOST_SETTINGS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "kernel/single_value.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct host_settings);
} host_settings SEC(".maps");

static __always_inline const struct host_settings *get_host_settings(void)
{
	return single_value(&host_settings);
}

#endif
