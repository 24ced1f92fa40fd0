// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Programs that do nothing, attached as those of hostint are: what running any program costs. */
#define SECTION(name) __attribute__((section(name), used))

char _license[] SECTION("license") = "Dual BSD/GPL";

SECTION("tc")
int noop_tc(void *ctx)
{
	return -1; /* TCX_NEXT */
}

SECTION("sockops")
int noop_sockops(void *ctx)
{
	return 1;
}

SECTION("xdp.frags")
int noop_xdp(void *ctx)
{
	return 2; /* XDP_PASS */
}
