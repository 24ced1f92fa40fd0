// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Tells in which cgroup and in which network namespace each process is. The kernel tells the latter only to those that may
 * trace a process, and a daemon of postcards may not.
 *
 *	each task of the machine -> not the first of its process, or one that ends: end
 *				    a record
 */
#include "kernel/kernel.h"
#include "hostint/task.h"
#include "kernel/socket.h"
#include "kernel/tasks.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct css_set {
	struct cgroup *dfl_cgrp;
};

#pragma clang attribute pop

SEC("iter/task")
int walk_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_record record = {};

	if (!task || task->pid != task->tgid)
		return 0;
	record.netns = BPF_CORE_READ(task, nsproxy, net_ns, ns.inum);
	record.cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	if (record.netns && record.cgroup)
		bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}
