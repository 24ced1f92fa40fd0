#!/bin/bash
# Pod networks by tests/pod-networks.py on this guest's kernel: pods.sh HOSTINT KIND...   By default those kinds for which not every
# kernel has devices.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
hostint=$1
shift
# The kernel finds no modules by itself: what it would call is not in the guest's first file system.
for module in bridge macvlan ipvlan geneve ipip wireguard netkit ip_vs ip_vs_rr nft_chain_nat nft_ct nft_masq nft_nat xt_nat \
	xt_MASQUERADE xt_tcpudp; do
	modprobe "$module" || echo "pods.sh: no module $module"
done
[ $# -gt 0 ] || set -- ipvs geneve ipip wireguard ipvlan netkit
# An emulated guest is slow.
export WARM_SECONDS=${WARM_SECONDS:-30}
KINDS="$*" exec python3 tests/pod-networks.py "$hostint"
