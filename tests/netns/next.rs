//! hostint with another layout of maps, as a later version may have.

use std::process::ExitCode;

use hostint::cli::{Cli, exit};
use hostint::commands;
use hostint::os::resolve;

fn main() -> ExitCode {
    resolve::pin_name_services();
    match commands::run(&Cli::of_process()) {
        Ok(code) => ExitCode::from(code),
        Err(err) => {
            eprintln!("hostint: {err:#}");
            ExitCode::from(exit::FAILURE)
        }
    }
}
