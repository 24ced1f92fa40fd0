/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds INT in options of a packet that programs only look at. */
#ifndef HOSTINT_INT_OPTION_FIND_H
#define HOSTINT_INT_OPTION_FIND_H

#include "kernel/kernel.h"
#include "hostint/int_option.h"
#include "hostint/wire.h"
#include "int/option.h"
#include "packet/headers.h"

/* Reads bytes of the packet at this offset; returns false beyond its end. */
typedef bool read_option_bytes(const void *from, __u32 at, void *to, __u32 len);

/* Reads the option behind the TCP header, or behind the datagram, that begins at l4. Returns false if no source filled one in. */
static __always_inline bool find_filled_option(const void *from, read_option_bytes *read, __u32 l4, __u8 protocol,
					       struct int_option *option)
{
	__u8 kind = protocol == IPPROTO_UDP ? INT_DATAGRAM_KIND : INT_OPTION_KIND;
	__u32 end;

	if (protocol == IPPROTO_UDP) {
		__be16 len;

		if (!read(from, l4 + __builtin_offsetof(struct udphdr, len), &len, sizeof(len)))
			return false;
		end = l4 + bpf_ntohs(len) + datagram_room(bpf_ntohs(len));
	} else {
		__u8 words;

		if (protocol != IPPROTO_TCP ||
		    !read(from, l4 + __builtin_offsetof(struct tcphdr, doff), &words, sizeof(words)))
			return false;
		end = l4 + (words >> 4) * 4;
	}
	if (end < l4 + UDP_LEN + INT_OPTION_LEN || !read(from, end - INT_OPTION_LEN, option, sizeof(*option)))
		return false;
	return is_option_of(option, kind) && option->flags & INT_OPTION_FILLED;
}

#endif
