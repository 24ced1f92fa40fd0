//! Commands in the manual pages and the README are ones that hostint takes.

use std::path::{Path, PathBuf};

use clap::Parser;
use hostint::cli::Cli;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(repository().join("man")).unwrap();
    let mut pages: Vec<PathBuf> = folder
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    pages.push(repository().join("README.md"));
    pages
}

/// The lines of a page's examples, as a reader sees them; those that end in a backslash with the next one.
fn examples(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let is_readme = page.extension().is_some_and(|kind| kind == "md");
    let text = match is_readme {
        true => text,
        false => text
            .replace("\\e", "\\")
            .replace("\\-", "-")
            .replace("\\(aq", "'")
            .replace("\\&", ""),
    };
    let (begin, end) = if is_readme {
        ("```", "```")
    } else {
        (".EX", ".EE")
    };
    let (mut found, mut inside, mut whole) = (Vec::new(), false, String::new());
    for line in text.lines() {
        match line {
            line if inside && line == end => inside = false,
            line if line == begin => inside = true,
            line if inside => {
                whole += line;
                if !whole.ends_with('\\') {
                    found.push(std::mem::take(&mut whole));
                } else {
                    whole.pop();
                }
            }
            _ => (),
        }
    }
    found
}

/// The commands of a line for the shell: words, up to what separates commands, redirects or comments.
fn commands(line: &str) -> Vec<Vec<String>> {
    let (mut commands, mut words, mut word) = (Vec::new(), Vec::new(), String::new());
    let (mut quote, mut redirects) = (None, false);
    for c in line.chars().chain([' ', ';']) {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '<' | '>') => redirects = true,
            (None, '#') if word.is_empty() => break,
            (None, ' ' | '|' | '&' | ';' | '(' | ')') => {
                if !word.is_empty() && !redirects {
                    words.push(std::mem::take(&mut word));
                }
                word.clear();
                redirects = false;
                if c != ' ' {
                    commands.push(std::mem::take(&mut words));
                }
            }
            (_, c) => word.push(c),
        }
    }
    commands.push(words);
    commands
}

#[test]
fn each_command_in_an_example_is_one_that_hostint_takes() {
    let mut checked = 0;
    for page in pages() {
        for line in examples(&page) {
            let line = line.trim_start().trim_start_matches("$ ");
            // The first line of a screen, and what a demo prints.
            if line.starts_with("hostint  ") || line.starts_with("== ") {
                continue;
            }
            for words in commands(line) {
                // What other commands start is one, too: sudo, nsenter, setpriv.
                let Some(at) = words.iter().position(|word| word == "hostint") else {
                    continue;
                };
                let before = &words[..at];
                let starts = ["sudo", "nsenter", "setpriv"];
                if at > 0 && !starts.contains(&before[0].as_str()) {
                    continue;
                }
                let parsed = Cli::try_parse_from(&words[at..]);
                if let Err(err) = parsed {
                    assert!(!err.use_stderr(), "{}: {line}: {err}", page.display());
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 70, "{checked} commands");
}

#[test]
fn the_page_of_tasks_answers_thirty_questions_each_by_a_command() {
    let page = repository().join("man/hostint-tasks.7");
    let text = std::fs::read_to_string(&page).unwrap();
    let tasks = text.matches("\n.TP 4\n.B ").count();
    assert!(tasks >= 30, "{tasks} questions");
    let with_command = text.matches("\n.EX\n").count();
    assert_eq!(with_command, tasks, "each question has its command");
}
