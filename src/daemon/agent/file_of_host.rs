//! What the agent itself takes from the config file.

use crate::cli::RunArgs;
use crate::config::{ConfigError, File, Origin, Role, RunConfig};
use crate::host::fleet;
use crate::model::LeaseKey;

/// Reads the roles of this host, and the settings of the agent itself.
pub fn read(args: &RunArgs) -> Result<FileOfHost, ConfigError> {
    let file = File::check_but_collectors_secrets(&args.config)?;
    let config = args.settings.over(&file.run.options).check();
    let wrong = |faults| {
        ConfigError(
            file.run
                .locate(None, |key| Some(Origin::Flag(format!("--{key}"))), faults),
        )
    };
    Ok(FileOfHost {
        roles: file.roles()?,
        config: config.map_err(wrong)?,
        key: fleet::key_of(&file),
    })
}

/// What the agent itself takes from the file.
pub struct FileOfHost {
    pub roles: Vec<Role>,
    pub config: RunConfig,
    pub key: Option<LeaseKey>,
}
