#!/bin/bash
# In the guest of systemd.sh: one host with the services, another as a network namespace, and a flow between them that
# must not notice what is done to the services.
set -euo pipefail
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
fail() {
	echo "systemd-guest.sh: $*"
	systemctl status --no-pager 'hostint-*' || true
	journalctl --no-pager -n 40 || true
	exit 1
}
await() { # sentence, command
	local sentence=$1
	shift
	for _ in $(seq 600); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done
	fail "never happened: $sentence"
}
show() { systemctl show -p "$2" --value "$1"; }
is() { [ "$(show "$1" ActiveState)" = "$2" ]; }
says() { show "$1" StatusText | grep -qE "$2"; }
counter() { # role, name; of this host, or that of the namespace in $in
	${in:-} /run/hostint-peer status --json | python3 -c '
import json, sys
role = json.load(sys.stdin)[sys.argv[1]]
print(next(one["packets"] for one in role["counters"] if one["name"] == sys.argv[2]) if role else 0)' "$1" "$2"
}
peer="ip netns exec peer"
listens() { ${in:-} grep -qi ":$(printf %04X "$1") " /proc/net/udp; } # port, of this host or in the namespace in $in
moved() { # the flow came further since, nothing is missing, nothing had INT in it
	read -r seen missing bad </run/steady
	local before=$seen
	for _ in $(seq 600); do
		read -r seen missing bad </run/steady
		[ "$seen" -lt $((before + 20)) ] || break
		sleep 0.1
	done
	[ "$seen" -ge $((before + 20)) ] || fail "$1: the flow stands still"
	[ "$missing $bad" = "0 0" ] ||
		fail "$1: $missing packets are missing, $bad are not as they were sent ($(grep ^Udp: /proc/net/snmp | tr '\n' ' '))"
	echo "ok: $1 ($seen packets)"
}
http() { # port, path: the answer's code
	exec 3<>"/dev/tcp/127.0.0.1/$1"
	printf 'GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n' "$2" >&3
	cut -d ' ' -f 2 <&3 | head -n 1
	exec 3<&-
}
answers() { [ "$(http "$1" "$2")" = 200 ]; }
applied() { journalctl -u "$1" -o cat | grep -q "hostint.toml applied: .*$2"; } # unit, key
restarted() { [ "$(show "$1" NRestarts)" = 1 ] && is "$1" active; }
daemons() { for unit in hostint-sink hostint-collect; do echo "$unit $(show $unit MainPID) $(show $unit NRestarts)"; done; }
life() { # unit, status line, key of its table and the value to reload with, what else is to be true while it runs
	local unit=$1 line=$2 key=$3 value=$4 pid; shift 4
	systemctl start "$unit.service" || fail "cannot start $unit"
	await "$unit: its status line" says "$unit" "$line"
	[ $# = 0 ] || await "$unit: $*" "$@"
	pid=$(show "$unit" MainPID)
	sed -i "/^\[${unit#hostint-}\]/a $key = $value" /etc/hostint/hostint.toml
	systemctl reload "$unit.service" || fail "cannot reload $unit"
	await "$unit: the config is applied" applied "$unit" "$key"
	await "$unit: the reload ends" is "$unit" active
	[ "$(show "$unit" MainPID)" = "$pid" ] || fail "$unit: the reload began another daemon"
	kill -9 "$pid"
	await "systemd starts $unit again" restarted "$unit"
	await "$unit: its status line after a crash" says "$unit" "$line"
	[ $# = 0 ] || await "$unit: after a crash $*" "$@"
}
kept() { hostint history reports --json | grep -q '10\.5\.0\.1'; }
step() { echo "-- $* ($(cut -d ' ' -f 1 /proc/uptime) s)"; }

step "install"
dpkg -i /mnt/first/*.deb >/run/dpkg 2>&1 || fail "cannot install: $(cat /run/dpkg)"
[ "$(systemctl is-enabled hostint-sink.service || true)" = disabled ] || fail "the sink is enabled by itself"
cp /usr/bin/hostint /run/hostint-peer
ip netns add peer
ip link add v0 type veth peer name e0 netns peer
ip addr add 10.5.0.2/24 dev v0
ip link set v0 up
ip -n peer addr add 10.5.0.1/24 dev e0
ip -n peer link set e0 up
ip -n peer link set lo up
cat >/etc/hostint/hostint.toml <<CONF
[sink]
dev = ["v0"]
hook = "xdp"
node-id = 2
collector = ["127.0.0.1"]
http = "127.0.0.1"

[collect]
http = "127.0.0.1"
otlp = "http://127.0.0.1:9"
push-headers-file = "/run/credentials/hostint-collect.service/push-headers"
CONF
# As hostint-engines(7) says: a secret of root, which the service's own user cannot read.
echo 'Authorization: Bearer secret' >/etc/hostint/push-headers
chmod 600 /etc/hostint/push-headers
mkdir -p /run/systemd/system/hostint-collect.service.d
cat >/run/systemd/system/hostint-collect.service.d/secrets.conf <<CONF
[Service]
LoadCredential=push-headers:/etc/hostint/push-headers
CONF
systemctl daemon-reload

step "start"
systemctl start hostint-collect.service hostint-sink.service || fail "cannot start"
for unit in hostint-collect hostint-sink; do
	[ "$(show $unit ActiveState) $(show $unit SubState)" = "active running" ] || fail "$unit does not run"
done
await "the sink's status line" says hostint-sink '^sink on v0 \(xdp [a-z]+\); 0 flows, 0 packets received, 0 lost'
await "the collector's status line" says hostint-collect '^[01] exporters?; '
ip link show v0 | grep -q xdp || fail "no XDP program on v0"
pid=$(show hostint-sink MainPID)
grep -E '^(Uid|CapEff|NoNewPrivs|Seccomp):' "/proc/$pid/status" | tr '\n' ' '
grep -E '^(Uid|CapEff):' "/proc/$(show hostint-collect MainPID)/status" | tr '\n' ' '; echo
for unit in hostint-sink hostint-source@v0 hostint-collect; do
	systemd-analyze security --no-pager $unit.service | tail -1
done
$peer /run/hostint-peer sink --dev e0 --node-id 1 2>/run/peer.log &
await "the peer's sink" grep -q "sink attached" /run/peer.log
$peer /run/hostint-peer source attach --dev e0
$peer /run/hostint-peer source add-dest 10.5.0.2
python3 /mnt/steady.py receive 10.5.0.2 7000 /run/steady &
await "the receiver listens" listens 7000
$peer python3 /mnt/steady.py send 10.5.0.2 7000 &
await "the flow begins" test -s /run/steady
moved "the service strips"
await "the status line tells of the flow" says hostint-sink '1 flow, [0-9,]+ packets? received, 0 lost'
await "the collector hears of the flow" says hostint-collect '^1 exporter; [1-9]'
journalctl -u hostint-collect -o cat | grep -q '10.5.0.1' || fail "no report in the journal"
journalctl MESSAGE_ID=4b2bb9cc3abf4da1bc1d8b17d4c12a5a -o json | grep -q '"HOSTINT_DEV":"v0"' || fail "no fields in the journal"
journalctl -u hostint-sink -p warning -o cat | grep -q 'lease-key' || fail "no warning in the journal"
tagged_early=$(in=$peer counter source tagged)
[ "$tagged_early" -gt 20 ] || fail "the peer tagged only $tagged_early"

step "history"
await "the history has the flow" kept
[ -f /var/lib/private/hostint/history.db ] || fail "the history is not in the service's state"
for page in / /api/pairs /metrics /healthz /readyz; do
	await "the collector answers $page" answers 13277 "$page"
done
for page in /metrics /healthz /readyz; do
	await "the sink answers $page" answers 13276 "$page"
done
collector=$(show hostint-collect MainPID)
systemctl reload hostint-collect.service || fail "cannot reload the collector"
await "the collector goes on" is hostint-collect active
[ "$(show hostint-collect MainPID)" = "$collector" ] || fail "the reload began another collector"
echo "ok: history, page, metrics and health"

step "reload"
sed -i 's/^collector.*/&\nloss-timeout = "300ms"/' /etc/hostint/hostint.toml
systemctl reload hostint-sink.service || fail "cannot reload"
await "the config is applied" applied hostint-sink loss-timeout
await "the reload ends" is hostint-sink active
moved "a reload is not noticed"
[ "$(show hostint-sink MainPID)" = "$pid" ] || fail "the reload began another daemon"

getent group hostint >/dev/null || fail "no group hostint"
[ "$(stat -c %G /run/hostint/control.*.sock | head -1)" = hostint ] || fail "the control socket is not the group's"

step "kill -9"
kill -9 "$pid"
await "systemd starts the sink again" restarted hostint-sink
moved "a crash is not noticed"

step "upgrade"
pid=$(show hostint-sink MainPID)
dpkg -i /mnt/later/*.deb >/run/dpkg 2>&1 || fail "cannot upgrade: $(cat /run/dpkg)"
[ "$(show hostint-sink ActiveState)" = active ] || fail "the upgrade left no daemon"
[ "$(show hostint-sink MainPID)" != "$pid" ] || fail "the upgrade left the old daemon"
[ "$(show hostint-collect ActiveState)" = active ] || fail "the upgrade left no collector"
grep -q 'node-id = 2' /etc/hostint/hostint.toml || fail "the upgrade overwrote the config"
moved "an upgrade is not noticed"

step "stop"
systemctl stop hostint-sink.service
ip link show v0 | grep -q xdp || fail "stopping took the program off"
before=$(counter sink received)
moved "without its daemon the sink strips"
[ "$(counter sink received)" -gt "$before" ] || fail "nothing is stripped any more"
systemctl start hostint-sink.service

step "source"
systemctl start hostint-source@v0.service || fail "cannot start the source"
/run/hostint-peer source add-dest 10.5.0.1
$peer python3 /mnt/steady.py receive 10.5.0.1 7001 /run/back &
in=$peer await "the peer's receiver listens" listens 7001
python3 /mnt/steady.py send 10.5.0.1 7001 &
tags() { [ "$(counter source tagged)" -gt 20 ]; }
await "the source tags" tags
systemctl reload hostint-source@v0.service || fail "cannot reload the source"
await "the status line tells of the source" says hostint-sink 'source on v0; 1 of 1 peer strip, [0-9,]+ packets tagged'
before=$(counter source tagged)
still_tags() { [ "$(counter source tagged)" -gt $((before + 20)) ]; }
await "the source tags after a reload" still_tags
systemctl stop hostint-source@v0.service || fail "cannot stop the source"
[ "$(/run/hostint-peer status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["source"])')" = None ] ||
	fail "the source is still attached"
read -r _ missing bad </run/back
[ "$missing $bad" = "0 0" ] || fail "of what the source tagged $missing are missing, $bad are not as they were sent"
systemctl start hostint-source@v0.service

step "postcards, tcp and transit"
ip link add v1 type veth peer name v2
ip link set v1 up
ip link set v2 up
cat >>/etc/hostint/hostint.toml <<CONF

[postcards]
drops = "all"
http = "127.0.0.1"

[tcp]
http = "127.0.0.1"

[transit]
dev = ["v1"]
http = "127.0.0.1"
CONF
before=$(daemons)
life hostint-postcards '^drops of [0-9,]+ flows? told' report-period '"2s"' answers 13278 /readyz
life hostint-tcp '^[0-9,]+ connections? watched' report-period '"20s"' answers 13280 /readyz
life hostint-transit '^transit hop on v1; ' allow '["10.6.0.0/24"]' answers 13279 /readyz
[ "$(daemons)" = "$before" ] || fail "other services noticed: $before before, $(daemons) after"
moved "postcards, tcp and transit are not noticed"

step "source without a sink"
systemctl stop hostint-source@v0.service
before=$(show hostint-collect MainPID)
hostint sink detach || fail "cannot detach the sink"
moved "the detached sink is not noticed"
cat >>/etc/hostint/hostint.toml <<CONF

[source]
dev = ["v0"]
force = true
CONF
life hostint-source '^source on v0; ' idle-flow-timeout '"1m"'
is hostint-sink active && fail "two daemons serve one host"
/run/hostint-peer source add-dest 10.5.0.1
# Only flows that begin later are tagged.
proved() { /run/hostint-peer status --json | grep -qE '"proved_ago_ns": ?[0-9]'; }
await "the path to the peer is proved" proved
$peer python3 /mnt/steady.py receive 10.5.0.1 7002 /run/alone &
in=$peer await "the peer's receiver listens" listens 7002
python3 /mnt/steady.py send 10.5.0.1 7002 &
await "the source tags without a sink" tags
moved "a source without a sink is not noticed"
[ "$(show hostint-collect MainPID)" = "$before" ] || fail "the collector noticed"
for flow in back alone; do
	read -r _ missing bad </run/$flow
	[ "$missing $bad" = "0 0" ] || fail "$flow: $missing packets are missing, $bad are not as they were sent"
done

step "remove"
for unit in hostint-source hostint-transit hostint-postcards hostint-tcp hostint-collect; do
	is $unit active || fail "$unit does not run any more"
done
dpkg -r hostint >/run/dpkg 2>&1 || fail "cannot remove: $(cat /run/dpkg)"
! ip link show v0 | grep -q xdp || fail "the program is still on v0"
[ "$(ls /sys/fs/bpf/hostint | wc -l)" = 1 ] || fail "not only the peer's pins are left: $(ls /sys/fs/bpf/hostint)"
moved "removal is not noticed"
systemctl list-units --all --no-legend 'hostint-*' | grep -v ' not-found ' | grep ' active ' && fail "services still run"

step "purge"
dpkg -P hostint >/run/dpkg 2>&1 || fail "cannot purge: $(cat /run/dpkg)"
left=$(find /etc /usr /lib /var -xdev -name '*hostint*' -not -path '/var/log/journal/*' 2>/dev/null)
[ -z "$left" ] || fail "left behind: $left"
step "all passed on $(uname -r)"
