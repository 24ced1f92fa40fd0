/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Declares the part of their context that all iterator programs share. */
#ifndef HOSTINT_KERNEL_ITERATORS_H
#define HOSTINT_KERNEL_ITERATORS_H

#include "kernel/kernel.h"

struct seq_file;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 seq_num; /* 0 at the first element of a walk */
};

#pragma clang attribute pop

#endif
