#!/bin/bash
# Real containers of podman behind a router that tells postcards: they are named, timed as soon as they come, and leave nothing.
#
# tests/pods.sh [HOSTINT] [ROUNDS], as root, with podman, runc or crun, and busybox-static (all in Debian). The image is made of
# that busybox; nothing is downloaded. Each container gets a veth of the router, as a routing CNI plugin gives it one.
set -euo pipefail
. "$(dirname "$0")/demo-lab.sh"
rounds=${2:-5}

busybox=$(command -v busybox) || { echo "pods: no busybox (apt-get install busybox-static)" >&2; exit 1; }
runtime=$(command -v runc || command -v crun) || { echo "pods: neither runc nor crun" >&2; exit 1; }
client=hpods-a router=hpods-m pod=hpods-c
make_hosts $client $router
engine() {
	podman --root "$out/root" --runroot "$out/run" --storage-driver vfs --cgroup-manager cgroupfs --events-backend none \
		--runtime "$runtime" "$@"
}
remove_all() {
	local code=$1
	engine rm -a -f -t 0 >/dev/null 2>&1 || true
	ip netns del $pod 2>/dev/null || true
	clean_up "$code"
}
trap 'remove_all $?' EXIT

say "an image of busybox alone"
mkdir -p "$out/image/bin"
cp "$busybox" "$out/image/bin/busybox"
tar -C "$out/image" -c . | engine import - pods-test >/dev/null 2>&1

connect $client a0 10.78.1.1 $router m0 10.78.1.254
ip -n $client route add default via 10.78.1.254
in_ns $router sysctl -qw net.ipv4.ip_forward=1
start $router postcards "drops and hops are reported" postcards --drops --hops --netns all --dev 'm0,v*' --json --report-period 100ms
told=$out/postcards.out
daemon=$(pgrep -P "${daemons[postcards]}")
before=$(ls "/proc/$daemon/fd" | wc -l)

# Waits for a line of this kind to this port in which a field has this value.
await_line() {
	for _ in $(seq 200); do
		python3 - "$told" "$@" <<'PY' && return
import json, sys
path, kind, port, key, value = sys.argv[1:]
for text in open(path):
    try:
        line = json.loads(text)
    except ValueError:
        continue
    if line.get("kind") == kind and line["flow"]["dport"] == int(port) and line.get(key) == value:
        sys.exit(0)
sys.exit(1)
PY
		"${again[@]}"
		sleep 0.05
	done
	echo "pods: no $1 to port $2 with $3 $4:" >&2
	tail -n 3 "$told" "$out/postcards.err" >&2
	exit 1
}

send() {
	in_ns $client python3 -c '
import socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(5):
    sender.sendto(b"x" * 100, (sys.argv[1], int(sys.argv[2])))' "$1" "$2"
}

say "$rounds containers, one after the other"
for round in $(seq "$rounds"); do
	port=$((7000 + round))
	# Container engines pin the namespace of a container's network below /run/netns.
	ip netns add $pod
	id=$(engine run -d --network ns:/run/netns/$pod --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 pods-test /bin/busybox sleep 600)
	connect $router v$round 10.78.2.254 $pod eth0 10.78.2.1
	ip -n $pod link set lo up
	ip -n $pod route add default via 10.78.2.254
	again=(send 10.78.2.1 $port)
	"${again[@]}"
	name=podman/${id:0:12}
	await_line host-hop $port out_pod "$name"
	# Nobody listens in the container, so it drops what arrives.
	await_line host-drop $port pod "$name"
	engine rm -f -t 0 "$id" >/dev/null
	ip netns del $pod
	echo "  $name was timed by v$round, and its drops are its own"
done

say "nothing of them stays"
for _ in $(seq 100); do
	left=$(in_ns $router "$hostint" status --json | python3 -c '
import json, sys
print(json.load(sys.stdin)["postcards"]["hops"]["interfaces"])')
	after=$(ls "/proc/$daemon/fd" | wc -l)
	[ "$left" = 1 ] && [ "$after" -le "$before" ] && { echo "pods: passed"; exit 0; }
	sleep 0.1
done
echo "pods: $left interfaces are timed, and $after descriptors open; 1 and $before at the beginning" >&2
exit 1
