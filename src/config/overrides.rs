//! Settings from flags and environment variables, which override those of the file.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};

use super::definition::settings_of;
use super::file::CommandSettings;
use super::origin::Origin;
use super::value::is_truth;
use super::variable::{variable, variable_read};

/// Settings from the command line, each of which may also come from the environment.
#[derive(Clone, Debug)]
pub struct Overrides<O> {
    pub options: O,
    matches: ArgMatches,
}

impl<O: CommandSettings> Overrides<O> {
    /// These settings over those of the file.
    pub fn over(&self, mut file: O) -> O {
        // A command line that was parsed once parses again.
        let _ = file.update_from_arg_matches(&self.matches);
        file
    }

    /// The flag or variable that this setting came from; `None` if it comes from the file or is a default.
    pub fn origin(&self, key: &str) -> Option<Origin> {
        let settings = settings_of::<O>();
        let arg = settings.iter().find(|arg| arg.get_long() == Some(key))?;
        match self.matches.value_source(arg.get_id().as_str())? {
            ValueSource::CommandLine => Some(Origin::Flag(format!("--{key}"))),
            ValueSource::EnvVariable => Some(Origin::Variable(variable_read(O::TABLE, key))),
            _ => None,
        }
    }
}

impl<O: FromArgMatches> FromArgMatches for Overrides<O> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self {
            options: O::from_arg_matches(matches)?,
            matches: matches.clone(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The end of the help. One note replaces a line about a variable at every flag, such as this one.
fn after_help<O: CommandSettings>(flag: &str) -> String {
    let examples: String = O::EXAMPLES
        .iter()
        .map(|line| format!("\n  {line}"))
        .collect();
    format!(
        "Settings may come from environment variables too, --{flag} from {} for instance, and from the file of \
         --config: see hostint.toml(5).\n\nExamples:{examples}",
        variable(flag)
    )
}

impl<O: CommandSettings> Args for Overrides<O> {
    fn augment_args(command: Command) -> Command {
        let settings = settings_of::<O>();
        let flag = settings.first().and_then(Arg::get_long).unwrap_or_default();
        let command = command.after_help(after_help::<O>(flag));
        settings.into_iter().fold(command, |all, arg| {
            let name = variable_read(O::TABLE, arg.get_long().unwrap_or_default());
            // [=<BOOL>] says it already.
            let hide = is_truth(&arg) && arg.get_action().takes_values();
            all.arg(arg.env(name).hide_env(true).hide_possible_values(hide))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
