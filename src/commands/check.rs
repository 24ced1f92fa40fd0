//! `hostint check`: checks a config file, and does nothing else.

use anyhow::Result;
use serde::Serialize;

use super::output::print;
use crate::cli::{CheckArgs, exit};
use crate::config::{ConfigError, File, Mistake};

/// The version of the JSON form.
const SCHEMA: &str = "hostint.config-check/1";

#[derive(Serialize)]
struct Check {
    schema: &'static str,
    file: String,
    mistakes: Vec<Mistake>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
}

pub fn run(args: &CheckArgs) -> Result<u8> {
    let path = args.file.as_path();
    let (summary, mistakes) = match File::check(path) {
        Ok(file) => (Some(file.summary()), Vec::new()),
        Err(ConfigError(mistakes)) => (None, mistakes),
    };
    let code = if summary.is_some() {
        exit::OK
    } else {
        exit::USAGE
    };
    let file = path.display().to_string();
    if args.json {
        let check = Check {
            schema: SCHEMA,
            file,
            mistakes,
            summary,
        };
        print(&format!("{}\n", serde_json::to_string(&check)?))?;
    } else if let Some(summary) = summary {
        print(&format!("{file}: fine: {summary}\n"))?;
    } else {
        let lines: String = mistakes.iter().map(|one| format!("{one}\n")).collect();
        print(&lines)?;
    }
    Ok(code)
}
