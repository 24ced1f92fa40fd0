//! Names out of a small set that came from elsewhere: each is kept once, for good.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer};

/// A name that this program knows, or that is kept.
pub type Name = &'static str;

/// More names, or longer ones, than any version of hostint has are not kept.
const MOST: usize = 4096;
const LONGEST: usize = 1024;

static NAMES: Mutex<BTreeSet<Name>> = Mutex::new(BTreeSet::new());

/// The name that reads like this; `?` if there are too many.
pub fn name(text: &str) -> Name {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(text) {
        return known;
    }
    if names.len() >= MOST || text.len() > LONGEST {
        return "?";
    }
    let kept: Name = Box::leak(text.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

pub fn one<'de, D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
    String::deserialize(from).map(|text| name(&text))
}

pub fn maybe<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Name>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.map(|text| name(&text)))
}

pub fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Name>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    Ok(texts.iter().map(|text| name(text)).collect())
}
