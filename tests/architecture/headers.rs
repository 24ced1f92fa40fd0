//! The headers of the kernel half stand alone, include what their folder may, and share no names.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use super::{Source, c_sources, none};

/// The contracts in include/ are written in the types of this header.
const KERNEL: &str = "src/bpf/kernel/kernel.h";

/// Each folder of src/bpf, and the folders whose headers it may include. Programs may include all of them.
const ROOMS: [(&str, &[&str]); 14] = [
    ("kernel", &[]),
    ("packet", &["kernel"]),
    ("int", &["kernel", "packet"]),
    ("watch", &["kernel"]),
    ("drop", &["int", "kernel", "packet"]),
    (
        "passage",
        &["kernel", "packet", "int", "watch", "drop", "sink"],
    ),
    ("queue", &["kernel", "drop"]),
    ("tcp", &["kernel", "watch"]),
    ("source", &["kernel", "packet", "int", "watch"]),
    ("sink", &["kernel", "packet", "int"]),
    ("transit", &["kernel", "packet", "int"]),
    ("host", &["kernel", "packet", "int", "tcp", "transit"]),
    (
        "lease",
        &["kernel", "packet", "int", "watch", "source", "sink"],
    ),
    (
        "peer",
        &["kernel", "packet", "int", "watch", "source", "lease"],
    ),
];

/// Returns a file's lines without comments.
fn code(source: &Source) -> String {
    let mut code = String::new();
    let mut rest = source.text.as_str();
    while let Some((before, comment)) = rest.split_once("/*") {
        code.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    code.push_str(rest);
    let lines = code.lines();
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default().trim_end());
    lines.collect::<Vec<_>>().join("\n")
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

fn last_word(text: &str) -> &str {
    let start = text.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &text[start.map_or(0, |at| at + 1)..]
}

/// Returns the types, enumerators, constants, maps, macros and functions that a file defines. A type has its kind
/// before its name, as in `struct flow_key`, because C has a name space of its own for types.
fn definitions(source: &Source) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut in_enum = false;
    for line in code(source).lines() {
        let opens = line.ends_with('{') && !line.contains('(');
        let kind = ["struct", "union", "enum"]
            .into_iter()
            .find(|kind| opens && word(line) == *kind);
        let name = if let Some(kind) = kind {
            in_enum = kind == "enum";
            let name = word(line[kind.len()..].trim_start());
            (!name.is_empty()).then(|| format!("{kind} {name}"))
        } else if line.starts_with('}') {
            in_enum = false;
            let map = line.strip_prefix("} ");
            let map = map.and_then(|rest| rest.strip_suffix(" SEC(\".maps\");"));
            map.map(str::to_owned)
        } else if let Some(rest) = line.strip_prefix("#define ") {
            Some(word(rest).to_owned()).filter(|name| !name.starts_with("HOSTINT_"))
        } else if let Some(rest) = line.strip_prefix("typedef ") {
            // That of a function has its name in front of its parameters.
            let head = rest.split_once('(').map_or(rest, |(head, _)| head);
            Some(last_word(head.trim_end_matches(';')).to_owned())
        } else if let Some((constant, _)) = line
            .strip_prefix("const volatile ")
            .and_then(|rest| rest.split_once(" ="))
        {
            Some(last_word(constant).to_owned())
        } else if in_enum {
            Some(word(line.trim_start()).to_owned()).filter(|name| !name.is_empty())
        } else if line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let function = line.split_once('(').map(|(head, _)| last_word(head));
            let function = function.filter(|name| !["SEC", "_Static_assert"].contains(name));
            function.map(str::to_owned)
        } else {
            None
        };
        found.extend(name);
    }
    found
}

/// Returns the names in a file, types with their kind as in `definitions`. Names of members are left out.
fn names(source: &Source) -> BTreeSet<String> {
    let code = code(source);
    let lines = code.lines().filter(|line| !line.starts_with("#include"));
    let mut found = BTreeSet::new();
    for line in lines {
        let mut kind = String::new();
        let mut before = ' ';
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let word = word(rest);
            if ["struct", "union", "enum"].contains(&word) {
                kind = format!("{word} ");
            } else if !word.is_empty() {
                if before != '.' && before != '>' {
                    found.insert(format!("{kind}{word}"));
                }
                kind.clear();
            }
            let step = word.len().max(first.len_utf8());
            before = rest[..step].chars().next_back().unwrap_or(' ');
            rest = &rest[step..];
        }
    }
    found
}

/// Returns the headers that a file includes, but for libbpf's. Each is named from src/bpf or from include on.
fn includes<'a>(source: &Source, all: &'a BTreeMap<String, Source>) -> Vec<&'a Source> {
    let code = code(source);
    let names = code.lines().filter_map(|line| {
        let name = line.strip_prefix("#include \"")?;
        name.strip_suffix('"')
    });
    names
        .map(|name| {
            let found = ["src/bpf", "include"]
                .into_iter()
                .find_map(|root| all.get(&format!("{root}/{name}")));
            found.unwrap_or_else(|| panic!("{} includes {name}: no such file", source.path))
        })
        .collect()
}

fn files() -> BTreeMap<String, Source> {
    let all = c_sources().into_iter();
    all.map(|source| (source.path.clone(), source)).collect()
}

/// Writes libbpf's headers to a folder for clang, as libbpf-cargo does for the build.
static LIBBPF_HEADERS: LazyLock<PathBuf> = LazyLock::new(|| {
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libbpf-headers");
    std::fs::create_dir_all(parent.join("bpf")).unwrap();
    for (name, text) in libbpf_sys::API_HEADERS {
        std::fs::write(parent.join("bpf").join(name), text).unwrap();
    }
    parent
});

/// The compiler of the programs, as the build calls it.
fn clang() -> Command {
    let mut clang = Command::new(env!("HOSTINT_CLANG"));
    clang
        .args(env!("HOSTINT_BPF_FLAGS").split(' '))
        .args(["-target", "bpf", "-I"])
        .arg(&*LIBBPF_HEADERS)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    clang
}

/// Compiles these lines and returns clang's first error, or nothing.
fn mistakes(lines: &str) -> String {
    let mut clang = clang()
        .args(["-fsyntax-only", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the clang that built the programs runs");
    let mut stdin = clang.stdin.take().unwrap();
    stdin.write_all(lines.as_bytes()).unwrap();
    drop(stdin);
    let output = clang.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let first = text.lines().find(|line| line.contains("error: "));
    assert_eq!(output.status.success(), first.is_none(), "{text}");
    first.unwrap_or_default().to_owned()
}

#[test]
fn each_header_compiles_alone() {
    let mut found = Vec::new();
    for path in files().keys().filter(|path| path.ends_with(".h")) {
        let mut lines = format!("#include \"{path}\"\n");
        if path.starts_with("include/") {
            lines.insert_str(0, &format!("#include \"{KERNEL}\"\n"));
        }
        let mistake = mistakes(&lines);
        if !mistake.is_empty() {
            found.push(format!("{path}: {mistake}"));
        }
    }
    none("these headers do not compile alone", &found);
}

/// What the compiler reads of a program when it builds it for an architecture. From the same it makes the same object.
fn preprocessed(path: &str, architecture: &str) -> String {
    let mut clang = clang();
    clang.args(["-E", path, &format!("-D__TARGET_ARCH_{architecture}")]);
    let output = clang.output().expect("the clang of the programs runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).expect("C is text")
}

#[test]
fn the_programs_are_the_same_for_each_architecture() {
    let all = files();
    let programs = all.keys().filter(|path| path.ends_with(".bpf.c"));
    let differ = |path: &&String| preprocessed(path, "x86") != preprocessed(path, "arm64");
    let found: Vec<String> = programs.filter(differ).cloned().collect();
    none("not the same object for x86-64 and for arm64", &found);
}

#[test]
fn no_headers_include_each_other_in_a_circle() {
    fn walk(source: &Source, all: &BTreeMap<String, Source>, chain: &mut Vec<String>) {
        chain.push(source.path.clone());
        for next in includes(source, all) {
            assert!(!chain.contains(&next.path), "{chain:?}, {}", next.path);
            walk(next, all, chain);
        }
        chain.pop();
    }
    let all = files();
    for source in all.values() {
        walk(source, &all, &mut Vec::new());
    }
}

#[test]
fn each_name_has_one_home() {
    let mut homes: BTreeMap<String, String> = BTreeMap::new();
    let mut found = Vec::new();
    for source in files().into_values() {
        for name in definitions(&source) {
            let other = homes.insert(name.clone(), source.path.clone());
            found.extend(other.map(|other| format!("{name}: {other}, {}", source.path)));
        }
    }
    assert!(homes.contains_key("struct flow_key") && homes.contains_key("sink_tc"));
    none("defined in two files", &found);
}

#[test]
fn the_map_of_a_packets_way_names_every_counter() {
    let all = files();
    let counters = definitions(&all["include/hostint/count.h"]);
    for (program, prefix) in [
        ("source", "COUNT_SOURCE_"),
        ("sink", "COUNT_SINK_"),
        ("transit", "COUNT_TRANSIT_"),
    ] {
        let source = &all[&format!("src/bpf/{program}.bpf.c")];
        let (map, _) = source.text.split_once("*/").unwrap();
        let named: BTreeSet<&str> = map
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .collect();
        let names = counters.iter().filter_map(|name| name.strip_prefix(prefix));
        let missing: Vec<String> = names
            .filter(|name| *name != "MAX" && !named.contains(name))
            .map(str::to_owned)
            .collect();
        none(&format!("not in {}'s first comment", source.path), &missing);
    }
    assert!(counters.contains("COUNT_SOURCE_TAGGED") && counters.contains("COUNT_SINK_RECEIVED"));
}

#[test]
fn folders_include_only_what_they_may() {
    let all = files();
    let mut found = Vec::new();
    let headers = all.values().filter(|source| source.path.ends_with(".h"));
    for source in headers {
        let Some(below) = source.path.strip_prefix("src/bpf/") else {
            continue;
        };
        let (room, _) = below
            .split_once('/')
            .unwrap_or_else(|| panic!("{} lies in no folder", source.path));
        let (_, may) = ROOMS
            .into_iter()
            .find(|(name, _)| *name == room)
            .unwrap_or_else(|| panic!("src/bpf/{room} is no room"));
        for header in includes(source, &all) {
            let mut parts = header
                .path
                .strip_prefix("src/bpf/")
                .unwrap_or("")
                .split('/');
            let other = parts.next().unwrap_or_default();
            if !other.is_empty() && other != room && !may.contains(&other) {
                found.push(format!("{} includes {}", source.path, header.path));
            }
        }
    }
    none("includes through a wall", &found);
}

#[test]
fn each_include_is_needed() {
    let all = files();
    let mut found = Vec::new();
    for source in all.values() {
        let used = names(source);
        for header in includes(source, &all) {
            if header.path != KERNEL && used.is_disjoint(&definitions(header)) {
                found.push(format!("{} includes {}", source.path, header.path));
            }
        }
    }
    none("no name of the included file is used", &found);
}
