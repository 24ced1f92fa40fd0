//! Help texts fit into their columns. Their words are compared with the manual pages, which are made of the same definition.

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
