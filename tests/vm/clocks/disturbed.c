// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A clock that is free, slewed and set, and what it shows by the counter. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timex.h>

#include "guest.h"

#define PHASE_S 100
#define SAMPLE_NS (SECOND / 10)

static void sample(void)
{
	uint64_t best = UINT64_MAX, at = 0;
	int64_t ns = 0;

	for (int i = 0; i < 5; i++) {
		uint64_t before = counter();
		int64_t now = read_ns(CLOCK_REALTIME);
		uint64_t took = counter() - before;

		if (took < best) {
			best = took;
			at = before;
			ns = now;
		}
	}
	printf("S %llu %llu %lld\n", (unsigned long long)at, (unsigned long long)best, (long long)ns);
}

/* Changes the clock between two samples. */
static void change(struct timex change, int64_t step_ns)
{
	struct timespec t;

	sample();
	uint64_t before = counter();

	if (step_ns) {
		int64_t ns = read_ns(CLOCK_REALTIME) + step_ns;

		t.tv_sec = ns / SECOND;
		t.tv_nsec = ns % SECOND;
		clock_settime(CLOCK_REALTIME, &t);
	} else if (adjtimex(&change) < 0) {
		perror("adjtimex");
		exit(1);
	}
	printf("E %llu %llu\n", (unsigned long long)before, (unsigned long long)counter());
	sample();
}

static double uniform(double least, double most)
{
	return least + (most - least) * drand48();
}

static void steer(long ppm, long tick)
{
	change((struct timex){ .modes = ADJ_FREQUENCY | ADJ_TICK, .freq = ppm * 65536, .tick = tick }, 0);
}

static void slew(void)
{
	switch ((int)uniform(0, 4)) {
	case 0:
		steer(uniform(-500, 500), uniform(9995, 10006));
		break;
	case 1: /* adjtime(3) */
		change((struct timex){ .modes = ADJ_OFFSET_SINGLESHOT, .offset = uniform(-5000, 5000) }, 0);
		break;
	case 2: /* as ntpd does */
		change((struct timex){ .modes = ADJ_STATUS | ADJ_OFFSET | ADJ_TIMECONST | ADJ_NANO,
				       .status = STA_PLL | STA_UNSYNC,
				       .offset = uniform(-20e6, 20e6),
				       .constant = uniform(0, 4) },
		       0);
		break;
	default:
		steer(uniform(-500, 500), 10000);
	}
}

static void step(void)
{
	static double gone;
	/* From 10 us to 3 s, as many small ones as great ones. */
	double ns = exp(uniform(log(1e4), log(3e9))) * (drand48() < 0.5 ? -1 : 1);

	if (fabs(gone + ns) > 8e9)
		ns = -ns;
	gone += ns;
	if (drand48() < 0.5) {
		change((struct timex){ 0 }, ns);
	} else {
		int64_t whole = floor(ns / 1e9);

		change((struct timex){ .modes = ADJ_SETOFFSET | ADJ_NANO,
				       .time.tv_sec = whole,
				       .time.tv_usec = ns - whole * 1e9 },
		       0);
	}
}

void truth(struct page *page, struct slot *slot, int64_t seconds)
{
	static const char *const modes[] = { "free", "slew", "step" };
	int64_t begin = read_ns(CLOCK_MONOTONIC), end = begin + seconds * SECOND, next = 0, told_low = 0, told_high = 0;
	int mode = 0;

	for (int64_t now = begin, phase_end = 0; now < end; now = read_ns(CLOCK_MONOTONIC)) {
		compare(page, slot);
		if (low != told_low || high != told_high)
			printf("C %lld %lld\n", (long long)low, (long long)high);
		told_low = low;
		told_high = high;
		if (now >= phase_end) {
			if (phase_end != 0)
				change((struct timex){ .modes = ADJ_STATUS | ADJ_OFFSET | ADJ_NANO,
						       .status = STA_PLL | STA_UNSYNC },
				       0);
			change((struct timex){ .modes = ADJ_OFFSET_SINGLESHOT }, 0);
			change((struct timex){ .modes = ADJ_STATUS, .status = STA_UNSYNC }, 0);
			steer(0, 10000);
			mode = phase_end == 0 ? 0 : uniform(0, 3);
			phase_end = now + PHASE_S * SECOND;
			next = now + 10 * SECOND;
			printf("M %s\n", modes[mode]);
		}
		if (mode != 0 && now >= next) {
			mode == 1 ? slew() : step();
			next = now + uniform(3, 25) * SECOND;
		}
		sample();
		fflush(stdout);
		rest(SAMPLE_NS);
	}
}
