#!/bin/bash
# In the guest of systemd.sh: one host with the service, another as a network namespace, and a flow between them that
# must not notice what is done to the service.
set -euo pipefail
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
config=/etc/hostint/hostint.toml
fail() {
	echo "systemd-guest.sh: $*"
	systemctl status --no-pager hostint || true
	journalctl --no-pager -n 40 || true
	exit 1
}
await() { # sentence, command
	local sentence=$1
	shift
	for _ in $(seq 600); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done
	fail "never happened: $sentence"
}
show() { systemctl show -p "$1" --value hostint.service; }
is() { [ "$(show ActiveState)" = "$1" ]; }
says() { show StatusText | grep -qE "$1"; }
process() { # role: its process
	local main pid
	main=$(show MainPID)
	for pid in $(cat "/proc/$main/task/$main/children"); do
		[ "$(tr '\0' '\n' <"/proc/$pid/cmdline" | sed -n 2p)" != "$1" ] || echo "$pid"
	done
}
processes() { # role...: what must not change meanwhile
	show MainPID
	for role; do echo "$role $(process "$role")"; done
}
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
applied() { journalctl -u hostint -o cat | grep -q "hostint.toml applied: .*$1"; } # key
begun_again() { local now; now=$(process "$1") && [ -n "$now" ] && [ "$now" != "$2" ]; } # role, process
restarted() { [ "$(show NRestarts)" = 1 ] && is active; }
reload() { # key
	systemctl reload hostint.service || fail "cannot reload"
	[ $# = 0 ] || await "the config is applied: $1" applied "$1"
}
without() { sed -i "/^\[$1\]/,/^$/d" $config; } # table
life() { # role, status line, key of its table and the value to reload with, what else is to be true while it runs
	local role=$1 line="(^|; )$1: $2" key=$3 value=$4 pid; shift 4
	await "$role: its status line" says "$line"
	[ $# = 0 ] || await "$role: $*" "$@"
	pid=$(process "$role")
	sed -i "/^\[$role\]/a $key = $value" $config
	reload "$key"
	[ "$(process "$role")" = "$pid" ] || fail "$role: the reload began another daemon"
	kill -9 "$pid"
	await "$role is started again" begun_again "$role" "$pid"
	await "$role: its status line after a crash" says "$line"
	[ $# = 0 ] || await "$role: after a crash $*" "$@"
}
kept() { hostint history reports --json | grep -q '10\.5\.0\.1'; }
step() { echo "-- $* ($(cut -d ' ' -f 1 /proc/uptime) s)"; }

step "install"
dpkg -i /mnt/first/*.deb >/run/dpkg 2>&1 || fail "cannot install: $(cat /run/dpkg)"
grep -q 'systemctl enable --now hostint$' /run/dpkg || fail "it does not say what to do next: $(cat /run/dpkg)"
[ "$(systemctl is-enabled hostint.service || true)" = disabled ] || fail "the service is enabled by itself"
systemctl start hostint.service 2>/dev/null && fail "it starts without an interface"
is failed || fail "a mistake in the config is tried again"
journalctl -u hostint -o cat | grep -q 'hostint.toml:[0-9]*: \[sink\]: no interface given' || fail "it tells no line"
cp /usr/bin/hostint /run/hostint-peer
ip netns add peer
ip link add v0 type veth peer name e0 netns peer
ip addr add 10.5.0.2/24 dev v0
ip link set v0 up
ip -n peer addr add 10.5.0.1/24 dev e0
ip -n peer link set e0 up
ip -n peer link set lo up
cat >$config <<CONF
[sink]
dev = ["v0"]
hook = "xdp"
node-id = 2
collector = ["127.0.0.1"]
http = "127.0.0.1"

[collect]
http = "127.0.0.1"
otlp = "http://127.0.0.1:9"
push-headers-file = "/etc/hostint/push-headers"

CONF
# As hostint(8) says: a secret of the collector, whose user is its own.
echo 'Authorization: Bearer secret' >/etc/hostint/push-headers
chown hostint-collector /etc/hostint/push-headers
chmod 600 /etc/hostint/push-headers

step "start"
systemctl start hostint.service || fail "cannot start"
[ "$(show ActiveState) $(show SubState)" = "active running" ] || fail "the service does not run"
await "the sink's status line" says '^sink: sink on v0 \(xdp [a-z]+\); 0 flows, 0 packets received, 0 lost'
await "the collector's status line" says '; collect: [01] exporters?; '
ip link show v0 | grep -q xdp || fail "no XDP program on v0"
for role in sink collect; do
	grep -E '^(Uid|CapEff|NoNewPrivs|Seccomp):' "/proc/$(process $role)/status" | tr '\n' ' '; echo
done
grep -q '^CapEff:.*c000001000$' "/proc/$(process sink)/status" || fail "the sink has other capabilities than its three"
grep -q '^CapEff:.*\s0*$' "/proc/$(process collect)/status" || fail "the collector has capabilities"
[ "$(stat -c %U "/proc/$(process collect)")" = hostint-collector ] || fail "the collector has no user of its own"
systemd-analyze security --no-pager hostint.service | tail -1
$peer /run/hostint-peer sink --dev e0 --node-id 1 2>/run/peer.log &
await "the peer's sink" grep -q "sink attached" /run/peer.log
$peer /run/hostint-peer source attach --dev e0
$peer /run/hostint-peer source add-dest 10.5.0.2
python3 /mnt/steady.py receive 10.5.0.2 7000 /run/steady &
await "the receiver listens" listens 7000
$peer python3 /mnt/steady.py send 10.5.0.2 7000 &
await "the flow begins" test -s /run/steady
moved "the service strips"
await "the status line tells of the flow" says '1 flow, [0-9,]+ packets? received, 0 lost'
await "the collector hears of the flow" says '; collect: 1 exporter; [1-9]'
journalctl -u hostint -o cat | grep -q '10.5.0.1' || fail "no report in the journal"
journalctl MESSAGE_ID=4b2bb9cc3abf4da1bc1d8b17d4c12a5a -o json | grep -q '"HOSTINT_DEV":"v0"' || fail "no fields in the journal"
journalctl -u hostint -p warning -o cat | grep -q 'lease-key' || fail "no warning in the journal"
tagged_early=$(in=$peer counter source tagged)
[ "$tagged_early" -gt 20 ] || fail "the peer tagged only $tagged_early"

step "history"
await "the history has the flow" kept
[ "$(stat -c %U /var/lib/hostint/history.db)" = hostint-collector ] || fail "the history is not the collector's"
for page in / /api/pairs /metrics /healthz /readyz; do
	await "the collector answers $page" answers 13277 "$page"
done
for page in /metrics /healthz /readyz; do
	await "the sink answers $page" answers 13276 "$page"
done
echo "ok: history, page, metrics and health"

step "reload"
before=$(processes sink collect)
sed -i 's/^collector.*/&\nloss-timeout = "300ms"/; s/^otlp .*/&\nname = ["9=nine"]/' $config
reload loss-timeout
await "the collector applies its table" applied name
moved "a reload is not noticed"
sed -i 's/^loss-timeout.*/loss-timeout = "300 bananas"/' $config
reload
refused() { journalctl -u hostint -p err -o cat | grep -q 'the config file was not applied'; }
await "a mistake is refused" refused
sed -i 's/^loss-timeout.*/loss-timeout = "300ms"/' $config
[ "$(processes sink collect)" = "$before" ] || fail "the reload began other daemons: $before before"

getent group hostint >/dev/null || fail "no group hostint"
[ "$(stat -c %G /run/hostint/control.*.sock | head -1)" = hostint ] || fail "the control socket is not the group's"

step "kill -9"
for role in sink collect; do
	pid=$(process $role)
	kill -9 "$pid"
	await "$role is started again" begun_again $role "$pid"
	moved "a crash of $role is not noticed"
done
[ "$(show NRestarts)" = 0 ] || fail "the whole service began again"
pid=$(process sink)
kill -9 "$(show MainPID)"
await "systemd starts the service again" restarted
await "the sink serves again" begun_again sink "$pid"
moved "a crash of all is not noticed"

step "upgrade"
pid=$(show MainPID)
dpkg -i /mnt/later/*.deb >/run/dpkg 2>&1 || fail "cannot upgrade: $(cat /run/dpkg)"
is active || fail "the upgrade left no daemon"
[ "$(show MainPID)" != "$pid" ] || fail "the upgrade left the old daemon"
! grep -q 'enable --now' /run/dpkg || fail "the upgrade is told as a first installation"
grep -q 'node-id = 2' $config || fail "the upgrade overwrote the config"
await "the collector collects again" says '; collect: '
moved "an upgrade is not noticed"

step "stop"
systemctl stop hostint.service
ip link show v0 | grep -q xdp || fail "stopping took the program off"
before=$(counter sink received)
moved "without its daemon the sink strips"
[ "$(counter sink received)" -gt "$before" ] || fail "nothing is stripped any more"
systemctl start hostint.service || fail "cannot start again"

step "source"
before=$(processes sink collect)
cat >>$config <<CONF
[[watch]]
to = "10.5.0.1"

[source]
dev = ["v0"]

CONF
reload
await "the status line tells of the source" says '; source is attached; '
$peer python3 /mnt/steady.py receive 10.5.0.1 7001 /run/back &
in=$peer await "the peer's receiver listens" listens 7001
python3 /mnt/steady.py send 10.5.0.1 7001 &
tags() { [ "$(counter source tagged)" -gt 20 ]; }
await "the source tags" tags
await "the sink's status line tells of the source" says 'source on v0; 1 of 1 peer strip, [0-9,]+ packets tagged'
reload
before_reload=$(counter source tagged)
still_tags() { [ "$(counter source tagged)" -gt $((before_reload + 20)) ]; }
await "the source tags after a reload" still_tags
without source
reload
no_source() { /run/hostint-peer status --json | python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["source"] is not None)'; }
await "the source is taken off with its table" no_source
read -r _ missing bad </run/back
[ "$missing $bad" = "0 0" ] || fail "of what the source tagged $missing are missing, $bad are not as they were sent"
[ "$(processes sink collect)" = "$before" ] || fail "others noticed the source: $before before"

step "postcards, tcp and transit"
ip link add v1 type veth peer name v2
ip link set v1 up
ip link set v2 up
cat >>$config <<CONF
[source]
dev = ["v0"]

[postcards]
drops = "all"
http = "127.0.0.1"

[tcp]
http = "127.0.0.1"

[transit]
dev = ["v1"]
http = "127.0.0.1"

CONF
reload
life postcards 'drops of [0-9,]+ flows? told' report-period '"2s"' answers 13278 /readyz
life tcp '[0-9,]+ connections? watched' report-period '"20s"' answers 13280 /readyz
life transit 'transit hop on v1; ' allow '["10.6.0.0/24"]' answers 13279 /readyz
[ "$(processes sink collect)" = "$before" ] || fail "others noticed: $before before, $(processes sink collect) after"
moved "postcards, tcp and transit are not noticed"

step "source without a sink"
before=$(processes transit postcards tcp collect)
without sink
reload
await "the sink ends" says '^source: source on v0; '
! ip link show v0 | grep -q xdp || fail "the sink's program is still on v0"
moved "the detached sink is not noticed"
life source 'source on v0; ' idle-flow-timeout '"1m"'
# Only flows that begin later are tagged.
proved() { /run/hostint-peer status --json | grep -qE '"proved_ago_ns": ?[0-9]'; }
await "the path to the peer is proved" proved
$peer python3 /mnt/steady.py receive 10.5.0.1 7002 /run/alone &
in=$peer await "the peer's receiver listens" listens 7002
python3 /mnt/steady.py send 10.5.0.1 7002 &
await "the source tags without a sink" tags
moved "a source without a sink is not noticed"
[ "$(processes transit postcards tcp collect)" = "$before" ] || fail "others noticed: $before before"
for flow in back alone; do
	read -r _ missing bad </run/$flow
	[ "$missing $bad" = "0 0" ] || fail "$flow: $missing packets are missing, $bad are not as they were sent"
done

step "remove"
sed -i '1i [sink]\ndev = ["v0"]\nhook = "xdp"\nnode-id = 2\n' $config
reload
await "the sink is back" says '^sink: sink on v0 .*; source is attached; transit: .*; postcards: .*; tcp: .*; collect: '
dpkg -r hostint >/run/dpkg 2>&1 || fail "cannot remove: $(cat /run/dpkg)"
! ip link show v0 | grep -q xdp || fail "the program is still on v0"
[ "$(ls /sys/fs/bpf/hostint | wc -l)" = 1 ] || fail "not only the peer's pins are left: $(ls /sys/fs/bpf/hostint)"
moved "removal is not noticed"
is active && fail "the service still runs"

step "purge"
dpkg -P hostint >/run/dpkg 2>&1 || fail "cannot purge: $(cat /run/dpkg)"
left=$(find /etc /usr /lib /var -xdev -name '*hostint*' -not -path '/var/log/journal/*' 2>/dev/null)
[ -z "$left" ] || fail "left behind: $left"
step "all passed on $(uname -r)"
