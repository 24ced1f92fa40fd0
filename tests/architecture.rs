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
    ("report", &["model", "wire"]),
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
