//! The lists of tables in a config file: rules of the watchlist, and queues.

use toml::Spanned;
use toml::de::DeValue;

use super::file::{EMPTY_RULE, File, reader_of};
use super::limit::{LimitOptions, MOST_LIMITS};
use super::lines::LineIndex;
use super::mistake::Mistake;
use super::queue::{MOST_QUEUES, QueueOptions, repeated, too_many};
use super::table_name::{LIMITS, QUEUE, WATCH};
use super::value::kind_of;
use super::watch::WatchOptions;

/// The number of rules that a source has room for.
pub const MAX_RULES: usize = 16_384;

/// What is missing has the place of its table.
fn placed(mistake: Mistake, table: &str, line: usize) -> Mistake {
    match mistake.line {
        Some(_) => mistake,
        None => Mistake {
            line: Some(line),
            table: Some(table.to_owned()),
            ..mistake
        },
    }
}

impl File {
    pub(super) fn take_rules(
        &mut self,
        rules: &[Spanned<DeValue<'_>>],
        lines: &LineIndex<'_>,
        mistakes: &mut Vec<Mistake>,
    ) {
        let refuse = |rule: &Spanned<DeValue<'_>>, message: String| Mistake {
            line: Some(lines.of(rule.span().start)),
            table: Some(WATCH.to_owned()),
            message,
            ..Mistake::default()
        };
        let mut reader = reader_of::<WatchOptions>(WATCH);
        for rule in rules {
            let DeValue::Table(keys) = rule.get_ref() else {
                mistakes.push(refuse(
                    rule,
                    format!(
                        "{} (expected [[watch]] above each rule)",
                        kind_of(rule.get_ref())
                    ),
                ));
                continue;
            };
            if keys.is_empty() {
                mistakes.push(refuse(rule, EMPTY_RULE.to_owned()));
                continue;
            }
            let table = reader.read(keys, lines, mistakes);
            match table.options.clone().check() {
                Ok(rule) => self.rules.push(rule),
                Err(faults) => mistakes.extend(table.locate(None, |_| None, faults)),
            }
        }
        if let Some(first) = rules.get(MAX_RULES) {
            mistakes.push(refuse(
                first,
                format!("{} rules: {MAX_RULES} are possible", rules.len()),
            ));
        }
    }

    /// What tables [[queue]] ask for is asked for by postcards, as if it were in their own table.
    pub(super) fn take_queues(
        &mut self,
        all: &[Spanned<DeValue<'_>>],
        lines: &LineIndex<'_>,
        mistakes: &mut Vec<Mistake>,
    ) {
        let mut reader = reader_of::<QueueOptions>(QUEUE);
        let refuse = |line, message| Mistake {
            line: Some(line),
            table: Some(QUEUE.to_owned()),
            message,
            ..Mistake::default()
        };
        for one in all {
            let line = lines.of(one.span().start);
            let DeValue::Table(keys) = one.get_ref() else {
                let kind = kind_of(one.get_ref());
                let message = format!("{kind} (expected [[queue]] above each)");
                mistakes.push(refuse(line, message));
                continue;
            };
            let table = reader.read(keys, lines, mistakes);
            match table.options.clone().check() {
                Ok(rules) => {
                    for rule in rules {
                        let before = self.postcards.options.queue.iter().chain(&self.queues);
                        match repeated(&rule, before) {
                            Some(why) => mistakes.push(refuse(line, why)),
                            None => self.queues.push(rule),
                        }
                    }
                    // More than a key of [postcards] is told by its own line.
                    let own = self.postcards.options.queue.len();
                    let room = MOST_QUEUES.saturating_sub(own);
                    if self.queues.len() > room {
                        mistakes.push(refuse(line, too_many(own + self.queues.len())));
                        self.queues.truncate(room);
                    }
                }
                Err(faults) => {
                    let found = table.locate(None, |_| None, faults);
                    mistakes.extend(found.into_iter().map(|one| placed(one, QUEUE, line)));
                }
            }
        }
        self.postcards.options.queue.extend(self.queues.clone());
    }

    pub(super) fn take_limits(
        &mut self,
        all: &[Spanned<DeValue<'_>>],
        lines: &LineIndex<'_>,
        mistakes: &mut Vec<Mistake>,
    ) {
        let mut reader = reader_of::<LimitOptions>(LIMITS);
        let refuse = |line, message| Mistake {
            line: Some(line),
            table: Some(LIMITS.to_owned()),
            message,
            ..Mistake::default()
        };
        for one in all {
            let line = lines.of(one.span().start);
            let DeValue::Table(keys) = one.get_ref() else {
                let kind = kind_of(one.get_ref());
                let message = format!("{kind} (expected [[limits]] above each)");
                mistakes.push(refuse(line, message));
                continue;
            };
            let table = reader.read(keys, lines, mistakes);
            match table.options.clone().check() {
                Ok(limit) => self.limits.push(limit),
                Err(faults) => {
                    let found = table.locate(None, |_| None, faults);
                    mistakes.extend(found.into_iter().map(|one| placed(one, LIMITS, line)));
                }
            }
        }
        if let Some(beyond) = all.get(MOST_LIMITS) {
            let line = lines.of(beyond.span().start);
            let message = format!("{} tables: {MOST_LIMITS} are possible", all.len());
            mistakes.push(refuse(line, message));
        }
    }
}
