#!/bin/bash
# The programs of several CPUs, sequences, losses, sweeps and restarts again and again in a guest: soak.sh DIR KERNEL MINUTES
# (kernels by kernels.sh DIR), in turn with nothing else to do and with both CPUs of the guest busy. A run may end at any
# time: rounds are added up in DIR/soak-KERNEL, and the next run goes on; without MINUTES the sums are only shown.
# What a run says is in DIR/soak-KERNEL.log; its last lines are kept there if the guest stalls or dies.
set -euo pipefail
[ $# = 2 ] || [ $# = 3 ] || { echo "usage: soak.sh DIR KERNEL [MINUTES]" >&2; exit 2; }
here=$(dirname "$(realpath "$0")")
cd "$here/../.."
dir=$(realpath "$1") kernel=$2 minutes=${3:-0}
state=$dir/soak-$kernel log=$dir/soak-$kernel.log
touch "$state"

# Each line of the state is a round: idle or busy, its seconds, and the number of programs that failed; or what the
# kernel said.
sums() {
	awk -v kernel="$kernel" '
		$1 == "idle" || $1 == "busy" { rounds[$1]++; seconds[$1] += $2; failed += $3 }
		$1 == "stall" { stalls++ }
		$1 == "death" { deaths++ }
		END {
			printf "kernel %s: idle %d rounds in %.1f min, busy %d rounds in %.1f min; ", kernel, rounds["idle"],
				seconds["idle"] / 60, rounds["busy"], seconds["busy"] / 60
			printf "%d failed programs, %d stalls, %d dead guests\n", failed, stalls, deaths
		}' "$state"
}
if [ "$minutes" = 0 ]; then sums; exit 0; fi

list=$(mktemp)
trap 'rm -f "$list"' EXIT
cargo test --locked --no-run --test datapath 2>&1 | tee "$list" | grep -E '^(error|warning)' || true
program=$(sed -n 's|^ *Executable tests/datapath/main.rs (\(.*\))$|\1|p' "$list")
[ -n "$program" ] || { echo "soak.sh: the tests do not compile" >&2; exit 1; }
# A build meanwhile does not change what the guest runs.
cp "$program" "$dir/soak-program"
program=$dir/soak-program

# In the guest. A round of a kind is one turn of each module; the seconds are those of the guest's clock.
# shellcheck disable=SC2016
guest='
	end=$(($(date +%s) + $2 * 60))
	round() {
		local begin=$(date +%s) failed=0 module
		for module in several_cpus sequence losses restarts; do
			HOSTINT_TEST_ROUNDS=20 HOSTINT_LONG=5000 "$1" "$module::" --test-threads 2 >/tmp/out 2>&1 ||
				{ failed=$((failed + 1)); tail -40 /tmp/out; }
		done
		echo "@@round $2 $(($(date +%s) - begin)) $failed"
	}
	while [ "$(date +%s)" -lt "$end" ]; do
		round "$1" idle
		(while :; do :; done) & one=$!
		(while :; do :; done) & two=$!
		round "$1" busy
		kill $one $two; wait $one $two 2>/dev/null
	done'
code=0
VM_TIMEOUT=$((minutes * 60 + 600)) nice -n 19 "$here/run.sh" "$dir/$kernel" bash -c "$guest" soak "$program" "$minutes" |
	tee "$log" | while read -r line; do
	case $line in
	@@round*) echo "${line#@@round }" >>"$state"; echo "$line" ;;
	*"soft lockup"* | *"rcu_sched self-detected"* | *"rcu_sched detected stalls"* | *"hung_task"*)
		echo "stall $line" >>"$state"; echo "$line" ;;
	*"Kernel panic"* | *"BUG:"* | *Oops*) echo "death $line" >>"$state"; echo "$line" ;;
	esac
done || code=$?
sums
exit $code
