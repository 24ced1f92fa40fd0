/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Says which optional features the kernel has. They are set before load, so that the verifier removes unused code. */
#ifndef HOSTINT_KERNEL_FEATURES_H
#define HOSTINT_KERNEL_FEATURES_H

#include "kernel/kernel.h"

const volatile bool have_tai_clock = false;    /* bpf_ktime_get_tai_ns, 6.1 */
const volatile bool have_check_mtu = false;    /* bpf_check_mtu, 5.12 */
const volatile bool have_kernel_ctx = false;   /* bpf_cast_to_kern_ctx, 6.2 */
const volatile bool have_xdp_frags = false;    /* packets in several buffers, 5.18 */
const volatile bool have_coarse_clock = false; /* bpf_ktime_get_coarse_ns, 5.11 */
const volatile bool have_kernel_reads = false; /* bpf_probe_read_kernel, which lockdown=confidentiality refuses */

/* Only tests set this to false: nearly all packets take a straight way, which must do what the general way does. */
const volatile bool have_straight_way = true;

enum {
	NOT_STRAIGHT = -2, /* nothing changed: the packet takes the general way; else this is a verdict */
};

/* Exists since 6.2; as it is weak, the program loads without it. */
extern void *bpf_cast_to_kern_ctx(void *obj) __ksym __weak;

#endif
