//! This host as daemons beside its sink and source see it: its node, and what those measure.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::config::ConfigError;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::postcards::measured_here::MeasuredHere;
use crate::host;
use crate::model::{DropPosition, HostDrop, NodeId};
use crate::os::netns;

/// A daemon that follows what measures on its host.
pub trait SeesOwnHost {
    fn own_host(&mut self) -> &mut OwnHost;
}

/// The host, as it was seen last.
pub struct OwnHost {
    bpffs: Option<PathBuf>,
    netns: u32,
    pins: Option<Pins>,
    measured: MeasuredHere,
    /// Pins may be seen, if there are some.
    sees_roles: bool,
    /// The id that the user gave.
    given: Option<NodeId>,
    /// The id that stands in for both.
    derived: Option<NodeId>,
}

impl OwnHost {
    /// # Errors
    /// If there are collectors, and no node id is known or can be derived by which to report to them.
    pub fn find(bpffs: Option<&Path>, given: Option<NodeId>, has_collectors: bool) -> Result<Self> {
        let mut host = Self {
            bpffs: bpffs.map(Path::to_owned),
            netns: netns::inode()?,
            pins: None,
            measured: MeasuredHere::default(),
            sees_roles: false,
            given: None,
            derived: None,
        };
        host.look()?;
        host.set_node(given, has_collectors)?;
        Ok(host)
    }

    /// Uses the id that the user gave, if he gave one.
    ///
    /// # Errors
    /// If it is another than that of this host's sink or source, or collectors need one and none can be derived.
    pub fn set_node(&mut self, given: Option<NodeId>, has_collectors: bool) -> Result<()> {
        match (given, self.measured.node()) {
            (Some(given), Some(known)) if given != known => {
                return Err(ConfigError::one(format!(
                    "node-id: this host's sink or source is node {known}, not {given} (leave node-id out)"
                ))
                .into());
            }
            // Those may have been given another id.
            (None, None) if has_collectors && !self.sees_roles => {
                return Err(ConfigError::one(
                    "node-id: collectors need it, and this user cannot see whether a sink or source runs on this host \
                     (try --node-id 3)"
                        .to_owned(),
                )
                .into());
            }
            (None, None) if has_collectors => self.derived = Some(host::node::derive()?.id),
            _ => {}
        }
        self.given = given;
        Ok(())
    }

    /// Looks again for what measures here.
    ///
    /// # Errors
    /// If there is something, and it cannot be read.
    pub fn look(&mut self) -> io::Result<()> {
        let Some(bpffs) = &self.bpffs else {
            return Ok(());
        };
        let found = Pins::of_this_host(Some(bpffs), false).and_then(|pins| {
            self.measured = match &pins {
                Some(pins) => MeasuredHere::open(pins)?,
                None => MeasuredHere::default(),
            };
            Ok(pins)
        });
        self.sees_roles = found.is_ok();
        self.pins = match found {
            // Pins are root's. The daemon may run as another user, and then knows less.
            Err(err) if err.kind() == io::ErrorKind::PermissionDenied => None,
            found => found?,
        };
        Ok(())
    }

    /// The pins of this host's roles, if there are any that may be seen.
    pub fn pins(&self) -> Option<&Pins> {
        self.pins.as_ref()
    }

    pub fn node(&self) -> Option<NodeId> {
        self.given.or(self.measured.node()).or(self.derived)
    }

    /// True if the daemon of a sink or source tells collectors which host this is.
    pub fn is_served(&self) -> bool {
        let pins = self.pins.as_ref();
        pins.is_some_and(|pins| pins.is_served().unwrap_or(false))
    }

    /// Notes where these packets were dropped.
    ///
    /// # Errors
    /// If the tables of this host's sink or source cannot be read.
    pub fn place(&self, drops: &mut [HostDrop]) -> io::Result<()> {
        for drop in drops {
            // Tables are those of this namespace alone, and INT names the node that tagged.
            if drop.netns == self.netns || drop.int.is_some() {
                drop.position = self.measured.position(self.node(), drop)?;
            }
        }
        Ok(())
    }

    pub fn position_of(&self, tagged_by: Option<NodeId>) -> DropPosition {
        match tagged_by {
            Some(node) => self.measured.position_of_tagged(self.node(), node),
            None => DropPosition::Apart,
        }
    }
}
