#!/bin/bash
# Each role on this guest's kernel, which may be locked down or without types: it runs, and status names what the kernel
# refuses; or it ends with exit code 1 and a sentence that says what to try, and leaves nothing. Then the demo, which must
# be told each loss. roles.sh HOSTINT
set -euo pipefail
hostint=$(realpath "$1")
work=$(mktemp -d)
trap 'ip link del e0 2>/dev/null || true; rm -rf "$work"' EXIT
mountpoint -q /sys/kernel/security || mount -t securityfs security /sys/kernel/security
kernel=plain
if grep -q '\[confidentiality\]' /sys/kernel/security/lockdown; then kernel=locked; fi
if [ ! -e /sys/kernel/btf/vmlinux ]; then kernel=typeless; fi
fail() { echo "roles.sh: $(uname -r), $kernel: $*" >&2; exit 1; }

ip link add e0 type veth peer name e1
ip addr add 10.8.0.1/24 dev e0
ip link set e0 up
ip link set e1 up

# Whoever hears nothing but libbpf's own words, or a panic, does not know what to do.
is_told_well() { # name file
	if grep -E 'panicked|^hostint: libbpf' "$2"; then cat "$2" >&2; fail "$1: that is no sentence"; fi
}
is_nothing_left() { # name
	local left
	left=$(find /sys/fs/bpf -type f ! -name '*.debug'; ip link show e0 | grep xdp || true)
	left+=$(tc filter show dev e0 ingress; tc filter show dev e0 egress)
	[ -z "$left" ] || fail "$1: it leaves $left"
}
role() { # runs or ends, name, words at which it runs, then hostint's arguments
	local expected=$1 name=$2 ready=$3 begun=$SECONDS state=ends code=0 lacks lack pid
	shift 3
	"$hostint" "$@" >"$work/out" 2>"$work/err" &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		if grep -q "$ready" "$work/err"; then state=runs; break; fi
		[ $((SECONDS - begun)) -lt 300 ] || fail "$name neither runs nor ends: $(cat "$work/err")"
		sleep 0.1
	done
	if [ $state = runs ]; then
		lacks=$(sed -n 's/^hostint: \(without .* lacks or refuses,[^:]*\).*/\1/p' "$work/err")
		while read -r lack; do
			for _ in $(seq 20); do
				"$hostint" status >"$work/status" 2>&1 || true
				if grep -qF "$lack" "$work/status"; then break; fi
				sleep 0.1
			done
			grep -qF "$lack" "$work/status" || { cat "$work/status" >&2; fail "$name: status does not say: $lack"; }
		done <<<"$lacks"
		kill $pid 2>/dev/null || true
	fi
	wait $pid || code=$?
	is_told_well "$name" "$work/err"
	[ $state = $expected ] || { cat "$work/err" >&2; fail "$name $state with code $code"; }
	if [ $state = ends ]; then
		[ $code = 1 ] || { cat "$work/err" >&2; fail "$name: exit code $code"; }
		tail -1 "$work/err" | grep -qE '\(try |\(see ' || { cat "$work/err" >&2; fail "$name does not say what to try"; }
		is_nothing_left "$name"
	else
		[ $code = 0 ] || { cat "$work/err" >&2; fail "$name: exit code $code"; }
	fi
	echo "ok: $name $state, $((SECONDS - begun)) s"
	sed 's/^hostint: /    /' "$work/err"
}

begun=$SECONDS code=0
"$hostint" doctor >"$work/preflight" 2>"$work/err" || code=$?
cat "$work/err" "$work/preflight"
is_told_well "preflight" "$work/err"
[ $code = "$([ $kernel = typeless ] && echo 1 || echo 0)" ] || fail "preflight: exit code $code"
echo "ok: preflight, $((SECONDS - begun)) s"

tags=$([ $kernel = typeless ] && echo ends || echo runs)
watches=$([ $kernel = plain ] && echo runs || echo ends)
role $tags sink "sink attached" sink --dev e0 --node-id 1 --host-times --collector 10.8.0.2
"$hostint" sink detach 2>/dev/null || true
role $tags source "source attached" source --dev e0 --node-id 1 --force
"$hostint" source detach 2>/dev/null || true
role $tags "source, over-tcp-udp" "source attached" source --dev e0 --node-id 1 --force --encap over-tcp-udp --superpackets skip
"$hostint" source detach 2>/dev/null || true
role $tags transit "transit hop attached" transit --dev e0 --node-id 1 --waits --collector 10.8.0.2
"$hostint" transit detach 2>/dev/null || true
is_nothing_left "detach"
role $watches postcards "are reported$" postcards --drops --hops --dev e0 --queue e0=trigger:1ms
role $watches tcp "connections are watched" tcp

begun=$SECONDS code=0
"$hostint" demo --seconds 0 >"$work/out" 2>"$work/err" || code=$?
tail -1 "$work/out"
cat "$work/err"
is_told_well "demo" "$work/err"
if [ $kernel = typeless ]; then
	[ $code = 1 ] && grep -q CONFIG_DEBUG_INFO_BTF "$work/err" || fail "demo: exit code $code"
else
	lost=$(sed -n 's/^== the router dropped \([0-9]*\) packets*; hostint reports \([0-9]*\) lost$/\1 \2/p' "$work/out")
	[ $code = 0 ] && [ "${lost% *}" = "${lost#* }" ] && [ "${lost% *}" -gt 0 ] ||
		{ cat "$work/out" >&2; fail "demo: exit code $code, lost and told: $lost"; }
fi
is_nothing_left "demo"
echo "ok: demo, $((SECONDS - begun)) s"
echo "roles.sh: all passed on $(uname -r), $kernel"
