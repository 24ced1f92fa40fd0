/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names the TCP options that sign a segment: with another header, or other options, the receiver throws it away. */
#ifndef HOSTINT_PACKET_TCP_SIGNATURE_H
#define HOSTINT_PACKET_TCP_SIGNATURE_H

#include "kernel/kernel.h"

enum tcp_signature {
	TCP_SIGNED_MD5 = 19, /* RFC 2385 */
	TCP_SIGNED_AO = 29,  /* RFC 5925; over the options, too */
};

static __always_inline bool signs_segment(__u8 option_kind)
{
	return option_kind == TCP_SIGNED_MD5 || option_kind == TCP_SIGNED_AO;
}

#endif
