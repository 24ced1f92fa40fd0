/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The programs that read TCP sockets and the user half exchange these settings, counts and records. */
#ifndef HOSTINT_TCP_H
#define HOSTINT_TCP_H

enum tcp_limit {
	TCP_FLOW_WORDS = 10,
	TCP_CONGESTION_NAME = 16, /* bytes of the congestion control's name, as in the kernel */
};

enum tcp_setting {
	TCP_BY_RULES = 1, /* the watchlist decides; without it all connections are watched */
};

struct tcp_settings {
	__u64 cgroup;             /* id of the cgroup whose sockets are watched, with those below it; 0: all */
	__u64 ending_interval_ns; /* as in token_rate, for each CPU: records about connections that ended */
	__u64 ending_burst_ns;
	__u32 netns; /* inode of the network namespace */
	__u32 flags; /* enum tcp_setting */
};

enum tcp_record_kind {
	TCP_SAMPLE = 19, /* written by the walk over all sockets */
	TCP_ENDED = 20,  /* written into the ring */
};

/* Fields that not each kernel has, or that have no value yet. */
enum tcp_field {
	TCP_HAS_CHRONO = 1, /* busy, receiver-limited and buffer-limited time */
	TCP_HAS_BYTES_RETRANS = 2,
	TCP_HAS_DSACK = 4,
	TCP_HAS_DELIVERED_CE = 8,
	TCP_HAS_REORD_SEEN = 16,
	TCP_HAS_RTO_COUNT = 32,
	TCP_HAS_CGROUP = 64,
};

enum tcp_record_flag {
	TCP_CWND_LIMITED = 1, /* the kernel says that the congestion window was full in the last round trip */
	TCP_RATE_APP = 2,     /* the delivery rate was that of the application */
	TCP_APP_LIMITED = 4,  /* the application had nothing more to send */
	TCP_ECN = 8,          /* both ends agreed on ECN */
	TCP_WINDOW_SCALED = 16,
	TCP_SACK = 32,
	TCP_TIMESTAMPS = 64,
	TCP_PACED = 128,
	TCP_NO_ROOM = 256, /* the application waits for room in the send buffer */
};

/* Bytes and segments are counted since the connection began, as struct tcp_info counts them. */
struct tcp_record {
	__u32 kind;                 /* enum tcp_record_kind */
	__u32 has;                  /* enum tcp_field */
	__u32 flow[TCP_FLOW_WORDS]; /* a struct flow_key: from this host to its peer */
	__u64 socket;               /* the socket's address: no two that live at a time have the same */
	__u64 now_ns;               /* monotonic */
	__u64 begun_ns;             /* 0: before the program was attached */
	__u64 cgroup;
	__u64 bytes_sent;
	__u64 bytes_acked;
	__u64 bytes_received;
	__u64 bytes_retrans;
	__u64 rate_bytes_s; /* of delivery; 0: not known yet */
	__u64 pacing_bytes_s;
	__u64 pacing_most_bytes_s; /* the application's limit; all ones: none */
	__u32 class;               /* number of the rule's class; 0: none */
	__u32 flags;               /* enum tcp_record_flag */
	__u32 busy_ticks;          /* data was unsent or unacknowledged */
	__u32 receiver_ticks;      /* of these: the receiver's window was full */
	__u32 buffer_ticks;        /* of these: the send buffer was full and empty at once */
	__u32 srtt_us;
	__u32 rttvar_us;
	__u32 min_rtt_us; /* all ones: not known yet */
	__u32 cwnd;
	__u32 ssthresh;
	__u32 mss;
	__u32 packets_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 retrans_out;
	__u32 total_retrans;
	__u32 data_segments_out;
	__u32 delivered;
	__u32 delivered_ce;
	__u32 dsack_dups;
	__u32 reord_seen;
	__u32 rto_count;
	__u32 notsent_bytes;
	__u32 unread_bytes;
	__u32 host_queue_bytes; /* in this host's queues, with what the kernel needs for them */
	__u32 snd_wnd;
	__u32 send_buffer_bytes;
	__u32 rto_ticks;
	__u8 state;
	__u8 ca_state;
	__u8 retransmits; /* timeouts since the last progress */
	__u8 zero;
	__u8 congestion[TCP_CONGESTION_NAME];
	__u32 segments_out; /* of all kinds, acknowledgements too */
};

/* Each enumerator is the index of a per-CPU counter. */
enum tcp_counter {
	COUNT_TCP_BEGUN,       /* watched connections that were established */
	COUNT_TCP_ENDED,       /* watched connections that ended */
	COUNT_TCP_END_LIMITED, /* of these: not told, because of the limit */
	COUNT_TCP_END_LOST,    /* of these: not told, because the ring was full */
	COUNT_TCP_FAILED,      /* watched connections that were never established */
	COUNT_TCP_MAX,
};

#endif
