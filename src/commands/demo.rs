//! `hostint demo`: hostint at work on this machine, without a network of one's own.

use anyhow::Result;

use crate::cli::DemoArgs;
use crate::demo;

pub fn run(args: &DemoArgs) -> Result<u8> {
    demo::run(args)
}
