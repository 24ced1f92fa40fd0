//! A look at hostint on one machine: a small network of its own with real packets, or a recorded one.

mod live;
mod network;
mod page;
mod recorded;
mod recording;
mod roles;
mod traffic;

use std::io::{IsTerminal, Write, stdout};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::cli::DemoArgs;
use crate::os::signals;

/// Shows hostint at work, and returns the exit code.
pub fn run(args: &DemoArgs) -> Result<u8> {
    if args.recorded {
        recorded::run(args)
    } else {
        live::run(args)
    }
}

/// The port of the page, as of any collector.
const PAGE_PORT: u16 = 13277;

/// The longest time after which it is noticed that the demo is to end.
const SLICE: Duration = Duration::from_millis(50);

/// What is said if a signal ends the demo before it has shown anything.
const INTERRUPTED: &str = "the demo was ended before its result";

/// Prints a line. It is no failure if no reader is left.
fn print(line: &str) {
    let _ = writeln!(stdout(), "{line}");
}

/// Prints what is done next, or what was found.
fn say(what: &str) {
    print(&format!("== {what}"));
}

/// How long the demo stays when it has shown its result: for the given time, else until a signal ends it if a person is
/// there to send one.
fn stays(args: &DemoArgs) -> Duration {
    match args.seconds {
        Some(seconds) => Duration::from_secs(seconds),
        None if stdout().is_terminal() => Duration::MAX,
        None => Duration::ZERO,
    }
}

/// Waits until a signal ends the demo, the time is over, or something fails.
fn stay(time: Duration, mut check: impl FnMut() -> Result<()>) -> Result<()> {
    let begun = Instant::now();
    while !signals::ending() {
        let left = time.saturating_sub(begun.elapsed());
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left.min(SLICE));
        check()?;
    }
    Ok(())
}
