/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the room for INT in the segments of each socket. */
#ifndef HOSTINT_SOURCE_OPTION_ROOMS_H
#define HOSTINT_SOURCE_OPTION_ROOMS_H

#include "kernel/kernel.h"
#include "hostint/int_option.h"

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct option_room);
} option_rooms SEC(".maps");

#endif
