# cargo does the work; this knows the ways to it. sudo make demo and sudo make test need nothing prepared.

PREFIX ?= /usr
SYSCONFDIR ?= /etc
# What is built, packed and tried in QEMU is for this machine's architecture, or for another one: ARCH=arm64.
NAMES := $(shell ARCH=$(ARCH); . packaging/architecture.sh && echo $$ARCH $$TARGET $$RUN)
$(if $(NAMES),,$(error ARCH=$(ARCH)))
override ARCH := $(word 1,$(NAMES))
TARGET := $(word 2,$(NAMES))
# Runs a program of it here, and what is installed to build it.
RUN := $(word 3,$(NAMES))
FOREIGN := $(if $(RUN),--$(ARCH))
export ARCH
export CARGO_BUILD_TARGET := $(TARGET)
BUILT := $(or $(CARGO_TARGET_DIR),target)/$(TARGET)
BINARY ?= $(BUILT)/release/hostint
CLANG_FORMAT ?= $(lastword clang-format $(shell bash -c 'compgen -c clang-format-' | sort -V | grep -x 'clang-format-[0-9]*'))
FUZZ_SECONDS ?= 60

# Under sudo, cargo may live in the home of the user who called.
CALLER_HOME := $(shell getent passwd "$${SUDO_USER:-$$(id -un)}" | cut -d : -f 6)
export PATH := $(CALLER_HOME)/.cargo/bin:$(HOME)/.cargo/bin:$(PATH)
ifneq ($(CALLER_HOME),$(HOME))
ifneq ($(wildcard $(CALLER_HOME)/.rustup),)
export RUSTUP_HOME ?= $(CALLER_HOME)/.rustup
endif
endif

# A first build takes two thirds of the time so. cargo test by itself is incremental: there, what has changed is built again.
export CARGO_INCREMENTAL ?= 0

# No paths of this machine in what is given out, so that all builds of one version with one compiler are one file.
CARGO_DIR := $(or $(CARGO_HOME),$(CALLER_HOME)/.cargo)
RELEASE := cargo build --release --locked \
	--config 'target.$(TARGET).rustflags=["--remap-path-prefix=$(CURDIR)=.","--remap-path-prefix=$(CARGO_DIR)=cargo"]'

# The build that make test needs too, in less than half of a release's time.
QUICK := cargo build --locked
QUICK_BINARY := $(abspath $(BUILT)/debug/hostint)

.PHONY: all demo demo-drops demo-path demo-tcp demo-figures test test-pods test-pod-networks test-chart-pods test-unprivileged screenshots test-clocks test-engines test-kafka test-incidents test-long test-networks test-operations test-vm test-arm64 test-vm-clocks test-packages source-packages test-systemd \
	test-image test-release test-ways-in lint style charts audit man bench fuzz fuzz-check image release install sbom deb rpm reproducible need-root clean

all:
	$(RELEASE)

# Two hosts as network namespaces, real TCP and UDP traffic, a few packets dropped on the way.
demo: need-root
	packaging/install-build-deps.sh --demo
	$(QUICK); $(GIVE_BACK)
	$(QUICK_BINARY) demo || { [ $$? = 3 ] && $(QUICK_BINARY) demo --recorded; }

# The same with drops at three places, whose loss hostint splits.
demo-drops: need-root
	packaging/install-build-deps.sh --demo
	$(QUICK); $(GIVE_BACK)
	tests/demo-drops.sh $(QUICK_BINARY)

# Two hosts, three routers and a container: a slow queue and loss, and where on the path they are.
demo-path: need-root
	packaging/install-build-deps.sh --demo
	$(QUICK); $(GIVE_BACK)
	tests/demo-path.sh $(QUICK_BINARY) $(MODE)

# Two hosts and two routers: what limits TCP connections, and which hop is the bottleneck.
demo-tcp: need-root
	packaging/install-build-deps.sh --demo
	$(QUICK); $(GIVE_BACK)
	tests/demo-tcp.sh $(QUICK_BINARY)

# Real containers of podman: named, timed as soon as they come, and gone without a trace (ROUNDS=5).
test-pods: need-root
	$(QUICK); $(GIVE_BACK)
	tests/pods.sh $(QUICK_BINARY) $(or $(ROUNDS),5)

# Pod networks of real CNI plugins, ways through them and places of hostint; a quarter of an hour (KINDS="ptp vxlan" chooses).
# With POD_KERNEL=6.12 in QEMU on that kernel of Debian, by default kinds for which not every kernel has devices.
test-pod-networks: need-root
	packaging/install-build-deps.sh --pods $(if $(POD_KERNEL),--vm)
	$(QUICK); $(GIVE_BACK)
	$(if $(POD_KERNEL),tests/vm/kernels.sh $(KERNEL_DIR) $(POD_KERNEL))
	$(if $(POD_KERNEL),VM_TIMEOUT=14400 tests/vm/run.sh $(KERNEL_DIR)/$(POD_KERNEL) tests/vm/pods.sh $(QUICK_BINARY) $(KINDS), \
		KINDS="$(KINDS)" python3 tests/pod-networks.py $(QUICK_BINARY))

# Six hosts, 150 flows, a pair that loses packets and a slow path: figures of the history beside those of the sinks.
demo-figures: need-root
	packaging/install-build-deps.sh --demo
	cargo test --locked --test netns root::six_nodes -- --nocapture; $(GIVE_BACK)

# The pods of the chart, as it renders them, run by podman on two nodes and a collector: measured, off, on again.
test-chart-pods: need-root
	packaging/install-build-deps.sh --lint
	$(QUICK); $(GIVE_BACK)
	tests/chart-pods.py $(QUICK_BINARY)

test: need-root
	packaging/install-build-deps.sh --test
	tests/all.sh; $(GIVE_BACK)

# All that needs neither root nor programs besides those of a build.
test-unprivileged:
	cargo test --locked --package hostint-order
	cargo test --locked -- --skip root:: --skip tools::

# Pictures of the page in target/screenshots: light, dark, wide, on a phone, empty, stale and without a collector.
screenshots:
	[ -d tests/web/node_modules ] || npm --prefix tests/web ci --ignore-scripts --no-audit --no-fund
	cargo test --locked --test web screenshots

# A million simulated pairs of hosts, and meshes: the intervals of their clocks hold, estimates are off by a microsecond.
test-clocks:
	HOSTINT_TEST_CASES=1000000 cargo test --locked --test clocks -- --nocapture

# Restarts, crashes, upgrades and random operations under load, random config files, random and forged packets, and outages
# of engines, in full counts.
test-long: need-root
	packaging/install-build-deps.sh --test
	HOSTINT_LONG=1 cargo test --locked --test netns --test engines -- \
		endurance:: fleet:: networks::loss clickhouse:: ipfix:: kafka:: otlp:: push:: && \
		HOSTINT_LONG=1000000 cargo test --locked --test config mutated:: && \
		HOSTINT_LONG=10000000 cargo test --locked --release --test lease --test datapath -- \
		answer::root::nobody_outside flood:: && \
		HOSTINT_LONG=1000000 cargo test --locked --release --test datapath tracking:: && \
		HOSTINT_TEST_FRAMES=250000 cargo test --locked --release --test datapath random && \
		HOSTINT_LONG=1 cargo test --locked --release --test verdict; $(GIVE_BACK)

# A million random operations on packets, connections, networks and daemons; a run may end at any time, and the next one goes on.
OPERATIONS ?= 1000000
OPERATION_SUMS ?= target/operations
test-operations: need-root
	packaging/install-build-deps.sh --test
	HOSTINT_OPERATIONS=$(OPERATIONS) HOSTINT_OPERATION_SUMS=$(abspath $(OPERATION_SUMS)) \
		cargo test --locked --test netns root::operations -- --nocapture; $(GIVE_BACK)

# Real incidents between six hosts, each said by the verdict, or not, in an hour and a half. CASES="ECMP surge" chooses.
test-incidents: need-root
	packaging/install-build-deps.sh --test
	$(QUICK); $(GIVE_BACK)
	HOSTINT=$(QUICK_BINARY) python3 tests/incidents.py $(CASES)

# Engines that a distribution does not bring, some 900 MB the first time.
test-engines: need-root
	packaging/install-build-deps.sh --test --engines
	cargo test --locked --features real-engines --test engines clickhouse::modern::; $(GIVE_BACK)

# A real Kafka broker, which takes half an hour to build the first time; HOSTINT_LONG=1 for a million reports.
test-kafka: need-root
	packaging/install-build-deps.sh --test --kafka
	cargo test --locked --features real-engines --test engines kafka::broker::; $(GIVE_BACK)

# Everything that can happen to hostint in networks that may not like it, under all kinds of traffic (CASES=matrix, a quarter of
# an hour); then real applications in some of them, with hostint and without, for half an hour. A case that has run is not
# run again. CASES="NAT quic IPv4" chooses. HOSTINT_NETWORKS_ALONE=1 runs the matrix without hostint.
NETWORKS ?= target/networks.jsonl
test-networks: need-root
	packaging/install-build-deps.sh --test --networks
	cargo test --locked --test networks -- --results $(abspath $(NETWORKS)) $(CASES); $(GIVE_BACK)

lint: style charts
	cargo clippy --locked --all-targets -- -D warnings

style:
	cargo fmt --check
	$(CLANG_FORMAT) --dry-run -Werror include/hostint/*.h src/bpf/*.c src/bpf/*/*.h

# The chart by a table of values, rendered by Helm's engine and valid on four versions of Kubernetes; two seconds.
charts:
	python3 tests/charts.py

# Licences, duplicates, sources and known holes of what is linked in (deny.toml). What is known of holes changes without
# us, and needs the network: ADVISORIES= leaves it out, as every run of the project's own checks does. The rest depends on
# these files alone: while they are as .ci/audited says, the project's own checks need not repeat it.
AUDITED := Cargo.lock Cargo.toml tests/order/Cargo.toml tests/support/Cargo.toml deny.toml
ADVISORIES ?= advisories
audit:
	@cargo deny --version >/dev/null 2>&1 || { echo "make audit: no cargo-deny (try: sudo packaging/install-build-deps.sh --audit)" >&2; exit 1; }
	cargo deny check licenses bans sources $(ADVISORIES)
	sha256sum $(AUDITED) >.ci/audited

# Writes man pages from the command line's definition.
man:
	HOSTINT_BLESS=1 cargo test --locked --test cli manpages::

# On kernels of Debian, under QEMU without KVM; some ten minutes each. Those of GUESTS refuse some of what hostint asks for.
KERNELS ?= 5.10 6.1 6.12 7.3
GUESTS ?= 6.1-locked 6.12-locked 6.12-typeless
KERNEL_DIR ?= $(HOME)/.cache/hostint-kernels
test-vm: need-root
	packaging/install-build-deps.sh $(if $(FOREIGN),$(FOREIGN) --root,--test) --vm
	$(if $(FOREIGN),tests/vm/root.sh $(ROOT_DIR)-$(ARCH))
	tests/vm/kernels.sh $(KERNEL_DIR) $(sort $(KERNELS) $(patsubst %-typeless,%,$(patsubst %-locked,%,$(GUESTS))))
	$(if $(FOREIGN),VM_FILES=$(ROOT_DIR)-$(ARCH)/root) tests/vm/all.sh $(KERNEL_DIR) $(KERNELS) $(GUESTS); $(GIVE_BACK)

# The same on another architecture: QEMU translates each instruction, and stronger ordering of memory than real arm64 has.
ARM64_KERNELS ?= 5.10 6.1 6.12 6.12-16k
test-arm64:
	$(MAKE) test-vm ARCH=arm64 KERNELS="$(ARM64_KERNELS)" GUESTS=

# Three guests with clocks of their own: the true latencies of their packets lie in the collector's intervals. Runs add to
# the sums in KERNEL_DIR.
CLOCK_KERNEL ?= 6.12
CLOCK_MINUTES ?= 30
test-vm-clocks: need-root
	packaging/install-build-deps.sh --test --vm
	tests/vm/kernels.sh $(KERNEL_DIR) $(CLOCK_KERNEL)
	tests/vm/clocks.sh $(KERNEL_DIR) $(CLOCK_KERNEL) $(CLOCK_MINUTES); $(GIVE_BACK)

# Installs, tries, upgrades, removes and purges both packages in a clean Debian; a minute or two, and two more the first
# time.
ROOT_DIR ?= $(HOME)/.cache/hostint-root
test-packages: deb rpm
	packaging/install-build-deps.sh --root
	tests/vm/root.sh $(ROOT_DIR)
	tests/packages.sh $(ROOT_DIR)

# An archive with the sources of everything; both packages built from it as a distribution does, against this system's
# shared libraries and without a network; and their life in a clean Debian. Some ten minutes.
source-packages: need-root
	packaging/install-build-deps.sh --source-packages --root
	tests/vm/root.sh $(ROOT_DIR)
	rm -rf target/source-packages
	packaging/from-source.sh target/source-packages && tests/packages.sh $(ROOT_DIR) target/source-packages; $(GIVE_BACK)

# The service and the .deb under systemd, in QEMU; some eight minutes for each kernel.
SYSTEMD_KERNELS ?= 6.12
test-systemd: deb
	packaging/install-build-deps.sh --root --vm
	tests/vm/root.sh $(ROOT_DIR)
	tests/vm/kernels.sh $(KERNEL_DIR) $(SYSTEMD_KERNELS)
	tests/vm/systemd.sh $(ROOT_DIR) $(addprefix $(KERNEL_DIR)/,$(SYSTEMD_KERNELS))

# What a packet costs and what traffic loses by it; BENCHMARKS.md explains the tables.
bench: need-root
	packaging/install-build-deps.sh --bench
	cargo bench --locked --bench datapath --bench sweep --bench collect --bench clocks --bench scrape --bench reports --bench store \
		--bench sizing --bench engines --bench verdict; $(GIVE_BACK)

# Whether the fuzz targets still fit the library, without a fuzzer.
fuzz-check:
	cd fuzz && cargo check --locked

fuzz:
	@cargo fuzz --version >/dev/null 2>&1 || { echo "make fuzz: no cargo-fuzz (try: cargo install cargo-fuzz)" >&2; exit 1; }
	cd fuzz && ./seed-corpus.sh
	cd fuzz && for target in config decode_report exporter_track read_capture read_histogram read_lease read_probe read_record read_stored \
		render_report; do \
		RUSTC_BOOTSTRAP=1 cargo fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; done

# One list of files for all packages. A config file that is there stays as it is.
UNITS := $(notdir $(wildcard packaging/systemd/*))
SHARE := $(DESTDIR)$(PREFIX)/share
install:
	install -D -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/hostint
	for page in man/*.[1-9]; do \
		install -D -m 644 $$page $(SHARE)/man/man$${page##*.}/$${page##*/} || exit 1; done
	install -d $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	$(RUN) $(BINARY) completions bash >$(SHARE)/bash-completion/completions/hostint
	$(RUN) $(BINARY) completions zsh >$(SHARE)/zsh/site-functions/_hostint
	$(RUN) $(BINARY) completions fish >$(SHARE)/fish/vendor_completions.d/hostint.fish
	chmod 644 $(SHARE)/bash-completion/completions/hostint $(SHARE)/zsh/site-functions/_hostint \
		$(SHARE)/fish/vendor_completions.d/hostint.fish
	mkdir -p $(DESTDIR)$(PREFIX)/lib/systemd/system
	for unit in $(UNITS); do \
		sed 's,/usr/bin/hostint,$(PREFIX)/bin/hostint,' packaging/systemd/$$unit \
			>$(DESTDIR)$(PREFIX)/lib/systemd/system/$$unit || exit 1; done
	chmod 644 $(addprefix $(DESTDIR)$(PREFIX)/lib/systemd/system/,$(UNITS))
# Where Wireshark looks for plugins differs from one distribution to the next: hostint-wire(7) says how to link this.
	install -d $(SHARE)/hostint/wireshark
	install -m 644 packaging/wireshark/*.lua $(SHARE)/hostint/wireshark/
	for schema in reports clocks; do \
		install -D -m 644 packaging/proto/hostint/$$schema/v1.proto \
			$(SHARE)/hostint/proto/hostint/$$schema/v1.proto || exit 1; done
	install -D -m 644 packaging/hostint.toml $(SHARE)/doc/hostint/hostint.toml
	[ -e $(DESTDIR)$(SYSCONFDIR)/hostint/hostint.toml ] || \
		install -D -m 644 packaging/hostint.toml $(DESTDIR)$(SYSCONFDIR)/hostint/hostint.toml
	install -D -m 644 packaging/logrotate/hostint $(DESTDIR)$(SYSCONFDIR)/logrotate.d/hostint
	install -d $(SHARE)/hostint/ipfix
	install -m 644 packaging/ipfix/* $(SHARE)/hostint/ipfix/
	for dashboard in $(wildcard packaging/grafana/*.json); do \
		install -D -m 644 $$dashboard $(SHARE)/hostint/grafana/$${dashboard##*/} || exit 1; done
	install -d $(SHARE)/hostint/prometheus
	install -m 644 packaging/prometheus/*.yml $(SHARE)/hostint/prometheus/
	install -d $(SHARE)/hostint/clickhouse
	install -m 644 packaging/clickhouse/*.sql $(SHARE)/hostint/clickhouse/
	install -m 644 packaging/seccomp.json packaging/install.sh $(SHARE)/hostint/
	for file in README.md CHANGELOG.md LICENSE $(wildcard target/sbom/*); do \
		install -D -m 644 $$file $(SHARE)/doc/hostint/$${file##*/} || exit 1; done

# The container image and all that a release gives out, with an image and an archive of each of these.
BINARIES ?= $(ARCH)=$(BINARY)
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
RELEASE_DIR ?= target/release-$(VERSION)
image:
	$(RELEASE)
	packaging/image.py target/hostint-$(VERSION)-image.tar $(BINARIES)

release: need-root
	packaging/install-build-deps.sh --package --release
	$(RELEASE)
	packaging/release.sh $(RELEASE_DIR) $(BINARIES); $(GIVE_BACK)

# The image's roles in containers of podman, with the least that each needs, and with less; two minutes.
test-image: need-root image
	packaging/install-build-deps.sh --image
	tests/container_roles.py target/hostint-$(VERSION)-image.tar; $(GIVE_BACK)

# A release that is signed by keys made for that: checked, installed, and read by apt.
test-release: need-root
	packaging/install-build-deps.sh --package --release
	$(RELEASE)
	tests/release.sh $(BINARIES); $(GIVE_BACK)

# The README's ways in, with what make release made: on bare systems to the first report, with the seconds of each command.
SYSTEMS ?= bookworm trixie
test-ways-in: release
	packaging/install-build-deps.sh --root
	tests/ways-in.sh $(RELEASE_DIR) $(ROOT_DIR)-bare $(SYSTEMS)

# Two builds in different folders, and the packages made of them, are compared byte by byte.
reproducible: need-root
	packaging/install-build-deps.sh --package $(FOREIGN)
	packaging/reproducible.sh; $(GIVE_BACK)

# Packages are put into target/packages. SUFFIX makes another version of them.
SUFFIX ?=
sbom:
	packaging/sbom.py target/sbom

deb: need-root
	packaging/install-build-deps.sh --package $(FOREIGN)
	$(RELEASE)
	packaging/sbom.py target/sbom
	rm -f target/packages/*_$(ARCH).deb
	packaging/deb/build.sh target/packages $(SUFFIX); $(GIVE_BACK)

rpm: need-root
	packaging/install-build-deps.sh --package $(FOREIGN)
	$(RELEASE)
	packaging/sbom.py target/sbom
	rm -f target/packages/*.$(firstword $(subst -, ,$(TARGET))).rpm
	packaging/rpm/build.sh target/packages $(SUFFIX); $(GIVE_BACK)

clean:
	cargo clean

need-root:
	@[ "$$(id -u)" = 0 ] || { echo "make $(MAKECMDGOALS): needs root (try: sudo make $(MAKECMDGOALS))" >&2; exit 1; }

# What root built stays usable for the user who called sudo; the exit code is that of the command before.
define GIVE_BACK
code=$$?; [ -z "$$SUDO_UID" ] || chown -R "$$SUDO_UID:$$SUDO_GID" target; exit $$code
endef
