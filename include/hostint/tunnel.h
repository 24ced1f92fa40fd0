/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The programs of drops and hops and the user half number tunnels by these kinds. */
#ifndef HOSTINT_TUNNEL_H
#define HOSTINT_TUNNEL_H

/* Each enumerator is a bit's number in settings, too. */
enum tunnel_kind {
	TUNNEL_NONE = 0,
	TUNNEL_VXLAN = 1,
	TUNNEL_GENEVE = 2,
	TUNNEL_GTP_U = 3,
};

#endif
