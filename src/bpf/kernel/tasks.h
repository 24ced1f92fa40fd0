/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Declares what programs read of tasks, and the context of those that walk over them. */
#ifndef HOSTINT_KERNEL_TASKS_H
#define HOSTINT_KERNEL_TASKS_H

#include "kernel/iterators.h"
#include "kernel/kernel.h"

struct css_set;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct nsproxy {
	struct net *net_ns;
};

struct task_struct {
	int pid;
	int tgid;
	unsigned int flags;
	struct nsproxy *nsproxy;
	struct css_set *cgroups;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif
