/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names TCP options, and those among them that sign a segment: with another header, or other options, the receiver throws
 * it away.
 */
#ifndef HOSTINT_PACKET_TCP_OPTIONS_H
#define HOSTINT_PACKET_TCP_OPTIONS_H

#include "kernel/kernel.h"

enum tcp_option_kind {
	TCP_OPTION_END = 0,
	TCP_OPTION_NOP = 1,
	TCP_OPTION_MSS = 2,
	TCP_OPTION_MD5 = 19, /* RFC 2385 */
	TCP_OPTION_AO = 29,  /* RFC 5925; it signs the options, too */
};

enum {
	MOST_TCP_OPTIONS = 40, /* bytes, and so options of one byte each */
};

static __always_inline bool signs_segment(__u8 option_kind)
{
	return option_kind == TCP_OPTION_MD5 || option_kind == TCP_OPTION_AO;
}

#endif
