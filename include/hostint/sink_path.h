/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The sink's kernel half counts the times of all packets over transit hops here, by path; the user half reads them. */
#ifndef HOSTINT_SINK_PATH_H
#define HOSTINT_SINK_PATH_H

enum sink_path_limit {
	SINK_PATHS = 1024,
	PATH_HOPS = 8,          /* MAX_HOPS */
	PATH_SLOTS = 864,       /* FINE_SLOTS */
	SINK_PATH_TIMES = 4096, /* distributions of all paths together; a path over n hops has 2n + 2 */
};

/* The nodes and ports of a path. Ports are the low 16 bits of interface indices. */
struct sink_path {
	__u64 ends;           /* source node << 32 | source port << 16 | sink port */
	__u64 hops;           /* number of transit hops */
	__u64 hop[PATH_HOPS]; /* newest first: node << 32 | ingress port << 16 | egress port; the rest is 0 */
};

struct path_time_key {
	__u64 path;  /* the key of the path */
	__u32 place; /* 0: from source to sink; then the segments in the order of the way: link, hop, link ... */
	__u32 zero;
};

/* The times of a segment. All but the extremes are added to without the lock. */
struct path_time {
	struct bpf_spin_lock lock;
	__s32 min_ns;
	__s32 max_ns;
	__u32 zero;
	__u64 packets;
	__s64 sum_ns;
	__u64 first_ns; /* since the Unix epoch */
	__u64 last_ns;
	__u32 count[PATH_SLOTS]; /* as in struct fine_slots */
};

#endif
