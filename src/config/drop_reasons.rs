//! Names of drop reason codes: a built-in list, or a file.

use std::fs;

use toml::de::DeTable;

use super::mistake::{ConfigError, Mistake};
use crate::model::{DropReasons, PlainError};

/// The built-in list of this name, or the list in this file: one line per code, such as `80 = "acl deny"`.
pub fn drop_reasons(list: &str) -> Result<DropReasons, ConfigError> {
    if let Some(reasons) = DropReasons::profile(list) {
        return Ok(reasons);
    }
    let failed = ConfigError::one;
    let text = fs::read_to_string(list).map_err(|err| {
        let profiles = DropReasons::PROFILES.join(" or ");
        failed(format!(
            "cannot read drop reasons from {list}: {} (try a file, or {profiles})",
            PlainError(&err)
        ))
    })?;
    parse(list, &text)
}

fn parse(list: &str, text: &str) -> Result<DropReasons, ConfigError> {
    let names = DeTable::parse(text)
        .map_err(|err| ConfigError::one(format!("drop reasons in {list}: {err}")))?;
    let mut mistakes = Vec::new();
    let mut reasons = Vec::new();
    for (code, name) in names.get_ref() {
        let line = 1 + text[..code.span().start].matches('\n').count();
        match (code.get_ref().parse(), name.get_ref().as_str()) {
            (Ok(code), Some(name)) if !name.chars().any(char::is_control) => {
                reasons.push((code, name.to_owned()));
            }
            (Err(_), _) => mistakes.push(format!(
                "{list} line {line}: {:?} is not a drop reason code (0 to 255)",
                code.get_ref()
            )),
            _ => mistakes.push(format!(
                "{list} line {line}: the name of a drop reason is one line of text, in quotes"
            )),
        }
    }
    if mistakes.is_empty() {
        Ok(DropReasons::from_iter(reasons))
    } else {
        Err(ConfigError(
            mistakes.into_iter().map(Mistake::from).collect(),
        ))
    }
}
