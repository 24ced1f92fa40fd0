//! The shape of JSON: its paths and their types, and the changes that readers of a schema allow.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use serde_json::Value;

use crate::places::repository;

/// The types of a schema's paths; one that may be absent or null ends in `?`.
pub type Shape = BTreeMap<String, String>;

/// Schemas by their names.
pub type Schemas = BTreeMap<String, Shape>;

/// What all of these have in common, and what only some have.
pub fn shape_of<'a>(samples: impl IntoIterator<Item = &'a Value>) -> Shape {
    let mut shape = Shape::new();
    let samples: Vec<&Value> = samples.into_iter().collect();
    look(&mut shape, "", &samples, samples.len());
    shape
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Of `places` where it could be, a value is found at this path so often.
fn look(shape: &mut Shape, path: &str, found: &[&Value], places: usize) {
    let found: Vec<&Value> = found.iter().copied().filter(|one| !one.is_null()).collect();
    let mut types: Vec<&str> = found.iter().map(|one| name_of(one)).collect();
    types.sort_unstable();
    types.dedup();
    let mut text = types.join("|");
    if types.is_empty() {
        text.push_str("null");
    } else if found.len() < places {
        text.push('?');
    }
    if !path.is_empty() {
        shape.insert(path.to_owned(), text);
    }
    let elements: Vec<&Value> = found
        .iter()
        .filter_map(|one| one.as_array())
        .flatten()
        .collect();
    if !elements.is_empty() {
        look(shape, &format!("{path}[]"), &elements, elements.len());
    }
    let objects: Vec<_> = found.iter().filter_map(|one| one.as_object()).collect();
    let mut keys: Vec<&String> = objects.iter().flat_map(|one| one.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let dot = if path.is_empty() { "" } else { "." };
    for key in keys {
        let values: Vec<&Value> = objects.iter().filter_map(|one| one.get(key)).collect();
        look(shape, &format!("{path}{dot}{key}"), &values, objects.len());
    }
}

/// Adds what a string may say: `path=word string`.
pub fn say<'a>(shape: &mut Shape, path: &str, words: impl IntoIterator<Item = &'a str>) {
    for word in words {
        shape.insert(format!("{path}={word}"), "string".to_owned());
    }
}

/// Where the schemas are kept.
pub fn kept_in() -> PathBuf {
    repository().join("tests/golden/schemas.txt")
}

/// Sections: a name in brackets, then a path and its type a line. `#` begins a comment.
pub fn parse(text: &str) -> Schemas {
    let mut schemas = Schemas::new();
    let mut section = None;
    for line in text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(name) = line
            .strip_prefix("[")
            .and_then(|rest| rest.strip_suffix("]"))
        {
            section = Some(schemas.entry(name.to_owned()).or_default());
            continue;
        }
        let (path, kind) = line
            .split_once(' ')
            .unwrap_or_else(|| panic!("no path and type: {line}"));
        let before = section
            .as_mut()
            .unwrap_or_else(|| panic!("of no schema: {line}"))
            .insert(path.to_owned(), kind.to_owned());
        assert_eq!(before, None, "twice: {line}");
    }
    schemas
}

pub fn print(schemas: &Schemas) -> String {
    let mut out = String::from(
        "# What hostint writes for programs: each path and its type. `?`: may be absent or null; `=`: one of these.\n\
         # Readers rely on every line. tests/views/schemas.rs says how new ones come.\n",
    );
    for (name, shape) in schemas {
        let _ = writeln!(out, "\n[{name}]");
        for (path, kind) in shape {
            let _ = writeln!(out, "{path} {kind}");
        }
    }
    out
}

/// What a change of schemas means.
#[derive(Debug, Default, Eq, PartialEq)]
pub struct Change {
    /// Readers may rely on what is gone or different now.
    pub broken: Vec<String>,
    /// Nothing that was there is missed.
    pub new: Vec<String>,
}

pub fn change(before: &Schemas, after: &Schemas) -> Change {
    let nothing = Shape::new();
    let mut change = Change::default();
    for (name, old) in before {
        let now = after.get(name).unwrap_or(&nothing);
        for (path, kind) in old {
            match now.get(path) {
                None => change
                    .broken
                    .push(format!("[{name}] {path} {kind}: is gone")),
                Some(other) if other == kind => {}
                // What is always there is there for who is ready for its absence.
                Some(other) if kind.strip_suffix('?') == Some(other) => {
                    change
                        .new
                        .push(format!("[{name}] {path} {other}: was {kind}"));
                }
                Some(other) => change
                    .broken
                    .push(format!("[{name}] {path} {kind}: is {other} now")),
            }
        }
    }
    for (name, now) in after {
        let old = before.get(name).unwrap_or(&nothing);
        let new = now.iter().filter(|(path, _)| !old.contains_key(*path));
        change
            .new
            .extend(new.map(|(path, kind)| format!("[{name}] {path} {kind}")));
    }
    change
}

/// Says how output differs from what its schema promises. Not all that may be there needs to be.
pub fn misfits(schema: &Shape, output: &Value) -> Vec<String> {
    let mut found = Vec::new();
    fit(&mut found, schema, "", output);
    found
}

fn fit(found: &mut Vec<String>, schema: &Shape, path: &str, value: &Value) {
    if !path.is_empty() {
        let Some(kind) = schema.get(path) else {
            found.push(format!("{path} {}: not in the schema", name_of(value)));
            return;
        };
        let (types, optional) = match kind.strip_suffix('?') {
            Some(types) => (types, true),
            None => (&kind[..], false),
        };
        let fits = types.split('|').any(|one| one == name_of(value));
        let absent = optional && value.is_null();
        if !fits && !absent {
            found.push(format!("{path} {kind}: is {}", name_of(value)));
        }
        if let Some(word) = value.as_str() {
            let mut words = schema
                .keys()
                .filter_map(|key| key.strip_prefix(path)?.strip_prefix('='));
            if words.clone().next().is_some() && !words.any(|one| one == word) {
                found.push(format!("{path}={word}: not in the schema"));
            }
        }
    }
    for element in value.as_array().into_iter().flatten() {
        fit(found, schema, &format!("{path}[]"), element);
    }
    let Some(object) = value.as_object() else {
        return;
    };
    let inside = if path.is_empty() {
        String::new()
    } else {
        format!("{path}.")
    };
    for (key, value) in object {
        fit(found, schema, &format!("{inside}{key}"), value);
    }
    for (key, kind) in schema {
        let key = key
            .strip_prefix(&inside)
            .filter(|key| !key.contains(['.', '[', '=']));
        if let Some(key) = key.filter(|key| !kind.ends_with('?') && !object.contains_key(*key)) {
            found.push(format!("{inside}{key} {kind}: is missing"));
        }
    }
}
