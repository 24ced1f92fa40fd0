// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A switch that fills TCP option 114 in and holds no values: each segment gets other ones. IPv4 without options. */
typedef unsigned int __u32;
typedef unsigned long long __u64;

#define SECTION(name) __attribute__((section(name), used))
#define big_endian(word) __builtin_bswap32(word)

enum {
	IP_AT = 14,
	TTL_AT = IP_AT + 8,
	PROTOCOL_AT = IP_AT + 9,
	TCP_AT = IP_AT + 20,
	CHECKSUM_AT = TCP_AT + 16,
	OPTIONS_AT = TCP_AT + 20,
	OPTIONS_WORDS = 10,
	OPTION_WORDS = 3,
	IPV4_PLAIN = 0x45,
	IP_TCP = 6,
	KIND_AND_LENGTH = 114 << 8 | 12,
	A_QUEUE = 128,
	PASS = -1, /* TCX_NEXT */
};

static long (*skb_store_bytes)(void *ctx, __u32 at, const void *from, __u32 len, __u64 flags) = (void *)9;
static long (*l4_csum_replace)(void *ctx, __u32 at, __u64 from, __u64 to, __u64 flags) = (void *)11;
static long (*skb_load_bytes)(const void *ctx, __u32 at, void *to, __u32 len) = (void *)26;

char _license[] SECTION("license") = "Dual BSD/GPL";

__u32 number;

static void replace(void *ctx, __u32 at, __u32 before, __u32 after)
{
	if (!skb_store_bytes(ctx, at, &after, sizeof(after), 0))
		l4_csum_replace(ctx, CHECKSUM_AT, before, after, sizeof(after));
}

SECTION("tc")
int fill_in(void *ctx)
{
	unsigned char ip[20];

	if (skb_load_bytes(ctx, IP_AT, ip, sizeof(ip)) || ip[0] != IPV4_PLAIN || ip[PROTOCOL_AT - IP_AT] != IP_TCP)
		return PASS;
	for (__u32 word = 0; word <= OPTIONS_WORDS - OPTION_WORDS; word++) {
		__u32 at = OPTIONS_AT + 4 * word, words[2], met;

		if (skb_load_bytes(ctx, at, words, sizeof(words)))
			return PASS;
		if (big_endian(words[0]) >> 16 != KIND_AND_LENGTH)
			continue;
		met = ++number;
		replace(ctx, at, words[0], (words[0] & ~big_endian(0xff)) | big_endian(A_QUEUE | (met & 127)));
		replace(ctx, at + 4, words[1], big_endian((__u32)ip[TTL_AT - IP_AT] << 24 | (met & 0xffff)));
		return PASS;
	}
	return PASS;
}
