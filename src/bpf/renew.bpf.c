// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Renews leases. The daemon runs the program, which is never attached; its "packet" is a list of leases as answers
 * changed them. One run renews many, and keeps the fields that packets or commands write at the same time.
 */
#include "kernel/kernel.h"
#include "hostint/lease_table.h"
#include "lease/pairs.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* Renews the lease, unless it was removed. */
static __always_inline bool renew(const struct lease_renewal *renewal, bool locked)
{
	struct address_pair pair = renewal->pair;
	struct source_lease *lease = bpf_map_lookup_elem(&source_leases, &pair);
	bool closes;

	if (!lease)
		return false;
	/* Flows find out with their next packet if a way is closed, or the lease ends sooner. */
	closes = lease->ways & ~renewal->lease.ways || renewal->lease.until_ns < lease->until_ns;
	/* The sink counted new packets, or another encapsulation is used from now on. */
	if (lease->vouched_ns != renewal->lease.vouched_ns || lease->ways != renewal->lease.ways)
		lease->unseen_turns = 0;
	lease->until_ns = renewal->lease.until_ns;
	__builtin_memcpy(&lease->answered_ns, &renewal->lease.answered_ns,
			 __builtin_offsetof(struct source_lease, keep) -
				 __builtin_offsetof(struct source_lease, answered_ns));
	__builtin_memcpy(&lease->ways, &renewal->lease.ways,
			 __builtin_offsetof(struct source_lease, unseen_turns) -
				 __builtin_offsetof(struct source_lease, ways));
	barrier();
	if (closes)
		change_leases_serial(locked);
	return true;
}

/* Returns the number of leases renewed. */
static __always_inline int renew_all(struct __sk_buff *ctx, bool locked)
{
	const struct lease_renewal *renewal = (void *)(long)ctx->data;
	const void *end = (void *)(long)ctx->data_end;
	__u32 renewed = 0;

	for (__u32 i = 0; i < RENEWALS; i++, renewal++) {
		if ((void *)(renewal + 1) > end)
			break;
		renewed += renew(renewal, locked);
	}
	return renewed;
}

/* XDP would not do: before 5.18 the kernel changes its own code for each run. */
SEC("tc")
int renew_leases(struct __sk_buff *ctx)
{
	return renew_all(ctx, false);
}

/* Runs instead on kernels before 5.12. */
SEC("?tc")
int renew_leases_locked(struct __sk_buff *ctx)
{
	return renew_all(ctx, true);
}
