//! Settings of predecessors as settings of postcards: ONOS' netcfg of SD-Fabric, and int-host-reporter's watchlist.

mod document;
mod netcfg;
mod reporter;

use std::fmt::Write;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use self::document::Document;
use super::mistake::ConfigError;
use crate::model::{PlainError, REPORT_PORT};

/// More bytes than any such file has.
const MOST_BYTES: u64 = 4 << 20;

/// What was found in a file. Texts are checked: they go into the config file as they are.
#[derive(Debug, Default)]
struct Imported {
    /// Remarks in front of everything.
    remarks: Vec<String>,
    collector: Option<String>,
    latency_step_ns: Option<u64>,
    queues: Vec<ImportedQueue>,
    rules: Vec<ImportedRule>,
}

/// A queue by its number, on all interfaces.
#[derive(Debug)]
struct ImportedQueue {
    queue: u32,
    trigger_ns: u64,
    reset_ns: u64,
}

/// A rule of the watchlist, as keys and values.
#[derive(Debug, Default)]
struct ImportedRule(Vec<(&'static str, String)>);

/// Reads the settings of a predecessor, and returns a config file that means the same.
///
/// # Errors
/// If the file cannot be read, is of neither of them, or has settings that have no counterpart here.
pub fn import(path: &Path) -> Result<String, ConfigError> {
    let shown = path.display();
    let failed = |why: String| ConfigError::one(format!("cannot import {shown}: {why}"));
    let size = fs::metadata(path).map_err(|err| failed(PlainError(&err).to_string()))?;
    if size.len() > MOST_BYTES {
        return Err(failed(format!(
            "the file has {} bytes, and no such file has more than {MOST_BYTES}",
            size.len()
        )));
    }
    let text = fs::read_to_string(path).map_err(|err| failed(PlainError(&err).to_string()))?;
    convert(&text, &shown.to_string()).map_err(failed)
}

/// The same of a text; `name` is where it is from.
///
/// # Errors
/// As for [`import`], in words.
pub fn convert(text: &str, name: &str) -> Result<String, String> {
    let document = Document::read(text)?;
    let imported = match &document {
        document if netcfg::fits(document) => netcfg::read(document)?,
        document if reporter::fits(document) => reporter::read(document)?,
        _ => {
            return Err(
                "it is neither ONOS' netcfg (with an app that has \"report\") nor int-host-reporter's watchlist (with \
                 \"rules\" or \"intWatchlistRules\")"
                    .to_owned(),
            );
        }
    };
    Ok(imported.toml(name))
}

impl Imported {
    /// Reports of packets with reports would tell of themselves, if a rule matches them.
    fn exclude_reports(&self, out: &mut String) {
        let collector: Option<SocketAddr> = self.collector.as_ref().and_then(|at| at.parse().ok());
        let port = collector.map_or(REPORT_PORT, |collector| collector.port());
        let _ = writeln!(out, "\n# The reports themselves");
        let _ = writeln!(out, "[[watch]]\nfor = [\"postcards\"]");
        let _ = writeln!(out, "action = \"exclude\"\npriority = 200");
        if let Some(collector) = collector {
            let _ = writeln!(out, "to = [\"{}\"]", collector.ip());
        }
        let _ = writeln!(out, "protocol = [\"udp\"]\nto-port = [\"{port}\"]");
    }

    /// The config file.
    fn toml(&self, name: &str) -> String {
        let mut out = String::new();
        let name: String = name.chars().filter(|c| !c.is_control()).collect();
        let _ = writeln!(out, "# Settings of hostint postcards, made of {name}.");
        for remark in &self.remarks {
            let _ = writeln!(out, "# {remark}");
        }
        let _ = writeln!(out, "\n[postcards]");
        // Without a watchlist SD-Fabric reports no flows and no drops.
        if self.rules.is_empty() {
            out.push_str("drops = \"none\"\nhops = \"none\"\n");
        } else {
            out.push_str("drops = \"all\"\nhops = \"watched\"\ndev = [\"*\"]\n");
        }
        if let Some(collector) = &self.collector {
            let _ = writeln!(out, "collector = [\"{collector}\"]");
            let _ = writeln!(out, "report-format = \"v0.5-standard\"");
        }
        if let Some(step_ns) = self.latency_step_ns {
            let _ = writeln!(out, "latency-step = \"{step_ns}ns\"");
        }
        for queue in &self.queues {
            let _ = writeln!(out, "\n[[queue]]\ndev = [\"*\"]");
            let _ = writeln!(out, "queue = {}", queue.queue);
            let _ = writeln!(out, "trigger = \"{}ns\"", queue.trigger_ns);
            let _ = writeln!(out, "reset = \"{}ns\"", queue.reset_ns);
        }
        if !self.rules.is_empty() {
            self.exclude_reports(&mut out);
        }
        for rule in &self.rules {
            let _ = writeln!(out, "\n[[watch]]\nfor = [\"postcards\"]");
            for (key, value) in &rule.0 {
                let _ = writeln!(out, "{key} = [\"{value}\"]");
            }
        }
        out
    }
}
