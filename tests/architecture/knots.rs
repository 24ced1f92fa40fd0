//! Rooms hold no knots: no kernel structs outside of their borders, no long functions, no circles of files.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, names_behind, none, sources};

/// The rooms whose files use each other in one direction.
const DIRECTED_ROOMS: [&str; 20] = [
    "cli",
    "clocks",
    "cluster",
    "collector",
    "commands",
    "config",
    "control",
    "daemon",
    "datapath",
    "demo",
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
];

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
fn functions_are_short() {
    const MOST_LINES: usize = 60;
    let mut found = Vec::new();
    for source in sources("src", &["rs"]) {
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
            let words: Vec<&str> = code[at + 4..at + end].split_whitespace().collect();
            let tree = words.join(" ").replace(", ", ",");
            let tree = tree.replace("{ ", "{").replace(" }", "}");
            expand(&tree, &[], &mut found);
        }
    }
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(root) {
            // Visibility is no use.
            if code[..at].ends_with("(in ") {
                continue;
            }
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

/// The names that a file defines for others, that of its module among them.
fn defined_names(source: &Source) -> BTreeSet<String> {
    let kinds = ["struct ", "enum ", "trait ", "type ", "const ", "fn "];
    let public = source.code().filter(|(_, line)| line.starts_with("pub"));
    let names = public.flat_map(|(_, line)| {
        kinds.map(|kind| {
            names_behind(line, kind)
                .next()
                .unwrap_or_default()
                .to_owned()
        })
    });
    names.chain(module_of(&source.path).pop()).collect()
}

/// The files that each file of the tying rooms uses, among them.
fn uses_of_files() -> BTreeMap<String, Vec<String>> {
    let all: Vec<Source> = sources("src", &["rs"])
        .into_iter()
        .filter(|source| DIRECTED_ROOMS.contains(&source.room()))
        .collect();
    let files: BTreeMap<Vec<String>, String> = all
        .iter()
        .map(|source| (module_of(&source.path), source.path.clone()))
        .collect();
    let handing_on: Vec<&String> = all
        .iter()
        .filter(|source| source.text.contains("pub use ") && source.text.contains("::*;"))
        .map(|source| &source.path)
        .collect();
    let defined: Vec<(Vec<String>, BTreeSet<String>)> = all
        .iter()
        .map(|source| (module_of(&source.path), defined_names(source)))
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
            let found = (1..=path.len())
                .rev()
                .find_map(|len| Some((len, files.get(&path[..len])?)));
            let file = match found {
                // The nouns that a file hands on from all below it are used where they are defined.
                Some((len, file)) if handing_on.contains(&file) && len < path.len() => defined
                    .iter()
                    .filter(|(module, _)| module.starts_with(&path[..len]))
                    .find(|(_, names)| names.contains(&path[len]))
                    .and_then(|(module, _)| files.get(module))
                    .or(Some(file)),
                _ => found.map(|(_, file)| file),
            };
            used.extend(file.filter(|file| **file != source.path).cloned());
        }
        uses.insert(source.path.clone(), used);
    }
    uses
}

#[test]
fn files_make_no_circle() {
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
