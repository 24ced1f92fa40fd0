// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Tells how much room an interface asks for in front of packets, which no file of the kernel does. The program is never
 * attached; it runs once, on a packet that names the interface.
 */
#include "kernel/kernel.h"
#include "kernel/device_of.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* Returns the bytes for the link layer's header and what the device needs besides; 0: the kernel does not show it. */
SEC("tc")
int head_room(struct __sk_buff *ctx)
{
	struct net_device *dev = have_kernel_reads ? device_of(ctx) : NULL;

	return dev ? BPF_CORE_READ(dev, hard_header_len) + BPF_CORE_READ(dev, needed_headroom) : 0;
}
