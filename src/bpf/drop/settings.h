/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the settings, and says which reasons are counted without being reported. */
#ifndef HOSTINT_DROP_SETTINGS_H
#define HOSTINT_DROP_SETTINGS_H

#include "kernel/kernel.h"
#include "hostint/drop.h"
#include "kernel/single_value.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct drop_settings);
} drop_settings SEC(".maps");

static __always_inline const struct drop_settings *get_drop_settings(void)
{
	return single_value(&drop_settings);
}

/* The upper half of a reason is the number of a subsystem of the kernel. */
static __always_inline __u32 reason_slot(__u32 reason)
{
	__u32 subsystem = reason >> 16, number = reason & 0xffff;

	if (subsystem >= DROP_SUBSYSTEMS || number >= DROP_REASONS)
		return 0;
	return subsystem * DROP_REASONS + number;
}

static __always_inline bool has_slot(const __u64 *words, __u32 slot)
{
	return words[slot / 64 % DROP_IGNORED_WORDS] >> (slot % 64) & 1;
}

#endif
