/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Both halves of a transit hop exchange these values. */
#ifndef HOSTINT_TRANSIT_H
#define HOSTINT_TRANSIT_H

enum transit_limit {
	TRANSIT_PREFIXES = 4096,  /* prefixes of sources whose packets get an entry */
	TRANSIT_ARRIVALS = 65536, /* arrivals that are remembered, unless the user says otherwise; a power of two */
	TRANSIT_MOST_ARRIVALS = 1 << 24,
	TRANSIT_WAITS = 1024,   /* source nodes whose packets wait at an interface, times interfaces and parts */
	HOST_UNREAD = 16384,    /* segments that applications have not read; a power of two */
	HOST_DATAGRAMS = 256,   /* the same of a UDP socket's datagrams */
	HOST_ASKED = 8192,      /* sockets whose application was asked; a power of two */
	HOST_WRITES = 128,      /* writes to a TCP socket whose data is not sent; a power of two */
	WAIT_SLOTS = 864,       /* FINE_SLOTS */
	TRANSIT_GAUGES = 1024,  /* interfaces by which requests of option 114 leave */
	TRANSIT_ASKERS = 16384, /* pairs of hosts, and their TTLs, whose requests are filled in */
	POSTCARD_QUOTE = 160,   /* bytes of a packet in INT-MX that are reported: IP, L4 and INT headers */
};

/* The kinds of INT onto which a hop pushes, and the option that it fills in. */
enum transit_carrier {
	CARRIER_HOST_INT = 1, /* INT v0.5 in over-tcp-udp and extension-udp */
	CARRIER_VXLAN_GPE = 2,
	CARRIER_INT_MD = 4,  /* INT v2.1 of any source, behind TCP and UDP */
	CARRIER_TCP_INT = 8, /* requests of TCP option 114 */
	CARRIER_GENEVE = 32, /* INT v2.1 (MD) of any source in an option of Geneve */
};

/* Records the options with which a transit hop was attached to an interface, whose index is the key. */
struct transit_info {
	__u64 attached_ns;
	__u32 mtu; /* fixed limit; 0: the interface's MTU is read for every packet */
	__be16 extension_port;
	__u8 tos_value;
	__u8 tos_mask;
	__u32 clsact;           /* 1: attached by clsact filters, else by links */
	__u32 clsact_made;      /* 1: the clsact qdisc was added for these filters */
	__u32 arrivals;         /* size of the table */
	__u32 only_allowed;     /* 1: only sources in the list of prefixes get entries */
	__u32 cuts_tunnels;     /* 1: the device may cut superpackets in tunnels, which then get no entry */
	__u32 notes_departures; /* 1: for the program that measures waits in queues */
	__u32 carriers;         /* enum transit_carrier */
	__be16 md_port;         /* UDP port that marks INT-MD; 0: none */
	__u8 md_tos_value;      /* mark of INT-MD; */
	__u8 md_tos_mask;       /* 0: none */
	__u8 dev[16];           /* the interface's name, NUL-terminated */
	__u64 hold_ns;          /* values of option 114 are held for this time */
	__u32 link_mbit;        /* the link's speed as the user says; 0: that of the device */
	__u32 zero;
};

/*
 * What a hop fills into requests of option 114 that leave by an interface. Time is cut into windows; all requests of a
 * window get the worst of the one before.
 */
struct transit_gauge {
	__u64 hold_ns;    /* length of a window */
	__u64 windows[2]; /* of the last even and odd one, as transit/gauge.h packs them */
	__u64 sent;       /* latency of the last request up to the driver, if measured, and when it was */
	__u32 link_mbit;  /* 0: unknown */
	__u32 link_code;  /* its code in option 114; 0: none */
};

/* A pair of hosts whose requests of option 114 are filled in, and their TTL or hop limit here. */
struct transit_asker {
	__be32 saddr[4];
	__be32 daddr[4];
	__u32 ttl;
};

/* A packet in INT-MX that passed, and what this hop knows of it. Goes to the hop's daemon through a ring. */
struct transit_postcard {
	__u64 arrived_ns; /* since the Unix epoch; 0: not known */
	__u64 left_ns;
	__u32 in_ifindex;
	__u32 out_ifindex;
	__u32 queue_packets; /* in the root queue of the interface; all ones: not known */
	__u16 family;        /* 4 or 6 */
	__u16 len;
	__u8 quote[POSTCARD_QUOTE];
};

/* Where packets wait in this host. */
enum wait_part {
	WAIT_IN_QUEUE = 0,       /* of an interface, before the driver gets them */
	WAIT_IN_STACK = 1,       /* from TCP to the source's stamp */
	WAIT_TO_BE_READ = 2,     /* from the sink to the application */
	WAIT_TO_BE_SENT = 3,     /* from the application to TCP */
	WAIT_TO_BE_ANSWERED = 4, /* from then to the first packet of the application's answer */
};

struct wait_key {
	__u32 source_node;
	__u32 ifindex;
	__u32 part; /* enum wait_part */
};

/* How long the packets of a source waited at an interface. All is added to without a lock. */
struct wait_times {
	__u64 packets;
	__s64 sum_ns;
	__u64 first_ns; /* since the Unix epoch */
	__u64 last_ns;
	__u64 count[WAIT_SLOTS]; /* slots as in struct fine_slots */
};

#endif
