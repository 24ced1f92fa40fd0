//! What the queries of `hostint history` have in common: file, span of time, output, and nodes.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::config::PageUrl;
use crate::model::{NodeId, When};

/// The history's file, the span of time, and the output format.
#[derive(Args, Clone, Debug)]
pub struct HistoryArgs {
    /// The collector's file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it
    /// exists]
    #[arg(long, value_name = "FILE", env = "HOSTINT_STORE", hide_env = true)]
    pub store: Option<PathBuf>,

    /// The collector to ask instead of a file, by the address of its page: collector-1, or http://collector-1:13277
    #[arg(long, value_name = "URL")]
    pub url: Option<PageUrl>,

    /// Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z [default: an hour before its end]
    #[arg(long, value_name = "WHEN")]
    pub since: Option<When>,

    /// End of the span
    #[arg(long, value_name = "WHEN", visible_alias = "at", default_value = "now")]
    pub until: When,

    /// Print one JSON object (schema hostint.history/1; of history path hostint.path/1, of history verdict hostint.verdict/1)
    #[arg(long)]
    pub json: bool,

    /// Print CSV, with column names in the first line
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// A node, as people call it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NodeArg {
    Id(NodeId),
    Name(String),
}

impl FromStr for NodeArg {
    type Err = String;

    /// Only digits are an ID, so that no name can take the place of one.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text
                .parse()
                .map(Self::Id)
                .map_err(|_| "not a node id (up to 4294967295) and not a name".to_owned());
        }
        Ok(Self::Name(text.to_owned()))
    }
}
