//! A look at hostint on one machine: a small network of its own with real packets, or a recorded one.

mod live;
mod network;
mod page;
mod recorded;
mod recording;
mod roles;
mod session;
mod traffic;

use anyhow::Result;

use crate::cli::DemoArgs;

/// Shows hostint at work, and returns the exit code.
pub fn run(args: &DemoArgs) -> Result<u8> {
    if args.recorded {
        recorded::run(args)
    } else {
        live::run(args)
    }
}
