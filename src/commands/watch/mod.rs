//! `hostint status --watch`: the host is looked at again and again, for the screen or as lines of JSON.

mod look;
mod screen;
mod terminal;

use std::io::{self, IsTerminal, Write};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::cli::{StatusArgs, exit};
use crate::host::advice::Usage;
use crate::os::log;
pub use look::Looker;

pub fn run(looker: Looker, args: &StatusArgs, interval: Duration) -> Result<u8> {
    if args.json {
        return lines(&looker, interval);
    }
    let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    if !io::stdout().is_terminal() || dumb {
        return Err(Usage(
            "cannot show flows on a screen: standard output is no terminal that can be drawn on (try \
             --watch --json: a line of JSON each interval; or leave --watch out)"
                .to_owned(),
        )
        .into());
    }
    screen::run(looker, args, interval)
}

/// A line of JSON each interval, until the reader closes the pipe.
fn lines(looker: &Looker, interval: Duration) -> Result<u8> {
    let mut next = Instant::now();
    let mut first = true;
    loop {
        match looker.json() {
            Ok(line) => {
                let mut out = io::stdout().lock();
                match out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
                    Err(err) if err.kind() == io::ErrorKind::BrokenPipe => return Ok(exit::OK),
                    written => written.context("cannot write to standard output")?,
                }
            }
            // What worked before may work again: a daemon that starts anew.
            Err(err) if !first => log::warning(format_args!("{err:#}")),
            Err(err) => return Err(err),
        }
        first = false;
        next = (next + interval).max(Instant::now());
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}
