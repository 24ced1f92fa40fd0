/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The programs that watch the queues of interfaces and the user half exchange these rules, states and events. */
#ifndef HOSTINT_QUEUE_H
#define HOSTINT_QUEUE_H

enum queue_limit {
	QUEUE_RULES = 4096,     /* of interfaces, and of single queues of them */
	QUEUE_STATES = 8192,    /* queues */
	QUEUE_STAMPS = 65536,   /* packets that wait in queues */
	QUEUE_BULK = 64,        /* packets that leave a queue at once, each of which is judged */
	QUEUE_ALL = 4294967295, /* in a rule: all queues of the interface that have no rule of their own */
	QUEUE_FLOW_WORDS = 10,
};

/* The measure of the trigger and the reset of a rule. */
enum queue_measure {
	QUEUE_BY_TIME = 0,  /* nanoseconds that a packet was in the queue */
	QUEUE_BY_BYTES = 1, /* bytes in the queue, with the packet that leaves */
};

/* A tx queue of an interface. */
struct queue_key {
	__u32 ifindex;
	__u32 queue;
};

struct queue_rule {
	__u64 trigger; /* an episode begins with a packet that has as much or more */
	__u64 reset;   /* and ends below this */
	__u32 quota;   /* packets of an episode that are reported */
	__u32 netns;   /* inode of the network namespace of the interface */
	__u32 measure; /* enum queue_measure */
	__u32 zero;
};

/* Times are of the monotonic clock. A superpacket is one packet. */
struct queue_episode {
	__u64 number; /* 1: the first one of the queue */
	__u64 begin_ns;
	__u64 last_ns; /* when the last packet left that was over the trigger */
	__u64 end_ns;  /* 0: it goes on */
	__u64 packets; /* over the trigger */
	__u64 bytes;
	__u64 told;
	__u64 suppressed; /* beyond the quota */
	__u64 drops;      /* of the queue in this time, and while the packet waited that began the episode */
	__u32 max_bytes;
	__u32 max_packets;
	__u32 max_time_ns;
	__u32 handle; /* of the root of the queue, as tc numbers it */
};

/* All counts are those since the first packet. One CPU at a time takes packets out of a queue, and writes this. */
struct queue_state {
	struct queue_episode episode; /* the present one, or the last one */
	__u64 qdisc;                  /* its address: another one begins anew */
	__u64 packets;                /* that left the queue */
	__u64 bytes;
	__u64 over; /* of these packets */
	__u64 told;
	__u64 suppressed;
	__u64 drops;    /* in ended episodes */
	__u64 ended_ns; /* the length of all episodes that ended */
	__u64 left_ns;  /* when the last packet left */
	__u64 low_ns;   /* since when packets are below the reset; 0: they are not */
	__u64 first;    /* address of the packet that entered the empty queue */
	__u64 first_ns; /* when it did */
	__u64 episodes; /* that began */
	__u32 busy;     /* counts how often the queue was empty */
	__u32 requeues; /* of the kernel's count, as it was last */
	__u32 requeued; /* packets that come again, because the driver did not take them */
	__u32 quota_left;
	__u32 drops_before; /* the kernel's count, from which on drops are of the episode */
	__u32 first_drops;  /* the kernel's count, when the packet entered the empty queue */
	__u32 left_drops;   /* the same, when the last packet left */
	__u32 entry_drops;  /* the same, when the packet that leaves entered */
	__u32 max_time_ns;  /* of all episodes */
	__u32 max_bytes;
	__u32 handle;
	__u32 zero;
	/* The queue as its packets leave now, and the rule for it. */
	struct queue_rule rule;
	__u64 now_ns;
	__u64 now_packet;  /* its address */
	__u64 now_bytes;   /* with those of the packets that leave; 0: not known */
	__u32 now_packets; /* the same */
	__u32 now_drops;   /* the kernel's count */
	__u32 is_by_cpu;   /* the queue has no lock, and does not tell what it has */
	__u32 now_time_ns; /* for which the packet was in the queue; 0: not known */
};

/* When a packet entered a queue that was not empty. */
struct queue_stamp {
	__u64 ns;
	__u32 busy;  /* as in the state of its queue: a stamp of another time is not the packet's */
	__u32 drops; /* the kernel's count then */
};

enum queue_event_kind {
	EVENT_QUEUE = 18,
};

enum queue_what {
	QUEUE_OVER = 1,        /* the packet begins an episode */
	QUEUE_SAMPLE = 2,      /* a further packet over the trigger */
	QUEUE_QUOTA_SPENT = 3, /* further packets are not reported */
	QUEUE_RESET = 4,       /* the episode ended */
};

struct queue_event {
	__u32 kind; /* EVENT_QUEUE */
	__u32 what; /* enum queue_what */
	struct queue_key key;
	__u32 flow[QUEUE_FLOW_WORDS]; /* a struct flow_key; all zeros: no packet is reported, or it is not IP */
	__u32 bytes;                  /* of the packet */
	__u32 time_ns;                /* for which it was in the queue; 0: packets are not timed */
	__u32 queue_packets;          /* with the packet; 0: not known */
	__u32 queue_bytes;
	struct queue_episode episode;
};

/* Each enumerator is the index of a per-CPU counter. */
enum queue_counter {
	COUNT_QUEUE_EVENT_LOST, /* the ring was full */
	COUNT_QUEUE_NO_STATE,   /* there is no room for another queue */
	COUNT_QUEUE_UNTIMED,    /* it is not known when the packet entered: the queue cut it out of a superpacket */
	COUNT_QUEUE_NO_BACKLOG, /* the queue does not tell its bytes: it has no lock */
	COUNT_QUEUE_BEYOND,     /* left together with more packets than are judged */
	COUNT_QUEUE_MAX,
};

#endif
