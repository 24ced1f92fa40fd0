#!/bin/bash
# Makes a release with keys made for it, twice, and uses it as others would: checks, installs, and asks apt: release.sh ARCH=BINARY...
set -euo pipefail
tree=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
server=
clean_up() {
	[ -z "$server" ] || kill "$server" || true
	rm -rf "$work"
}
trap clean_up EXIT
fail() { echo "release.sh: $*" >&2; exit 1; }

export GNUPGHOME=$work/gpg
mkdir -m 700 "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-generate-key release@hostint.test default default never
gpg --export release@hostint.test >"$work/apt.gpg"
minisign -GW -p "$work/key.pub" -s "$work/key" >/dev/null
MINISIGN_KEY=$work/key GPG_KEY=release@hostint.test "$tree/packaging/release.sh" "$work/first" "$@"
"$tree/packaging/release.sh" "$work/second" "$@"

cd "$work/first"
sha256sum --check --strict --quiet SHA256SUMS
minisign -Vqm SHA256SUMS -p "$work/key.pub"
newer=$(find . -type f -newer SHA256SUMS ! -name SHA256SUMS.minisig)
[ -z "$newer" ] || fail "written after SHA256SUMS: $newer"
unlisted=$(find . -type f ! -name 'SHA256SUMS*' -printf '%P\n' | while read -r file; do
	grep -qF "  $file" SHA256SUMS || echo "$file"
done)
[ -z "$unlisted" ] || fail "not in SHA256SUMS: $unlisted"
# What signs is another time's: all else is the same bytes.
diff <(grep -v InRelease SHA256SUMS) "$work/second/SHA256SUMS" || fail "two runs make two releases"

for pair; do
	archive=$(ls hostint-*-linux-"${pair%%=*}".tar.gz)
	tar -xOf "$archive" "${archive%.tar.gz}/bin/hostint" | cmp - "${pair#*=}" || fail "$archive has another binary"
	for file in share/man/man8/hostint.8 share/bash-completion/completions/hostint lib/systemd/system/hostint.service \
		share/doc/hostint/hostint.toml share/doc/hostint/LICENSE share/hostint/seccomp.json etc/hostint/hostint.toml; do
		tar -tf "$archive" "${archive%.tar.gz}/$file" >/dev/null || fail "$archive has no $file"
	done
	! tar -tvf "$archive" --numeric-owner | grep -v ' 0/0 ' || fail "$archive has files of others than root"
done

python3 -m http.server --bind 127.0.0.1 --directory "$work/first" 0 >"$work/http" 2>&1 &
server=$!
for _ in $(seq 100); do
	port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/http")
	[ -n "$port" ] && break
	sleep 0.05
done
curl -fsS "http://127.0.0.1:$port/install.sh" | DESTDIR="$work/root" sh -s -- --key "$work/key.pub" "http://127.0.0.1:$port" >"$work/said"
"$work/root/usr/local/bin/hostint" --version
diff "$work/root/usr/local/share/hostint/seccomp.json" "$tree/packaging/seccomp.json"

# apt with lists, a cache and keys of its own; what is installed here is only read.
mkdir -p "$work"/apt/{lists,cache/archives/partial,etc/preferences.d,etc/trusted.gpg.d}
echo "deb [signed-by=$work/apt.gpg] file:$work/first/apt ./" >"$work/apt/etc/sources.list"
own_apt() {
	apt-get -qq -o Dir::Etc="$work/apt/etc" -o Dir::State::lists="$work/apt/lists" -o Dir::State::status=/var/lib/dpkg/status \
		-o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User=root "$@"
}
own_apt update
own_apt install --simulate hostint | grep -q '^Inst hostint ' || fail "apt would not install hostint"
(cd "$work/apt" && own_apt download hostint && cmp hostint_*.deb "$work"/first/hostint_*_"$(dpkg --print-architecture)".deb)
# A repository that is changed after it was signed is refused.
sed -i 's/^Version: .*/Version: 99/' "$work/first/apt/Packages"
rm "$work/first/apt/Packages.gz"
rm -rf "$work"/apt/lists/*
! own_apt update >"$work/said" 2>&1 || fail "apt takes a repository that was changed: $(cat "$work/said")"
echo "release.sh: all passed in $SECONDS s"
