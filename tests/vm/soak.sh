#!/bin/bash
# The programs of several CPUs, sequences, losses, sweeps and restarts again and again in a guest: soak.sh DIR KERNEL MINUTES
# (kernels by kernels.sh DIR), in turn with nothing else to do and with both CPUs of the guest busy. A run may end at any
# time: what each program took is added up in DIR/soak-KERNEL, and the next run adds to it; without MINUTES the sums are
# only shown. What the last run said is in DIR/soak-KERNEL.log.
set -euo pipefail
[ $# = 2 ] || [ $# = 3 ] || { echo "usage: soak.sh DIR KERNEL [MINUTES]" >&2; exit 2; }
here=$(dirname "$(realpath "$0")")
cd "$here/../.."
dir=$(realpath "$1") kernel=$2 minutes=${3:-0}
state=$dir/soak-$kernel log=$dir/soak-$kernel.log
touch "$state"

# Each line of the state is a program that ended: idle or busy, its name, its seconds, and 1 if it failed; or what the
# kernel said; or how long the guest's CPUs ran before that; or the beginning of a run.
sums() {
	awk -v kernel="$kernel" '
		# A guest that goes on after a stall hung in the emulator, not in its kernel: see run.sh.
		$1 == "idle" || $1 == "busy" { ended[$1]++; seconds[$1] += $3; failed += $4; freed += stalled; stalled = 0 }
		$1 == "begin" { stalled = 0 }
		$1 == "stall" { stalls++; stalled++ }
		$1 == "death" { deaths++ }
		END {
			printf "kernel %s: idle %d programs in %.1f min, busy %d programs in %.1f min; ", kernel, ended["idle"],
				seconds["idle"] / 60, ended["busy"], seconds["busy"] / 60
			printf "%d of them failed, %d stalls, %d of which ended with a new translation, %d dead guests\n",
				failed, stalls, freed, deaths
		}' "$state"
}
if [ "$minutes" = 0 ]; then sums; exit 0; fi

list=$(mktemp)
trap 'rm -f "$list"' EXIT
cargo test --locked --no-run --test datapath 2>&1 | tee "$list" | grep -E '^(error|warning)' || true
program=$(sed -n 's|^ *Executable tests/datapath/main.rs (\(.*\))$|\1|p' "$list")
[ -n "$program" ] || { echo "soak.sh: the tests do not compile" >&2; exit 1; }
# Neither a build nor the soak of another kernel meanwhile changes what the guest runs.
cp "$program" "$dir/soak-program-$kernel"
program=$dir/soak-program-$kernel

# What was run least comes first.
turns=$(for kind in idle busy; do
	for module in several_cpus sequence losses restarts; do
		awk -v kind=$kind -v module=$module '$1 == kind && $2 == module { sum += $3 }
			END { print sum + 0, kind "/" module }' "$state"
	done
done | sort -s -n | cut -d ' ' -f 2 | tr '\n' ' ')

# In the guest. The seconds are those of its clock.
# shellcheck disable=SC2016
guest='
	end=$(($(date +%s) + $2 * 60))
	while :; do
		for turn in $3; do
			[ "$(date +%s)" -lt "$end" ] || exit 0
			kind=${turn%/*} module=${turn#*/} busy= begin=$(date +%s) failed=0
			if [ "$kind" = busy ]; then
				for _ in 1 2; do (while :; do :; done) & busy="$busy $!"; done
			fi
			HOSTINT_TEST_ROUNDS=20 HOSTINT_TEST_PACKETS=10000 HOSTINT_LONG=5000 "$1" "$module::" --test-threads 2 >/tmp/out 2>&1 ||
				{ failed=1; tail -40 /tmp/out; }
			[ -z "$busy" ] || kill $busy
			echo "@@ended $kind $module $(($(date +%s) - begin)) $failed"
		done
	done'
code=0
# A stall is logged with what each CPU does.
export VM_APPEND="loglevel=7 softlockup_all_cpu_backtrace=1"
echo begin >>"$state"
VM_TIMEOUT=$((minutes * 60 + 600)) "$here/run.sh" "$dir/$kernel" bash -c "$guest" soak "$program" "$minutes" "$turns" |
	tee "$log" | while read -r line; do
	case $line in
	"run.sh: CPU"*) echo "share ${line#run.sh: }" >>"$state"; echo "$line" ;;
	@@ended*) echo "${line#@@ended }" >>"$state"; echo "$line" ;;
	*"soft lockup"* | *"rcu_sched self-detected"* | *"rcu_sched detected stalls"* | *"hung_task"*)
		echo "stall $line" >>"$state"; echo "$line" ;;
	*"Kernel panic"* | *"BUG:"* | *Oops*) echo "death $line" >>"$state"; echo "$line" ;;
	esac
done || code=$?
sums
exit $code
