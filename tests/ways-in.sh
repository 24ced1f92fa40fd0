#!/bin/bash
# Goes each way of the README to the first report on bare systems, and says what each command takes: ways-in.sh RELEASE DIR [SYSTEM...]
# RELEASE is a folder of packaging/release.sh. The systems are Debian's bookworm and trixie by default, or Ubuntu's jammy: its archive
# must be reached, and its signature is checked if its keyring is there. DIR keeps their bare roots, which debootstrap makes once;
# what commands write is memory that ends with them.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
release=$(realpath "$1") dir=$(realpath -m "$2")
shift 2
[ $# != 0 ] || set -- bookworm trixie
. "$here/../packaging/architecture.sh"
# Mounts are ours alone and end with us.
if [ -z "${HOSTINT_UNSHARED:-}" ]; then
	HOSTINT_UNSHARED=1 exec unshare --mount --propagation private "$0" "$release" "$dir" "$@"
fi
work=$(mktemp -d)
server=
clean_up() {
	[ -z "$server" ] || kill "$server" || true
	umount -lR "$work"
	rmdir "$work"
}
trap clean_up EXIT
fail() { echo "ways-in.sh: $*" >&2; exit 1; }
mount -t tmpfs -o size=6g ways "$work"

python3 -m http.server --bind 127.0.0.1 --directory "$release" 0 >"$work/http" 2>&1 &
server=$!
for _ in $(seq 100); do
	port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/http")
	[ -n "$port" ] && break
	sleep 0.05
done

bare_root() { # system
	local site options=()
	[ ! -e "$dir/$1/done" ] || return 0
	rm -rf "${dir:?}/$1"
	mkdir -p "$dir/$1"
	case $1 in
	jammy | noble)
		site=http://archive.ubuntu.com/ubuntu
		options=(--components=main,universe)
		;;
	*) site=$(apt-get indextargets --format '$(SITE)' | grep -m 1 'debian/*$' | sed 's,/*$,,') ;;
	esac
	if ! debootstrap "${options[@]}" --variant=minbase "$1" "$dir/$1/root" "$site" >"$dir/$1/log" 2>&1; then
		tail -5 "$dir/$1/log" >&2
		fail "cannot make a bare $1 (see $dir/$1/log)"
	fi
	touch "$dir/$1/done"
}

root=$work/root
fresh_root() { # system
	umount -lR "$root" 2>/dev/null || true
	rm -rf "$work/upper" "$work/memory"
	mkdir -p "$root" "$work/upper" "$work/memory"
	mount -t overlay -o "lowerdir=$dir/$1/root,upperdir=$work/upper,workdir=$work/memory" overlay "$root"
	mount -t proc proc "$root/proc"
	mount -t sysfs sys "$root/sys"
	mount --rbind /dev "$root/dev"
	mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
	# Debian's runtime takes cgroups of one version or the other, not both at once.
	umount "$root/sys/fs/cgroup/unified" 2>/dev/null || true
	mount -t bpf -o mode=700 bpf "$root/sys/fs/bpf"
	for at in run tmp; do mount -t tmpfs $at "$root/$at"; done
	cp --dereference /etc/resolv.conf "$root/etc/resolv.conf"
	mkdir -p "$root/release" "$root/var/lib/containers"
	mount --bind "$release" "$root/release"
	mount -t tmpfs containers "$root/var/lib/containers"
	# No systemd runs there, which podman asks for a cgroup; and root may be one that cannot raise its limits.
	mkdir -p "$root/etc/containers"
	cat >"$root/etc/containers/containers.conf" <<-CONF
		[engine]
		cgroup_manager = "cgroupfs"
		events_logger = "file"
		[containers]
		default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
	CONF
}

# A command of a user, in a root that a container's runtime can leave, as it can leave a real one's.
in_root() {
	unshare --mount --propagation private sh -c '
		cd "$0" && pivot_root . mnt && umount -l /mnt && cd /release &&
		exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive sh -c "$1"' "$root" "$1" </dev/null
}

way() { # system, way, commands: the last one is the demo
	local begun code=0 sum=0 took lost
	fresh_root "$1"
	echo "$1, $2:"
	for command in "${@:3}"; do
		begun=$(date +%s%N)
		in_root "$command" >"$work/out" 2>"$work/err" || code=$?
		took=$((($(date +%s%N) - begun) / 100000000))
		sum=$((sum + took))
		printf '%6d.%d s  %s\n' $((took / 10)) $((took % 10)) "$command"
		[ $code = 0 ] || { tail -n 20 "$work/out" "$work/err" >&2; fail "$1, $2: exit code $code"; }
	done
	lost=$(sed -n 's/^== the router dropped \([0-9]*\) packets*; hostint reports \([0-9]*\) lost$/\1 \2/p' "$work/out")
	grep -q ' latency  ' "$work/out" && [ -n "$lost" ] && [ "${lost% *}" = "${lost#* }" ] && [ "${lost% *}" -gt 0 ] ||
		{ cat "$work/out" >&2; fail "$1, $2: no report, or another loss"; }
	printf '%6d.%d s  to the first report, %d commands\n' $((sum / 10)) $((sum % 10)) $(($# - 2))
}

cd "$release"
image=$(ls hostint-*-image.tar) deb=$(ls hostint_*_"$ARCH".deb)
for system; do
	bare_root "$system"
	way "$system" archive "apt-get update" "apt-get install -y curl" \
		"curl -fsS http://127.0.0.1:$port/install.sh | sh -s http://127.0.0.1:$port" "hostint demo"
	way "$system" package "apt-get install -y ./$deb" "hostint demo"
	way "$system" image "apt-get update" "apt-get install -y podman" \
		"podman run --rm --privileged --network host oci-archive:$image demo"
done
echo "ways-in.sh: all passed in $SECONDS s"
