# VXLAN: the kernel's tunnel, and a large file through it.
needs="ip curl python3"
tunnel() { # own end, other end, own address
	ip link add vx0 type vxlan id 7 local "$1" remote "$2" dstport 4789
	ip addr add "$3/24" dev vx0
	ip link set vx0 up
}
serve() {
	tunnel "$server" "$client" 10.98.0.2
	trap 'ip link del vx0' EXIT
	python3 -m http.server --directory "$dir" --bind 10.98.0.2 8000 >"$work/http" 2>&1
}
ready() { curl -sf -o /dev/null http://10.98.0.2:8000/small; }
use() {
	trap 'ip link del vx0' EXIT
	tunnel "$client" "$server" 10.98.0.1
	curl -sSf http://10.98.0.2:8000/data | cmp - "$dir/data"
}
