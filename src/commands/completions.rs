//! Completion of command lines by the binary itself, which knows interfaces, nodes and classes.
//!
//! What a shell reads once (`hostint completions bash`) has it call the binary at each request, with a variable that asks for
//! candidates instead of doing what the line says.

use std::env;
use std::ffi::OsString;

use anyhow::{Context, Result, anyhow};
use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use super::output;
use crate::cli::{Cli, exit};
use crate::daemon::collect::stored_reports::decoder;
use crate::host::history::place_to_read;
use crate::host::state::{self, StatusQuery};
use crate::model::name_pattern::DEFAULT_ROUTE;
use crate::model::{DropReasons, History, HostStatus, Span};
use crate::os::log::{self, Level};
use crate::os::{clock, netdev};
use crate::store::HistoryReader;

/// The variable by which a shell asks, with its name.
const ASKS: &str = "HOSTINT_COMPLETE";

/// The end of the file for zsh.
const LOADED_BY_ZSH: &[u8] = b"
if [ \"$funcstack[1]\" = _hostint ]; then
    _clap_dynamic_completer_hostint \"$@\"
fi
";

/// Classes of this time are candidates.
const RECENT_NS: u64 = 86_400_000_000_000;

/// Prints what a shell reads once.
pub fn run(shell: &str) -> Result<u8> {
    let shells = Shells::builtins();
    let completer = shells
        .completer(shell)
        .ok_or_else(|| anyhow!("no completions for {shell} (try bash, zsh or fish)"))?;
    let mut script = Vec::new();
    completer
        .write_registration(ASKS, "hostint", "hostint", "hostint", &mut script)
        .context("cannot write completions")?;
    if shell == "zsh" {
        // Where zsh loads it as a function, at the first request, it has to answer that, too.
        script.extend_from_slice(LOADED_BY_ZSH);
    }
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(exit::OK)
}

/// Answers a shell that asks for candidates. Returns false if none does.
pub fn answer_shell() -> bool {
    // What cannot be read has no candidates, and a shell's line is no place for reasons.
    if env::var_os(ASKS).is_some_and(|shell| !shell.is_empty()) {
        log::set_level(Level::Error);
    }
    let args: Vec<OsString> = env::args_os().collect();
    let folder = env::current_dir().ok();
    let asked = CompleteEnv::with_factory(command).var(ASKS);
    asked
        .try_complete(args, folder.as_deref())
        .unwrap_or_else(|err| err.exit())
}

/// The command line, with candidates for the values of its arguments.
fn command() -> Command {
    with_candidates(Cli::command())
}

fn with_candidates(command: Command) -> Command {
    let command = command.mut_args(|arg| match candidates(&arg) {
        Some(candidates) => arg.add(candidates),
        None => arg,
    });
    command.mut_subcommands(with_candidates)
}

/// By what help calls the value.
fn candidates(arg: &Arg) -> Option<ArgValueCandidates> {
    let name = arg.get_value_names()?.first()?;
    Some(match (name.as_str(), arg.get_long()) {
        ("DEV", _) => ArgValueCandidates::new(interfaces),
        ("NODE", _) | ("HOST", None) => ArgValueCandidates::new(nodes),
        ("CLASS", _) => ArgValueCandidates::new(classes),
        _ => return None,
    })
}

fn interfaces() -> Vec<CompletionCandidate> {
    let names = netdev::names().unwrap_or_default().into_values();
    let names = names.filter(|name| name != "lo");
    let mut found: Vec<_> = names.map(CompletionCandidate::new).collect();
    found.push(
        CompletionCandidate::new(DEFAULT_ROUTE)
            .help(Some("the interfaces of the default routes".into())),
    );
    found
}

/// Nodes by name, or by id where they have none, as this host and its collector's history know them; and watched hosts.
fn nodes() -> Vec<CompletionCandidate> {
    let status = state::read_here(None, None, StatusQuery::NO_FLOWS).ok();
    let seen = history().and_then(|mut history| history.hosts().ok());
    let mut found: Vec<String> = status.iter().flat_map(known_here).collect();
    for host in seen.into_iter().flatten() {
        let id = host.node.map(|node| node.to_string());
        found.extend(host.name.or(id));
    }
    found.sort();
    found.dedup();
    found.into_iter().map(CompletionCandidate::new).collect()
}

fn known_here(status: &HostStatus) -> Vec<String> {
    let names = status.names.iter().map(|one| one.name.clone());
    let dests = status.source.iter().flat_map(|source| &source.dests);
    let dests = dests.map(|dest| {
        let prefix = &dest.prefix;
        let host = prefix.strip_suffix("/32").or(prefix.strip_suffix("/128"));
        host.unwrap_or(prefix).to_owned()
    });
    names.chain(dests).collect()
}

fn classes() -> Vec<CompletionCandidate> {
    let until_ns = clock::realtime_ns();
    let span = Span {
        since_ns: until_ns.saturating_sub(RECENT_NS),
        until_ns,
    };
    let known = history().and_then(|mut history| history.classes(span).ok());
    let names = known.into_iter().flatten().map(|one| one.class);
    names.map(CompletionCandidate::new).collect()
}

fn history() -> Option<HistoryReader> {
    HistoryReader::open(&place_to_read(None), decoder(DropReasons::usual())).ok()
}
