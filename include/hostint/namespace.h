/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The program that walks over network namespaces and the user half exchange these records. */
#ifndef HOSTINT_NAMESPACE_H
#define HOSTINT_NAMESPACE_H

/* All zeros behind the last namespace. */
struct namespace_record {
	__u64 cookie; /* 0 before Linux 5.14 */
	__u64 inode;
};

#endif
