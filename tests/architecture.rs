//! The house has walls: who may import whom, where unsafe code lives, how long a file gets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A room under src/, and the rooms it may import from.
const ROOMS: [(&str, &[&str]); 17] = [
    ("model", &[]),
    ("os", &[]),
    ("wire", &["model"]),
    ("config", &["model"]),
    ("cli", &["config", "model"]),
    ("datapath", &["model", "os", "config"]),
    ("report", &["model", "os", "wire"]),
    ("lease", &["model", "wire"]),
    ("collector", &["model", "wire"]),
    ("control", &["model", "os"]),
    ("engines", &["model"]),
    ("store", &["model"]),
    ("views", &["model"]),
    ("web", &["model"]),
    (
        "host",
        &["config", "control", "datapath", "model", "os", "views"],
    ),
    (
        "daemon",
        &[
            "cli",
            "collector",
            "config",
            "control",
            "datapath",
            "engines",
            "host",
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
    (
        "commands",
        &[
            "cli", "config", "control", "daemon", "host", "model", "os", "store", "views",
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

/// The rooms that tie the others together, where knots would grow first.
const TYING_ROOMS: [&str; 3] = ["commands", "daemon", "host"];

#[test]
fn kernel_structs_and_byte_order_stay_in_datapath_and_wire() {
    let words = ["datapath::abi", "from_be(", "to_be("];
    let mut found = Vec::new();
    for source in sources("src", &["rs"]) {
        if ["datapath", "wire"].contains(&source.room()) {
            continue;
        }
        for (number, line) in source.code() {
            if words.iter().any(|word| line.contains(word)) {
                found.push(format!("{}:{number}: {}", source.path, line.trim()));
            }
        }
    }
    none("kernel structs or byte order outside their border", &found);
}

#[test]
fn functions_of_the_tying_rooms_are_short() {
    const MOST_LINES: usize = 60;
    let mut found = Vec::new();
    for source in sources("src", &["rs"]) {
        if !TYING_ROOMS.contains(&source.room()) {
            continue;
        }
        let lines: Vec<&str> = source.text.lines().collect();
        for (begin, line) in lines.iter().enumerate() {
            let head = line.trim_start();
            let is_function = head.split(' ').any(|word| word == "fn") && !head.starts_with("//");
            if !is_function || line.ends_with(';') {
                continue;
            }
            // By rustfmt a function ends with a brace as far indented as its head.
            let end = format!("{}}}", &line[..line.len() - head.len()]);
            let length = lines[begin..].iter().position(|line| *line == end);
            let length = length.map_or(1, |length| length + 1);
            if length > MOST_LINES {
                found.push(format!("{}:{}: {length} lines", source.path, begin + 1));
            }
        }
    }
    none("functions of more than 60 lines", &found);
}

/// The module paths that a file names: in `use`, and in code by `crate::`, `super::` and `self::`.
fn named_paths(source: &Source) -> Vec<Vec<String>> {
    let code: String = source.code().map(|(_, line)| format!("{line}\n")).collect();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let is_statement = code[..at]
            .rsplit('\n')
            .next()
            .is_some_and(|before| ["", "pub", "pub(super)"].contains(&before.trim()));
        if is_statement && let Some(end) = code[at..].find(';') {
            let tree: String = code[at + 4..at + end].split_whitespace().collect();
            expand(&tree, &[], &mut found);
        }
    }
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(root) {
            let rest = &code[at..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
            let (path, behind) = rest.split_at(end.unwrap_or(rest.len()));
            // A tree of `use` was taken apart above.
            if !behind.starts_with('{') {
                expand(path.trim_end_matches(':'), &[], &mut found);
            }
        }
    }
    // A child module is named by its name alone.
    for child in names_behind(&code, "mod ") {
        if code.contains(&format!("{child}::")) {
            found.push(vec!["self".to_owned(), child.to_owned()]);
        }
    }
    found
}

/// Takes a tree such as `a::{b, c::{d, e}}` apart.
fn expand(tree: &str, before: &[String], found: &mut Vec<Vec<String>>) {
    let Some(brace) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        let names = path.split("::").map(str::to_owned);
        found.push(before.iter().cloned().chain(names).collect());
        return;
    };
    let mut path = before.to_vec();
    path.extend(
        tree[..brace]
            .split("::")
            .filter(|name| !name.is_empty())
            .map(str::to_owned),
    );
    let (mut depth, mut begin) = (0, brace + 1);
    for (at, c) in tree.char_indices().skip(brace) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if (c == ',' && depth == 1) || (c == '}' && depth == 0) {
            if at > begin {
                expand(&tree[begin..at], &path, found);
            }
            begin = at + 1;
        }
    }
}

/// The module that a file is: src/daemon/sink/mod.rs is daemon, sink.
fn module_of(path: &str) -> Vec<String> {
    let path = path.strip_prefix("src/").unwrap_or(path);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    path.split('/').map(str::to_owned).collect()
}

/// The files that each file of the tying rooms uses, among them.
fn uses_of_files() -> BTreeMap<String, Vec<String>> {
    let all: Vec<Source> = sources("src", &["rs"])
        .into_iter()
        .filter(|source| TYING_ROOMS.contains(&source.room()))
        .collect();
    let files: BTreeMap<Vec<String>, String> = all
        .iter()
        .map(|source| (module_of(&source.path), source.path.clone()))
        .collect();
    let mut uses = BTreeMap::new();
    for source in &all {
        let own = module_of(&source.path);
        let mut used = Vec::new();
        for named in named_paths(source) {
            let mut path = Vec::new();
            let ups = named.iter().take_while(|name| *name == "super").count();
            match named[0].as_str() {
                "crate" => {}
                "super" => path.extend_from_slice(&own[..own.len() - ups.min(own.len())]),
                _ => path.clone_from(&own),
            }
            let skipped = match named[0].as_str() {
                "super" => ups,
                "crate" | "self" => 1,
                _ => 0,
            };
            path.extend_from_slice(&named[skipped..]);
            // The longest beginning that is a file.
            let file = (1..=path.len())
                .rev()
                .find_map(|len| files.get(&path[..len]));
            used.extend(file.filter(|file| **file != source.path).cloned());
        }
        uses.insert(source.path.clone(), used);
    }
    uses
}

#[test]
fn files_of_the_tying_rooms_make_no_circle() {
    let mut uses = uses_of_files();
    assert!(uses.values().any(|used| !used.is_empty()));
    // Files that use none of those that are left are taken away until none can be.
    loop {
        let left: Vec<String> = uses.keys().cloned().collect();
        uses.retain(|_, used| used.iter().any(|file| left.contains(file)));
        if uses.len() == left.len() {
            break;
        }
    }
    // What is left is in a circle, or uses one.
    let left: Vec<String> = uses
        .iter()
        .map(|(file, used)| {
            let used: Vec<&String> = used
                .iter()
                .filter(|file| uses.contains_key(*file))
                .collect();
            format!("{file}: {used:?}")
        })
        .collect();
    none("files that use each other in a circle", &left);
}

/// The headers of the kernel half.
mod bpf {
    use std::collections::{BTreeMap, BTreeSet};
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use super::{Source, c_sources, none};

    /// The types that the contracts in include/ are written in.
    const KERNEL: &str = "src/bpf/kernel/kernel.h";

    /// A folder of src/bpf, and the folders whose headers may be included there. Programs may include them all.
    const ROOMS: [(&str, &[&str]); 8] = [
        ("kernel", &[]),
        ("packet", &["kernel"]),
        ("int", &["kernel"]),
        ("watch", &["kernel"]),
        ("source", &["kernel", "packet", "int", "watch"]),
        ("sink", &["kernel", "packet", "int"]),
        ("lease", &["kernel", "packet", "watch", "source", "sink"]),
        ("peer", &["kernel", "packet", "int", "watch", "source"]),
    ];

    /// A file's lines without comments, in which nothing else looks like code.
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

    /// The types, enumerators, constants, maps, macros and functions that a file defines. Types have a name space of
    /// their own in C: `struct flow_key` is written so here.
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

    /// The names in a file, types with their kind as in `definitions`. Names of members are no names here.
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

    /// The files of ours that a file includes. Each is named from src/bpf or from include on.
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

    /// libbpf's headers, as the build script of libbpf-cargo gives them to clang.
    fn libbpf_headers() -> PathBuf {
        let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libbpf-headers");
        std::fs::create_dir_all(parent.join("bpf")).unwrap();
        for (name, text) in libbpf_sys::API_HEADERS {
            std::fs::write(parent.join("bpf").join(name), text).unwrap();
        }
        parent
    }

    /// What clang has against a file of these lines; nothing if it compiles.
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
        let first = text.lines().find(|line| line.contains("error"));
        assert_eq!(output.status.success(), first.is_none(), "{text}");
        first.unwrap_or_default().to_owned()
    }

    #[test]
    fn each_header_compiles_alone() {
        let libbpf = libbpf_headers();
        let mut found = Vec::new();
        for path in files().keys().filter(|path| path.ends_with(".h")) {
            let kernel = match path.starts_with("include/") {
                true => format!("#include \"{KERNEL}\"\n"),
                false => String::new(),
            };
            let mistake = mistakes(&format!("{kernel}#include \"{path}\"\n"), &libbpf);
            if !mistake.is_empty() {
                found.push(format!("{path}: {mistake}"));
            }
        }
        none("these headers lean on what another file includes", &found);
    }

    #[test]
    fn no_headers_include_each_other_in_a_circle() {
        fn walk(source: &Source, all: &BTreeMap<String, Source>, way: &mut Vec<String>) {
            way.push(source.path.clone());
            for next in includes(source, all) {
                assert!(!way.contains(&next.path), "{way:?} includes {}", next.path);
                walk(next, all, way);
            }
            way.pop();
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
