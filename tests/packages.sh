#!/bin/bash
# Installs, tries, upgrades, removes and purges the packages in a clean Debian: packages.sh ROOT [FOLDER]
# (by tests/vm/root.sh). The .deb and .rpm are those of FOLDER, and then nothing is upgraded; else they are made from the
# release build that is there, twice: as they are and as a later version.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
tree=$here/..
. "$tree/packaging/architecture.sh"
lower=$(realpath "$1")/root
# Mounts are ours alone and end with us.
if [ -z "${HOSTINT_UNSHARED:-}" ]; then
	HOSTINT_UNSHARED=1 exec unshare --mount --propagation private "$0" "$@"
fi
work=$(mktemp -d)
left=hostint-packages-left-$$ right=hostint-packages-right-$$
daemons=()
clean_up() {
	cd /
	stop_daemons
	for ns in $left $right; do ip netns del $ns 2>/dev/null || true; done
	umount -l "$work"
	rmdir "$work"
}
stop_daemons() {
	for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait
	daemons=()
}
trap clean_up EXIT
mount -t tmpfs -o size=1g packages "$work"
fail() { echo "packages.sh: $*" >&2; exit 1; }
# grep -q does not wait for who writes, whom the broken pipe then makes a failure.
has() { grep "$@" >/dev/null; }

mkdir "$work"/{first,later}
if [ $# = 2 ]; then
	cp "$2"/hostint_*.deb "$2"/hostint-*."$CPU".rpm "$work/first/"
else
	"$tree/packaging/deb/build.sh" "$work/first"
	"$tree/packaging/rpm/build.sh" "$work/first"
	"$tree/packaging/deb/build.sh" "$work/later" +later
	"$tree/packaging/rpm/build.sh" "$work/later" +later
fi

root=$work/root
fresh_root() {
	umount -lR "$root" 2>/dev/null || true
	rm -rf "$work/upper" "$work/memory"
	mkdir -p "$root" "$work/upper" "$work/memory"
	mount -t overlay -o "lowerdir=$lower,upperdir=$work/upper,workdir=$work/memory" overlay "$root"
	mount -t proc proc "$root/proc"
	mount -t tmpfs run "$root/run"
	mount -t sysfs sys "$root/sys"
	mount -t bpf -o mode=700 bpf "$root/sys/fs/bpf"
	mkdir -p "$root/packages"
	mount --bind "$work" "$root/packages"
}
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }
# What the package managers keep for themselves is not looked at.
files() {
	(cd "$root" && find . -xdev \( -path ./packages -o -path ./proc -o -path ./run -o -path ./var/lib/dpkg -o -path ./var/lib/rpm \
		-o -path ./usr/lib/sysimage -o -path ./var/cache/man -o -path ./var/log/dpkg.log -o -path ./root \) -prune \
		-o -printf '%p %y %m %U:%G %l\n' | sort)
}

# What a user has after installation, whichever package it was.
check_installed() {
	in_root hostint --version | has '^hostint [0-9]' || fail "$1: hostint does not run"
	for page in 8/hostint 8/hostint-run 8/hostint-sink 8/hostint-source 8/hostint-transit 8/hostint-postcards 8/hostint-tcp 8/hostint-collect 8/hostint-status 5/hostint.toml 7/hostint-wire \
		7/hostint-leases 7/hostint-reports 7/hostint-engines 7/hostint-metrics 7/hostint-tasks 7/hostint-networks 7/hostint-sizing 7/hostint-from-host-int; do
		in_root sh -c "zcat /usr/share/man/man${page%/*}/${page#*/}.${page%/*}.gz" | has hostint || fail "$1: no page $page"
	done
	for file in /usr/share/bash-completion/completions/hostint /usr/share/fish/vendor_completions.d/hostint.fish \
		/usr/share/hostint/grafana/hostint-{overview,health,paths}.json /usr/share/hostint/prometheus/hostint.rules.yml \
		/usr/share/doc/hostint/hostint.cdx.json* /usr/share/doc/hostint/third-party-licences.txt* /etc/hostint/hostint.toml; do
		ls "$root"$file >/dev/null || fail "$1: no $file"
	done
	find "$root"/usr/share/zsh -name _hostint | has . || fail "$1: no completion for zsh"
	in_root systemd-analyze --man=no verify hostint.service || fail "$1: hostint.service is wrong"
	[ "$(ls "$root"/usr/lib/systemd/system/hostint* | wc -l)" = 1 ] || fail "$1: there is more than one unit"
	in_root getent group hostint >/dev/null || fail "$1: no group hostint"
	in_root getent passwd hostint-collector | has ':/usr/sbin/nologin$' || fail "$1: no user hostint-collector without a login"
	[ "$(in_root stat -c '%a %U:%G' /var/lib/hostint)" = "750 hostint-collector:hostint-collector" ] ||
		fail "$1: mode or owner of /var/lib/hostint"
	zcat -f "$root"/usr/share/doc/hostint/hostint.cdx.json* | python3 -c '
import json, sys
assert len(json.load(sys.stdin)["components"]) > 20' || fail "$1: the SBOM is empty"
	! find "$root"/etc/systemd -name 'hostint*' | has . || fail "$1: a service is enabled without being asked for"
	[ "$(stat -c '%a %U:%G' "$root/etc/hostint/hostint.toml")" = "644 root:root" ] || fail "$1: mode or owner of the config"
	# As the package came, it says which lines lack the interfaces.
	{ in_root hostint run 2>&1 || true; } | has 'hostint.toml:[0-9]*: \[sink\]: no interface given' || fail "$1: run tells no line"
}

in_ns() { ${by:-} nsenter --net="/run/netns/$1" chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "${@:2}"; }
start() { # namespace, what it says when it is ready; its config is at the standard input
	cat >"$work/$1.toml"
	by=exec in_ns "$1" hostint run --config "/packages/$1.toml" >"$work/out" 2>"$work/err" &
	daemons+=($!)
	for _ in $(seq 200); do
		if grep -q "$2" "$work/err"; then return; fi
		sleep 0.1
	done
	cat "$work/err" >&2
	return 1
}

# Two hosts: packets are tagged, stripped, reported and kept.
check_traffic() {
	for ns in $left $right; do ip netns add $ns; ip -n $ns link set lo up; done
	ip link add eth0 netns $left type veth peer name eth0 netns $right
	ip -n $left addr add 10.78.1.1/24 dev eth0
	ip -n $right addr add 10.78.1.2/24 dev eth0
	for ns in $left $right; do ip -n $ns link set eth0 up; done
	start $right "; collect: " <<-CONF || fail "$1: sink and collector"
		[sink]
		dev = "eth0"
		node-id = 2
		collector = "10.78.1.2"
		[collect]
		listen = "10.78.1.2"
	CONF
	start $left "; source is attached" <<-CONF || fail "$1: sink and source"
		[sink]
		dev = "eth0"
		node-id = 1
		[source]
		dev = "eth0"
		[[watch]]
		to = "10.78.1.2"
	CONF
	for _ in $(seq 100); do
		in_ns $left python3 -c '
import socket
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(10):
    udp.sendto(b"x" * 200, ("10.78.1.2", 5000))'
		if in_ns $right hostint history reports 2>/dev/null | has '10.78.1.2:5000'; then break; fi
		sleep 0.1
	done
	in_ns $right hostint history reports | has '10.78.1.2:5000' || fail "$1: no report"
	[ "$(in_root stat -c %U /var/lib/hostint/history.db)" = hostint-collector ] || fail "$1: the history is another user's"
	in_ns $right hostint status | has ' received  ' || fail "$1: nothing is stripped"
	stop_daemons
	in_ns $left hostint source detach 2>/dev/null || fail "$1: source detach"
	for ns in $left $right; do
		in_ns $ns hostint sink detach --now 2>/dev/null || fail "$1: sink detach"
		ip netns del $ns
	done
	rm -rf "$root"/var/lib/hostint/*
}

try() { # name, install, version's query, upgrade, remove, purge
	local name=$1
	fresh_root
	files >"$work/before"
	$2 >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$name: cannot install"; }
	has 'systemctl enable --now hostint$' <"$work/log" || fail "$name: it does not say what to do next"
	check_installed "$name, installed"
	check_traffic "$name, installed"
	# A service that the administrator switched on stays so, and a config that was changed too.
	in_root systemctl enable hostint.service >/dev/null 2>&1 || fail "$name: cannot enable the service"
	echo "# mine" >>"$root/etc/hostint/hostint.toml"
	if [ -n "$(ls "$work/later")" ]; then
		$4 >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$name: cannot upgrade"; }
		$3 | has +later || fail "$name: not upgraded"
		grep -q "# mine" "$root/etc/hostint/hostint.toml" || fail "$name: the upgrade overwrote the config"
		in_root systemctl is-enabled hostint.service >/dev/null || fail "$name: the upgrade disabled the service"
	fi
	$5 >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$name: cannot remove"; }
	[ ! -e "$root/usr/bin/hostint" ] || fail "$name: hostint is still there"
	grep -q "# mine" "$root"/etc/hostint/hostint.toml* || fail "$name: removal lost the config"
	$6 >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$name: cannot purge"; }
	files >"$work/after"
	diff "$work/before" "$work/after" || fail "$name: left behind or taken away (above)"
	echo "ok: $name"
}

deb_install() { in_root sh -c 'dpkg -i /packages/first/*.deb'; }
deb_version() { in_root dpkg-query -W hostint; }
deb_upgrade() { in_root sh -c 'dpkg -i /packages/later/*.deb'; }
deb_remove() { in_root dpkg -r hostint; }
deb_purge() { in_root dpkg -P hostint; }
try ".deb" deb_install deb_version deb_upgrade deb_remove deb_purge

# --nodeps: this Debian's own files are unknown to rpm.
rpm_install() { in_root sh -c 'rpm -i --nodeps /packages/first/*.rpm'; }
rpm_version() { in_root rpm -q hostint; }
rpm_upgrade() { in_root sh -c 'rpm -U --nodeps /packages/later/*.rpm'; }
rpm_remove() { in_root rpm -e --nodeps hostint; }
# rpm knows no purge: a config that was changed stays as .rpmsave.
rpm_purge() { rm -r "$root/etc/hostint"; }
try ".rpm" rpm_install rpm_version rpm_upgrade rpm_remove rpm_purge
echo "packages.sh: all passed in $SECONDS s"
