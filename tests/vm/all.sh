#!/bin/bash
# The programs' own tests, VLAN devices, virtio-net cards and programs bound to an interface under other kernels:
# all.sh DIR KERNEL...   (kernels by kernels.sh DIR)
# TESTS names the test files, all that need nothing but the kernel by default.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
cd "$here/../.."
dir=$(realpath "$1"); shift
tests=${TESTS:-verifier lease_answer lease_renewal source_leases flood sink sink_refusals vxlan_gpe merged_segments sequence source source_refusals watchlist source_numbers peer_mss peer_errors several_cpus}
list=$(mktemp)
trap 'rm -f "$list"' EXIT
# shellcheck disable=SC2086
cargo test --locked --no-run $(printf -- '--test %s ' $tests) 2>&1 | tee "$list" | grep -E '^(error|warning)' || true
binaries=$(sed -n 's/^ *Executable .*(\(.*\))$/\1/p' "$list")
[ -n "$binaries" ] || { echo "all.sh: the tests do not compile" >&2; exit 1; }
cargo build --locked -q
hostint=$PWD/target/x86_64-unknown-linux-gnu/debug/hostint
code=0
for kernel in "$@"; do
	echo "== kernel $kernel"
	# shellcheck disable=SC2016
	"$here/run.sh" "$dir/$kernel" bash -c '
		code=0
		for test in $1; do
			echo "$(basename "${test%-*}")"
			HOSTINT_TEST_ROUNDS=20 HOSTINT_LONG=5000 "$test" --test-threads 2 >/tmp/out 2>&1 || { code=1; tail -40 /tmp/out; }
			grep -E "^test result" /tmp/out
		done
		tests/vm/vlan.sh "$2" || code=1
		tests/vm/nic.sh "$2" || code=1
		tests/vm/virtio.sh "$2" || code=1
		exit $code' all.sh "$(echo $binaries)" "$hostint" || code=1
done
[ $code = 0 ] && echo "all.sh: all passed on $*"
exit $code
