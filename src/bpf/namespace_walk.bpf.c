// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Reports all network namespaces that live, whatever keeps them alive: what processes show of them is neither all, nor
 * shown to every daemon. The kernel's list is a ring, which leads from the reader's namespace back to it; one that ends
 * leaves the list first of all.
 *
 *	the first task of a walk -> each namespace, in the order of the list, within one read of RCU
 *	each further task -> end
 */
#include "kernel/kernel.h"
#include "hostint/namespace.h"
#include "kernel/tasks.h"

/* The most namespaces: of more, the end is not reported. The kernel's buffer holds twice as many. */
#define NAMESPACES 1000

char _license[] SEC("license") = "Dual BSD/GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

struct net___listed {
	struct list_head list;
	__u64 net_cookie;
	struct ns_common ns;
};

#pragma clang attribute pop

/*
 * A function of its own: with its condition within the loop, the compiler makes a loop that is entered in its middle, which
 * kernels before 6.4 refuse.
 */
static __noinline void tell_namespace(struct seq_file *seq, const struct net___listed *net)
{
	struct namespace_record record = {};

	/* The list's head is no namespace; it looks like one with an id that no host has. */
	record.inode = BPF_CORE_READ(net, ns.inum);
	if (bpf_core_field_exists(net->net_cookie))
		record.cookie = BPF_CORE_READ(net, net_cookie);
	bpf_seq_write(seq, &record, sizeof(record));
}

SEC("iter/task")
int walk_namespaces(struct bpf_iter__task *ctx)
{
	struct task_struct *reader = (void *)bpf_get_current_task();
	struct seq_file *seq = ctx->meta->seq;
	const struct namespace_record end = {};
	struct net___listed *net;
	struct list_head *first;
	struct list_head *at;
	__u32 told = 0;

	if (ctx->meta->seq_num)
		return 0;
	net = (void *)BPF_CORE_READ(reader, nsproxy, net_ns);
	first = __builtin_preserve_access_index(&net->list);
	at = first;
	do {
		tell_namespace(seq, (void *)at - bpf_core_field_offset(struct net___listed, list));
		at = BPF_CORE_READ(at, next);
		told++;
		barrier_var(told);
	} while (at != first && told < NAMESPACES);
	if (at == first)
		bpf_seq_write(seq, &end, sizeof(end));
	return 0;
}
