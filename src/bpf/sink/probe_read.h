/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Recognises the probes of a source, which show whether packets of a form pass the path. */
#ifndef HOSTINT_SINK_PROBE_READ_H
#define HOSTINT_SINK_PROBE_READ_H

#include "kernel/kernel.h"
#include "hostint/lease.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/md_block.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "sink/tagged.h"

enum {
	TCP_ACK = 0x10,
	TCP_SYN_ACK = 0x12,
	TCP_NO_OPTIONS = TCP_BASE_LEN / 4 << 4, /* data offset in struct tcphdr */
};

/* Copies the probe that begins there, behind headers of this form. lease/probe.h finds out whether it is a right one. */
static __always_inline bool take_probe(const void *at, void *end, enum lease_form form, struct tagged_packet *p)
{
	const struct lease_probe *probe = at;

	if ((void *)(probe + 1) > end || probe->magic != bpf_htonl(LEASE_PROBE_MAGIC))
		return false;
	p->probe = *probe;
	p->probe_form = form;
	return true;
}

/*
 * A probe over UDP is recognised without the mark, too: the path may have changed it. Switches that know v0.5 push their
 * entries onto it as onto data, because they do not know hostint's sign of a budget. `room` is what the packet has behind
 * its IP header, less the probe.
 */
static __always_inline bool take_probe_over_udp(void *data, void *end, __u32 room, struct tagged_packet *p)
{
	struct {
		struct udphdr udp;
		struct int_block block;
	} *head = at_offset(data, p->at.l4);
	__u32 pushed;
	void *probe;

	if ((void *)(head + 1) > end)
		return false;
	if (begins_own_md((void *)&head->block))
		return take_probe((void *)&head->block + INT_MD_BLOCK_LEN, end, FORM_INT_MD, p);
	if (check_int_block(&head->block) != INT_VALID)
		return false;
	pushed = int_pushed(&head->block) * INT_HOP_LEN & 0xff;
	probe = (void *)(head + 1) + pushed;
	barrier_var(probe);
	return room >= UDP_LEN + INT_BLOCK_LEN + pushed && take_probe(probe, end, FORM_OVER_UDP, p);
}

static __always_inline bool is_probe_port(__be16 port, const struct lease_probe *probe)
{
	return port == bpf_htons(LEASE_PROBE_PORT + probe->number);
}

/*
 * The numbers of a stray segment are the probe's tag. So no segment of a real connection is taken for a probe, even if
 * its sender can choose the data.
 */
static __always_inline bool take_stray_segment(void *data, void *end, struct tagged_packet *p)
{
	struct tcphdr *tcp = at_offset(data, p->at.l4);
	__be32 *numbers;

	if ((void *)(tcp + 1) > end || tcp->doff != TCP_NO_OPTIONS || !take_probe(tcp + 1, end, FORM_STRAY, p) ||
	    tcp->flags != (p->probe.number & 1 ? TCP_SYN_ACK : TCP_ACK))
		return false;
	numbers = (__be32 *)&p->probe.tag;
	return tcp->seq == numbers[0] && tcp->ack_seq == numbers[1] && is_probe_port(tcp->source, &p->probe) &&
	       p->probe.number < LEASE_STRAY_DATAGRAMS;
}

static __always_inline bool take_stray_datagram(void *data, void *end, struct tagged_packet *p)
{
	struct udphdr *udp = at_offset(data, p->at.l4);

	return (void *)(udp + 1) <= end && take_probe(udp + 1, end, FORM_STRAY, p) &&
	       is_probe_port(udp->source, &p->probe) && p->probe.number >= LEASE_STRAY_DATAGRAMS;
}

/* Finds a probe that no tunnel and no extension header is around. The packet goes to a port of probes. */
static __always_inline bool take_bare_probe(void *data, void *end, struct tagged_packet *p, bool stray)
{
	__u32 room = p->at.ip_len - (p->at.l4 - p->at.l3) - sizeof(struct lease_probe);
	bool taken;

	if (p->at.fragment || p->at.ip_len < p->at.l4 - p->at.l3 + sizeof(struct lease_probe))
		return false;
	if (p->at.protocol == IPPROTO_TCP)
		taken = stray && room >= TCP_BASE_LEN && take_stray_segment(data, end, p);
	else if (stray)
		taken = room >= UDP_LEN && take_stray_datagram(data, end, p);
	else
		taken = room >= UDP_LEN + INT_BLOCK_LEN && take_probe_over_udp(data, end, room, p);
	return taken && fill_key(data, end, &p->at, &p->facts.key);
}

#endif
