//! A mistake in a config file or command line, with its place.

use std::fmt;

use serde::Serialize;

use super::table_name::shown_table;

/// One mistake; its text is one line.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Mistake {
    /// The config file, if the mistake is in it.
    #[serde(skip)]
    pub file: Option<String>,
    /// Its line, counted from 1.
    pub line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The table's name, such as `sink` or `watch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The key in the file, or else the flag or variable.
    pub key: Option<String>,
    /// The problem, the expected value, and advice.
    pub message: String,
}

impl From<String> for Mistake {
    fn from(message: String) -> Self {
        Self {
            message,
            ..Self::default()
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            f.write_str(file)?;
            for number in [self.line, self.column].into_iter().flatten() {
                write!(f, ":{number}")?;
            }
            f.write_str(": ")?;
        }
        if let Some(table) = &self.table {
            write!(f, "{}", shown_table(table))?;
            f.write_str(if self.key.is_some() { " " } else { ": " })?;
        }
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        // Names from the file may hold control characters, but a mistake is one line.
        self.message.chars().try_for_each(|c| match c {
            _ if c.is_control() => write!(f, "{}", c.escape_default()),
            _ => write!(f, "{c}"),
        })
    }
}

/// All mistakes in flags and file.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ConfigError(pub Vec<Mistake>);

impl ConfigError {
    /// A mistake without a line.
    pub fn one(message: String) -> Self {
        Self(vec![message.into()])
    }
}

/// A problem that a check of settings found, before it is known where the settings came from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The settings that the fault is about.
    pub keys: Vec<&'static str>,
    /// The index of the wrong value, if the first setting is a list.
    pub item: Option<usize>,
    /// A required setting is missing, which another source may still provide.
    pub missing: bool,
    /// The fault is about a file with a secret, which only the setting's own command may be able to read.
    pub secret: bool,
    pub message: String,
}

/// A fault in one setting, or in several that do not fit together.
pub fn fault(keys: &[&'static str], message: impl Into<String>) -> Fault {
    Fault {
        keys: keys.to_vec(),
        item: None,
        missing: false,
        secret: false,
        message: message.into(),
    }
}

/// A fault in a file with a secret.
pub fn secret_fault(key: &'static str, message: String) -> Fault {
    Fault {
        secret: true,
        ..fault(&[key], message)
    }
}

/// A fault in one value of a list.
pub fn item_fault(key: &'static str, item: usize, message: impl Into<String>) -> Fault {
    Fault {
        item: Some(item),
        ..fault(&[key], message)
    }
}

/// A required setting that was not given.
pub fn missing(key: &'static str, message: impl Into<String>) -> Fault {
    Fault {
        missing: true,
        ..fault(&[key], message)
    }
}

/// Sorts mistakes by line; those without a line come last.
pub fn in_order(mistakes: &mut Vec<Mistake>) {
    mistakes.sort_by_key(|mistake| (mistake.line.is_none(), mistake.line, mistake.column));
    mistakes.dedup();
}
