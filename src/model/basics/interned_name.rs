//! Names from a small set that are read at run time: each distinct name is allocated once and kept.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer};

/// A name that is part of the program or kept for its life.
pub type InternedName = &'static str;

/// Limits far above the number and length of names in any version of hostint; names beyond them are not kept.
const MOST: usize = 4096;
const LONGEST: usize = 1024;

static NAMES: Mutex<BTreeSet<InternedName>> = Mutex::new(BTreeSet::new());

/// The kept name with this text; `?` if the limits are exceeded.
pub fn name(text: &str) -> InternedName {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(text) {
        return known;
    }
    if names.len() >= MOST || text.len() > LONGEST {
        return "?";
    }
    let kept: InternedName = Box::leak(text.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

pub fn one<'de, D: Deserializer<'de>>(from: D) -> Result<InternedName, D::Error> {
    String::deserialize(from).map(|text| name(&text))
}

pub fn maybe<'de, D: Deserializer<'de>>(from: D) -> Result<Option<InternedName>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.map(|text| name(&text)))
}

pub fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<InternedName>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    Ok(texts.iter().map(|text| name(text)).collect())
}
