//! Names and labels of nodes, as users give them.

use std::collections::BTreeMap;

use clap::Args;

use super::heading::REPORTS;
use super::mistake::{Fault, fault, item_fault};
use crate::model::NodeId;
use crate::model::node_identity::{
    MOST_LABEL_BYTES, MOST_LABEL_KEY_BYTES, MOST_LABELS, MOST_NAME_BYTES, is_plain,
};

/// Options for what a host says of itself, which sink and source share.
#[derive(Args, Clone, Debug, Default)]
pub struct IdentityOptions {
    /// This host's name, which collectors and other hosts show beside its id [default: the host name]
    #[arg(long, help_heading = REPORTS, value_name = "NAME")]
    pub node_name: Option<String>,

    /// Label of this host, such as rack=r7, which collectors show with its name; may be repeated
    #[arg(long, help_heading = REPORTS, value_name = "KEY=VALUE", value_delimiter = ',')]
    pub label: Vec<String>,

    /// Send neither collectors nor other hosts this host's name, labels and version
    #[arg(long, help_heading = REPORTS, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_identity: Option<bool>,
}

impl IdentityOptions {
    /// Returns `None` if nothing is to be told.
    pub(super) fn check(&self, faults: &mut Vec<Fault>) -> Option<IdentitySettings> {
        let settings = check_identity(self.node_name.as_deref(), &self.label, faults);
        (!self.no_identity.unwrap_or(false)).then_some(settings)
    }
}

/// What a node says of itself, as far as the user chose it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct IdentitySettings {
    /// `None`: the host's own name.
    pub name: Option<String>,
    pub labels: BTreeMap<String, String>,
}

/// The reason why a text is no name or label that shows as itself and fits into a report.
pub(super) fn problem(text: &str, most: usize) -> Option<String> {
    if text.is_empty() {
        return Some("it is empty".to_owned());
    }
    if text.len() > most {
        return Some(format!("it is longer than {most} bytes"));
    }
    let hidden = text.chars().find(|c| !is_plain(*c))?;
    Some(format!(
        "it has the character {}, which does not show",
        hidden.escape_unicode()
    ))
}

/// `7=web-3`, for each node at most once.
pub(super) fn check_names(texts: &[String], faults: &mut Vec<Fault>) -> BTreeMap<NodeId, String> {
    let mut names = BTreeMap::new();
    for (i, text) in texts.iter().enumerate() {
        let parts = text.split_once('=');
        let parts = parts.and_then(|(node, name)| Some((node.trim().parse().ok()?, name.trim())));
        let Some((node, name)) = parts else {
            let why = format!("{text:?} names no node (try 7=web-3, with the id first)");
            faults.push(item_fault("name", i, why));
            continue;
        };
        if let Some(why) = problem(name, MOST_NAME_BYTES) {
            let why = format!("cannot name node {node} {name:?}: {why} (try web-3)");
            faults.push(item_fault("name", i, why));
        } else if names.insert(node, name.to_owned()).is_some() {
            let why = format!("node {node} has a name already (leave one of them out)");
            faults.push(item_fault("name", i, why));
        }
    }
    names
}

/// The name of this host, and labels such as `rack=r7`.
fn check_identity(
    name: Option<&str>,
    labels: &[String],
    faults: &mut Vec<Fault>,
) -> IdentitySettings {
    if let Some(name) = name
        && let Some(why) = problem(name, MOST_NAME_BYTES)
    {
        let why = format!("cannot use {name:?} as a name: {why} (try web-3)");
        faults.push(fault(&["node-name"], why));
    }
    let mut settings = IdentitySettings {
        name: name.map(str::to_owned),
        labels: BTreeMap::new(),
    };
    for (i, text) in labels.iter().enumerate() {
        let Some((key, value)) = text.split_once('=') else {
            let why = format!("{text:?} is no label (try rack=r7)");
            faults.push(item_fault("label", i, why));
            continue;
        };
        let wrong = problem(key, MOST_LABEL_KEY_BYTES).or_else(|| problem(value, MOST_LABEL_BYTES));
        if let Some(why) = wrong {
            let why = format!("cannot use the label {text:?}: {why} (try rack=r7)");
            faults.push(item_fault("label", i, why));
        } else if settings
            .labels
            .insert(key.to_owned(), value.to_owned())
            .is_some()
        {
            let why = format!("there is a label {key} already (leave one of them out)");
            faults.push(item_fault("label", i, why));
        }
    }
    if settings.labels.len() > MOST_LABELS {
        let why = format!(
            "{} labels: {MOST_LABELS} are possible",
            settings.labels.len()
        );
        faults.push(fault(&["label"], why));
    }
    settings
}
