/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Authenticates lease messages, and replaces the room for their answers. */
#ifndef HOSTINT_LEASE_MESSAGE_H
#define HOSTINT_LEASE_MESSAGE_H

#include "kernel/kernel.h"
#include "hostint/lease.h"
#include "kernel/single_value.h"
#include "lease/request.h"
#include "lease/siphash.h"
#include "packet/checksum.h"

const volatile __u16 software_version = 0; /* major << 8 | minor */

/* Each CPU answers one request at a time. kernel/single_value.h says why it is not kept on the stack. */
struct lease_scratch {
	union {
		struct lease_echo full;
		struct lease_short_echo brief;
	} echo;
	struct lease_request request;
	struct lease_answer answer;
	__u32 mtu;
	__u64 frame_len;
	__u64 now;
	bool begins; /* a grant began that flows do not know yet */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lease_scratch);
} lease_scratch SEC(".maps");

static __always_inline struct lease_scratch *get_lease_scratch(void)
{
	return single_value(&lease_scratch);
}

/* Returns the tag of this many bytes, a constant, and of the addresses of the packet that they came in. */
static __always_inline __be64 tag_with_addresses(const void *bytes, int len, const __be32 *saddr, const __be32 *daddr,
						 const __u64 *key)
{
	struct siphash s;

	sip_begin(&s, key);
	sip_words(&s, bytes, len);
	sip_address(&s, saddr);
	sip_address(&s, daddr);
	return bpf_cpu_to_be64(sip_end(&s, len + 32));
}

/* Returns the tag of a message's bytes before it. */
static __always_inline __be64 answer_tag(const void *message, int len, const __u64 *key)
{
	struct siphash s;

	sip_begin(&s, key);
	sip_words(&s, message, len);
	return bpf_cpu_to_be64(sip_end(&s, len));
}

/*
 * These keep a message's checksum as right or wrong as it was: the first one is called before these bytes are changed,
 * the second one after it.
 */
static __always_inline __u64 sum_without(const struct icmp_echo *icmp, const void *bytes, int len)
{
	return (__u64)csum_neg(icmp->check) + csum_neg(csum_fold(csum_words(bytes, len)));
}

static __always_inline void sum_with(struct icmp_echo *icmp, __u64 sum, const void *bytes, int len)
{
	icmp->check = csum_neg(csum_fold(sum + csum_words(bytes, len)));
}

/* Tells a source that asked with another key why it gets no answer. */
static __always_inline void mark_forged(struct icmp_echo *icmp, __be64 *tag)
{
	__u64 sum = sum_without(icmp, tag, sizeof(*tag));

	*tag = ~0ULL;
	sum_with(icmp, sum, tag, sizeof(*tag));
}

#endif
