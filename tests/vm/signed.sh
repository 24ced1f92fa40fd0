#!/bin/bash
# TCP connections that are signed, by TCP-AO where the kernel has it (6.7) and by MD5, come up and carry data between two hosts
# that tag and strip, and nothing of them is changed. signed.sh HOSTINT
set -euo pipefail
hostint=$(realpath "$1")
work=$(mktemp -d)
end() {
	for host in va vb; do
		ip netns pids $host 2>/dev/null | xargs -r kill 2>/dev/null || true
		ip netns del $host 2>/dev/null || true
	done
	umount "$work/bpf" 2>/dev/null || true
	rm -rf "$work"
}
trap end EXIT
# ip netns exec covers the guest's own.
mkdir "$work/bpf"
mount -t bpf bpf "$work/bpf"
export HOSTINT_BPFFS=$work/bpf

. "$(dirname "$(realpath "$0")")/transfer.sh"

for host in va vb; do
	ip netns add $host
	ip -n $host link set lo up
done
ip link add e0 netns va type veth peer name e0 netns vb
ip -n va addr add 10.5.0.1/24 dev e0
ip -n vb addr add 10.5.0.2/24 dev e0
for host in va vb; do
	ip -n $host link set e0 up
done
node=1
for host in va vb; do
	ip netns exec $host "$hostint" sink --dev e0 --node-id $node 2>"$work/sink-$host" &
	await_attached "$work/sink-$host"
	ip netns exec $host "$hostint" source attach --dev e0 2>"$work/source" || fail "$(cat "$work/source" "$work/sink-$host")"
	node=$((node + 1))
done
ip netns exec va "$hostint" source add-dest 10.5.0.2 2>&1 | tee "$work/lease"
grep -q "packets are tagged" "$work/lease" || fail "no lease"
ip netns exec vb "$hostint" source add-dest 10.5.0.1 2>&1 | tee "$work/lease"
grep -q "packets are tagged" "$work/lease" || fail "no lease back"

cat >"$work/talk.py" <<'PYTHON'
import socket, struct, sys
role, kind = sys.argv[1:]
TCP_MD5SIG, TCP_AO_ADD_KEY, TCP_MAXSEG = 14, 38, 2
here, there, port = "10.5.0.1", "10.5.0.2", {"none": 7000, "md5": 7001, "ao": 7002}[kind]
talker = socket.socket()
talker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
peer = here if role == "server" else there
address = struct.pack("HH4s120x", socket.AF_INET, 0, socket.inet_aton(peer))
if kind == "md5":
    talker.setsockopt(socket.IPPROTO_TCP, TCP_MD5SIG, address + struct.pack("BBHi80s", 0, 0, 3, 0, b"key"))
if kind == "ao":
    # struct tcp_ao_add: algorithm, interface, flags, reserved, prefix, key ids, length of the code, key flags, key
    key = struct.pack("64siIHBBBBBB80s", b"hmac(sha1)", 0, 0, 0, 32, 100, 100, 12, 0, 3, b"key")
    try:
        talker.setsockopt(socket.IPPROTO_TCP, TCP_AO_ADD_KEY, address + key)
    except OSError as error:
        print("no TCP-AO:", error)
        sys.exit(77)
if role == "server":
    talker.bind((there, port))
    talker.listen()
    print("listening", flush=True)
    talker.settimeout(30)
    stream, _ = talker.accept()
    stream.settimeout(30)
    got = 0
    while data := stream.recv(65536):
        got += len(data)
    print("got", got, "segments", stream.getsockopt(socket.IPPROTO_TCP, TCP_MAXSEG), flush=True)
else:
    talker.settimeout(30)
    talker.connect((there, port))
    talker.sendall(bytes(300000))
    talker.close()
PYTHON

talk() { # none, md5 or ao
	local tagged signed
	tagged=$(counter va source tagged) signed=$(counter va source signed)
	ip netns exec vb python3 "$work/talk.py" server "$1" >"$work/server" 2>&1 &
	local server=$!
	for _ in $(seq 100); do
		if grep -q listening "$work/server"; then break; fi
		if ! kill -0 $server 2>/dev/null; then
			wait $server && code=0 || code=$?
			[ $code = 77 ] || fail "$1: $(cat "$work/server")"
			echo "signed.sh: this kernel has $(cat "$work/server")"
			return
		fi
		sleep 0.1
	done
	ip netns exec va python3 "$work/talk.py" client "$1" || fail "$1: no connection"
	wait $server || fail "$1: $(cat "$work/server")"
	grep -q "got 300000 " "$work/server" || fail "$1: $(cat "$work/server")"
	tagged=$(($(counter va source tagged) - tagged)) signed=$(($(counter va source signed) - signed))
	echo "$1: $(tail -n 1 "$work/server"), $tagged packets tagged, $signed signed"
	if [ "$1" = none ]; then
		[ $tagged -gt 100 ] && [ $signed = 0 ] || fail "plain connections are tagged"
	else
		[ $tagged = 0 ] && [ $signed -gt 100 ] || fail "$1: signed connections go as they are"
	fi
}

talk none
talk md5
talk ao
echo "signed.sh: all passed"
