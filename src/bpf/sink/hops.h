/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the entries that transit hops pushed onto a packet's stack. Only packets that have some come here. */
#ifndef HOSTINT_SINK_HOPS_H
#define HOSTINT_SINK_HOPS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/wire.h"
#include "packet/checksum.h"
#include "packet/layout.h"
#include "sink/tagged.h"

/* Adds an entry's node and ports to the hash of a path. */
static __always_inline __u64 path_with(__u64 path, const __be32 *entry)
{
	return (path ^ ((__u64)entry[0] << 32 | entry[1])) * 0x9e3779b97f4a7c15ULL;
}

/*
 * Copies the entries, adds them to the block's sum, and hashes the path. The bytes of MAX_HOP_WORDS words can be read at
 * each entry, because behind the newest ones stands at least the source's.
 */
static __always_inline bool take_entries(void *data, void *end, struct tagged_packet *p)
{
	__u32 at = p->hops_at, len = p->hop_words * 4, hops = p->hops;
	__u64 path = hops, sum = p->int_check, longer = -(__u64)(p->facts.encapsulation == ENCAP_INT_MD);
	__u64 longest = longer & -(__u64)(len == GPE_PATH_WORDS * 4);

	for (__u32 i = 0; i < INT_MAX_PUSHED; i++) {
		__be32 *entry;

		if (i >= hops)
			break;
		entry = at_offset(data, at);
		if ((void *)(entry + MAX_HOP_WORDS) > end)
			return false;
		__builtin_memcpy(p->entries[i & (INT_MAX_PUSHED - 1)], entry, MAX_HOP_WORDS * 4);
		sum += csum_words(entry, INT_HOP_LEN);
		sum += (entry[4] & longer) + (entry[5] & longest);
		path = path_with(path, entry);
		at += len;
	}
	p->int_check = csum_fold(sum);
	p->facts.path = path >> 48 ?: 1;
	return true;
}

#endif
