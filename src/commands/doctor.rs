//! `hostint doctor`: what this host lacks, and what is wrong with what runs on it, worst first, each with what to try.

use std::path::Path;

use anyhow::{Context, Result};

use super::doctor_hosts;
use super::output::print;
use crate::cli::{DoctorArgs, exit};
use crate::host::advice::surroundings;
use crate::host::preflight::{PreflightQuery, preflight, store_of};
use crate::host::state::{self, StatusQuery};
use crate::model::Surroundings;
use crate::model::preflight::{Finding, Preflight};
use crate::os::plain_text::without_numbers;
use crate::views::preflight::{PreflightText, judge_running};

pub fn run(bpffs: Option<&Path>, args: &DoctorArgs) -> Result<u8> {
    let query = PreflightQuery {
        config: args.config.as_deref(),
        devs: &args.dev,
        collectors: &args.collector,
    };
    let mut findings = Vec::new();
    if args.host.is_empty() {
        findings = preflight(bpffs, query).context("cannot look at this host")?;
    }
    match state::read_here(bpffs, None, StatusQuery::ALL_PEERS) {
        Ok(status) if args.host.is_empty() => findings.extend(judge_running(&status)),
        Ok(status) => {
            // What is wrong with all of this host is wrong with what it knows of others.
            let mut own = judge_running(&status);
            own.retain(|one| ["off", "daemon"].contains(&one.check));
            findings.extend(own);
            let store = store_of(args.config.as_deref());
            findings.extend(doctor_hosts::findings(
                &args.host,
                &status,
                store.as_deref(),
            )?);
        }
        Err(err) => {
            let text = without_numbers(format!("cannot see what runs here: {err:#}"));
            let finding = match args.host.is_empty() {
                true => Finding::note("state", text),
                false => Finding::fail("state", text),
            };
            findings.push(finding.advise(match surroundings() {
                Surroundings::Machine => "sudo hostint doctor",
                _ => "give this container what it lacks (see the other lines)",
            }));
        }
    }
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
