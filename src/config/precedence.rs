//! The final settings: flags over environment over file over defaults.

use std::path::Path;

use crate::model::name_pattern::may_stand_for;

use super::collect::CollectOptions;
use super::file::{CommandSettings, File};
use super::mistake::{ConfigError, in_order};
use super::overrides::Overrides;
use super::postcards::PostcardsOptions;
use super::run::RunOptions;
use super::sink_options::SinkOptions;
use super::source::{SourceOptions, SourceSetup};
use super::table::SettingsTable;
use super::table_name::{COLLECT, POSTCARDS, SINK, SOURCE, TCP, TRANSIT};
use super::tcp::TcpOptions;
use super::transit::TransitOptions;

/// Checked settings, and the file that they came from, if there was one.
#[derive(Clone, Debug)]
pub struct Settled<C> {
    pub config: C,
    pub file: Option<File>,
}

/// The file's settings for sources, for interfaces to which one is attached already.
///
/// # Errors
/// All faults.
pub fn settle_source(file: &File, attached: &[String]) -> Result<SourceSetup, ConfigError> {
    let mut options = file.source.options.clone();
    let mut devs = attached.to_vec();
    if options.dev.is_empty() {
        options.dev = devs.clone();
    } else {
        let is_named = |dev: &String| options.dev.iter().any(|word| may_stand_for(word, dev));
        devs.retain(is_named);
    }
    match options.check() {
        Ok(setup) => Ok(SourceSetup { devs, ..setup }),
        Err(faults) => {
            let shown = file.path.display().to_string();
            Err(ConfigError(file.source.locate(
                Some(&shown),
                |_| None,
                faults,
            )))
        }
    }
}

/// Reads and checks the whole file, and checks the resulting settings: flags over environment over file over defaults.
///
/// # Errors
/// All mistakes.
pub fn settle<O: CommandSettings>(
    given: &Overrides<O>,
    path: Option<&Path>,
) -> Result<Settled<O::Config>, ConfigError> {
    let Some(path) = path else {
        let settled = given.options.clone().check();
        let nothing = SettingsTable::<O>::empty(O::TABLE);
        return match settled {
            Ok(config) => Ok(Settled { config, file: None }),
            Err(faults) => Err(ConfigError(nothing.locate(
                None,
                |key| given.origin(key),
                faults,
            ))),
        };
    };
    let (file, mut mistakes) = File::read(path)?;
    let shown = path.display().to_string();
    let checked = given.over(O::table(&file).options.clone()).check();
    mistakes.extend(file.check_others_table::<RunOptions>());
    if O::TABLE != SINK {
        mistakes.extend(file.check_others_table::<SinkOptions>());
    }
    if O::TABLE != SOURCE {
        mistakes.extend(file.check_others_table::<SourceOptions>());
    }
    if O::TABLE != TRANSIT {
        mistakes.extend(file.check_others_table::<TransitOptions>());
    }
    if O::TABLE != POSTCARDS {
        mistakes.extend(file.check_others_table::<PostcardsOptions>());
    }
    if O::TABLE != TCP {
        mistakes.extend(file.check_others_table::<TcpOptions>());
    }
    if O::TABLE != COLLECT {
        mistakes.extend(file.check_others_table::<CollectOptions>());
    }
    mistakes.extend(file.check_one_node());
    let config = checked
        .map_err(|faults| {
            let table = O::table(&file);
            mistakes.extend(table.locate(Some(&shown), |key| given.origin(key), faults));
        })
        .ok();
    in_order(&mut mistakes);
    match config.filter(|_| mistakes.is_empty()) {
        Some(config) => Ok(Settled {
            config,
            file: Some(file),
        }),
        None => Err(ConfigError(mistakes)),
    }
}
