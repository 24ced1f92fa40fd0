// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The kernel's own steps that a program pays for with each packet, each done STEPS times by one run. The program "nothing"
 * is the loop alone, which is subtracted.
 */
typedef unsigned int __u32;
typedef unsigned long long __u64;

#define SECTION(name) __attribute__((section(name), used))
#define UINT(name, value) int(*name)[value]
#define TYPE(name, type) type *name

enum {
	STEPS = 64,
	ENTRIES = 65536,
	MAP_HASH = 1,
	MAP_ARRAY = 2,
	PASS = -1, /* TCX_NEXT */
	ROOM = 36,
	ROOM_NET = 0,
};

static void *(*lookup)(void *map, const void *key) = (void *)1;
static __u64 (*ktime_get_tai_ns)(void) = (void *)208;
static __u64 (*ktime_get_coarse_ns)(void) = (void *)160;
static long (*skb_adjust_room)(void *ctx, int len, __u32 mode, __u64 flags) = (void *)50;

/* As long as the key of a flow. */
struct key {
	__u32 words[10];
};

struct counters {
	__u64 counts[8];
};

struct {
	UINT(type, MAP_HASH);
	UINT(max_entries, ENTRIES);
	TYPE(key, struct key);
	TYPE(value, struct counters);
} flows SECTION(".maps");

struct {
	UINT(type, MAP_ARRAY);
	UINT(max_entries, 1);
	TYPE(key, __u32);
	TYPE(value, struct counters);
} results SECTION(".maps");

char _license[] SECTION("license") = "Dual BSD/GPL";

/* The compiler knows neither what memory holds after this nor how often the loop was run. */
#define FORGET() asm volatile("" ::: "memory")

static __attribute__((always_inline)) struct counters *result(void)
{
	__u32 zero = 0;

	return lookup(&results, &zero);
}

__attribute__((noinline)) int called(int value)
{
	asm volatile("" : "+r"(value));
	return value;
}

SECTION("tc")
int nothing(void *ctx)
{
	for (int i = 0; i < STEPS; i++)
		FORGET();
	return PASS;
}

SECTION("tc")
int clock(void *ctx)
{
	struct counters *r = result();
	__u64 sum = 0;

	for (int i = 0; i < STEPS; i++)
		sum += ktime_get_tai_ns();
	if (r)
		r->counts[0] = sum;
	return PASS;
}

SECTION("tc")
int coarse_clock(void *ctx)
{
	struct counters *r = result();
	__u64 sum = 0;

	for (int i = 0; i < STEPS; i++)
		sum += ktime_get_coarse_ns();
	if (r)
		r->counts[0] = sum;
	return PASS;
}

SECTION("tc")
int flow_lookup(void *ctx)
{
	struct key key = { { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } };
	struct counters *r = result();
	__u64 sum = 0;

	for (int i = 0; i < STEPS; i++) {
		struct counters *found;

		FORGET();
		found = lookup(&flows, &key);
		if (found)
			sum += found->counts[0];
	}
	if (r)
		r->counts[0] = sum;
	return PASS;
}

SECTION("tc")
int compare_exchange(void *ctx)
{
	struct counters *r = result();

	if (!r)
		return PASS;
	for (int i = 0; i < STEPS; i++) {
		__u64 old = *(volatile __u64 *)&r->counts[1];

		__sync_val_compare_and_swap(&r->counts[1], old, old + 1);
	}
	return PASS;
}

SECTION("tc")
int atomic_add(void *ctx)
{
	struct counters *r = result();

	if (!r)
		return PASS;
	for (int i = 0; i < STEPS; i++)
		__sync_fetch_and_add(&r->counts[2], 3);
	return PASS;
}

/* A mark of a busy record, as it would be without order between CPUs, and as it is. */
SECTION("tc")
int unordered_or(void *ctx)
{
	struct counters *r = result();

	if (!r)
		return PASS;
	for (int i = 0; i < STEPS; i++)
		__sync_fetch_and_or((__u32 *)&r->counts[4], 1U << 31);
	return PASS;
}

SECTION("tc")
int ordered_or(void *ctx)
{
	struct counters *r = result();

	if (!r)
		return PASS;
	for (int i = 0; i < STEPS; i++) {
		__u32 before = __sync_fetch_and_or((__u32 *)&r->counts[4], 1U << 31);

		asm volatile("" : "+r"(before));
	}
	return PASS;
}

/* A serial, as it is; atomic_add is as it would be without order. */
SECTION("tc")
int ordered_add(void *ctx)
{
	struct counters *r = result();

	if (!r)
		return PASS;
	for (int i = 0; i < STEPS; i++) {
		__u32 before = __sync_fetch_and_add((__u32 *)&r->counts[5], 1);

		asm volatile("" : "+r"(before));
	}
	return PASS;
}

SECTION("tc")
int plain_add(void *ctx)
{
	struct counters *r = result();

	if (!r)
		return PASS;
	for (int i = 0; i < STEPS; i++)
		*(volatile __u64 *)&r->counts[3] += 3;
	return PASS;
}

SECTION("tc")
int call(void *ctx)
{
	struct counters *r = result();
	int sum = 0;

	for (int i = 0; i < STEPS; i++)
		sum += called(i);
	if (r)
		r->counts[0] = sum;
	return PASS;
}

/* Makes room behind the IP header, and takes it away again. */
SECTION("tc")
int room(void *ctx)
{
	for (int i = 0; i < STEPS; i++) {
		if (skb_adjust_room(ctx, ROOM, ROOM_NET, 0) || skb_adjust_room(ctx, -ROOM, ROOM_NET, 0))
			break;
	}
	return PASS;
}
