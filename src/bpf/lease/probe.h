/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Notes probes in the grant of the address that sent them. Probes are never answered and never handed on. */
#ifndef HOSTINT_LEASE_PROBE_H
#define HOSTINT_LEASE_PROBE_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/lease.h"
#include "hostint/lease_table.h"
#include "kernel/clock.h"
#include "kernel/host_settings.h"
#include "lease/message.h"
#include "sink/counters.h"
#include "sink/grants.h"
#include "sink/md_read.h"
#include "sink/settings.h"
#include "sink/tagged.h"

/* Returns the grant of the sender of the probe in the scratch, or NULL if the probe is not one of a host with a lease. */
static __always_inline struct sink_grant *prober(const struct tagged_packet *p, const struct host_settings *host)
{
	const int len = __builtin_offsetof(struct lease_probe, tag);
	const struct flow_key *key = &p->facts.key;
	struct sink_grant *grant;

	if (p->probe.version != LEASE_VERSION || p->probe.form != p->probe_form || p->probe.number >= LEASE_PROBES)
		return NULL;
	if (p->probe.tag != tag_with_addresses(&p->probe, len, key->saddr, key->daddr, host->lease_key))
		return NULL;
	grant = bpf_map_lookup_elem(&sink_grants, key->saddr);
	return grant && coarse_ns() < grant->until_ns ? grant : NULL;
}

/* Before 5.12 there is no atomic OR. A bit that another CPU overwrites is set by the probe's repetition. */
static __always_inline void note_arrival(struct sink_grant *grant, __u32 form, __u32 number, bool locked)
{
	__u64 bit = 1ULL << (number & 63);
	__u64 *word = &grant->arrived[form & (LEASE_FORMS - 1)][number >> 6 & 1];

	if (locked)
		*word |= bit;
	else
		__sync_fetch_and_or(word, bit);
}

static __always_inline int note_probe_of(bool locked)
{
	const struct sink_settings *set = get_sink_settings();
	const struct host_settings *host = get_host_settings();
	struct tagged_packet *p = tagged();
	struct sink_grant *grant;
	__u8 form, changed;

	if (!set || !host || !p)
		return 0;
	grant = prober(p, host);
	if (!grant) {
		count_sink(COUNT_SINK_PROBE_FORGED, 1, p->frame_len);
		return 0;
	}
	count_sink(COUNT_SINK_PROBE, 1, p->frame_len);
	if (!p->probe.round || bpf_be64_to_cpu(p->probe.round) != grant->round)
		return 0;
	if (p->probe.form == FORM_INT_MD) {
		if (has_md_tos(set, p->at.tos))
			note_arrival(grant, FORM_STRAY, LEASE_MD_PROBES + p->probe.number, locked);
		return 0;
	}
	form = p->probe.form >= FORM_IOAM ? FORM_OVER_UDP : p->probe.form & (LEASE_FORMS - 1);
	changed = p->probe.tos ^ p->at.tos;
	if (changed)
		grant->tos_changed[form] |= changed;
	/* Data would not be recognised without the mark. */
	if (p->probe.form == FORM_OVER_UDP && (p->at.tos & set->tos_mask) != set->tos_value)
		return 0;
	if (form == FORM_OVER_UDP)
		grant->first_form = p->probe.form;
	note_arrival(grant, form, p->probe.number, locked);
	return 0;
}

__noinline int note_probe(void)
{
	return note_probe_of(false);
}

__noinline int note_probe_locked(void)
{
	return note_probe_of(true);
}

#endif
