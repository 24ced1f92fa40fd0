//! What the environment calls this host where neither flags nor the file do: containers and clones of a machine share its files.

use std::env;
use std::io;
use std::sync::OnceLock;

use crate::model::node_identity::{MOST_NAME_BYTES, is_plain};
use crate::model::{NodeId, node_of_name};
use crate::os::{hostname, log, netns};

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

/// The node id of the environment, else one that follows from the name there: machines of one template share a machine id, but
/// never a name.
pub fn id() -> Option<NodeId> {
    let by_name = |name: &String| node_of_name(name, netns::name().as_deref());
    seed().id.or_else(|| seed().name.as_ref().map(by_name))
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
