/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The sink's kernel half keeps this record of each flow; the user half reads it. */
#ifndef HOSTINT_SINK_FLOW_H
#define HOSTINT_SINK_FLOW_H

enum sink_flow_flag {
	FLOW_HAD_HOPS = 0x80,     /* in encapsulation: the last reported packet had transit hops */
	HOME_CPU_SHARED = 0x8000, /* in home_cpu: other CPUs counted packets, too */
};

enum sink_flow_shape {
	HISTOGRAM_SLOTS = 32, /* slot n > 0 counts latencies in [2^(n-1), 2^n) ns, slot 0 all <= 0 */
	WINDOW_WORDS = 4,     /* 256 sequence numbers are tracked one by one, up to the newest */
	SINK_FLOW_HOT = 128,  /* bytes of the hot part */
	SINK_FLOW_SIZE = 616, /* 40 more than a multiple of 64 */
};

/*
 * The sink's record of a flow takes numbers in order without the lock, and all others under it.
 *
 * A packet in order touches the hot part only, besides its slot of the histogram. In a hash table the record stands 24
 * bytes behind the begin of a cache line, after its key; so 40 bytes share the key's line, and the next line ends before
 * told_packets. The size of the record keeps that so for all of them.
 */
struct sink_flow {
	struct bpf_spin_lock lock;
	__u32 ifindex;
	__u32 head;    /* newest sequence number seen; it changes together with awaited, in one store */
	__u32 awaited; /* number of bits set in fresh, aging, declared; top bit: the lock's holder changes the record */
	__u64 last_ns;
	/*
	 * Packets are stripped without looking at grants while allowed_serial is that of all grants, until allowed_until
	 * (coarse monotonic clock, in 2^20 ns, which wraps); 0: without an end, as for allowed prefixes.
	 */
	__u32 allowed_until;
	__u32 allowed_serial;
	__u64 report_ns;
	/* Counted here by all CPUs; if the flow has a home CPU, by that one only, and by all others in other_... */
	__u64 packets;
	__u64 bytes;        /* IP total length as the application sent it */
	__u64 earned_bytes; /* bytes received, INT included, with which the flow pays for reports */
	__s64 latency_sum_ns;
	__s32 latency_min_ns;
	__s32 latency_max_ns;
	__s32 latency_last_ns;
	__s32 latency_smooth_ns; /* moving average, weight 1/8, that buckets are chosen by */
	__u32 source_node;
	__u16 source_port;
	__u8 bucket;
	__u8 encapsulation; /* and FLOW_HAD_HOPS, so that path_hash is read only of flows that have one */
	__u32 reports;
	__u32 fine_slots;   /* index of its fine slots (struct fine_slots) plus 1; 0: none, histogram counts instead */
	__u32 told_packets; /* packets that are in the grant's counts */
	__u16 home_cpu;     /* its number plus 1; 0: none; and HOME_CPU_SHARED */
	__u16 path_hash;    /* of the nodes and ports of the last reported packet's transit hops; 0: it had none */
	__u64 bucket_ns;
	__u64 first_ns; /* of the numbering, which may restart; 0: the record is not in use yet */
	/* The cold part begins here, 128 bytes behind the begin. */
	__u64 gap_ns;                     /* start of the current loss period; 0: no number is missing */
	__u32 histogram[HISTOGRAM_SLOTS]; /* all 0 if the flow has fine slots */
	/*
	 * Numbers not seen yet have a bit set at number % 256, in fresh if they are missing since gap_ns or later, in
	 * aging if they were missing before gap_ns, in declared once they are counted as lost.
	 */
	__u64 fresh[WINDOW_WORDS];
	__u64 aging[WINDOW_WORDS];
	__u64 declared[WINDOW_WORDS];
	__u64 fresh_hole_ns; /* arrival before the first number that is in fresh */
	__u64 aging_hole_ns; /* arrival before the first number that is in aging */
	__u64 lost_hole_ns;  /* losses not reported yet: arrival before the first one */
	__u32 lost_first;    /* losses not reported yet: first number */
	__u32 lost_count;    /* losses not reported yet: number of them */
	__u64 lost;          /* sequence numbers declared lost */
	__u64 recovered;     /* numbers declared lost that arrived later */
	__u64 reordered;     /* numbers that arrived after a newer one, recovered ones included */
	__u64 duplicates;
	__u64 late;             /* numbers too old to tell recovered from duplicate; counted as recovered */
	__u32 first;            /* oldest sequence number expected */
	__s32 first_latency_ns; /* of the packet that arrived at first_ns */
	__u32 restarts;         /* times that the source began numbering again */
	__u32 announced;        /* 1: the first report was sent */
	/*
	 * Numbers far from head are not believed before others confirm them. They lie within one window; seen has a bit
	 * for each that arrived, at number % 256.
	 */
	__u64 far_seen[WINDOW_WORDS];
	__u64 far_ns;      /* arrival of the first of them */
	__u64 far_hole_ns; /* arrival before it */
	__u32 far_first;   /* least of them */
	__u32 far_last;    /* greatest of them */
	__u32 far_packets; /* packets that brought them; 0: there are none */
	__u32 far_head;    /* head when the last of them arrived */
	__u32 strays;      /* packets, since head became far_head, whose numbers are not believed */
	__u32 damaged;     /* packets whose numbers turned out to be wrong; they count as what was missing there */
	/* Counted by CPUs other than the home CPU. */
	__u64 other_packets;
	__u64 other_bytes;
	__u64 other_earned_bytes;
	__s64 other_latency_sum_ns;
	__u32 path;      /* index of the state of the path and its hops in another table, plus 1; 0: none */
	__u32 far_waits; /* 1: the sweep is to decide about the far numbers */
	__u32 left_out;  /* 1: packets passed unstripped since the last one that was tracked */
	__u32 unsure;    /* 1: shortly before the first packet, packets of new flows were not tracked */
	__u64 began_ns;  /* arrival of the first packet; 0: first_ns */
	__u64 spare[5];
};

#endif
