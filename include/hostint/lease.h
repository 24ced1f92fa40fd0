/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a source and a sink say to each other: the payload of an ICMP echo request, all fields big-endian. The
 * source's daemon asks; the sink's program answers in place; the stack that the request was meant for sends
 * it back. So an answer proves the program, on the way that packets take, whether its daemon lives or not.
 */
#ifndef HOSTINT_LEASE_H
#define HOSTINT_LEASE_H

struct lease_question {
	__be32 magic;
	__be32 version; /* of this format */
	__be64 nonce;
	__be32 flow_saddr[4]; /* source address of the packets to be tagged; IPv4: mapped */
	__be64 asked_ns;      /* source's clock, since the Unix epoch */
	__be32 source_node;
	__be32 zero;
};

struct lease_answer {
	__be64 instance; /* of the sink's host: which of two that have one node id */
	__be32 node_id;
	__u8 encapsulations; /* enum sink_flag */
	__u8 tos_value;
	__u8 tos_mask;
	__u8 clock; /* enum clock_source, LEASE_CLOCK_SYNCHRONISED */
	__be16 extension_port;
	__be16 mtu;          /* of the receiving interface, 65535 if longer */
	__be16 tai_offset_s; /* signed */
	__be16 software;     /* version: major << 8 | minor */
	__be64 answered_ns;  /* sink's clock, since the Unix epoch */
};

struct lease_message {
	struct lease_question question;
	__be64 question_tag; /* SipHash-2-4 of the question and of both addresses of the IP header: no NAT on the way */
	struct lease_answer answer;
	__be64 answer_tag; /* SipHash-2-4 of all that stands before; in the question 0 */
};

enum lease_constant {
	LEASE_MAGIC = 0x68696e74, /* "hint" */
	LEASE_VERSION_1 = 1,
	LEASE_QUESTION_LEN = 48,
	LEASE_ANSWER_LEN = 32,
	LEASE_MESSAGE_LEN = 96,
	LEASE_CLOCK_SYNCHRONISED = 0x80,
	LEASE_KEY_LEN = 16,
	LEASE_PAIRS = 65536, /* of addresses that a source can keep leases for, and a sink grant them to */
};

#endif
