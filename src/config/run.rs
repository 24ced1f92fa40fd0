//! Settings of the agent, which runs all roles of a host.

use clap::Args;

use super::http::{AGENT_HTTP_PORT, check_http};
use super::mistake::Fault;

/// Options of `hostint run`, which are also keys of its table in the config file.
#[derive(Args, Clone, Debug, Default)]
pub struct RunOptions {
    /// Serve the metrics of all roles together (/metrics) and what is not well (/healthz, /readyz) by HTTP on this address,
    /// default port 13275, without authentication; 127.0.0.1 restricts it to this host [default: no HTTP]
    #[arg(long, value_name = "ADDR[:PORT]")]
    pub http: Option<String>,
}

/// The agent's settings, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RunConfig {
    pub http: Option<String>,
}

impl RunOptions {
    /// Checks everything.
    ///
    /// # Errors
    /// All faults.
    pub fn check(self) -> Result<RunConfig, Vec<Fault>> {
        let mut faults = Vec::new();
        check_http(self.http.as_deref(), AGENT_HTTP_PORT, &mut faults);
        match faults.is_empty() {
            true => Ok(RunConfig { http: self.http }),
            false => Err(faults),
        }
    }

    /// Flags over the file.
    #[must_use]
    pub fn over(&self, file: &Self) -> Self {
        Self {
            http: self.http.clone().or_else(|| file.http.clone()),
        }
    }
}
