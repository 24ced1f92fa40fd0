//! What can be set of the collector.

use clap::Args;

use super::drop_reasons;
use super::http::{COLLECT_HTTP_PORT, check_http};
use super::mistake::{Fault, fault, item_fault};
use super::place::port_of;
use crate::model::{DropReasons, REPORT_PORT};

/// What can be set of `hostint collect`, by flag or by the same name in the config file.
#[derive(Args, Clone, Debug, Default)]
pub struct CollectOptions {
    /// Address to receive on, default port 32766; repeat for several [default: 0.0.0.0:32766 and [::]:32766]
    #[arg(long, value_name = "ADDR[:PORT]", value_delimiter = ',')]
    pub listen: Vec<String>,

    /// One JSON object a line (schema hostint.report/1)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub json: Option<bool>,

    /// Names of drop reason codes: int-host-reporter, p4lang-switch, or a file that has a line as 80 = "acl deny"
    /// for each [default: int-host-reporter]
    #[arg(long, value_name = "LIST")]
    pub drop_reasons: Option<String>,

    /// Serve metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13277, to
    /// whoever reaches it; 127.0.0.1 for this host alone [default: no HTTP]
    #[arg(long, value_name = "ADDR[:PORT]")]
    pub http: Option<String>,
}

/// All settings of a collector, checked.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CollectConfig {
    pub listen: Vec<String>,
    pub json: bool,
    /// The list that the user chose.
    pub drop_reasons: Option<DropReasons>,
    pub http: Option<String>,
}

impl CollectOptions {
    /// Checks everything and fills in defaults.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn check(self) -> Result<CollectConfig, Vec<Fault>> {
        let mut faults = Vec::new();
        for (i, text) in self.listen.iter().enumerate() {
            if let Err(why) = port_of(text, REPORT_PORT) {
                faults.push(item_fault(
                    "listen",
                    i,
                    format!("cannot listen on {text}: {why} (try 0.0.0.0:32766 or [::]:32766)"),
                ));
            }
        }
        let reasons = self.drop_reasons.as_deref().map(drop_reasons).transpose();
        let drop_reasons = reasons.unwrap_or_else(|err| {
            faults.push(fault(
                &["drop-reasons"],
                err.to_string().replace('\n', "; "),
            ));
            None
        });
        check_http(self.http.as_deref(), COLLECT_HTTP_PORT, &mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(CollectConfig {
            listen: self.listen,
            json: self.json.unwrap_or(false),
            drop_reasons,
            http: self.http,
        })
    }
}
