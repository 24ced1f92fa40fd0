//! What can be set of the collector.

use clap::Args;

use super::mistake::{Fault, item_fault};
use super::place::port_of;
use crate::model::REPORT_PORT;

/// What can be set of `hostint collect`, by flag or by the same name in the config file.
#[derive(Args, Clone, Debug, Default)]
pub struct CollectOptions {
    /// Address to receive on, default port 32766; repeat for several [default: 0.0.0.0:32766 and [::]:32766]
    #[arg(long, value_name = "ADDR[:PORT]", value_delimiter = ',')]
    pub listen: Vec<String>,

    /// One JSON object a line (schema hostint.report/1)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub json: Option<bool>,
}

/// All settings of a collector, checked.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CollectConfig {
    pub listen: Vec<String>,
    pub json: bool,
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
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(CollectConfig {
            listen: self.listen,
            json: self.json.unwrap_or(false),
        })
    }
}
