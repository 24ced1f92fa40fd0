# cargo does the work; this knows the ways to it. sudo make demo and sudo make test need nothing prepared.

PREFIX ?= /usr
SYSCONFDIR ?= /etc
TARGET := x86_64-unknown-linux-gnu
BINARY := target/$(TARGET)/release/hostint
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

.PHONY: all demo test test-long test-vm lint man bench fuzz install need-root clean

all:
	cargo build --release --locked

# Two hosts as network namespaces, real TCP and UDP traffic, a few packets dropped on the way.
demo: need-root
	packaging/install-build-deps.sh --test
	cargo build --release --locked; $(GIVE_BACK)
	tests/demo.sh $(abspath $(BINARY))

test: need-root
	packaging/install-build-deps.sh --test
	cargo test --locked; $(GIVE_BACK)

# Restarts, crashes, upgrades and random operations under load, random config files and forged packets, in full
# counts.
test-long: need-root
	packaging/install-build-deps.sh --test
	HOSTINT_LONG=1 cargo test --locked --test endurance && \
		HOSTINT_LONG=1000000 cargo test --locked --test config -- mutated && \
		HOSTINT_LONG=10000000 cargo test --locked --release --test lease_answer --test flood -- nobody_outside invented_flows a_flood; $(GIVE_BACK)

lint:
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	$(CLANG_FORMAT) --dry-run -Werror include/hostint/*.h src/bpf/*.[ch]

# Writes man pages and completions from the command line's definition.
man:
	HOSTINT_BLESS=1 cargo test --locked --test manpages

# What a packet costs and what traffic loses by it; BENCHMARKS.md explains the tables.
# On kernels of Debian, under QEMU without KVM; some ten minutes each.
KERNELS ?= 5.10 6.1 6.12 7.3
KERNEL_DIR ?= $(HOME)/.cache/hostint-kernels
test-vm: need-root
	packaging/install-build-deps.sh --test --vm
	tests/vm/kernels.sh $(KERNEL_DIR) $(KERNELS)
	tests/vm/all.sh $(KERNEL_DIR) $(KERNELS); $(GIVE_BACK)

bench: need-root
	cargo bench --locked --bench datapath --bench sweep; $(GIVE_BACK)

fuzz:
	@cargo fuzz --version >/dev/null 2>&1 || { echo "make fuzz: no cargo-fuzz (try: cargo install cargo-fuzz)" >&2; exit 1; }
	cd fuzz && ./seed-corpus.sh
	cd fuzz && for target in config decode_report exporter_track read_capture read_record render_report; do \
		RUSTC_BOOTSTRAP=1 cargo fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; done

install:
	install -D -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/hostint
	for page in man/*.[1-9]; do \
		install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit 1; done
	install -D -m 644 packaging/completions/hostint.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/hostint
	install -D -m 644 packaging/completions/_hostint $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_hostint
	install -D -m 644 packaging/completions/hostint.fish \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/hostint.fish
# Where Wireshark looks for plugins differs from one distribution to the next: hostint-wire(7) says how to link this.
	install -d $(DESTDIR)$(PREFIX)/share/hostint/wireshark
	install -m 644 packaging/wireshark/*.lua $(DESTDIR)$(PREFIX)/share/hostint/wireshark/
	install -D -m 644 packaging/hostint.toml $(DESTDIR)$(PREFIX)/share/doc/hostint/hostint.toml
	[ -e $(DESTDIR)$(SYSCONFDIR)/hostint/hostint.toml ] || \
		install -D -m 644 packaging/hostint.toml $(DESTDIR)$(SYSCONFDIR)/hostint/hostint.toml
	install -D -m 644 packaging/logrotate/hostint $(DESTDIR)$(SYSCONFDIR)/logrotate.d/hostint

clean:
	cargo clean

need-root:
	@[ "$$(id -u)" = 0 ] || { echo "make $(MAKECMDGOALS): needs root (try: sudo make $(MAKECMDGOALS))" >&2; exit 1; }

# What root built stays usable for the user who called sudo; the exit code is that of the command before.
define GIVE_BACK
code=$$?; [ -z "$$SUDO_UID" ] || chown -R "$$SUDO_UID:$$SUDO_GID" target; exit $$code
endef
