# What the scripts for guests share: hosts va and vb, and traffic between them. Sourced; needs $hostint and $work.

fail() { echo "$(basename "$0"): $*" >&2; exit 1; }

counter() { # host role name
	ip netns exec "$1" "$hostint" status --json | python3 -c '
import json, sys
role = json.load(sys.stdin)[sys.argv[1]]
print(next(c["packets"] for c in role["counters"] if c["name"] == sys.argv[2]))' "$2" "$3"
}

# Both hosts' interfaces of the case; sends 2 MB of TCP and 200 datagrams from a to b and compares.
transfer() {
	ip netns exec vb python3 - >"$work/received" <<'PY' &
import hashlib, socket
tcp = socket.create_server(("10.5.0.2", 7000))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("10.5.0.2", 7000))
peer, _ = tcp.accept()
sums = hashlib.sha256()
while data := peer.recv(65536):
    sums.update(data)
peer.close()
udp.settimeout(10)
for _ in range(200):
    sums.update(udp.recv(2000))
print(sums.hexdigest())
PY
	local receiver=$!
	ip netns exec va python3 - >"$work/sent" <<'PY'
import hashlib, random, socket, time
random.seed(1)
for _ in range(1000):
    try:
        tcp = socket.create_connection(("10.5.0.2", 7000))
        break
    except OSError:
        time.sleep(0.01)
sums = hashlib.sha256()
data = random.randbytes(2000000)
sums.update(data)
tcp.sendall(data)
tcp.shutdown(socket.SHUT_WR)
tcp.recv(1)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(200):
    data = random.randbytes(1 + n * 6)
    sums.update(data)
    udp.sendto(data, ("10.5.0.2", 7000))
    time.sleep(0.001)
print(sums.hexdigest())
PY
	wait $receiver
	cmp "$work/sent" "$work/received" || fail "$1: the payload differs"
}

# What a's source tagged is what b's sink stripped, less what its interface lost.
compare() { # sentence
	local tagged stripped
	tagged=$(counter va source tagged)
	stripped=$(counter vb sink received)
	[ "$tagged" -gt 200 ] || fail "$1: $tagged tagged"
	[ "$tagged" = "$stripped" ] || fail "$1: $tagged tagged, $stripped stripped"
	ip netns exec vb "$hostint" status | grep -E "10.5.0.1" | head -1
	echo "ok: $1: $tagged packets"
}

# Waits until the daemon that writes to this file has attached.
await_attached() { # file
	for _ in $(seq 400); do grep -q attached "$1" && return; sleep 0.05; done
	cat "$1" >&2
	fail "the sink is not attached"
}
