//! What is wrong with a config file or command line, and where.

use std::fmt;

use serde::Serialize;

/// One mistake; each is one line of text.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Mistake {
    /// The config file, if the mistake is in it,
    #[serde(skip)]
    pub file: Option<String>,
    /// and where, counted from 1.
    pub line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// `sink` or `watch`, for instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// In a file its key, else a flag or variable.
    pub key: Option<String>,
    /// What is wrong, what was expected, what to try.
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
        // Names from the file may have anything in them: a mistake is one line.
        self.message.chars().try_for_each(|c| match c {
            _ if c.is_control() => write!(f, "{}", c.escape_default()),
            _ => write!(f, "{c}"),
        })
    }
}

/// A table's name as its header has it.
pub fn shown_table(table: &str) -> String {
    match table {
        super::WATCH => format!("[[{table}]]"),
        _ => format!("[{table}]"),
    }
}

/// Mistakes in flags or file, all of them.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ConfigError(pub Vec<Mistake>);

impl ConfigError {
    /// A mistake that no line is known of.
    pub fn one(message: String) -> Self {
        Self(vec![message.into()])
    }
}

/// What a check of settings found, before it is known where they came from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The settings that it is about.
    pub keys: Vec<&'static str>,
    /// Which of the values, if the first of them is a list.
    pub item: Option<usize>,
    /// Nothing is wrong, but something is left to say.
    pub missing: bool,
    /// It is about what a file with a secret holds, which only the setting's own command may be able to read.
    pub secret: bool,
    pub message: String,
}

/// A fault of settings that do not go together, or of one.
pub fn fault(keys: &[&'static str], message: impl Into<String>) -> Fault {
    Fault {
        keys: keys.to_vec(),
        item: None,
        missing: false,
        secret: false,
        message: message.into(),
    }
}

/// A fault of a file with a secret.
pub fn secret_fault(key: &'static str, message: String) -> Fault {
    Fault {
        secret: true,
        ..fault(&[key], message)
    }
}

/// A fault of one value of a list.
pub fn item_fault(key: &'static str, item: usize, message: impl Into<String>) -> Fault {
    Fault {
        item: Some(item),
        ..fault(&[key], message)
    }
}

/// A setting that nobody gave.
pub fn missing(key: &'static str, message: impl Into<String>) -> Fault {
    Fault {
        missing: true,
        ..fault(&[key], message)
    }
}
