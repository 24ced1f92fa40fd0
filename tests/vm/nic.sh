#!/bin/bash
# A sink whose program is bound to its interface to ask the driver for timestamps: nothing that happens to interface,
# daemon or program may harm the kernel. Only in guests: a kernel that it harms has to be started again.
# nic.sh HOSTINT [BEFORE]      BEFORE: a hostint of an earlier version, to upgrade from and to go back to
set -euo pipefail
hostint=$(realpath "$1")
before=${2:+$(realpath "$2")}
work=$(mktemp -d)
trap 'ip netns del va 2>/dev/null || true; ip netns del vb 2>/dev/null || true; rm -rf "$work"' EXIT
. "$(dirname "$(realpath "$0")")/transfer.sh"

[ -e /proc/sys/net/core/bpf_jit_harden ] || fail "needs the first network namespace"
harmed() { dmesg | grep -E 'BUG:|Oops|WARNING:|general protection|refcount_t'; }
step() { # sentence; the kernel is well, and whoever takes the lock of interfaces gets it
	sleep 0.2
	if harmed; then fail "$1: the kernel is harmed"; fi
	timeout 20 ip link add probe0 type dummy || fail "$1: interfaces cannot be changed any more"
	timeout 20 ip link del probe0
	echo "ok: $1"
}
make_hosts() {
	for host in va vb; do
		ip netns add $host
		ip -n $host link set lo up
	done
	make_veth
}
make_veth() {
	ip link add e0 netns va type veth peer name e0 netns vb
	ip -n va addr add 10.5.0.1/24 dev e0
	ip -n vb addr add 10.5.0.2/24 dev e0
	for host in va vb; do ip -n $host link set e0 up; done
}
sink() { # sentence in the log, then hostint and flags
	local awaited=$1
	shift
	: >"$work/sink"
	ip netns exec vb "$@" sink --dev e0 --node-id 2 ${flags:-} 2>"$work/sink" &
	pid=$!
	await_said "$awaited"
}
await_said() {
	for _ in $(seq 600); do
		if grep -q "$1" "$work/sink"; then return; fi
		sleep 0.1
	done
	cat "$work/sink" >&2
	fail "the sink never says: $1"
}
end() { kill "-$1" $pid; wait $pid || true; }
is_bound() { # sentence, True or None, whose status says so (only what that version attached)
	local name
	name=$(ip netns exec vb "${3:-$hostint}" status --json | python3 -c '
import json, sys
print(json.load(sys.stdin)["sink"]["attachments"][0].get("nic_timestamps"))')
	[ "$name" = "$2" ] || fail "$1: nic_timestamps is $name, not $2"
}
source_on() {
	ip netns exec va "$hostint" source attach --dev e0 --node-id 1 --force --foreground 2>"$work/source" &
	source=$!
	await_attached "$work/source"
	ip netns exec va "$hostint" source add-dest 10.5.0.2 2>&1 | tee "$work/lease"
	grep -q "packets are tagged" "$work/lease" || fail "no lease"
}
source_off() {
	kill $source; wait $source || true
	ip netns exec va "$hostint" source detach 2>/dev/null
}
nic="sink attached to e0 (native XDP, network card's timestamps)"
plain="sink attached to e0 (native XDP)"

make_hosts
flags=--nic-timestamps
if ! grep -q bpf_xdp_metadata_rx_timestamp /proc/kallsyms; then
	sink "the kernel stamps packets, not the network card: the kernel cannot ask a driver" "$hostint"
	await_said "sink attached to e0 (native XDP)"
	end TERM
	ip -n vb link del e0
	step "a kernel that has no such programs: the kernel's clock stamps"
	exit 0
fi
sink "$nic" "$hostint"
is_bound "attached" True
source_on
transfer "traffic"
compare "traffic"
source_off
measured=$(ip netns exec vb "$hostint" status --json | python3 -c '
import json, sys
sink = json.load(sys.stdin)["sink"]
count = {c["name"]: c["packets"] for c in sink["counters"]}
assert count["nic_none"] > 0 and count["nic_stamped"] == count["nic_off"] == 0, count
flows = sink["flows"]
assert flows and all(0 < flow["latency_mean_ns"] < 10**9 for flow in flows), flows
print(count["nic_none"])')
step "a veth gives no time: $measured frames are stamped by the kernel, and measured"

end KILL
step "the daemon is killed"
sink "$nic" "$hostint"
step "another daemon puts its program in the place"
end TERM
flags= sink "$plain" "$hostint"
is_bound "without the option" None
step "a program that is not bound takes the place of one that is"
end TERM
flags=--nic-timestamps
sink "$nic" "$hostint"
is_bound "with the option again" True
step "and the other way"

ip -n vb link del e0
await_said "e0 is gone"
step "the interface is deleted, under the daemon"
make_veth
await_said "attached again"
is_bound "come back" True
step "it comes back and is followed"
ip -n vb link set e0 name e9
ip -n vb link set e9 name e0
end KILL
ip -n vb link del e0
step "the interface is deleted while no daemon runs"
make_veth
sink "$nic" "$hostint"
step "a daemon attaches to the one that came in its place"
ip netns exec vb "$hostint" sink detach
wait $pid || true
[ -z "$(ip -n vb link show e0 | grep xdp)" ] || fail "a program is left"
step "the sink is detached"
ip -n vb link del e0
step "the interface is deleted after that"

make_veth
for _ in $(seq 5); do
	sink "$nic" "$hostint"
	ip -n vb link del e0
	end KILL
	make_veth
done
step "deleted and made anew, again and again"

flags="--nic-timestamps --xdp-mode native"
ip netns exec vb "$hostint" sink detach --now 2>/dev/null || true
sink "$nic" "$hostint"
ip netns del vb
kill -KILL $pid 2>/dev/null; wait $pid || true
sleep 1
step "the whole network namespace goes away"
ip netns del va
make_hosts

flags=--nic-timestamps
echo 2 >/proc/sys/net/core/bpf_jit_harden
sink "sink attached" "$hostint"
cat "$work/sink"
ip -n vb link del e0
end TERM
step "a kernel that blinds programs, out of sight: bound or not"
ip link add e0 type veth peer name e1
: >"$work/sink"
"$hostint" sink --dev e0 --node-id 3 --nic-timestamps 2>"$work/sink" &
pid=$!
await_said "network card: net.core.bpf_jit_harden is 2"
await_said "$plain"
end TERM
"$hostint" sink detach --now
ip link del e0
step "a kernel that blinds programs, in sight: not bound"
echo 0 >/proc/sys/net/core/bpf_jit_harden
make_veth

if [ -n "$before" ]; then
	ip netns exec vb "$hostint" sink detach --now
	flags= sink "sink attached" "$before"
	end TERM
	sink "$nic" "$hostint"
	is_bound "upgraded" True
	end TERM
	step "the upgrade puts a bound program in the place of one that is not"
	flags= sink "sink attached" "$before"
	is_bound "gone back" None "$before"
	end TERM
	step "and the way back"
	sink "$nic" "$hostint"
	ip netns exec vb "$before" sink detach || true
	kill $pid 2>/dev/null; wait $pid || true
	[ -z "$(ip -n vb link show e0 | grep xdp)" ] || fail "a program is left"
	step "the earlier version detaches it"
fi
echo "nic.sh: all passed"
