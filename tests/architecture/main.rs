//! The house has walls: who may import whom, where unsafe code lives, how long a file gets.

mod contents;
mod headers;
mod knots;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A room under src/, and the rooms it may import from.
const ROOMS: [(&str, &[&str]); 21] = [
    ("model", &[]),
    ("os", &[]),
    ("clocks", &[]),
    ("wire", &["model"]),
    ("config", &["model"]),
    ("cli", &["config", "model"]),
    ("cluster", &["model"]),
    ("datapath", &["clocks", "model", "os", "config"]),
    ("report", &["model", "os", "wire"]),
    ("lease", &["clocks", "model", "wire"]),
    ("collector", &["clocks", "model", "wire"]),
    ("control", &["model", "os"]),
    ("engines", &["model"]),
    ("store", &["model"]),
    ("verdict", &["model"]),
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
            "clocks",
            "cluster",
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
            "verdict",
            "views",
            "web",
            "wire",
        ],
    ),
    ("demo", &["cli", "datapath", "os"]),
    (
        "commands",
        &[
            "cli", "clocks", "config", "control", "daemon", "demo", "host", "model", "os", "store",
            "views",
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
    // Each room has its sentence.
    let lines: Vec<&str> = library.lines().collect();
    for pair in lines.windows(2) {
        if pair[1].starts_with("pub mod ") {
            assert!(
                pair[0].starts_with("/// ") && pair[0].ends_with('.'),
                "{pair:?}"
            );
        }
    }
}

#[test]
fn files_that_the_maps_name_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for map in ["src/lib.rs", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(root.join(map)).unwrap();
        let files: Vec<&str> = text
            .split(|c: char| c.is_whitespace() || "`,;:()|".contains(c))
            .map(|word| word.trim_end_matches('.'))
            .filter(|word| {
                let folders = [
                    "src/",
                    "include/",
                    "tests/",
                    "packaging/",
                    "man/",
                    "benches/",
                    "docs/",
                ];
                folders.iter().any(|folder| word.starts_with(folder))
            })
            // Of patterns there is no one file.
            .filter(|word| !word.contains(['*', '<']))
            .collect();
        assert!(files.len() > 5, "{map}: {files:?}");
        for file in files {
            assert!(
                root.join(file).exists(),
                "{map} names {file}, which is not there"
            );
        }
    }
}

/// The names of all files below a folder of the tree.
fn names_below(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type().unwrap().is_dir() {
            found.push(name);
        } else if !name.starts_with('.') && name != "target" {
            names_below(&entry.path(), found);
        }
    }
}

#[test]
fn files_that_contributing_names_without_their_folder_are_there() {
    const KINDS: [&str; 9] = [
        ".rs", ".h", ".c", ".md", ".sql", ".txt", ".toml", ".json", ".roff",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = Vec::new();
    names_below(root, &mut names);
    let text = std::fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let quoted = text.split('`').skip(1).step_by(2);
    let is_name = |word: &&str| {
        KINDS.iter().any(|kind| word.ends_with(kind)) && !word.contains(['/', ' ', '*'])
    };
    let files: Vec<&str> = quoted.filter(is_name).collect();
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        assert!(
            names.iter().any(|name| name == file),
            "CONTRIBUTING.md names {file}, which is nowhere"
        );
    }
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
fn datagrams_become_reports_at_one_border() {
    let mut found = Vec::new();
    for source in sources("src", &["rs"]) {
        for (number, line) in source.code() {
            let border = source.path == "src/collector/decoded.rs" || source.room() == "wire";
            if line.contains("wire::report::") && !border {
                found.push(format!("{}:{number}: {}", source.path, line.trim()));
            }
        }
    }
    none("reports decoded behind the border", &found);
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
