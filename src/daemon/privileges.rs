//! Gives up privileges, for good: what a thread begins with, its threads have too.

use anyhow::{Context, Result};

use crate::os::privileges::{self, Capability};

/// Keeps only these capabilities.
pub fn give_up_all_but(kept: &[Capability]) -> Result<()> {
    privileges::keep_only(kept).context("cannot give up privileges")
}
