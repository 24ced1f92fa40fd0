//! How the source and the documents are written: phrases that need a second reading, and type names that need their file.
//!
//! Each count has a cap, which only ever goes down. `HOSTINT_COUNT=1 cargo test --test words -- --nocapture` prints the
//! counts and every line that makes them up; a test that fails prints its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The most lines of each kind that there may be.
const QUANTITIES_WITHOUT_NAME: usize = 1;
const WHO_WITHOUT_NOUN: usize = 3;
const NOBODY_AND_SOMEBODY: usize = 0;
const SHARED_TYPE_NAMES: usize = 0;

/// Folders and files that users and maintainers read. Pages below man/ that are composed of man/sections and of the
/// command line's help are left out: their words are counted where they are written.
const READ: [&str; 8] = [
    "src",
    "include",
    "man/sections",
    "man",
    "packaging/hostint.toml",
    "README.md",
    "CONTRIBUTING.md",
    "BENCHMARKS.md",
];

const KINDS: [&str; 12] = [
    "rs", "c", "h", "js", "css", "html", "svg", "roff", "md", "toml", "5", "7",
];

/// After these nouns "who" has an antecedent.
const PEOPLE: [&str; 12] = [
    "administrator",
    "anyone",
    "attacker",
    "everyone",
    "maintainer",
    "maintainers",
    "operator",
    "people",
    "person",
    "reader",
    "user",
    "users",
];

/// Types in these files have the names of a schema: hostint's .proto files, and OTLP's.
const SCHEMAS: [&str; 3] = [
    "src/engines/kafka/int_message.rs",
    "src/engines/kafka/message.rs",
    "src/engines/otlp/messages.rs",
];

struct Word {
    text: String,
    line: usize,
    /// Punctuation stands between this word and the one before.
    apart: bool,
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files at `path` that are read, folders below it included unless it is "man".
fn files(path: &str) -> Vec<PathBuf> {
    let full = repository().join(path);
    if !full.is_dir() {
        return Vec::from_iter(full.exists().then_some(full));
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&full).unwrap() {
        let entry = entry.unwrap().path();
        let name = entry.strip_prefix(repository()).unwrap().to_str().unwrap();
        let kind = entry.extension().and_then(|kind| kind.to_str());
        if entry.is_dir() {
            if path != "man" {
                found.extend(files(name));
            }
        } else if kind.is_some_and(|kind| KINDS.contains(&kind)) {
            found.push(entry);
        }
    }
    found.sort();
    found
}

/// Every file that is read, by its path in the repository, with its text.
fn texts() -> Vec<(String, String)> {
    let paths = READ.iter().flat_map(|path| files(path));
    let text = |path: PathBuf| {
        let name = path.strip_prefix(repository()).unwrap().to_str().unwrap();
        (name.to_owned(), std::fs::read_to_string(&path).unwrap())
    };
    paths.map(text).collect()
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut apart = true;
    for (index, line) in text.lines().enumerate() {
        // What begins a comment on each of its lines is no punctuation.
        let line = line.trim_start().trim_start_matches(['/', '*', '!', '#']);
        let mut rest = line;
        while let Some(start) = rest.find(|c: char| c.is_alphanumeric() || c == '_') {
            apart |= rest[..start].contains(|c: char| c.is_ascii_punctuation());
            let word = &rest[start..];
            let end = word.find(|c: char| !c.is_alphanumeric() && c != '_');
            let end = end.unwrap_or(word.len());
            words.push(Word {
                text: word[..end].to_lowercase(),
                line: index + 1,
                apart,
            });
            apart = false;
            rest = &word[end..];
        }
        apart |= rest.contains(|c: char| c.is_ascii_punctuation());
    }
    words
}

/// All places where `is` holds for a word and the one before it.
fn places(is: impl Fn(&Word, &Word) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (name, text) in texts() {
        let lines: Vec<&str> = text.lines().collect();
        let words = words(&text);
        for pair in words.windows(2).filter(|pair| is(&pair[0], &pair[1])) {
            let line = pair[1].line;
            found.push(format!("{name}:{line}: {}", lines[line - 1].trim()));
        }
    }
    found
}

/// Compares a count with its cap, and prints it and what it is made of if it is too high or asked for.
fn at_most(cap: usize, name: &str, advice: &str, found: &[String]) {
    let asked = std::env::var_os("HOSTINT_COUNT").is_some();
    if asked {
        println!("{name}: {} (at most {cap})", found.len());
        found.iter().for_each(|line| println!("    {line}"));
    }
    let printed = if asked {
        "printed above".to_owned()
    } else {
        found.join("\n")
    };
    assert!(
        found.len() <= cap,
        "{name}: {}, at most {cap} ({advice})\n{printed}",
        found.len()
    );
}

#[test]
fn quantities_are_called_by_their_names() {
    let found = places(|before, word| {
        before.text == "so" && ["many", "much", "long", "often"].contains(&word.text.as_str())
    });
    at_most(
        QUANTITIES_WITHOUT_NAME,
        "so many, so much, so long, so often",
        "name the number, the size, the duration, the period",
        &found,
    );
}

#[test]
fn who_refers_to_a_noun() {
    let found = places(|before, word| {
        word.text == "who" && (word.apart || !PEOPLE.contains(&before.text.as_str()))
    });
    at_most(
        WHO_WITHOUT_NOUN,
        "who without a noun in front",
        "name the host, the user, the sink",
        &found,
    );
}

#[test]
fn a_sentence_names_its_subject() {
    let found = places(|_, word| ["nobody", "somebody"].contains(&word.text.as_str()));
    at_most(
        NOBODY_AND_SOMEBODY,
        "nobody, somebody",
        "name the host, the program, the user, or use the passive",
        &found,
    );
}

/// The name of the type that a line defines, if it defines one.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        // pub(crate), pub(in …)
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) => rest,
        None => line,
    };
    let (kind, rest) = line.trim_start().split_once(' ')?;
    let name = rest.split(|c: char| !c.is_alphanumeric()).next()?;
    (["struct", "enum", "trait"].contains(&kind) && !name.is_empty()).then_some(name)
}

#[test]
fn a_type_name_means_one_type() {
    let mut types: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, text) in texts() {
        if !name.ends_with(".rs") || SCHEMAS.contains(&name.as_str()) {
            continue;
        }
        let tested = text.split("#[cfg(test)]").next().unwrap();
        for defined in tested.lines().filter_map(defined) {
            let files = types.entry(defined.to_owned()).or_default();
            files.insert(name.clone());
        }
    }
    let shared: Vec<String> = types
        .into_iter()
        .filter(|(_, files)| files.len() > 1)
        .map(|(name, files)| {
            let files: Vec<String> = files.into_iter().collect();
            format!("{name} ({}): {}", files.len(), files.join(" "))
        })
        .collect();
    at_most(
        SHARED_TYPE_NAMES,
        "type names in more than one file",
        "give each its noun: SourceAttachment instead of Seen",
        &shared,
    );
}
