//! `hostint doctor`: what this host lacks, and what is wrong with what runs on it, worst first, each with what to try.

use std::path::Path;

use anyhow::{Context, Result};

use super::output::print;
use crate::cli::{DoctorArgs, exit};
use crate::host::preflight::{PreflightQuery, preflight};
use crate::host::state::{self, StatusQuery};
use crate::model::preflight::{Finding, Preflight};
use crate::os::plain_text::without_numbers;
use crate::views::preflight::{PreflightText, judge_running};

pub fn run(bpffs: Option<&Path>, args: &DoctorArgs) -> Result<u8> {
    let query = PreflightQuery {
        config: args.config.as_deref(),
        devs: &args.dev,
        collectors: &args.collector,
    };
    let mut findings = preflight(bpffs, query).context("cannot look at this host")?;
    findings.extend(
        match state::read_here(bpffs, None, StatusQuery::ALL_PEERS) {
            Ok(status) => judge_running(&status),
            Err(err) => {
                let text = without_numbers(format!("cannot see what runs here: {err:#}"));
                vec![Finding::note("state", text).advise("sudo hostint doctor")]
            }
        },
    );
    // The sort is stable: findings of one interface stay together.
    findings.sort_by_key(|one| std::cmp::Reverse(one.verdict));
    let found = Preflight::new(findings);
    print(&if args.json {
        format!("{}\n", serde_json::to_string(&found)?)
    } else {
        let all = args.all;
        PreflightText { found: &found, all }.to_string()
    })?;
    Ok(if found.ready { exit::OK } else { exit::FAILURE })
}
