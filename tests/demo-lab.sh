# Hosts of a demo as network namespaces, and daemons in them. demo.sh, demo-drops.sh, demo-path.sh and demo-tcp.sh read this file, whose
# first argument is the path of hostint.

hostint=${1:-hostint}
out=$(mktemp -d)
hosts=()
daemons=()

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
in_ns() { ip netns exec "$@"; }

# Starts a daemon, and returns when it says that it is ready: namespace, name of its log, words of readiness, arguments of hostint.
start() {
	local ns=$1 log=$2 ready=$3
	shift 3
	: >"$out/$log.err"
	ip netns exec "$ns" "$hostint" "$@" >"$out/$log.out" 2>"$out/$log.err" &
	daemons+=($!)
	for _ in $(seq 200); do
		grep -q "$ready" "$out/$log.err" && return
		kill -0 $! 2>/dev/null || break
		sleep 0.05
	done
	cat "$out/$log.err" >&2
	exit 1
}

# Makes a host for each namespace that is named. They are removed, with all that runs in them, when the demo ends.
make_hosts() {
	local ns
	for ns in "$@"; do
		if ip netns list | grep -qw "$ns"; then
			echo "demo: namespace $ns exists already: remove it (ip netns del $ns) or let the other demo end" >&2
			exit 1
		fi
	done
	hosts=("$@")
	trap clean_up EXIT
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
	echo "demo: no sink has answered the source in namespace $1 (see hostint status there)" >&2
	exit 1
}

clean_up() {
	local pid ns role
	for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait
	for ns in "${hosts[@]}"; do
		for role in source transit sink; do
			in_ns "$ns" "$hostint" $role detach >/dev/null 2>&1 || true
		done
	done
	for ns in "${hosts[@]}"; do ip netns del "$ns" 2>/dev/null || true; done
	rm -rf "$out"
}
