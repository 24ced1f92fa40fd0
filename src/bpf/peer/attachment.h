/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What is fixed at attach of the peer program, as of the source's. */
#ifndef HOSTINT_PEER_ATTACHMENT_H
#define HOSTINT_PEER_ATTACHMENT_H

#include "kernel/kernel.h"
#include "hostint/wire.h"

/* Bytes that INT adds to a packet. */
const volatile __u32 room_ipv4 = INT_BLOCK_LEN;
const volatile __u32 room_ipv6 = INT_BLOCK_LEN;

#endif
