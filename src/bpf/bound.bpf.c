// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Checks whether the kernel's record of a bound program's device still points to the program. It does not if the kernel
 * moved the program while it was verified or compiled. Then the kernel would crash when the device goes away.
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

/* Writes one byte for the program with program_id: 1 if the record points to it. */
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
