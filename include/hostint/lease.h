/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A source asks a sink for a lease in the payload of an ICMP echo request; all fields are big-endian. The source's
 * daemon asks, the sink's program writes the answer into the request, and the stack to which the request was sent
 * returns it. So an answer proves that the program works on the path of the question, even if its daemon is not
 * running. Whether tagged packets pass, too, is proved by probes (struct lease_probe).
 *
 * There are two messages, which differ in length: the full one, and a short one that renews a lease while nothing has
 * changed.
 */
#ifndef HOSTINT_LEASE_H
#define HOSTINT_LEASE_H

struct lease_question {
	__be32 magic;
	__be32 version; /* LEASE_VERSION */
	__be64 nonce;
	__be32 flow_saddr[4]; /* source address of the packets to be tagged; IPv4 is mapped */
	__be64 asked_ns;      /* by the source's clock, since the Unix epoch */
	__be32 source_node;
	__be32 capabilities; /* enum lease_capability: what the source may send */
	__be64 round;        /* of the probes that this source sends, or sent; 0: none */
};

/* Counts are of packets from flow_saddr since the grant began; they wrap. */
struct lease_answer {
	__be64 instance; /* of the sink's host; it differs between hosts that share a node id */
	__be32 node_id;
	__be32 capabilities; /* enum lease_capability */
	__be32 flags;        /* enum lease_flag */
	__be32 digest;       /* changes whenever a field changes that the short message lacks */
	__u8 tos_value;
	__u8 tos_mask;
	__u8 clock;          /* enum clock_source, LEASE_CLOCK_SYNCHRONISED */
	__u8 clock_steering; /* in 4 ppm, rounded up: the most in the last minute; 0: not told, 255: more than can be told */
	__be16 extension_port;
	__be16 mtu;          /* of the receiving interface, at most 65535 */
	__be16 tai_offset_s; /* signed */
	__be16 software;     /* version of the sink's software: major << 8 | minor */
	__u8 tos_changed[4]; /* bits of the ToS byte that the path changed in some probe of the round */
	__be64 answered_ns;  /* by the sink's clock, since the Unix epoch */
	__be32 stripped[3];  /* at the places of lease_slot() */
	__be32 lost;         /* sequence numbers declared lost, less those that arrived later */
	/*
	 * By enum lease_form, bit n % 64 of word n / 64: probe n arrived. FORM_INT_MD has no words of its own: its probe n is
	 * number LEASE_MD_PROBES + n of FORM_STRAY.
	 */
	__be64 arrived[4][2];
};

struct lease_message {
	struct lease_question question;
	__be64 question_tag; /* SipHash-2-4 of the question and of the IP header's addresses: a NAT on the path is noticed */
	struct lease_answer answer;
	__be64 answer_tag; /* SipHash-2-4 of everything before it; 0 in the question */
};

/* Asks only for what changes. The question must come from the flow's source address itself. */
struct lease_short_message {
	__be32 magic;
	__be32 version; /* LEASE_VERSION */
	__be64 nonce;
	__be64 question_tag; /* SipHash-2-4 of the words before it and of the IP header's addresses */
	/* answer */
	__be32 flags;
	__be32 digest;
	__be32 stripped[3];
	__be32 lost;
	__be64 answered_ns;
	__be64 answer_tag; /* SipHash-2-4 of everything before it; 0 in the question */
};

/*
 * A probe shows whether packets of a form pass the path as data would. It is a packet of that form, whose innermost
 * ports are LEASE_PROBE_PORT + number and GPE_PORT, and whose payload begins with this. The sink notes it in the
 * grant, never answers it and never hands it on; the next full answer tells which probes arrived. Zeros may follow.
 */
struct lease_probe {
	__be32 magic; /* LEASE_PROBE_MAGIC */
	__u8 version; /* LEASE_VERSION */
	__u8 form;    /* enum lease_form */
	__u8 number;  /* below LEASE_PROBES */
	__u8 tos;     /* ToS byte, or traffic class, of the outermost IP header as it was sent */
	__be64 round; /* as in the question that announced the probes; a probe of another round changes nothing */
	__be64 tag;   /* SipHash-2-4 of the 16 bytes before it and of the outermost IP header's addresses */
};

/*
 * Strays go in the reverse direction, too: the daemon of the sink's host sends one for each probe of a round that the sink
 * noted, from the address that the question went to, to that which it came from. They are packets of FORM_STRAY, of which
 * numbers below LEASE_STRAYS_BACK repeat, whose payload is a struct lease_probe with LEASE_REVERSE_MAGIC, tagged with the
 * addresses that they are sent with. Those that do not arrive, or from another address, show that a firewall drops, or a
 * router translates, what that host answers outside of a tunnel. No probe has fewer bytes, so strangers gain nothing by it.
 */

enum clock_source {
	CLOCK_UNKNOWN = 0,
	CLOCK_TAI = 1,
	CLOCK_REALTIME_OFFSET = 2, /* the monotonic clock plus an offset to the Unix epoch */
};

enum lease_form {
	FORM_OVER_UDP = 0,  /* INT over UDP, with the mark */
	FORM_EXTENSION = 1, /* INT after an extra UDP header */
	FORM_GPE = 2,       /* INT in VXLAN-GPE, with an inner UDP packet */
	/*
	 * Plain packet of no conversation: would packets outside of a tunnel pass whose conversation began in it?
	 * Below LEASE_STRAY_DATAGRAMS a TCP segment, with ACK if the number is even, with SYN and ACK if it is odd; from
	 * there on a UDP datagram, which is as long.
	 */
	FORM_STRAY = 3,
	FORM_INT_MD = 4, /* INT-MD over UDP, with the mark of INT-MD */
	/* IOAM in hop-by-hop options. A round has no probes of FORM_OVER_UDP besides, whose place in answers they have. */
	FORM_IOAM = 5,
	/* Datagram with an option behind its data (struct datagram_option). The same holds for its place. */
	FORM_OPTIONS = 6,
};

enum lease_capability {
	CAPABLE_OVER_TCP_UDP = 1,
	CAPABLE_EXTENSION_UDP = 2,
	CAPABLE_VXLAN_GPE = 4,
	CAPABLE_INT_MD = 8,
	CAPABLE_GENEVE = 16,
	CAPABLE_INT_MX = 32,
	CAPABLE_STACKS = 64, /* reads stacks of up to 8 hops */
	CAPABLE_IOAM = 128,
	CAPABLE_OPTION_114 = 256,       /* a daemon on the sink's host reads and echoes TCP option 114 */
	CAPABLE_UDP_SUPERPACKETS = 512, /* superpackets of UDP in vxlan-gpe reach it segment by segment */
	CAPABLE_STRAYS = 1024,          /* a daemon runs on the sink's host, and sends strays back */
	CAPABLE_PATH_ITEMS = 2048,      /* reads stacks whose entries have no queue */
	CAPABLE_OPTIONS = 4096,         /* reads INT in options of TCP and UDP */
};

enum lease_flag {
	LEASE_FLAG_ASTRAY = 1, /* no lease: tagged packets reach this host where no sink strips them */
	LEASE_FLAG_UNTOLD = 2, /* no counts: without a key only the packets' source address is told */
	LEASE_SHARE_AT =
		24, /* from this bit on: of 2 to the power of this many flows the sink's budget has room for one */
	LEASE_SHARE_MASK = 31,
};

enum lease_constant {
	LEASE_MAGIC = 0x68696e74,         /* "hint" */
	LEASE_PROBE_MAGIC = 0x68696e70,   /* "hinp" */
	LEASE_REVERSE_MAGIC = 0x68696e72, /* "hinr" */
	LEASE_VERSION = 2,
	LEASE_PROBES = 72, /* of a form in a round: they meet all of 8 paths with a probability of 99.9 % */
	LEASE_STRAY_DATAGRAMS = 8,
	LEASE_STRAYS_BACK = 12,
	LEASE_MD_PROBES = 32,
	LEASE_STRAY_PORT = 64511, /* destination port of stray packets, which no firewall permits for its own sake */
	LEASE_PROBE_PORT = 64512, /* first source port of probes; the data of vxlan-gpe uses ports of the same range */
	LEASE_CLOCK_SYNCHRONISED = 0x80,
	LEASE_KEY_LEN = 16,
	LEASE_PAIRS = 65536, /* address pairs with a lease at a source, and sources with a grant at a sink */
};

#endif
