//! TOML parsing that continues after syntax errors.

use toml::Spanned;
use toml::de::DeTable;

use super::lines::LineIndex;
use super::mistake::Mistake;

/// Most errors that are reported for one file.
const MOST_ERRORS: usize = 20;

/// Hands the text without its malformed lines to `read`, and returns the mistakes in those lines.
///
/// The parser's own error recovery loses too much. Offsets in the text stay unchanged.
pub fn parse<R>(
    text: &str,
    lines: &LineIndex<'_>,
    take: impl FnOnce(&Spanned<DeTable<'_>>, &[Mistake]) -> R,
) -> (R, Vec<Mistake>) {
    let mut mistakes = Vec::new();
    let mut rest = text.to_owned();
    while mistakes.len() < MOST_ERRORS
        && let Err(err) = DeTable::parse(&rest)
    {
        let at = err.span().map_or(text.len(), |span| span.start);
        let line = lines.of(at);
        mistakes.push(Mistake {
            line: Some(line),
            column: Some(lines.column(at)),
            message: err.message().to_owned(),
            ..Mistake::default()
        });
        let without = without_line(&rest, line - 1);
        if without == rest {
            break;
        }
        rest = without;
    }
    let (root, _) = DeTable::parse_recoverable(&rest);
    (take(&root, &mistakes), mistakes)
}

/// The text with spaces in place of one line, or of all lines up to the next header if the line is a header.
fn without_line(text: &str, number: usize) -> String {
    let is_header = |line: &str| line.trim_start().starts_with('[');
    let mut leaving = false;
    let mut found = String::with_capacity(text.len());
    for (i, line) in text.split_inclusive('\n').enumerate() {
        leaving = i == number || leaving && !is_header(line);
        if leaving {
            let end = line.trim_end_matches('\n').len();
            found.push_str(&" ".repeat(end));
            found.push_str(&line[end..]);
        } else {
            found.push_str(line);
        }
        leaving &= i != number || is_header(line);
    }
    found
}
