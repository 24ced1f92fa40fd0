//! The roles that a config file gives this host: those that it has a table for.

use super::collect::CollectOptions;
use super::file::{CommandSettings, File};
use super::mistake::{ConfigError, Mistake, in_order};
use super::postcards::PostcardsOptions;
use super::sink_options::SinkOptions;
use super::source::SourceOptions;
use super::tcp::TcpOptions;
use super::transit::TransitOptions;

/// What a daemon of this host does.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Role {
    Sink,
    Source,
    Transit,
    Postcards,
    Tcp,
    Collect,
}

impl Role {
    /// All, in the order in which they start.
    pub const ALL: [Self; 6] = [
        Self::Sink,
        Self::Source,
        Self::Transit,
        Self::Postcards,
        Self::Tcp,
        Self::Collect,
    ];

    /// The name of its command, and of its table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sink => SinkOptions::TABLE,
            Self::Source => SourceOptions::TABLE,
            Self::Transit => TransitOptions::TABLE,
            Self::Postcards => PostcardsOptions::TABLE,
            Self::Tcp => TcpOptions::TABLE,
            Self::Collect => CollectOptions::TABLE,
        }
    }
}

impl File {
    /// The roles that the file has a table for.
    ///
    /// # Errors
    /// If a table lacks a setting that its role requires, as no flags give it, or there is no such table.
    pub fn roles(&self) -> Result<Vec<Role>, ConfigError> {
        let shown = self.path.display();
        let has = |role: &Role| self.tables.contains_key(role.name());
        let roles: Vec<Role> = Role::ALL.into_iter().filter(has).collect();
        if roles.is_empty() {
            return Err(ConfigError::one(format!(
                "{shown} gives this host no role (expected a table [sink], [source], [transit], [postcards], [tcp] or \
                 [collect])"
            )));
        }
        let mut mistakes = Vec::new();
        for role in &roles {
            mistakes.extend(match role {
                Role::Sink => self.check_alone::<SinkOptions>(),
                Role::Source => self.check_alone::<SourceOptions>(),
                Role::Transit => self.check_alone::<TransitOptions>(),
                Role::Postcards => self.check_alone::<PostcardsOptions>(),
                Role::Tcp => self.check_alone::<TcpOptions>(),
                Role::Collect => self.check_alone::<CollectOptions>(),
            });
        }
        in_order(&mut mistakes);
        match mistakes.is_empty() {
            true => Ok(roles),
            false => Err(ConfigError(mistakes)),
        }
    }

    /// Mistakes within one table that no flags are added to. What is missing is told at the table's header; secrets are read
    /// where the file is checked.
    fn check_alone<O: CommandSettings>(&self) -> Vec<Mistake> {
        let table = O::table(self);
        let Err(mut faults) = table.options.clone().check() else {
            return Vec::new();
        };
        faults.retain(|fault| !fault.secret);
        let shown = self.path.display().to_string();
        let mut mistakes = table.locate(Some(&shown), |_| None, faults);
        for mistake in &mut mistakes {
            mistake.line = mistake.line.or(self.tables.get(O::TABLE).copied());
        }
        mistakes
    }
}
