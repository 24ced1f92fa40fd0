//! Answers `hostint history`: on the host that has the file, and by a collector for clients elsewhere, in the same words.

mod question;
pub mod remote;

use std::time::SystemTime;

use anyhow::{Result, anyhow};

use crate::cli::{Cli, Command, HistoryArgs, HistoryCommand, exit};
use crate::host::advice::{Usage, is_usage};
use crate::model::{
    Answer, History, HistoryCall, HistoryReply, HostSeen, HostsReporting, NetworkVerdict, Span,
    VerdictState,
};
use crate::os::clock;
use crate::store::HOSTS_LAG_NS;
use crate::views::history::View;
use crate::views::hosts::KnownHosts;
use crate::views::table::TextWidth;

const HOUR_NS: u64 = 3_600_000_000_000;

/// The most rows or points that a collector gives a client.
const MOST_ROWS: usize = 2000;

/// The longest text that a collector gives a client.
const MOST_BYTES: usize = 32 << 20;

/// Asks a history what a command asks, and returns what it prints.
///
/// # Errors
/// If the command cannot be meant so, or the history cannot be read.
pub fn answer(
    command: &HistoryCommand,
    history: &mut dyn History,
    width: TextWidth,
) -> Result<HistoryReply> {
    answer_within(command, history, width, usize::MAX)
}

/// Answers a client of a collector. What is wrong with its command line is in the reply.
pub fn answer_call(call: &HistoryCall, history: &mut dyn History) -> HistoryReply {
    let failed = |exit: u8, said: String| HistoryReply {
        exit,
        said: Some(said),
        ..HistoryReply::default()
    };
    let words = ["hostint", "history"].into_iter();
    let words = words.chain(call.args.iter().map(String::as_str));
    let command = match Cli::try_parse_from_words(words) {
        Ok(Command::History(command)) => command,
        Ok(_) => return failed(exit::USAGE, "not a command of hostint history".to_owned()),
        Err(why) => {
            let said = format!("the collector does not know this command line: {why}");
            return failed(exit::USAGE, said);
        }
    };
    let width = TextWidth {
        columns: call.columns,
        folds: call.folds,
    };
    match answer_within(&command, history, width, MOST_ROWS) {
        Ok(reply) if reply.text.len() > MOST_BYTES => {
            let said = "the answer is too long for HTTP (try a shorter time, or ask on the collector's host)";
            failed(exit::FAILURE, said.to_owned())
        }
        Ok(reply) => reply,
        Err(err) if is_usage(&err) => failed(exit::USAGE, format!("{err:#}")),
        Err(err) => failed(exit::FAILURE, format!("{err:#}")),
    }
}

fn answer_within(
    command: &HistoryCommand,
    history: &mut dyn History,
    width: TextWidth,
    most: usize,
) -> Result<HistoryReply> {
    let args = command.args();
    let span = span(args)?;
    let seen = history.hosts()?;
    let question = question::of(command, &seen)?;
    if question.rows() > most {
        let said = format!("by --url at most {most} rows or points can be had");
        return Err(Usage(said).into());
    }
    let is_known = match question.flow() {
        Some(id) => history.flow(id, span)?.is_some(),
        None => true,
    };
    let answer = is_known.then(|| question.ask(history, span));
    let Some(answer) = answer.transpose()?.flatten() else {
        return Ok(HistoryReply {
            exit: exit::NOTHING,
            text: String::new(),
            said: Some("no such flow in this history, at this time".to_owned()),
        });
    };
    let hosts = KnownHosts::new(&seen, reporting(&seen, span));
    Ok(HistoryReply {
        exit: exit_code(command, &answer),
        text: text(&answer, args, (span, width), hosts)?,
        said: None,
    })
}

fn text(
    answer: &Answer,
    args: &HistoryArgs,
    (span, width): (Span, TextWidth),
    hosts: KnownHosts,
) -> Result<String> {
    let view = View(answer);
    if args.json {
        return Ok(view.json(span, &hosts));
    }
    if args.csv {
        let csv = view.csv(&hosts);
        return csv.map_err(|err| anyhow!("cannot write CSV: {err}"));
    }
    let hosts = match width.folds {
        true => hosts.cut_to(width.columns),
        false => hosts,
    };
    Ok(view.text(span, width, &hosts))
}

/// The exit status, which says something with `history verdict --check`.
fn exit_code(command: &HistoryCommand, answer: &Answer) -> u8 {
    let (HistoryCommand::Verdict { check: true, .. }, Answer::Verdict { verdict, .. }) =
        (command, answer)
    else {
        return exit::OK;
    };
    let verdict = verdict.as_deref();
    if verdict.is_some_and(NetworkVerdict::is_silenced) {
        return exit::OK;
    }
    match verdict.map(|verdict| verdict.state) {
        Some(VerdictState::Healthy) => exit::OK,
        Some(VerdictState::Degraded) => exit::DEGRADED,
        Some(VerdictState::Measurement) => exit::MEASUREMENT,
        Some(VerdictState::CannotTell) | None => exit::CANNOT_TELL,
    }
}

/// How many hosts report, if the question is about the present.
fn reporting(seen: &[HostSeen], span: Span) -> Option<HostsReporting> {
    let now_ns = clock::realtime_ns();
    let present = now_ns.saturating_sub(span.until_ns) < HOSTS_LAG_NS;
    present.then(|| HostsReporting::at(seen, now_ns, HOSTS_LAG_NS))
}

/// The span that a command is about.
///
/// # Errors
/// It is empty.
pub fn span(args: &HistoryArgs) -> Result<Span> {
    let now = SystemTime::now();
    let until_ns = args.until.ns(now);
    let span = Span {
        since_ns: match args.since {
            Some(since) => since.ns(now),
            None => until_ns.saturating_sub(HOUR_NS),
        },
        until_ns,
    };
    if span.since_ns >= span.until_ns {
        let said = "--since is not before --until".to_owned();
        return Err(Usage(said).into());
    }
    Ok(span)
}
