// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The constant by which a guest's counter is behind the host's: questions of the guest, answers of the host. */
#include <stdint.h>
#include <stdio.h>

#include "guest.h"

void host(struct page *page, int64_t seconds)
{
	int64_t end = read_ns(CLOCK_MONOTONIC) + seconds * SECOND;

	printf("H %llu %lld\n", (unsigned long long)counter(), (long long)read_ns(CLOCK_MONOTONIC));
	fflush(stdout);
	while (read_ns(CLOCK_MONOTONIC) < end) {
		int64_t close = read_ns(CLOCK_MONOTONIC) + 2 * SECOND;

		page->is_open = 1;
		while (read_ns(CLOCK_MONOTONIC) < close)
			for (int turn = 0; turn < 100; turn++)
				for (int i = 0; i < 8; i++) {
					struct slot *slot = &page->slots[i];
					uint64_t asked = slot->asked;

					if (asked == slot->answered)
						continue;
					slot->count = counter();
					slot->answered = asked;
				}
		page->is_open = 0;
		rest(20 * SECOND);
	}
}

int64_t low = INT64_MIN, high = INT64_MAX;

/* Narrows the range of the constant. */
void compare(struct page *page, struct slot *slot)
{
	static uint64_t number;

	if (!page->is_open)
		return;
	for (int i = 0; i < 50; i++) {
		uint64_t asked = ++number, before = counter();

		slot->asked = asked;
		for (int spins = 0; slot->answered != asked && spins < 2000; spins++)
			;
		if (slot->answered != asked) {
			/* The host's thread does not run now. Its late answer is the next question's mistake. */
			while (page->is_open && slot->answered != asked)
				rest(SECOND / 1000);
			return;
		}
		int64_t count = slot->count, after = counter();

		if (count - after > low)
			low = count - after;
		if (count - (int64_t)before < high)
			high = count - (int64_t)before;
	}
}
