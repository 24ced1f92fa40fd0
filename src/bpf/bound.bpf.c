// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Whether what the kernel keeps of a program's device still points to the program. It does not if the kernel moved the
 * program while it was verified or compiled, and did not note that: the end of the device is the kernel's then.
 */
#include "kernel/iterators.h"

char _license[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 program_id = 0;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_prog;

struct bpf_prog_offload {
	struct bpf_prog *prog;
};

struct bpf_prog_aux {
	__u32 id;
	struct bpf_prog_offload *offload;
};

struct bpf_prog {
	struct bpf_prog_aux *aux;
};

struct bpf_iter__bpf_prog {
	struct bpf_iter_meta *meta;
	struct bpf_prog *prog;
};

#pragma clang attribute pop

/* Writes one byte for the program that is asked for: 1 if all is well. */
SEC("iter/bpf_prog")
int look_at_bound(struct bpf_iter__bpf_prog *ctx)
{
	struct bpf_prog *prog = ctx->prog;
	struct bpf_prog_offload *offload;
	__u8 well;

	if (!prog || prog->aux->id != program_id)
		return 0;
	offload = prog->aux->offload;
	well = offload && offload->prog == prog;
	bpf_seq_write(ctx->meta->seq, &well, sizeof(well));
	return 0;
}
