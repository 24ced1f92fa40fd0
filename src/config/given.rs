//! Settings from flags and environment variables, which override those of the file.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};

use super::settled::Settings;
use super::variable::{variable, variable_read};

/// Settings from the command line, each of which may also come from the environment.
#[derive(Clone, Debug)]
pub struct Given<O> {
    pub options: O,
    matches: ArgMatches,
}

/// The flag or variable that a setting came from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origin {
    Flag(String),
    Variable(String),
}

/// The settings that `O` consists of, as clap arguments.
pub fn settings_of<O: Args>() -> Vec<Arg> {
    let command = O::augment_args(Command::new(""));
    command
        .get_arguments()
        .filter(|arg| arg.get_long().is_some())
        .cloned()
        .collect()
}

impl<O: Settings> Given<O> {
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
            ValueSource::EnvVariable => Some(Origin::Variable(variable_read::<O>(key))),
            _ => None,
        }
    }
}

impl<O: FromArgMatches> FromArgMatches for Given<O> {
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

impl<O: Settings> Args for Given<O> {
    fn augment_args(command: Command) -> Command {
        let settings = settings_of::<O>();
        // One note replaces a line about a variable in the help of every flag.
        let flag = settings.first().and_then(Arg::get_long).unwrap_or_default();
        let command = command.after_help(format!(
            "Settings may come from environment variables too, --{flag} from {} for instance, and from the file \
             of --config: see hostint.toml(5).",
            variable(flag)
        ));
        settings.into_iter().fold(command, |all, arg| {
            let name = variable_read::<O>(arg.get_long().unwrap_or_default());
            all.arg(arg.env(name).hide_env(true))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
