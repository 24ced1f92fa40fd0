// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the parts of guest.c share: the counter, clocks, and the page of guests and host. */
#pragma once

#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

#define SECOND 1000000000LL

struct slot {
	_Alignas(64) volatile uint64_t asked;
	_Alignas(64) volatile uint64_t answered;
	volatile uint64_t count;
};

struct page {
	_Alignas(64) volatile uint64_t is_open;
	struct slot slots[8];
};

static inline uint64_t counter(void)
{
	_mm_lfence();
	uint64_t now = __rdtsc();

	_mm_lfence();
	return now;
}

static inline int64_t read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static inline void rest(int64_t ns)
{
	struct timespec t = { ns / SECOND, ns % SECOND };

	nanosleep(&t, NULL);
}

/* counter.c */
extern int64_t low, high;

void host(struct page *page, int64_t seconds);
void compare(struct page *page, struct slot *slot);

/* disturbed.c */
void truth(struct page *page, struct slot *slot, int64_t seconds);
