//! HTTP headers for pushed metrics, in a file that only its owner can read.

use std::fmt;
use std::path::Path;

use super::secret::read_secret;

/// Names and values. Values are secret and never shown.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct PushHeaders(pub Vec<(String, String)>);

impl fmt::Debug for PushHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|(name, _)| name);
        f.debug_list().entries(names).finish()
    }
}

/// Headers that hostint sets itself.
const OURS: [&str; 8] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "transfer-encoding",
    "user-agent",
];

/// Parses lines of a name, a colon and a value, and ignores empty lines and those that begin with `#`.
pub(super) fn read_headers(path: &Path) -> Result<PushHeaders, String> {
    let text = read_secret("headers", path)?;
    let mut headers = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |why: &str| {
            let line = at + 1;
            format!("cannot use headers {}: line {line} {why}", path.display())
        };
        let (name, value) = line
            .split_once(':')
            .map(|(name, value)| (name.trim(), value.trim()))
            .filter(|(name, value)| is_name(name) && is_value(value))
            .ok_or_else(|| wrong("is not a header (expected for instance X-Scope-OrgID: net)"))?;
        if OURS.contains(&name.to_lowercase().as_str()) {
            return Err(wrong(&format!("has {name}, which hostint sets itself")));
        }
        headers.push((name.to_owned(), value.to_owned()));
    }
    Ok(PushHeaders(headers))
}

/// Whether this is a token in the sense of HTTP.
fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(allowed)
}

fn is_value(text: &str) -> bool {
    let allowed = |byte: u8| byte == b' ' || byte == b'\t' || byte.is_ascii_graphic();
    !text.is_empty() && text.bytes().all(allowed)
}
