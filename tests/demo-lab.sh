# Hosts of a demo as network namespaces, and daemons in them. demo-drops.sh, demo-path.sh, demo-tcp.sh and others read this file,
# whose first argument is the path of hostint. A daemon that ends by itself ends the demo at once: what came later would be
# about nothing.

hostint=${1:-hostint}
out=$(mktemp -d)
hosts=()
# The process that runs each daemon, by the name of the daemon's log.
declare -A daemons=()
failure=

trap 'clean_up $?' EXIT
# run_daemon sends it.
trap 'exit 1' USR1

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
in_ns() { ip netns exec "$@"; }

# Ends the demo; the sentence is its last line.
fail() {
	failure=$*
	exit 1
}

# Starts a daemon, and returns when it says that it is ready: namespace, name of its log, words of readiness, arguments of hostint.
start() {
	local ns=$1 log=$2 ready=$3
	shift 3
	: >"$out/$log.err"
	run_daemon "$ns" "$log" "$@" 2>/dev/null &
	daemons[$log]=$!
	for _ in $(seq 200); do
		grep -q "$ready" "$out/$log.err" && return
		sleep 0.05
	done
	cat "$out/$log.err" >&2
	fail "hostint $1 in namespace $ns did not say \"$ready\" within 10 seconds"
}

# Runs a daemon, in a session of its own, which Ctrl-C does not reach. If it ends before stop, the demo's current command and the
# demo end too.
run_daemon() {
	local ns=$1 log=$2 code=0
	shift 2
	# This process waits for the daemon, even if another daemon's end ends all that the demo waits for.
	trap : TERM
	setsid ip netns exec "$ns" "$hostint" "$@" >"$out/$log.out" 2>"$out/$log.err" || code=$?
	[ ! -e "$out/$log.stopped" ] || return 0
	# One that ends because another one has ended is not the cause.
	(set -o noclobber && printf '%s\n' "$log" "hostint $1 in namespace $ns ended by itself, with exit code $code" >"$out/ended") ||
		return 0
	kill -USR1 $$
	pkill -TERM -P $$ || true
}

# Ends daemons, by the names of their logs, and returns when they have ended.
stop() {
	local log
	for log in "$@"; do
		: >"$out/$log.stopped"
		pkill -TERM -P "${daemons[$log]}" || true
	done
	for log in "$@"; do wait "${daemons[$log]}" || true; done
}

# Makes a host for each namespace that is named. They are removed, with all that runs in them, when the demo ends.
make_hosts() {
	local ns
	for ns in "$@"; do
		if ip netns list | grep -qw "$ns"; then
			fail "namespace $ns exists already: remove it (ip netns del $ns) or let the other demo end"
		fi
	done
	hosts=("$@")
	for ns in "${hosts[@]}"; do
		ip netns add "$ns"
		ip -n "$ns" link set lo up
	done
}

# Connects two hosts by a cable: namespace, interface and address of each end.
connect() {
	ip link add "$2" netns "$1" type veth peer name "$5" netns "$4"
	ip -n "$1" addr add "$3/24" dev "$2"
	ip -n "$4" addr add "$6/24" dev "$5"
	ip -n "$1" link set "$2" up
	ip -n "$4" link set "$5" up
}

# Returns when the source of this host knows which packets arrive at its destinations; flows that begin earlier stay untagged.
await_leases() {
	for _ in $(seq 400); do
		in_ns "$1" "$hostint" status --json | python3 -c '
import json, sys
peers = json.load(sys.stdin)["source"]["peers"]
settled = [peer for peer in peers if peer["state"] == "granted" and peer["proved_ago_ns"] is not None]
sys.exit(not peers or len(settled) < len(peers))' && return
		sleep 0.05
	done
	fail "no sink has answered the source in namespace $1 within 20 seconds"
}

# Ends with this exit code. Daemons have five seconds for their own end; nothing of the demo is left after that.
clean_up() {
	local code=$1 ns role log
	trap '' INT TERM USR1
	if [ -s "$out/ended" ]; then
		{ read -r log && read -r failure; } <"$out/ended"
		tail -n 20 "$out/$log.err" >&2
		code=1
	fi
	for log in "${!daemons[@]}"; do
		: >"$out/$log.stopped"
		pkill -TERM -P "${daemons[$log]}" || true
	done
	for log in "${!daemons[@]}"; do
		for _ in $(seq 100); do
			kill -0 "${daemons[$log]}" 2>/dev/null || break
			sleep 0.05
		done
	done
	# The shell would tell of each process that is killed.
	{
		for ns in "${hosts[@]}"; do
			for role in source transit sink; do
				in_ns "$ns" "$hostint" $role detach >/dev/null || true
			done
			ip netns pids "$ns" | xargs -r kill -KILL || true
			ip netns del "$ns" || true
		done
		wait
	} 2>/dev/null
	rm -rf "$out"
	# After Ctrl-C there is nothing to say.
	[ "$code" = 0 ] || [ "$code" = 130 ] || [ -n "$failure" ] || failure="a command ended with exit code $code"
	[ -z "$failure" ] || printf '\n\033[1m== the demo failed: %s\033[0m\n' "$failure" >&2
	exit "$code"
}
