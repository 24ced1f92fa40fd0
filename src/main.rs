//! Parse, run, exit code.

use std::process::ExitCode;

use hostint::cli::{Cli, exit};
use hostint::commands;
use hostint::os::resolve;

fn main() -> ExitCode {
    resolve::pin_name_services();
    let cli = Cli::of_process();
    match commands::run(&cli) {
        Ok(code) => ExitCode::from(code),
        Err(err) => {
            for line in format!("{err:#}").lines() {
                eprintln!("hostint: {line}");
            }
            if let Some(hint) = commands::hint(&err) {
                eprintln!("hostint: {hint}");
            }
            ExitCode::from(if commands::is_usage(&err) {
                exit::USAGE
            } else {
                exit::FAILURE
            })
        }
    }
}
