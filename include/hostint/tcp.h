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
	TCP_ASK_ALL = 2,  /* option 114 is sent to all peers, not only to those whose host takes it */
};

struct tcp_settings {
	__u64 cgroup;             /* id of the cgroup whose sockets are watched, with those below it; 0: all */
	__u64 ending_interval_ns; /* as in token_rate, for each CPU: records about connections that ended */
	__u64 ending_burst_ns;
	__u32 netns;           /* inode of the network namespace */
	__u32 flags;           /* enum tcp_setting */
	__u64 ask_interval_ns; /* the least time between two requests of a connection */
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
	TCP_HAS_OPTION = 128, /* the socket has a state of option 114 */
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

/*
 * TCP option 114, as TCP-INT 0.4 has it: a sender asks, hops on the path fill in, the receiver echoes. The kernel half
 * keeps a state of it for each socket.
 */
enum tcp_option_wire {
	TCP_OPTION_KIND = 114, /* not assigned by IANA */
	TCP_OPTION_LEN = 12,
	TCP_OPTION_ALL = 15,       /* the key of a request to every hop */
	TCP_OPTION_FAR = 0x8000,   /* in an echoed latency: the unit is 65,536 ns instead of 256 ns */
	TCP_OPTION_FIRST_TTL = 64, /* an echo names a hop by this less the TTL there, in 4 bits */
	TCP_OPTION_QUEUE = 0x80,   /* in a value: the other bits count 8 KiB of queue, else it is free bandwidth */
	TCP_OPTION_MOST = 0x7f,
	TCP_OPTION_QUEUE_SHIFT = 13,
	TCP_OPTION_UNIT_SHIFT = 8, /* latencies count units of 256 ns */
	TCP_OPTION_LATENCY = 0xffffff,
	TCP_OPTION_LEAST_MBIT = 10000, /* slower links have no code, and tell no free bandwidth */
};

/* The option's bytes. */
struct tcp_option {
	__u8 kind;
	__u8 length;
	__u8 key_speed;  /* key << 4 | speed of the worst hop's link, by TCP-INT's codes */
	__u8 value;      /* of the worst hop: from 128 on its queue in units of 8 KiB, else 127 less the free Gbit/s */
	__u8 hop;        /* TTL or hop limit at the worst hop; 0: no hop filled this in */
	__u8 latency[3]; /* sum over all hops in units of 256 ns, big endian */
	__u8 echo_value; /* what the other end's packets met: value, ... */
	__u8 echo_hop_speed;  /* ... number of the hop << 4 | speed; hop 0: no echo */
	__u8 echo_latency[2]; /* little endian, see TCP_OPTION_FAR */
};

/* Why a socket sends no requests any more. */
enum tcp_option_off {
	TCP_OPTION_ON,
	TCP_OPTION_TIMED_OUT, /* a retransmission timeout came before any echo: something may drop the option */
};

enum tcp_option_flag {
	TCP_OPTION_DUE = 1,    /* the next segment with data carries a request */
	TCP_OPTION_ECHOES = 2, /* an echo waits to be sent */
	TCP_OPTION_PROVEN = 4, /* echoes come back */
	TCP_OPTION_ASKED = 8,  /* a request went out, and no echo came since */
};

enum tcp_option_limit {
	TCP_OPTION_TRIALS = 8,      /* requests without an echo after which a socket asks seldom */
	TCP_OPTION_ECHO_ROOM = 100, /* segments with at most this many bytes of data carry an echo by themselves */
	TCP_OPTION_PAIR_FAILS = 3,  /* connections of a pair that timed out before it is given up for a while */
};

/* What an echo says, as it was on the wire. */
struct tcp_option_sample {
	__u8 value;
	__u8 hop_speed;
	__u16 latency;
};

struct tcp_option_state {
	__u64 next_ns;   /* no request before this time */
	__u64 asked_ns;  /* when the last request was sent */
	__u64 worst_ns;  /* when the request of the worst sample was sent */
	__u32 asked_seq; /* sequence number of the segment with that request */
	__u32 requests;
	__u32 samples;
	__u32 echoes;     /* sent */
	__u32 no_room;    /* segments whose options left no room */
	__u32 unanswered; /* requests in a row */
	__u32 zero2;
	__u8 flags; /* enum tcp_option_flag */
	__u8 off;   /* enum tcp_option_off */
	__u16 zero;
	struct tcp_option_sample echo;  /* to be sent: the worst since the last one */
	struct tcp_option_sample worst; /* since the state was read */
};

/* For a pair of addresses. */
struct tcp_option_pair {
	__u64 until_ns; /* connections send no requests before this time */
	__u32 failed;
	__u32 zero;
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
	struct tcp_option_state option;
};

/* Each enumerator is the index of a per-CPU counter. */
enum tcp_counter {
	COUNT_TCP_BEGUN,       /* watched connections that were established */
	COUNT_TCP_ENDED,       /* watched connections that ended */
	COUNT_TCP_END_LIMITED, /* of these: not told, because of the limit */
	COUNT_TCP_END_LOST,    /* of these: not told, because the ring was full */
	COUNT_TCP_FAILED,      /* watched connections that were never established */
	COUNT_TCP_REQUESTS,    /* segments that were sent with a request of option 114 */
	COUNT_TCP_ECHOES,      /* segments that were sent with an echo */
	COUNT_TCP_TAKEN,       /* samples: echoes that new requests brought */
	COUNT_TCP_NO_ROOM,     /* segments whose options left no room for it */
	COUNT_TCP_OPTION_OFF,  /* connections that send no requests any more, because of a timeout */
	COUNT_TCP_MAX,
};

#endif
