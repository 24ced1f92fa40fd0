//! The house has walls: who may import whom, where unsafe code lives, how long a file gets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A room under src/, and the rooms it may import from.
const ROOMS: [(&str, &[&str]); 15] = [
    ("model", &[]),
    ("os", &[]),
    ("wire", &["model"]),
    ("config", &["model"]),
    ("cli", &["config", "model"]),
    ("datapath", &["model", "os", "config"]),
    ("report", &["model", "wire"]),
    ("lease", &["model", "wire"]),
    ("collector", &["model", "wire"]),
    ("control", &["model"]),
    ("engines", &["model"]),
    ("store", &["model"]),
    ("views", &["model"]),
    ("web", &["model"]),
    (
        "commands",
        &[
            "cli",
            "collector",
            "config",
            "control",
            "datapath",
            "engines",
            "lease",
            "model",
            "os",
            "report",
            "store",
            "views",
            "web",
            "wire",
        ],
    ),
];

/// What main.rs is made of.
const MAIN: [&str; 3] = ["cli", "commands", "os"];

struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The first folder or file name below src/.
    fn room(&self) -> &str {
        let below = self.path.strip_prefix("src/").unwrap();
        let first = below.split('/').next().unwrap();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// Lines with their numbers, comments cut off.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(i, line)| {
            let code = line.split("//").next().unwrap_or_default();
            (i + 1, code)
        })
    }
}

fn collect(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            collect(&path, extensions, found);
        } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
            found.push(path);
        }
    }
}

fn sources(folder: &str, extensions: &[&str]) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    collect(&root.join(folder), extensions, &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "{folder} has none of {extensions:?}");
    paths
        .into_iter()
        .map(|path| Source {
            path: path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned(),
            text: std::fs::read_to_string(&path).unwrap(),
        })
        .collect()
}

fn c_sources() -> Vec<Source> {
    let mut all = sources("src/bpf", &["c", "h"]);
    all.extend(sources("include", &["h"]));
    all
}

fn none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

/// The names that follow `prefix` in a line: `crate::wire::…` gives wire.
fn names_behind<'a>(line: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(prefix).map(|(at, _)| {
        let rest = &line[at + prefix.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[test]
fn rooms_import_only_what_they_may() {
    let allowed: BTreeMap<&str, &[&str]> = ROOMS.into_iter().collect();
    let mut found = Vec::new();
    for source in sources("src", &["rs"]) {
        let room = source.room();
        let (prefix, may): (_, &[&str]) = match room {
            "lib" => continue,
            "main" => ("hostint::", &MAIN),
            _ => {
                let may = allowed.get(room);
                (
                    "crate::",
                    may.unwrap_or_else(|| panic!("src/{room} is no room")),
                )
            }
        };
        for (number, line) in source.code() {
            for name in names_behind(line, prefix) {
                if name != room && !may.contains(&name) {
                    found.push(format!("{}:{number}: {}", source.path, line.trim()));
                }
            }
        }
    }
    none("imports through a wall", &found);
}

#[test]
fn every_room_is_in_the_library() {
    let library = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"));
    let library = library.unwrap();
    let declared: Vec<&str> = names_behind(&library, "pub mod ").collect();
    for (room, _) in ROOMS {
        assert!(declared.contains(&room), "{room}");
    }
    assert_eq!(declared.len(), ROOMS.len(), "{declared:?}");
}

#[test]
fn only_the_datapath_knows_libbpf() {
    let mut found = Vec::new();
    for source in sources("src", &["rs"]) {
        for (number, line) in source.code() {
            if line.contains("libbpf") && source.room() != "datapath" {
                found.push(format!("{}:{number}: {}", source.path, line.trim()));
            }
        }
    }
    none("libbpf outside datapath", &found);
}

#[test]
fn unsafe_code_is_in_datapath_and_os_and_says_why() {
    let mut found = Vec::new();
    for source in sources("src", &["rs"]) {
        let lines: Vec<&str> = source.text.lines().collect();
        for (number, line) in source.code() {
            // A block, or an implementation; a declaration of foreign functions promises nothing itself.
            if !line.contains("unsafe {") && !line.contains("unsafe impl") {
                continue;
            }
            let before = &lines[number.saturating_sub(8)..number];
            let explained = before.iter().any(|line| line.contains("// SAFETY: "));
            if !explained || !["datapath", "os"].contains(&source.room()) {
                found.push(format!("{}:{number}: {}", source.path, line.trim()));
            }
        }
    }
    none("unsafe code out of place or without SAFETY line", &found);
}

#[test]
fn nothing_panics_on_purpose() {
    let words = [
        ".unwrap()",
        ".expect(",
        "panic!(",
        "unreachable!(",
        "todo!(",
        "unimplemented!(",
    ];
    let mut found = Vec::new();
    for source in sources("src", &["rs"]) {
        for (number, line) in source.code() {
            if words.iter().any(|word| line.contains(word)) {
                found.push(format!("{}:{number}: {}", source.path, line.trim()));
            }
        }
    }
    none("a panic outside tests", &found);
}

#[test]
fn every_file_is_one_concept() {
    let mut found = Vec::new();
    for (limit, all) in [(400, sources("src", &["rs"])), (300, c_sources())] {
        for source in all {
            let lines = source.text.lines().count();
            if lines > limit {
                found.push(format!("{}: {lines} lines, at most {limit}", source.path));
            }
        }
    }
    none("too long: split by concept", &found);
}

#[test]
fn every_rust_file_says_what_it_is() {
    for folder in ["src", "tests", "fuzz/fuzz_targets"] {
        for source in sources(folder, &["rs"]) {
            assert!(source.text.starts_with("//! "), "{}", source.path);
        }
    }
}

#[test]
fn every_c_file_has_its_licence_and_says_what_it_is() {
    for source in c_sources() {
        let mut lines = source.text.lines();
        let licence = lines.next().unwrap();
        let words = "SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only";
        assert!(licence.contains(words), "{}", source.path);
        assert!(lines.next().unwrap().starts_with("/*"), "{}", source.path);
    }
}

#[test]
fn contracts_include_nothing_and_headers_no_program() {
    for source in c_sources() {
        for (number, line) in source.code() {
            let includes = line.trim_start().starts_with("#include");
            let at = format!("{}:{number}", source.path);
            assert!(!includes || !source.path.starts_with("include/"), "{at}");
            assert!(!includes || !line.contains(".bpf.c"), "{at}");
            // Only kernel.h knows libbpf's headers.
            assert!(
                !includes || !line.contains('<') || source.path.ends_with("/kernel.h"),
                "{at}"
            );
            assert!(!line.contains("bpf_printk"), "{at}");
        }
    }
}

#[test]
fn each_map_is_defined_in_one_place() {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for source in c_sources() {
        for (_, line) in source.code() {
            let Some(name) = line
                .strip_prefix("} ")
                .and_then(|rest| rest.strip_suffix(" SEC(\".maps\");"))
            else {
                continue;
            };
            let before = seen.insert(name.to_owned(), source.path.clone());
            assert_eq!(before, None, "{name} is defined in {} too", source.path);
        }
    }
    assert!(
        seen.contains_key("sink_flows") && seen.contains_key("watch_places4"),
        "{seen:?}"
    );
}

/// Rules for the C half: its headers, folders and names.
mod bpf {
    use std::collections::{BTreeMap, BTreeSet};
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use super::{Source, c_sources, none};

    /// The contracts in include/ are written in the types of this header.
    const KERNEL: &str = "src/bpf/kernel/kernel.h";

    /// Each folder of src/bpf, and the folders whose headers it may include. Programs may include all of them.
    const ROOMS: [(&str, &[&str]); 8] = [
        ("kernel", &[]),
        ("packet", &["kernel"]),
        ("int", &["kernel", "packet"]),
        ("watch", &["kernel"]),
        ("source", &["kernel", "packet", "int", "watch"]),
        ("sink", &["kernel", "packet", "int"]),
        ("lease", &["kernel", "packet", "watch", "source", "sink"]),
        ("peer", &["kernel", "packet", "int", "watch", "source"]),
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
                Some(last_word(rest.trim_end_matches(';')).to_owned())
            } else if let Some((constant, _)) = line
                .strip_prefix("const volatile ")
                .and_then(|rest| rest.split_once(" ="))
            {
                Some(last_word(constant).to_owned())
            } else if in_enum {
                Some(word(line.trim_start()).to_owned()).filter(|name| !name.is_empty())
            } else if line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                let function = line.split_once('(').map(|(head, _)| last_word(head));
                function.filter(|name| *name != "SEC").map(str::to_owned)
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
    fn libbpf_headers() -> PathBuf {
        let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libbpf-headers");
        std::fs::create_dir_all(parent.join("bpf")).unwrap();
        for (name, text) in libbpf_sys::API_HEADERS {
            std::fs::write(parent.join("bpf").join(name), text).unwrap();
        }
        parent
    }

    /// Compiles these lines and returns clang's first error, or nothing.
    fn mistakes(lines: &str, libbpf: &Path) -> String {
        let mut clang = Command::new(env!("HOSTINT_CLANG"))
            .args(env!("HOSTINT_BPF_FLAGS").split(' '))
            .args(["-target", "bpf", "-fsyntax-only", "-x", "c", "-I"])
            .arg(libbpf)
            .arg("-")
            .current_dir(env!("CARGO_MANIFEST_DIR"))
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
        let libbpf = libbpf_headers();
        let mut found = Vec::new();
        for path in files().keys().filter(|path| path.ends_with(".h")) {
            let mut lines = format!("#include \"{path}\"\n");
            if path.starts_with("include/") {
                lines.insert_str(0, &format!("#include \"{KERNEL}\"\n"));
            }
            let mistake = mistakes(&lines, &libbpf);
            if !mistake.is_empty() {
                found.push(format!("{path}: {mistake}"));
            }
        }
        none("these headers do not compile alone", &found);
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
        for (program, prefix) in [("source", "COUNT_SOURCE_"), ("sink", "COUNT_SINK_")] {
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
        assert!(
            counters.contains("COUNT_SOURCE_TAGGED") && counters.contains("COUNT_SINK_STRIPPED")
        );
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
}
