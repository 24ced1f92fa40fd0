/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the options of an attachment. Each attachment has programs of its own, in which they are constants. */
#ifndef HOSTINT_TRANSIT_ATTACHMENT_H
#define HOSTINT_TRANSIT_ATTACHMENT_H

#include "kernel/kernel.h"
#include "hostint/transit.h"
#include "hostint/watch.h"

const volatile bool only_allowed = false;     /* only sources in transit_allow get entries */
const volatile bool cuts_tunnels = false;     /* the device may cut superpackets in tunnels itself */
const volatile bool notes_departures = false; /* for the program that measures waits in queues */
const volatile __u32 carriers = CARRIER_HOST_INT | CARRIER_VXLAN_GPE;
const volatile __be16 md_port = 0; /* 0: no port does */

/* Steps of a push that fail in tests as the kernel may let them fail when it has no memory. */
enum push_step {
	STEP_STORE = 1, /* write the headers and the entry */
	STEP_UNDO = 2,  /* take the room away again */
	STEP_VLAN = 4,  /* put the VLAN tag back */
	STEP_ROOM = 8,  /* make room; not on the straight way */
};

const volatile __u32 refused_steps = 0;

/* Only the user half uses this map, and writes the next one. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct transit_info);
} transit_info SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, TRANSIT_PREFIXES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, __u32);
} transit_allow SEC(".maps");

#endif
