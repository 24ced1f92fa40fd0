# What the architecture is called that is built for, to be sourced: ARCH is Debian's name (amd64, arm64), which may be set before
# and is the build machine's by default; CPU is that of RPM, GNU and the kernel, TARGET that of Rust. RUN runs a program of it here.
case ${ARCH:=$(uname -m)} in
amd64 | x86_64) ARCH=amd64 CPU=x86_64 ;;
arm64 | aarch64) ARCH=arm64 CPU=aarch64 ;;
*)
	echo "there is no build for ARCH=$ARCH (try amd64 or arm64)" >&2
	exit 2
	;;
esac
TARGET=$CPU-unknown-linux-gnu
RUN=
[ "$CPU" = "$(uname -m)" ] || RUN=qemu-$CPU-static
# cargo builds for it, whatever .cargo/config.toml has.
export ARCH CARGO_BUILD_TARGET=$TARGET
