//! Compiles the BPF programs in src/bpf and generates the skeletons that the binary embeds.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libbpf_cargo::SkeletonBuilder;

const PROGRAMS: [&str; 17] = [
    "abi",
    "astray",
    "bound",
    "drop",
    "head_room",
    "hop",
    "host_times",
    "namespace_walk",
    "peer",
    "queue",
    "renew",
    "sink",
    "source",
    "task_walk",
    "tcp_walk",
    "transit",
    "transit_sent",
];

/// Every program is compiled with these flags; a test compiles each header with them, too.
const FLAGS: [&str; 8] = [
    "-Iinclude",
    "-Isrc/bpf",
    "-O2",
    "-mcpu=v3",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused-parameter",
];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let clang = find_clang();
    // The line numbers in the programs name files; two builds of one version are to be one file.
    let here = env::current_dir().expect("cargo starts it in the package");
    let relative = format!("-ffile-prefix-map={}=.", here.display());

    let next_abi = match env::var_os("CARGO_FEATURE_NEXT_ABI") {
        Some(_) => "-DNEXT_ABI",
        None => "-UNEXT_ABI",
    };
    for name in PROGRAMS {
        let source = PathBuf::from(format!("src/bpf/{name}.bpf.c"));
        let depfile = out.join(format!("{name}.d"));
        SkeletonBuilder::new()
            .source(&source)
            // The compiler takes seconds to read the bytes of all programs as text.
            .obj(out.join(format!("{name}.o")))
            .reference_obj(true)
            .clang(&clang)
            .clang_args(FLAGS.map(str::to_owned).into_iter().chain([
                "-MD".into(),
                format!("-MF{}", depfile.display()),
                next_abi.into(),
                relative.clone(),
            ]))
            .build_and_generate(out.join(format!("{name}.skel.rs")))
            .unwrap_or_else(|err| panic!("cannot build {}: {err:#}", source.display()));
        watch_headers(&depfile);
    }
    println!("cargo:rustc-env=HOSTINT_CLANG={}", clang.display());
    println!("cargo:rustc-env=HOSTINT_BPF_FLAGS={}", FLAGS.join(" "));
    println!("cargo:rerun-if-env-changed=CLANG");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=packaging/libelf-search.c");
    complete_libelf(&out);
}

/// `$CLANG`, else plain clang, else the newest versioned one.
fn find_clang() -> PathBuf {
    if let Some(clang) = env::var_os("CLANG") {
        return clang.into();
    }
    let versioned = (14..=30).rev().map(|version| format!("clang-{version}"));
    std::iter::once("clang".to_owned())
        .chain(versioned)
        .find(|name| Command::new(name).arg("--version").output().is_ok())
        .map(PathBuf::from)
        .expect("no clang found: install clang 14 or newer, or name one in CLANG")
}

/// Rebuild when one of exactly those files changes that clang read.
fn watch_headers(depfile: &Path) {
    let rule = fs::read_to_string(depfile).expect("clang wrote a depfile");
    let (_, files) = rule.split_once(':').expect("a make rule");
    let ours = |file: &&str| *file != "\\" && !Path::new(file).is_absolute();
    for file in files.split_whitespace().filter(ours) {
        println!("cargo:rerun-if-changed={file}");
    }
}

/// What the system's static libelf needs besides zlib, and does not say itself.
fn complete_libelf(out: &Path) {
    let dir = env::var("LIBBPF_SYS_LIBRARY_PATH").unwrap_or_default();
    let dir = Path::new(&dir);
    let archive = fs::read(dir.join("libelf.a")).unwrap_or_default();
    if env::var_os("CARGO_FEATURE_STATIC").is_none() || archive.is_empty() {
        return;
    }
    let contains = |name: &[u8]| archive.windows(name.len()).any(|bytes| bytes == name);
    // elfutils 0.192 forgot its search trees (sourceware bug 32293).
    if contains(b"eu_search_tree_init") && !contains(b"eu-search.o") {
        let object = out.join("libelf-search.o");
        let compiled = Command::new(env::var_os("CC").unwrap_or("cc".into()))
            .args(["-c", "-O2", "-fPIC", "-Wall", "-o"])
            .arg(&object)
            .arg("packaging/libelf-search.c")
            .status();
        assert!(
            compiled.is_ok_and(|status| status.success()),
            "cannot compile libelf-search.c"
        );
        println!("cargo:rustc-link-arg={}", object.display());
    }
    // From 0.189 on it needs zstd. By path: -lzstd would choose the shared library.
    let zstd = dir.join("libzstd.a");
    if zstd.exists() {
        println!("cargo:rustc-link-arg={}", zstd.display());
    }
}
