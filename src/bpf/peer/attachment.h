/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the options of a peer program, which are set when it is attached. */
#ifndef HOSTINT_PEER_ATTACHMENT_H
#define HOSTINT_PEER_ATTACHMENT_H

#include "kernel/kernel.h"
#include "hostint/wire.h"

/* INT adds this number of bytes to a packet of each family. */
const volatile __u32 room_ipv4 = INT_BLOCK_LEN;
const volatile __u32 room_ipv6 = INT_BLOCK_LEN;
const volatile bool tcp_in_options = false; /* the stack makes the room for TCP */

#endif
