//! tests/README.md lists every room and file of the tests with its first lines.
//!
//! `HOSTINT_BLESS=1 cargo test --test architecture contents` writes the list anew; what stands before it is written by hand.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The list begins at the first heading of a room.
const LIST: &str = "\n## ";

const SPEAKS_FOR_ITS_FOLDER: [&str; 3] = ["main.rs", "lib.rs", "mod.rs"];

/// The first paragraph of a file's comment.
fn first_lines(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines();
    let paragraph: Vec<&str> = lines.map_while(|line| line.strip_prefix("//! ")).collect();
    assert!(
        !paragraph.is_empty(),
        "{} does not say what it is",
        path.display()
    );
    paragraph.join(" ")
}

/// The Rust files and the folders in a folder, each in order.
fn entries(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    let files = paths.iter().filter(|path| is_rust(path)).cloned();
    let folders = paths.iter().filter(|path| path.is_dir()).cloned();
    (files.collect(), folders.collect())
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap()
}

/// A line for each file in a folder and below, but for the one that speaks for the folder itself.
fn list(folder: &Path, below: &str, out: &mut String) {
    let (files, folders) = entries(folder);
    for file in files {
        let name = name(&file);
        if !SPEAKS_FOR_ITS_FOLDER.contains(&name) {
            let sentence = first_lines(&file);
            writeln!(out, "- `{below}{name}`: {sentence}").unwrap();
        }
    }
    for folder in folders {
        let below = format!("{below}{}/", name(&folder));
        let about = folder.join("mod.rs");
        if about.exists() {
            writeln!(out, "- `{below}`: {}", first_lines(&about)).unwrap();
        }
        list(&folder, &below, out);
    }
}

fn contents(tests: &Path) -> String {
    let mut out = String::new();
    let (programs, rooms) = entries(tests);
    for room in rooms {
        for about in SPEAKS_FOR_ITS_FOLDER.map(|about| room.join(about)) {
            if about.exists() {
                writeln!(out, "\n## {}\n\n{}\n", name(&room), first_lines(&about)).unwrap();
                list(&room, "", &mut out);
            }
        }
    }
    for program in programs {
        let name = name(&program).trim_end_matches(".rs");
        writeln!(out, "\n## {name}\n\n{}", first_lines(&program)).unwrap();
    }
    out
}

#[test]
fn the_readme_lists_every_room_and_file() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let path = tests.join("README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let begin = text.find(LIST).unwrap_or(text.len());
    let (by_hand, listed) = text.split_at(begin);
    let contents = contents(&tests);
    if std::env::var_os("HOSTINT_BLESS").is_some() {
        std::fs::write(&path, format!("{by_hand}{contents}")).unwrap();
        return;
    }
    assert!(
        listed == contents,
        "tests/README.md is not what the files say (HOSTINT_BLESS=1 cargo test --test architecture contents)"
    );
}
