/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A source asks a sink for a lease in the payload of an ICMP echo request; all fields are big-endian. The source's
 * daemon asks, the sink's program writes the answer into the request, and the stack to which the request was sent
 * returns it. So an answer proves that the program works on the path of the packets, even if its daemon is not running.
 */
#ifndef HOSTINT_LEASE_H
#define HOSTINT_LEASE_H

struct lease_question {
	__be32 magic;
	__be32 version; /* version of this format */
	__be64 nonce;
	__be32 flow_saddr[4]; /* source address of the packets to be tagged; IPv4 is mapped */
	__be64 asked_ns;      /* by the source's clock, since the Unix epoch */
	__be32 source_node;
	__be32 zero;
};

struct lease_answer {
	__be64 instance; /* of the sink's host; it differs between hosts that share a node id */
	__be32 node_id;
	__u8 encapsulations; /* enum sink_flag */
	__u8 tos_value;
	__u8 tos_mask;
	__u8 clock; /* enum clock_source, LEASE_CLOCK_SYNCHRONISED */
	__be16 extension_port;
	__be16 mtu;          /* of the receiving interface, at most 65535 */
	__be16 tai_offset_s; /* signed */
	__be16 software;     /* version of the sink's software: major << 8 | minor */
	__be64 answered_ns;  /* by the sink's clock, since the Unix epoch */
};

struct lease_message {
	struct lease_question question;
	__be64 question_tag; /* SipHash-2-4 of the question and of the IP header's addresses: a NAT on the path is noticed */
	struct lease_answer answer;
	__be64 answer_tag; /* SipHash-2-4 of everything before it; 0 in the question */
};

enum lease_constant {
	LEASE_MAGIC = 0x68696e74, /* "hint" */
	LEASE_VERSION_1 = 1,
	LEASE_QUESTION_LEN = 48,
	LEASE_ANSWER_LEN = 32,
	LEASE_MESSAGE_LEN = 96,
	LEASE_CLOCK_SYNCHRONISED = 0x80,
	LEASE_KEY_LEN = 16,
	LEASE_PAIRS = 65536, /* address pairs with a lease at a source, and sources with a grant at a sink */
};

#endif
