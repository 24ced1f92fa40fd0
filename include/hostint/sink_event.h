/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The sink's program tells its daemon of packets, losses and gaps by events of these kinds, for these reasons. */
#ifndef HOSTINT_SINK_EVENT_H
#define HOSTINT_SINK_EVENT_H

enum event_kind {
	EVENT_LATENCY = 1,
	EVENT_LOSS = 2,
	EVENT_GAP = 3,  /* numbers began to be missing: the daemon sweeps the flow after the loss timeout */
	EVENT_PATH = 4, /* a latency_event of a packet with transit hops, and their entries */
};

enum event_reason {
	REASON_NEW_FLOW = 1,
	REASON_BUCKET = 2,
	REASON_PERIOD = 4,
	REASON_PATH = 8,    /* the packet took other transit hops than the last one that was reported */
	REASON_SAMPLE = 16, /* INT-MX: transit hops report this packet, too */
};

#endif
