//! What the environment calls this host where neither flags nor the file do: containers and clones of a machine share its files.

use std::env;
use std::io;
use std::sync::OnceLock;

use crate::model::NodeId;
use crate::model::node_identity::{MOST_NAME_BYTES, is_plain};
use crate::os::{hostname, log};

const ID: &str = "NODE_ID";
const NAME: &str = "NODE_NAME";

/// The variables belong to everybody, so what cannot be used is left alone, and said once.
struct NodeSeed {
    id: Option<NodeId>,
    name: Option<String>,
}

static SEED: OnceLock<NodeSeed> = OnceLock::new();

fn seed() -> &'static NodeSeed {
    SEED.get_or_init(|| NodeSeed {
        id: read(ID, |text| text.parse().ok().filter(|id| *id != NodeId(0))),
        name: read(NAME, |text| {
            let shows = text.len() <= MOST_NAME_BYTES && text.chars().all(is_plain);
            shows.then(|| text.to_owned())
        }),
    })
}

fn read<T>(variable: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    let text = env::var_os(variable).filter(|text| !text.is_empty())?;
    let parsed = text.to_str().and_then(parse);
    if parsed.is_none() {
        let shown = text.to_string_lossy();
        log::warning(format_args!(
            "the variable {variable} is left alone: {shown:?} is none for hostint (see ENVIRONMENT in hostint.toml(5))"
        ));
    }
    parsed
}

/// The node id of the environment.
pub fn id() -> Option<NodeId> {
    seed().id
}

/// The name of the environment, else the host name.
///
/// # Errors
/// If the system has no host name.
pub fn name() -> io::Result<String> {
    match &seed().name {
        Some(name) => Ok(name.clone()),
        None => hostname::get(),
    }
}
