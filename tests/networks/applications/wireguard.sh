# WireGuard: wireguard-go at both ends, and a large file through the tunnel.
needs="wireguard-go wg curl python3"
# The names differ, as wireguard-go has one folder for the sockets of all namespaces.
peer() { # name of this end, name of the other end, own address, more arguments of the peer
	wireguard-go "wg-$1" >"$work/wireguard.$1" 2>&1
	wg set "wg-$1" private-key "$work/$1.key" peer "$(wg pubkey <"$work/$2.key")" allowed-ips 10.99.0.0/24 "${@:4}"
	ip addr add "$3/24" dev "wg-$1"
	ip link set "wg-$1" up
}
serve() {
	for end in client server; do wg genkey >"$work/$end.key"; done
	trap 'ip link del wg-server' EXIT
	peer server client 10.99.0.2
	wg set wg-server listen-port 51820
	python3 -m http.server --directory "$dir" --bind 10.99.0.2 8000 >"$work/http" 2>&1
}
ready() { curl -sf -o /dev/null http://10.99.0.2:8000/small; }
use() {
	trap 'ip link del wg-client' EXIT
	peer client server 10.99.0.1 endpoint "$host:51820"
	curl -sSf --retry 3 http://10.99.0.2:8000/data | cmp - "$dir/data"
}
