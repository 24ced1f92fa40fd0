/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Says how long the room for the entries of routers is in ioam, with its padding. */
#ifndef HOSTINT_INT_IOAM_ROOM_H
#define HOSTINT_INT_IOAM_ROOM_H

#include "kernel/kernel.h"
#include "hostint/ioam.h"

_Static_assert(sizeof(struct ioam_head) == IOAM_HEAD_LEN, "the head has no holes");
_Static_assert(sizeof(struct ioam_entry) == IOAM_ENTRY_LEN, "entries have no holes");

/* A hop-by-hop header is a multiple of 8 bytes long; the head is not, and neither is an entry. */
static __always_inline __u32 ioam_room(__u32 entries)
{
	return entries * IOAM_ENTRY_LEN + (entries & 1 ? 0 : 4);
}

#endif
