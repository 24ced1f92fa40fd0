//! `hostint postcards`: the daemon in the foreground, or a predecessor's settings as a config file.

use std::path::Path;

use anyhow::Result;

use super::output::print;
use crate::cli::{PostcardsArgs, exit};
use crate::config::import::import;
use crate::daemon;

pub fn run(bpffs: Option<&Path>, args: &PostcardsArgs) -> Result<u8> {
    if let Some(path) = &args.import {
        print(&import(path)?)?;
        return Ok(exit::OK);
    }
    daemon::postcards::run(bpffs, args)?;
    Ok(exit::OK)
}
