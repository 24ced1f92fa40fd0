#!/bin/bash
# TCP connections that are signed, by TCP-AO where the kernel has it (tcp-ao.config) and by MD5, come up and carry data both
# ways between two hosts that tag and strip, and nothing of them is changed. signed.sh HOSTINT
set -euo pipefail
hostint=$(realpath "$1")
work=$(mktemp -d)
end() {
	for host in va vb; do
		ip netns pids $host 2>/dev/null | xargs -r kill 2>/dev/null || true
		ip netns del $host 2>/dev/null || true
	done
	umount --lazy "$work/bpf" 2>/dev/null || true
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
	# ip netns exec would hide the cgroups, too.
	nsenter --net=/run/netns/$host "$hostint" sink --dev e0 --node-id $node 2>"$work/sink-$host" &
	await_attached "$work/sink-$host"
	node=$((node + 1))
done

lease() { # form, and the words of a lease that it goes by
	for host in va vb; do
		ip netns exec $host "$hostint" source detach 2>/dev/null || true
		ip netns exec $host "$hostint" source attach --dev e0 --encap "$1" 2>"$work/source" || fail "$(cat "$work/source" "$work/sink-$host")"
		ip netns exec $host "$hostint" source add-dest "10.5.0.$([ $host = va ] && echo 2 || echo 1)" 2>&1 | tee "$work/lease"
		grep -q "packets are tagged.*$2" "$work/lease" || fail "$1: no lease"
	done
}

cat >"$work/talk.py" <<'PYTHON'
import hashlib, random, socket, struct, sys, threading
role, kind = sys.argv[1:]
TCP_MD5SIG, TCP_AO_ADD_KEY, BYTES = 14, 38, 10_000_000
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
talker.settimeout(60)
if role == "server":
    talker.bind((there, port))
    talker.listen()
    print("listening", flush=True)
    stream, _ = talker.accept()
    stream.settimeout(60)
else:
    talker.connect((there, port))
    stream = talker

def data(of):
    return random.Random(of).randbytes(BYTES)

def send():
    stream.sendall(data(role))
    stream.shutdown(socket.SHUT_WR)

sender = threading.Thread(target=send)
sender.start()
got = hashlib.sha256()
while some := stream.recv(65536):
    got.update(some)
sender.join()
if got.digest() != hashlib.sha256(data("client" if role == "server" else "server")).digest():
    sys.exit("the data differs")
print("got what was sent", flush=True)
PYTHON

talk() { # none, md5 or ao; the form
	local host server code
	local -A tagged signed
	for host in va vb; do
		tagged[$host]=$(counter $host source tagged) signed[$host]=$(counter $host source signed)
	done
	ip netns exec vb python3 "$work/talk.py" server "$1" >"$work/server" 2>&1 &
	server=$!
	for _ in $(seq 600); do
		if grep -q listening "$work/server"; then break; fi
		if ! kill -0 $server 2>/dev/null; then
			wait $server && code=0 || code=$?
			[ $code = 77 ] || fail "$1: $(cat "$work/server")"
			echo "signed.sh: this kernel has $(cat "$work/server")"
			return
		fi
		sleep 0.1
	done
	ip netns exec va python3 "$work/talk.py" client "$1" >"$work/client" 2>&1 || fail "$1, $2: $(tail -n 1 "$work/client")"
	wait $server || fail "$1, $2: $(tail -n 1 "$work/server")"
	for host in va vb; do
		tagged[$host]=$(($(counter $host source tagged) - tagged[$host]))
		signed[$host]=$(($(counter $host source signed) - signed[$host]))
		echo "ok: $1, $2: 10 MB to and from $host, ${tagged[$host]} packets tagged, ${signed[$host]} signed"
		if [ "$1" = none ]; then
			[ ${tagged[$host]} -gt 100 ] && [ ${signed[$host]} = 0 ] || fail "$1, $2: a plain connection is tagged"
		else
			[ ${tagged[$host]} = 0 ] && [ ${signed[$host]} -gt 100 ] || fail "$1, $2: a signed connection goes as it is"
		fi
	done
}

for form in options tunnel; do
	lease $form "$([ $form = options ] && echo "in options" || echo vxlan-gpe)"
	talk none $form
	talk md5 $form
	talk ao $form
done
echo "signed.sh: all passed"
