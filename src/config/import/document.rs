//! A small document: JSON, or the part of YAML that watchlists are written in.
//!
//! Of YAML there are maps and lists by indentation, lists in brackets, quoted and bare words, comments, and texts of
//! several lines (|), in which Kubernetes carries files. Anchors, tags and maps in braces are refused.

use serde_json::{Map, Value};

/// Deeper than any such file is.
const MOST_DEPTH: usize = 32;

/// Maps, lists and words; of YAML all words are texts.
pub(super) struct Document(pub Value);

/// A line that is neither empty nor a comment.
struct Line<'a> {
    number: usize,
    indent: usize,
    text: &'a str,
}

impl Document {
    pub fn read(text: &str) -> Result<Self, String> {
        if text.trim_start().starts_with('{') {
            let json = serde_json::from_str(text);
            return json.map(Self).map_err(|err| format!("no JSON: {err}"));
        }
        let mut reader = YamlReader {
            all: text.lines().collect(),
            at: 0,
        };
        let mut found = Map::new();
        // Of several documents in a file all are looked at; the last one counts if two have a key.
        while let Some(line) = reader.peek()? {
            if line.text == "---" {
                reader.at = line.number;
                continue;
            }
            match reader.block(0, MOST_DEPTH)? {
                Value::Object(map) => found.extend(map),
                _ => return Err(format!("line {}: expected a key with a value", line.number)),
            }
        }
        Ok(Self(Value::Object(found)))
    }
}

struct YamlReader<'a> {
    all: Vec<&'a str>,
    /// Lines that are read.
    at: usize,
}

impl<'a> YamlReader<'a> {
    /// The next line that says something.
    fn peek(&self) -> Result<Option<Line<'a>>, String> {
        for (index, raw) in self.all.iter().enumerate().skip(self.at) {
            let text = without_comment(raw);
            let indent = text.len() - text.trim_start().len();
            if text.get(..indent).is_some_and(|room| room.contains('\t')) {
                return Err(format!("line {}: YAML is indented by spaces", index + 1));
            }
            let text = text.trim();
            if !text.is_empty() {
                return Ok(Some(Line {
                    number: index + 1,
                    indent,
                    text,
                }));
            }
        }
        Ok(None)
    }

    /// A map or a list whose lines are indented by `indent` or more.
    fn block(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let Some(first) = self.peek()?.filter(|line| line.indent >= indent) else {
            return Ok(Value::Null);
        };
        if depth == 0 {
            return Err(format!("line {}: too deep", first.number));
        }
        let indent = first.indent;
        match is_item(first.text) {
            true => self.list(indent, depth),
            false => self.map(indent, depth).map(Value::Object),
        }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        while let Some(line) = self.peek()? {
            if depth == 0 {
                return Err(format!("line {}: too deep", line.number));
            }
            if line.indent != indent || !is_item(line.text) {
                break;
            }
            let rest = line.text[1..].trim_start();
            if rest.is_empty() {
                self.at = line.number;
                items.push(self.block(indent + 1, depth.saturating_sub(1))?);
            } else if key_of(rest).is_some() {
                // A map begins behind the dash: its first key stands as deep as the ones below.
                let inner = indent + line.text.len() - rest.len();
                items.push(Value::Object(self.map_from(
                    inner,
                    Some(rest),
                    depth.saturating_sub(1),
                )?));
            } else {
                self.at = line.number;
                items.push(word(rest, line.number)?);
            }
        }
        Ok(Value::Array(items))
    }

    fn map(&mut self, indent: usize, depth: usize) -> Result<Map<String, Value>, String> {
        self.map_from(indent, None, depth)
    }

    /// The keys of a map; the first one may stand behind a dash.
    fn map_from(
        &mut self,
        indent: usize,
        mut first: Option<&'a str>,
        depth: usize,
    ) -> Result<Map<String, Value>, String> {
        let mut map = Map::new();
        while let Some(line) = self.peek()? {
            let text = match first.take() {
                Some(text) => text,
                None if line.indent != indent || is_item(line.text) || line.text == "---" => break,
                None => line.text,
            };
            let number = line.number;
            let Some((key, rest)) = key_of(text) else {
                return Err(format!("line {number}: {text:?} is no key with a value"));
            };
            self.at = number;
            let value = match rest {
                // A list may stand as deep as its key.
                "" => match self.peek()? {
                    Some(next) if next.indent == indent && is_item(next.text) => {
                        self.list(indent, depth.saturating_sub(1))?
                    }
                    _ => self.block(indent + 1, depth.saturating_sub(1))?,
                },
                "|" | "|-" | "|+" => Value::String(self.text_block(indent)),
                _ => word(rest, number)?,
            };
            let key = key.trim_matches(['"', '\'']).to_owned();
            if map.insert(key.clone(), value).is_some() {
                return Err(format!("line {number}: {key} is given twice"));
            }
        }
        if let Some(line) = self.peek()?
            && line.indent > indent
        {
            return Err(format!("line {}: indented more than expected", line.number));
        }
        Ok(map)
    }

    /// The lines of a text that are indented more than its key.
    fn text_block(&mut self, indent: usize) -> String {
        let mut lines = Vec::new();
        while let Some(raw) = self.all.get(self.at) {
            let depth = raw.len() - raw.trim_start().len();
            if !raw.trim().is_empty() && depth <= indent {
                break;
            }
            lines.push(*raw);
            self.at += 1;
        }
        let filled = lines.iter().filter(|line| !line.trim().is_empty());
        let least = filled
            .map(|line| line.len() - line.trim_start().len())
            .min();
        let cut = |line: &&str| {
            line.get(least.unwrap_or_default()..)
                .unwrap_or("")
                .to_owned()
        };
        lines.iter().map(cut).collect::<Vec<_>>().join("\n")
    }
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// A key and what stands behind its colon.
fn key_of(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = match text.strip_suffix(':') {
        Some(key) => (key, ""),
        None => text.split_once(": ")?,
    };
    let is_quote = key.starts_with(['"', '\'', '[', '{']) && !key.ends_with(['"', '\'']);
    (!is_quote && !key.is_empty()).then_some((key, rest.trim()))
}

/// The line without a comment, which begins at a # behind a space or at the begin, and in no quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match quote {
            Some(end) if c == end => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '#' && before.is_whitespace() => return &line[..at],
            None => {}
        }
        before = c;
    }
    line
}

/// A word, or a list of words in brackets.
fn word(text: &str, number: usize) -> Result<Value, String> {
    if let Some(inner) = text.strip_prefix('[') {
        let inner = inner
            .strip_suffix(']')
            .ok_or_else(|| format!("line {number}: a list without its closing bracket"))?;
        let words = inner
            .split(',')
            .map(str::trim)
            .filter(|one| !one.is_empty());
        let words = words.map(|one| single_word(one, number));
        return words.collect::<Result<_, _>>().map(Value::Array);
    }
    single_word(text, number)
}

fn single_word(text: &str, number: usize) -> Result<Value, String> {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            let inner = rest.strip_suffix(quote).filter(|one| !one.contains(quote));
            return inner
                .map(|one| Value::String(one.to_owned()))
                .ok_or_else(|| format!("line {number}: {text} is not closed where it ends"));
        }
    }
    if text.starts_with(['&', '*', '!', '{', '[', '>', '@', '`', '%']) {
        return Err(format!(
            "line {number}: {text:?} is YAML that is not read here (write it as plain lines)"
        ));
    }
    Ok(Value::String(text.to_owned()))
}
