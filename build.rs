//! Compiles the BPF programs in src/bpf and generates the skeletons that the binary embeds.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use libbpf_cargo::SkeletonBuilder;

const PROGRAMS: [&str; 20] = [
    "abi",
    "astray",
    "bound",
    "demo",
    "drop",
    "head_room",
    "passage",
    "host_times",
    "namespace_walk",
    "option_room",
    "peer",
    "queue",
    "renew",
    "sink",
    "source",
    "step",
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

    build_programs(&out, &clang, &relative);
    for name in PROGRAMS {
        watch_headers(&depfile(&out, name));
    }
    println!("cargo:rustc-env=HOSTINT_CLANG={}", clang.display());
    println!("cargo:rustc-env=HOSTINT_BPF_FLAGS={}", FLAGS.join(" "));
    println!("cargo:rerun-if-env-changed=CLANG");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=packaging/libelf-search.c");
    complete_libelf(&out);
}

/// Builds all programs, as many at once as cargo runs jobs. If several fail, the first one is told.
fn build_programs(out: &Path, clang: &Path, prefix: &str) {
    let jobs = env::var("NUM_JOBS").map_or(1, |jobs| jobs.parse().expect("a number of jobs"));
    let next = AtomicUsize::new(0);
    let failed = thread::scope(|scope| {
        let worker = || {
            let index = || next.fetch_add(1, Ordering::Relaxed);
            while let Some(name) = PROGRAMS.get(index()) {
                build_program(out, clang, prefix, name).map_err(|err| (*name, err))?;
            }
            Ok(())
        };
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(worker)).collect();
        let results = workers
            .into_iter()
            .map(|worker| worker.join().expect("no panic"));
        results
            .filter_map(Result::err)
            .min_by_key(|(name, _)| *name)
    });
    if let Some((name, err)) = failed {
        panic!("cannot build {}: {err}", source(name).display());
    }
}

/// Compiles a program and generates its skeleton.
fn build_program(out: &Path, clang: &Path, prefix: &str, name: &str) -> Result<(), String> {
    let depfile = format!("-MF{}", depfile(out, name).display());
    SkeletonBuilder::new()
        .source(source(name))
        // The compiler takes seconds to read the bytes of all programs as text.
        .obj(out.join(format!("{name}.o")))
        .reference_obj(true)
        .clang(clang)
        .clang_args(FLAGS.iter().chain(&["-MD", &depfile, prefix]))
        .build_and_generate(out.join(format!("{name}.skel.rs")))
        .map_err(|err| format!("{err:#}"))
}

fn source(name: &str) -> PathBuf {
    format!("src/bpf/{name}.bpf.c").into()
}

/// Where the compiler writes which files a program is made of.
fn depfile(out: &Path, name: &str) -> PathBuf {
    out.join(format!("{name}.d"))
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

/// A variable of the architecture that is built for, as libbpf-sys and the C compilers of other crates read it.
fn of_target(name: &str) -> Option<OsString> {
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let own = format!("{name}_{}", target.replace('-', "_"));
    env::var_os(own).or_else(|| env::var_os(name))
}

/// What the system's static libelf needs besides zlib, and does not say itself.
fn complete_libelf(out: &Path) {
    let dir = of_target("LIBBPF_SYS_LIBRARY_PATH").unwrap_or_default();
    let dir = Path::new(&dir);
    let archive = fs::read(dir.join("libelf.a")).unwrap_or_default();
    if env::var_os("CARGO_FEATURE_STATIC").is_none() || archive.is_empty() {
        return;
    }
    let contains = |name: &[u8]| archive.windows(name.len()).any(|bytes| bytes == name);
    // elfutils 0.192 forgot its search trees (sourceware bug 32293).
    if contains(b"eu_search_tree_init") && !contains(b"eu-search.o") {
        let object = out.join("libelf-search.o");
        let compiled = Command::new(of_target("CC").unwrap_or("cc".into()))
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
