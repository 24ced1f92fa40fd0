//! `hostint check`: checks a config file, alone or against this host, and changes nothing.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use super::output::print;
use crate::cli::{CheckArgs, exit};
use crate::config::{ConfigError, File, Mistake};
use crate::host::preflight::fits;
use crate::model::preflight::{Finding, Verdict};

/// The version of the JSON form.
const SCHEMA: &str = "hostint.config-check/1";

#[derive(Serialize)]
struct Check {
    schema: &'static str,
    file: String,
    mistakes: Vec<Mistake>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// What was found on this host, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<Vec<Finding>>,
}

pub fn run(bpffs: Option<&Path>, args: &CheckArgs) -> Result<u8> {
    let path = args.file.as_path();
    let (summary, mistakes) = match File::check(path) {
        Ok(file) => (Some(file.summary()), Vec::new()),
        Err(ConfigError(mistakes)) => (None, mistakes),
    };
    let mut findings = None;
    if args.here && summary.is_some() {
        let found = fits(bpffs, path).context("cannot look at this host")?;
        findings = Some(in_order(found));
    }
    let check = Check {
        schema: SCHEMA,
        file: path.display().to_string(),
        mistakes,
        summary,
        findings,
    };
    print(&match args.json {
        true => format!("{}\n", serde_json::to_string(&check)?),
        false => check.text(),
    })?;
    Ok(match check.count(Verdict::Fail) {
        _ if check.summary.is_none() => exit::USAGE,
        0 => exit::OK,
        _ => exit::FAILURE,
    })
}

/// By the lines of the file; what no line is about comes last.
fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|one| match &one.place {
        Some(place) => (false, place.line),
        None => (true, 0),
    });
    findings
}

impl Check {
    fn count(&self, verdict: Verdict) -> usize {
        let findings = self.findings.iter().flatten();
        findings.filter(|one| one.verdict == verdict).count()
    }

    fn text(&self) -> String {
        let file = &self.file;
        let Some(summary) = &self.summary else {
            let mistakes = self.mistakes.iter();
            return mistakes.map(|one| format!("{one}\n")).collect();
        };
        let Some(findings) = &self.findings else {
            return format!("{file}: fine: {summary}\n");
        };
        let troubles = findings.iter().filter(|one| one.verdict != Verdict::Ok);
        let mut text: String = troubles
            .map(|one| format!("{}\n", self.mistake_of(one)))
            .collect();
        text += &match self.count(Verdict::Fail) {
            0 => format!("{file}: fits this host: {summary}\n"),
            failures => format!("{file}: does NOT fit this host, for {failures} reasons\n"),
        };
        text
    }

    /// A finding in the words of a mistake, with its place in the file.
    fn mistake_of(&self, finding: &Finding) -> Mistake {
        let word = match finding.verdict {
            Verdict::Fail => "FAIL",
            Verdict::Ok | Verdict::Note => "note",
        };
        let dev = finding
            .dev
            .as_ref()
            .map_or_else(String::new, |dev| format!("{dev}: "));
        let advice = finding.advice.as_ref();
        let advice = advice.map_or_else(String::new, |advice| format!(" ({advice})"));
        let place = finding.place.as_ref();
        Mistake {
            file: place.map(|_| self.file.clone()),
            line: place.map(|place| place.line),
            column: None,
            table: place.map(|place| place.table.clone()),
            key: place.map(|place| place.key.clone()),
            message: format!("{word}: {}: {dev}{}{advice}", finding.check, finding.found),
        }
    }
}
