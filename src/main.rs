//! Parse, run, exit code.

use std::process::ExitCode;

use hostint::cli::{Cli, LogLevel, exit};
use hostint::commands;
use hostint::os::log::{self, Level};
use hostint::os::resolve;
use hostint::os::signals;

fn main() -> ExitCode {
    // If it cannot be held back, a signal that comes before its handler ends the process, as without handlers.
    let _ = signals::hold();
    resolve::pin_name_services();
    if commands::answer_shell() {
        return ExitCode::SUCCESS;
    }
    let cli = Cli::of_process();
    if !commands::is_daemon(&cli) {
        let _ = signals::release();
    }
    log::set_level(match cli.log_level() {
        LogLevel::Error => Level::Error,
        LogLevel::Warning => Level::Warning,
        LogLevel::Info => Level::Info,
        LogLevel::Debug => Level::Debug,
    });
    match commands::run(&cli) {
        Ok(code) => ExitCode::from(code),
        Err(err) => {
            log::error(format_args!("{err:#}"));
            if let Some(hint) = commands::hint(&err) {
                log::error(hint);
            }
            ExitCode::from(if commands::is_usage(&err) {
                exit::USAGE
            } else {
                exit::FAILURE
            })
        }
    }
}
