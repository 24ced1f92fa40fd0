//! A command line of `hostint history` that a collector answers for a client, and its answer.

use serde::{Deserialize, Serialize};

/// A command line, and the text that the client has room for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HistoryCall {
    /// What stands behind `hostint history`.
    pub args: Vec<String>,
    pub columns: usize,
    /// It is for a reader at a terminal.
    pub folds: bool,
}

/// What the command prints.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct HistoryReply {
    /// The exit code.
    pub exit: u8,
    /// The standard output.
    pub text: String,
    /// The standard error, if there is any.
    pub said: Option<String>,
}
