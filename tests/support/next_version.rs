//! A program of another version of hostint, for upgrades.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use crate::places;

/// The program that HOSTINT_OTHER_VERSION names, else a build of the same sources with another layout of maps, as a
/// later version may have.
pub fn other_version() -> PathBuf {
    // A second look would wait for whatever else cargo builds meanwhile.
    static BUILT: LazyLock<PathBuf> = LazyLock::new(build_next);
    match std::env::var_os("HOSTINT_OTHER_VERSION") {
        Some(path) => path.into(),
        None => BUILT.clone(),
    }
}

fn build_next() -> PathBuf {
    let args = ["--features", "next-abi", "--bin", "hostint-next"];
    let mut build = Command::new(env!("CARGO"));
    // What cargo tells a test of its package would have crates built anew that look at it, and all that use them: now,
    // and once more by the next cargo that is called without.
    let of_package =
        |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars().filter(|(name, _)| of_package(name)) {
        build.env_remove(name);
    }
    let status = build
        .current_dir(places::repository())
        .args(["build", "--locked"])
        .args(args)
        // It is built once and never debugged.
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .status()
        .unwrap();
    assert!(status.success(), "the next version does not build");
    PathBuf::from(places::hostint()).with_file_name("hostint-next")
}
