//! What the demo says to the user who watches it, and how long it stays.

use std::io::{IsTerminal, Write, stdout};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::cli::DemoArgs;
use crate::os::signals;

/// The longest time after which it is noticed that the demo is to end.
pub const SLICE: Duration = Duration::from_millis(50);

/// What is said if a signal ends the demo before it has shown anything.
pub const INTERRUPTED: &str = "the demo was ended before its result";

/// Prints a line. It is no failure if no reader is left.
pub fn print(line: &str) {
    let _ = writeln!(stdout(), "{line}");
}

/// Prints what is done next, or what was found.
pub fn say(what: &str) {
    print(&format!("== {what}"));
}

/// How long the demo stays when it has shown its result: for the given time, else until a signal ends it if a person is
/// there to send one.
pub fn stays(args: &DemoArgs) -> Duration {
    match args.seconds {
        Some(seconds) => Duration::from_secs(seconds),
        None if stdout().is_terminal() => Duration::MAX,
        None => Duration::ZERO,
    }
}

/// Waits until a signal ends the demo, the time is over, or something fails.
pub fn stay(time: Duration, mut check: impl FnMut() -> Result<()>) -> Result<()> {
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
