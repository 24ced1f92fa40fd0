/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The sink's kernel half counts latencies of a flow in these slots; the user half reads them. */
#ifndef HOSTINT_FINE_SLOTS_H
#define HOSTINT_FINE_SLOTS_H

enum fine_slots_shape {
	FINE_STEP_BITS = 5, /* 32 slots for each power of two */
	/*
	 * Slot 0 counts all latencies <= 0, and slots below 64 one nanosecond each. The last slot ends at 2^31 - 1 ns.
	 */
	FINE_SLOTS = 864,
	FINE_CHUNK = 256, /* flows whose slots take their memory together */
};

/* Packets by latency; the counts wrap around. */
struct fine_slots {
	__u32 count[FINE_SLOTS];
};

#endif
