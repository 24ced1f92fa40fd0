//! The node id that is derived from the machine id, and kept, so that it stays when a later version derives another.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result};

use super::kept_files;
use crate::model::{MachineId, NodeId};
use crate::os::{log, netns};

pub const MACHINE_ID: &str = "/etc/machine-id";

/// Finds the node id of this host: the one that is kept for this machine, else a new one, which is kept.
///
/// The file of a disk that was copied to another machine names the machine that it was kept for, and is written anew.
///
/// # Errors
/// If this machine has no id to derive one from.
pub fn find() -> Result<NodeId> {
    let machine: MachineId = fs::read_to_string(MACHINE_ID)
        .with_context(|| format!("cannot read {MACHINE_ID}"))?
        .parse()
        .with_context(|| format!("cannot use {MACHINE_ID}"))?;
    // A namespace of its own is a host of its own, with the machine's files.
    let namespace = netns::name();
    let file = kept_files::path("id");
    Ok(find_in(&file, &machine, namespace.as_deref()))
}

fn find_in(file: &Path, machine: &MachineId, namespace: Option<&str>) -> NodeId {
    let shown = file.display();
    let known = fs::read_to_string(file).map(|text| Kept::parse(&text));
    let node = match known {
        Ok(Some(kept)) if kept.machine == machine.fingerprint() => return kept.node,
        Ok(Some(kept)) => {
            let node = machine.node(namespace);
            log::warning(format_args!(
                "the node id of this host is {node}: {shown} keeps {}, but for another machine id",
                kept.node
            ));
            node
        }
        Err(err) if err.kind() == io::ErrorKind::NotFound => machine.node(namespace),
        unreadable => {
            let why = unreadable.map_or_else(|err| err.to_string(), |_| "it is damaged".to_owned());
            log::warning(format_args!("cannot read the node id in {shown}: {why}"));
            machine.node(namespace)
        }
    };
    let machine = machine.fingerprint();
    if let Err(err) = kept_files::write(file, &Kept { node, machine }.to_string()) {
        log::info(format_args!(
            "node id {node} is derived again at each start, because {shown} cannot be written: {err}"
        ));
    }
    node
}

/// A node id, and the machine that it was derived for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Kept {
    node: NodeId,
    machine: u64,
}

impl Display for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} {:016x}", self.node, self.machine)
    }
}

impl Kept {
    fn parse(text: &str) -> Option<Self> {
        let (node, machine) = text.trim().split_once(' ')?;
        Some(Self {
            node: node.parse().ok()?,
            machine: u64::from_str_radix(machine, 16).ok()?,
        })
    }
}
