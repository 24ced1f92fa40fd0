//! Every help text is compared with the copy in tests/golden/help, which a person has read at 100 columns.
//!
//! `HOSTINT_BLESS=1 cargo test --test cli help` writes tests/golden/help/ anew. Read it as a new user would.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::CommandFactory;
use hostint::cli::Cli;
use hostint_testing::places;

const COLUMNS: usize = 100;

/// Every command, by the words that lead to it.
fn commands(command: &clap::Command, words: &[&str], found: &mut Vec<Vec<String>>) {
    found.push(words.iter().map(|word| (*word).to_owned()).collect());
    for sub in command.get_subcommands() {
        commands(sub, &[words, &[sub.get_name()]].concat(), found);
    }
}

fn help(words: &[String]) -> String {
    let mut command = Command::new(places::hostint());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HOSTINT_") {
            command.env_remove(name);
        }
    }
    let output = command
        .args(words)
        .arg("--help")
        .env("COLUMNS", COLUMNS.to_string())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{words:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

#[test]
fn help_is_what_was_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/help");
    let mut all = Vec::new();
    commands(&Cli::command(), &[], &mut all);
    let wanted: BTreeMap<PathBuf, String> = all
        .iter()
        .map(|words| {
            let name = [&["hostint".to_owned()], &words[..]].concat().join("-");
            (folder.join(format!("{name}.txt")), help(words))
        })
        .collect();
    let files = std::fs::read_dir(&folder).unwrap();
    let kept: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    if std::env::var_os("HOSTINT_BLESS").is_some() {
        for gone in kept.iter().filter(|path| !wanted.contains_key(*path)) {
            std::fs::remove_file(gone).unwrap();
        }
        for (path, text) in &wanted {
            std::fs::write(path, text).unwrap();
        }
        return;
    }
    for path in &kept {
        assert!(
            wanted.contains_key(path),
            "{}: of no command",
            path.display()
        );
    }
    for (path, text) in &wanted {
        let read = std::fs::read_to_string(path).unwrap_or_default();
        let differs = text
            .lines()
            .zip(read.lines())
            .find(|(now, before)| now != before);
        assert!(
            *text == read,
            "{} is not what --help says now, first at {:?} \
             (HOSTINT_BLESS=1 cargo test --test cli help; then look at git diff)",
            path.display(),
            differs
        );
    }
}

#[test]
fn help_fits_its_columns_and_has_no_gaps() {
    let mut all = Vec::new();
    commands(&Cli::command(), &[], &mut all);
    for words in &all {
        let text = help(words);
        for line in text.lines() {
            assert!(line.chars().count() <= COLUMNS, "{words:?}: {line}");
        }
        assert!(!text.contains("\n\n\n"), "{words:?}: two empty lines");
    }
}
