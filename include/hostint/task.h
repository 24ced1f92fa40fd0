/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The program that walks over processes and the user half exchange these records. */
#ifndef HOSTINT_TASK_H
#define HOSTINT_TASK_H

struct task_record {
	__u64 cgroup; /* id of the process's cgroup (version 2) */
	__u32 netns;  /* inode of its network namespace */
	__u32 zero;
};

#endif
