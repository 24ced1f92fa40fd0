/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The watchers of interfaces without a sink report tagged packets to its daemon in these records. */
#ifndef HOSTINT_ASTRAY_H
#define HOSTINT_ASTRAY_H

enum astray_limit {
	ASTRAY_DEVICES = 4096, /* interfaces that are watched */
};

/* The key is the interface's index. The user half adds the entry of an interface, the watcher counts in it. */
struct astray_count {
	__u64 packets;
	__u64 last_ns; /* of the last packet (coarse monotonic clock) */
};

#endif
