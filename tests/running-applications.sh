#!/bin/bash
# Applications that run before hostint comes: running-applications.sh BINARY. Says how many of their packets are measured 10 s
# after add-dest, what their throughput is against none, and whether what they read is whole.
set -euo pipefail
hostint=$(realpath "$1")
name=ra$$
work=$(mktemp -d)
postgres=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
started=()

on() { local host=$1; shift; ip netns exec "$name$host" "$@"; }
# Pins are those of the namespace; ip netns exec would hide the BPF file system.
tool() { local host=$1; shift; nsenter --net=/run/netns/"$name$host" "$hostint" "$@"; }
end() {
	[ ${#started[@]} = 0 ] || kill "${started[@]}" 2>/dev/null || true
	for host in a b; do
		tool $host source detach >/dev/null 2>&1 || true
		tool $host sink detach --now >/dev/null 2>&1 || true
	done
	for host in a m b; do
		kill $(ip netns pids $name$host) 2>/dev/null || true
		ip netns del $name$host
	done
	rm -rf "$work"
}
trap end EXIT

for host in a m b; do ip netns add $name$host; ip -n $name$host link set lo up; done
link() { ip link add "$2" netns $name$1 type veth peer name "$4" netns ${name}m; ip -n $name$1 addr add $3 dev "$2"
	ip -n ${name}m addr add $5 dev "$4"; ip -n $name$1 link set "$2" up; ip -n ${name}m link set "$4" up; }
link a a0 10.9.1.1/24 m0 10.9.1.2/24
link b b0 10.9.2.1/24 m1 10.9.2.2/24
on m sysctl -qw net.ipv4.ip_forward=1
ip -n ${name}a route add default via 10.9.1.2
ip -n ${name}b route add default via 10.9.2.2

start() { "$@" & started+=($!); }
chmod a+rwx "$work"; mkdir "$work/pg"; chown postgres "$work/pg"
as="runuser -u postgres --"
$as "$postgres/initdb" -D "$work/pg/db" -A trust -U postgres >/dev/null
echo "host all all all trust" >>"$work/pg/db/pg_hba.conf"
head -c 3000000 /dev/urandom >"$work/data"; base64 -w 100 "$work/data" >"$work/lines"; chmod a+r "$work"/*
cat >"$work/nginx.conf" <<END
user root; worker_processes 1; pid $work/nginx.pid; error_log stderr; events { }
http { access_log off; sendfile on; keepalive_requests 10000000; keepalive_timeout 600;
server { listen 10.9.2.1:8080; root $work; } }
END
start on b $as "$postgres/postgres" -D "$work/pg/db" -c listen_addresses=10.9.2.1 -c unix_socket_directories="$work/pg" -c fsync=off 2>/dev/null
start on b redis-server --bind 10.9.2.1 --protected-mode no --save '' --appendonly no --dir "$work" >/dev/null
start on b nginx -c "$work/nginx.conf" -e stderr -g 'daemon off;'
start on b iperf3 -s -B 10.9.2.1 >/dev/null
export PGHOST=10.9.2.1 PGUSER=postgres PGDATABASE=postgres
until on a "$postgres/pg_isready" -q; do sleep 0.2; done
on a "$postgres/pgbench" -q -i -s 2 2>/dev/null
on a psql -qc 'CREATE TABLE lines (line text)'
on a psql -qc '\copy lines from stdin' <"$work/lines"

# What each application does for this many seconds.
pgbench() { on a "$postgres/pgbench" -n -c 8 -T "$1" -P 1; }
redis() { timeout "$1" ip netns exec ${name}a redis-benchmark -h 10.9.2.1 -c 20 -n 100000000 -d 2000 -t get,set || true; }
iperf() { on a iperf3 -c 10.9.2.1 -t "$1" -P 4; }
# One connection; each file is compared.
curl_files() { timeout "$1" ip netns exec ${name}a curl -sS --limit-rate 200M "http://10.9.2.1:8080/data?[1-100000]" 2>/dev/null | sha >"$work/curl.sums" || true; }
sha() { python3 -c '
import hashlib, sys
whole = other = 0
with open(sys.argv[1], "rb") as f: right = hashlib.sha256(f.read()).digest(); size = f.tell()
while True:
    part = sys.stdin.buffer.read(size)
    if len(part) < size: break
    if hashlib.sha256(part).digest() == right: whole += 1
    else: other += 1
print(whole, other)' "$work/data"; }
# One connection with a pause after each question: a pool that is seldom used.
seldom() { (for n in $(seq "$1"); do echo "SELECT count(*) FROM lines;"; sleep 1.5; done) | timeout $(($1 + 30)) ip netns exec ${name}a psql -qAt >"$work/seldom"; }

figures() { tool "$1" status --json --flows 0 | python3 -c '
import json, sys
counters = json.load(sys.stdin)["source"]["counters"]
none = ["flow_new", "other_protocol"]
for one in counters:
    if one["packets"] and one["name"] not in none: print(one["name"], one["packets"])'; }
bytes() { on b cat /sys/class/net/b0/statistics/rx_bytes /sys/class/net/b0/statistics/tx_bytes | paste -sd+ | bc; }

run() {
	local what=$1 seconds=34
	$what $([ $what = seldom ] && echo 18 || echo $seconds) >"$work/out" 2>&1 &
	local client=$!
	sleep 3
	local first=$(bytes); sleep 5; local second=$(bytes)
	tool a sink --dev a0 --node-id 1 >/dev/null 2>"$work/a.log" & local a=$!
	tool b sink --dev b0 --node-id 2 >/dev/null 2>"$work/b.log" & local b=$!
	until grep -q "sink attached" "$work/a.log" && grep -q "sink attached" "$work/b.log"; do sleep 0.2; done
	{
		tool a source attach --dev a0; tool b source attach --dev b0
		tool a source add-dest 10.9.2.1; tool b source add-dest 10.9.1.1
	} >/dev/null 2>&1
	sleep 10
	for host in a b; do figures $host >"$work/$host.1"; done
	local third=$(bytes); sleep 5; local fourth=$(bytes)
	for host in a b; do figures $host >"$work/$host.2"; done
	wait $client || echo "$what failed: $(tail -n 2 "$work/out")"
	python3 - "$what" "$work" $((second - first)) $((fourth - third)) <<'END'
import sys
what, work, before, after = sys.argv[1:]
def read(name): return {k: int(v) for k, v in (l.split() for l in open(f"{work}/{name}"))}
told = []
for host in "ab":
    one, two = read(host + ".1"), read(host + ".2")
    grown = {k: v - one.get(k, 0) for k, v in two.items() if v > one.get(k, 0)}
    all_packets = sum(grown.values())
    told.append(f"{host}: {100 * grown.get('tagged', 0) / max(all_packets, 1):.2f} % of {all_packets:,} "
                + str({k: v for k, v in grown.items() if k != "tagged"}))
print(f"{what}: {'; '.join(told)}; bytes against none {int(after) / max(int(before), 1):.2f}")
END
	case $what in
	curl_files) echo "  files whole and not whole: $(cat "$work/curl.sums")" ;;
	seldom) echo "  answers: $(sort "$work/seldom" | uniq -c | paste -sd' ')" ;;
	pgbench) grep -E "transactions processed|failed" "$work/out" | sed 's/^/  /' ;;
	esac
	for host in a b; do tool $host source detach; tool $host sink detach --now; done >/dev/null 2>&1
	wait $a $b || true
}
for what in ${2:-pgbench redis iperf curl_files seldom}; do run $what; done
echo "table read again: $(on a psql -qAtc 'SELECT line FROM lines' | cmp - "$work/lines" && echo whole)"
